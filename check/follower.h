// Follows the packets of one connection: requests in follow_requests.cc, responses in follow_responses.cc, what both need
// in follow.cc. Nobody else includes this; check/follow.h is what the rest of the program sees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "check/follow.h"
#include "dissect/headers.h"

namespace rdmascope::check {

using dissect::Position;

// Bounds of what is remembered of one flow, so that a hostile or one-way capture cannot grow it.
inline constexpr std::size_t most_messages = 4096, most_sent = 512, most_gaps = 64, most_asked = 1024;
// What is answered stays a while: it may be sent again.
inline constexpr std::size_t kept_sent = 8, kept_asked = 16;
// Behind a READ or atomic without all its responses, that many messages are answered: the capture missed them.
inline constexpr std::size_t most_behind_open = 64;

// Packets of one sender closer to each other than this may have changed places on the way or in the capturing host.
inline constexpr std::int64_t reorder_ns = 50'000;
// A requester that goes back later than this, and does not know its timer: the timer ran out.
inline constexpr std::int64_t reaction_ns = 4'000'000, shortest_timer_ns = 1'000'000;

inline constexpr std::uint32_t legal_pmtu[] = {256, 512, 1024, 2048, 4096};
inline bool is_legal_pmtu(std::uint32_t bytes) {
  return std::find(std::begin(legal_pmtu), std::end(legal_pmtu), bytes) != std::end(legal_pmtu);
}

inline std::uint32_t read_psns(std::uint32_t dma_length, std::uint32_t pmtu) {
  return dma_length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{dma_length} + pmtu - 1) / pmtu);
}

inline bool is_read_like(Operation o) { return o == Operation::read || o == Operation::flush || o == Operation::atomic_write; }

class Follower {
 public:
  Follower(Context& context, Facts& facts, MessageSink* sink)
      : c_(context), connection_(context.connection), facts_(facts), sink_(sink) {}

  void request();
  void response();

 private:
  void note_order();

  // Requests.
  void place(RequestFacts& f);
  void new_packet(RequestFacts& f);
  void repeated_packet(RequestFacts& f);
  void begin_message(RequestFacts& f);
  void continue_message(Message& m, RequestFacts& f);
  void read_reth(Message& m) const;
  void adopt(RequestFacts& f);
  Message* insert_message(std::size_t at, const Message& message);
  Message* split(Message& m, std::uint32_t at);
  void remember_sent();
  void remember_asked(const RequestFacts& f);
  void find_original(RequestFacts& f);
  void note_rewind(RequestFacts& f);
  void learn_pmtu(std::uint32_t bytes);
  void learn_read_length(std::uint32_t next_psn);
  Message* message_at(std::uint32_t psn);
  DataRequest* asked_at(std::uint32_t psn);
  Gap* gap_at(std::uint32_t psn);
  std::uint32_t packets_between(std::uint32_t from, std::uint32_t to);
  void remove_from_gap(Gap& gap, std::uint32_t psn, std::uint32_t count);

  // Responses.
  void acknowledge_before(std::uint32_t psn, bool including);
  std::uint32_t unanswered(std::uint32_t from, std::uint32_t to);
  void note_answer(ResponseFacts& f);
  void note_data(ResponseFacts& f);
  void read_response(Message& m, ResponseFacts& f);
  std::optional<std::uint32_t> completed_by(const ResponseFacts& f);
  void judge_msn(ResponseFacts& f);
  void settle_msn(RequestFacts& f);
  void forget_msn(std::uint32_t psn);
  void resolve_gaps(std::uint32_t psn, bool including, ResponseFacts* f);
  bool proves_skipped(const Gap& gap, ResponseFacts& f);
  void complete(Message& m, MessageState state);
  void retire();

  Context& c_;
  Connection& connection_;
  Facts& facts_;
  MessageSink* sink_;
  Flow* flow_ = nullptr;
  std::uint8_t requester_ = 0;
  // Of this packet, by its sender's count of IP packets.
  bool twice_ = false, late_ = false, order_known_ = false;
  bool follows_directly_ = false;  // nothing of the sender is missing between its packet before and this one
  std::optional<std::uint16_t> ip_id_;
};

}  // namespace rdmascope::check
