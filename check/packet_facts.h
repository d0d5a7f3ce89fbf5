// What was worked out about one packet, in a form that outlives the batch: for those who show packets, not for rules.
#pragma once

#include <cstdint>

#include "check/context.h"

namespace rdmascope::check {

struct PacketFacts {
  enum class Kind : std::uint8_t { other, request, acknowledge, nak, read_response, atomic_response };

  std::uint64_t frame = 0;
  std::uint32_t connection = 0;  // id; 0: none
  std::uint32_t other_half = 0;  // Connection::other_half_id
  std::uint8_t side = 0;         // who sent it
  Kind kind = Kind::other;       // other: also what cannot be judged
  bool acknowledges = false;     // response: also everything before its PSN
  bool ahead = false;            // response: a PSN that no request had
  bool expects_answer = true;    // request: reliable transports are answered
  bool asks_for_data = false;    // request: a plain acknowledge does not answer it
  bool retransmission = false;
  bool marked = false;  // by a switch: congestion experienced
  bool cnp = false;     // tells the other side of such marks
  std::uint32_t psn = 0;
  std::uint32_t psns = 0;               // request: it takes; 0: not known
  std::uint32_t message = 0;            // request: index in its flow as far as is known now; 0: none
  std::uint64_t retransmission_of = 0;  // frame; 0: not known
};

PacketFacts facts_of(const Context& c);
// A switch had a long queue when this RoCEv2 packet passed (ECN, RFC 3168).
bool is_marked(const dissect::Packet& packet);

}  // namespace rdmascope::check
