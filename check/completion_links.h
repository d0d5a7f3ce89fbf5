// Which connection a completion queue entry belongs to, which message it ends, and the packet that did. An entry has
// neither address nor PSN: its queue pair number tells the connection where one device alone has it, and the message is
// the one that order, operation and length leave. Where they leave several there is no answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "check/completions.h"
#include "check/connection.h"

namespace rdmascope::check {

// A request of a connection, from its first packet to its answer.
struct MessageOf {
  std::uint32_t connection;
  std::uint8_t side;  // that asked
  Message message;
};

struct CompletionLink {
  std::uint64_t frame = 0;             // of the entry
  std::uint32_t connection = 0;        // id; 0: not known
  std::uint8_t side = 0;               // whose queue pair it is
  std::optional<std::size_t> message;  // place in the list
  // The message is the only one that fits. Else it is so if no packet was captured later than the entry it caused;
  // they come by different means.
  bool certain = false;
  std::uint64_t caused_by = 0;  // frame: the answer, or the last packet that was received; 0: not known
};

class CompletionLinker {
 public:
  // In the order of the capture.
  void entry(const CompletionContext& c);
  // Connections in any order, when they ended.
  void connection(const Connection& c);

  // One for each entry, in their order. Messages in any order.
  std::vector<CompletionLink> link(std::span<const MessageOf> messages) const;

 private:
  struct Entry {
    std::uint64_t frame = 0;
    std::optional<std::uint32_t> qpn, bytes;
    std::optional<Operation> operation;
    std::optional<bool> immediate;  // with immediate data
    bool send = false, ends_message = false, failed = false, one_clock = false;
  };
  struct End {
    std::uint32_t connection = 0;
    std::uint8_t side = 0;
    Address address;
    std::uint32_t qpn = 0;
    std::uint64_t first_frame = 0;
    bool datagrams = false;
  };
  // Entries of one queue of a queue pair, or messages that end in one: places, in order.
  using Places = std::vector<std::size_t>;
  using Match = std::vector<std::optional<std::size_t>>;

  // `ends`: by number, then by first frame.
  const End* end_of(const Entry& e, std::span<const End> ends) const;
  static std::uint64_t ending_frame(const Entry& e, const Message& m);
  static bool fits(const Entry& e, const Message& m, bool in_order);
  Match match(const Places& entries, const Places& messages, std::span<const MessageOf> list, bool in_order) const;

  std::vector<Entry> entries_;
  absl::flat_hash_map<std::uint32_t, std::optional<std::uint32_t>> interface_of_;  // by queue pair; nullopt: several
  std::vector<End> ends_;
};

}  // namespace rdmascope::check
