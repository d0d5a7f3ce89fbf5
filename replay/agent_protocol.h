// What tester and agent say to each other: one JSON object per line, described in AGENT.md. Both ends encode and decode
// with the tables in agent_protocol.cc, so a member is named once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/dut.h"

namespace rdmascope::replay::agent {

inline constexpr std::uint32_t protocol_version = 1;
inline constexpr std::uint16_t default_port = 7471;
inline constexpr std::size_t longest_line = 1 << 20;       // bytes, without the line end
inline constexpr std::uint32_t most_memory = 256 * 1024;   // bytes in one message: in hex they fit a line
inline constexpr std::size_t most_channels = 64;           // open at a time
inline constexpr std::uint32_t largest_region = 16 << 20;  // bytes
inline constexpr std::int64_t longest_wait_ns = 60'000'000'000;

enum class Do : std::uint8_t {
  hello,
  info,
  open,
  post_send,
  post_receive,
  poll,
  read_memory,
  write_memory,
  state,
  to_error,
  close,
};
std::string_view name(Do action);

// The opening message of a tester.
struct Hello {
  std::uint32_t protocol = protocol_version;
  std::string token;
  std::optional<IpAddress> tester_address;  // info then tells the DUT's address of the same family
};

// Which members a request needs is said in AGENT.md; the others stay empty.
struct Request {
  std::optional<Do> action;
  std::optional<Hello> hello;
  std::optional<ChannelOptions> options;
  std::optional<std::uint32_t> channel;  // id
  std::optional<WorkRequest> work;
  std::optional<ReceiveRequest> receive;
  std::optional<std::uint64_t> wait_ns;
  std::optional<Region> region;
  std::optional<std::uint32_t> offset, length;
  std::optional<std::vector<std::uint8_t>> bytes;
};

// Empty when there is nothing to tell but that it is done.
struct Reply {
  std::optional<std::string> error;
  std::optional<DutInfo> info;
  std::optional<Channel> channel;
  std::optional<std::vector<Completion>> completions;
  std::optional<std::vector<std::uint8_t>> bytes;
  std::optional<QpState> state;
};

// With the line end.
std::string to_line(const Request& request);
std::string to_line(const Reply& reply);

// Members that are missing keep their defaults. Everything else that does not fit is an error: a member nobody knows, a
// number out of range, a word that is not one of the choices.
Result<Request> read_request(std::string_view line);
Result<Reply> read_reply(std::string_view line);

std::optional<MacAddress> mac_address(std::string_view text);  // "02:00:00:00:00:01"

// The secret both ends know: the first line of a file that not everybody may read.
Result<std::string> read_token(const std::string& path);
// Takes the same time however much of the token is right.
bool same_token(std::string_view expected, std::string_view given);

}  // namespace rdmascope::replay::agent
