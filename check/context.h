// One packet of a connection with everything that was worked out about it, as the rules get it.
#pragma once

#include <cstdint>

#include "check/connection.h"
#include "dissect/headers.h"
#include "dissect/packet.h"

namespace rdmascope::check {

// How a request packet stands to what was seen before.
enum class Order : std::uint8_t {
  first,           // of this flow in the capture: sets the baseline
  next,            // the PSN that was expected
  after_gap,       // PSNs were passed over
  fills_gap,       // one that was passed over: late, or sent again after a loss
  retransmission,  // seen before
  old,             // before the capture or forgotten
};

struct RequestFacts {
  Order order = Order::first;
  bool expected_known = false;
  std::uint32_t expected_psn = 0;        // of a new packet, before this one
  std::uint32_t psns = 1;                // it takes
  bool rewinds = false;                  // the sender goes back here
  PendingNak cause;                      // of the rewind; kind none: a timeout, or an implied NAK
  std::int64_t silent_ns = 0;            // since the last request or progress, when it rewinds
  const SentPacket* original = nullptr;  // retransmission: as first seen
  bool content_differs = false;
  // Place in a message, judged for packets that stand where they should.
  bool breaks_message = false;       // a message was in progress and this packet does not continue it
  bool lacks_first = false;          // Middle or Last with no message in progress
  std::uint8_t previous_opcode = 0;  // of the message in progress
  Message* message = nullptr;        // it belongs to
  bool partial_read = false;         // READ for the rest of an earlier READ
  Message* earlier_read = nullptr;
  bool ends_message = false;   // and the whole of it was seen
  bool inside_read = false;    // a PSN that belongs to an earlier READ's responses, and is no retry of it
  bool reveals_ahead = false;  // a response acknowledged this PSN before it was sent
};

struct ResponseFacts {
  enum class Kind : std::uint8_t { ack, sequence_nak, rnr_nak, fatal_nak, reserved, read, atomic_ack };
  Kind kind = Kind::ack;
  bool judged = false;         // its requests are known
  Message* message = nullptr;  // that holds its PSN
  bool ahead = false;          // a PSN no request had
  bool repeated = false;       // about requests answered before
  // READ responses: what should stand at this PSN.
  bool position_known = false;
  dissect::Position expected_position = dissect::Position::only;
  bool payload_known = false;
  std::uint32_t expected_payload = 0;
  std::uint32_t expected_psn = 0;  // next response wanted, before this one
  std::uint32_t holes = 0;         // responses passed over just before it
  // MSN: allowed range when known.
  bool msn_known = false;
  std::uint32_t msn_low = 0, msn_high = 0;
  bool msn_decreases = false;
  bool second_nak = false;         // for a gap that was NAKed already
  std::uint32_t previous_psn = 0;  // of the last response
  bool goes_back = false;          // before the last response, and nothing was sent again
  std::uint32_t overtaken_psn = 0;
  bool overtakes_read = false;  // an acknowledge behind a READ that is still being answered
};

struct Context {
  const dissect::Packet& packet;
  dissect::View<dissect::Bth> bth;
  const dissect::Opcode& opcode;
  std::uint8_t opcode_byte;
  std::uint32_t psn;
  Connection& connection;
  std::uint8_t side;                  // who sent it
  bool bad_crc;                       // the receiver drops it: nothing below was worked out
  Flow* flow = nullptr;               // requests of `side`, or those it answers
  RequestFacts* request = nullptr;    // set for requests of connected transports
  ResponseFacts* response = nullptr;  // set for responses
};

}  // namespace rdmascope::check
