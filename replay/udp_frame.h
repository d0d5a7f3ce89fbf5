// A UDP datagram over IPv4 as a frame that starts with the IP header, link type 101: what wires to programs carry,
// since the sockets of this machine hand over no more than addresses and payload.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/wire.h"

namespace rdmascope::replay {

inline constexpr std::uint16_t link_ip = 101;  // LINKTYPE_RAW

// One end of a talk over UDP.
struct UdpPlace {
  std::uint32_t ip = 0;  // 127.0.0.1 is 0x7f000001; 0: any
  std::uint16_t port = 0;
  auto operator<=>(const UdpPlace&) const = default;
};
std::string ip_text(std::uint32_t ip);       // "127.0.0.1"
std::string to_text(const UdpPlace& place);  // "127.0.0.1:2000"
IpAddress mapped(std::uint32_t ip);          // ::ffff:127.0.0.1
std::uint32_t ipv4_of(const IpAddress& address);
// "127.0.0.1:2000". An error names `what`, the text it was part of.
Result<UdpPlace> parse_udp_place(const std::string& text, const std::string& what);

// With all checksums as they should be.
std::vector<std::uint8_t> udp_frame(const UdpPlace& from, const UdpPlace& to, std::span<const std::uint8_t> payload);

struct UdpOfFrame {
  UdpPlace from, to;
  std::span<const std::uint8_t> payload;  // of the frame
};
// nullopt: it is something else, or not whole.
std::optional<UdpOfFrame> udp_of(std::span<const std::uint8_t> frame);

}  // namespace rdmascope::replay
