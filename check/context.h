// One packet of a connection with everything that was worked out about it, as the rules get it.
#pragma once

#include <cstdint>
#include <optional>

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
  twice,           // the same frame captured twice: not judged
};

// Why a requester goes back.
enum class BackBy : std::uint8_t {
  sequence_nak,
  rnr_nak,
  implied_nak,  // a response was passed over, or came ahead of an earlier READ's
  timeout,
  unknown,  // nothing in the capture asked for it, and no time has passed
};

struct RequestFacts {
  Order order = Order::first;
  bool expected_known = false;
  std::uint32_t expected_psn = 0;        // of a new packet, before this one
  std::uint32_t psns = 1;                // it takes
  bool late = false;                     // overtaken on its way; not sent again
  bool rewinds = false;                  // the sender goes back here
  BackBy back_by = BackBy::unknown;      // why
  PendingNak cause;                      // the NAK it answers, or did not heed
  std::int64_t silent_ns = 0;            // since the last packet of the flow, when it rewinds
  std::uint32_t back_from = 0;           // the PSN it would have sent next
  bool last_asked = true;                // the packet before wanted an answer
  std::uint64_t last_frame = 0;          // and its number
  std::uint32_t holes = 0;               // responses that were passed over before
  std::uint32_t skipped = 0;             // PSNs passed over while sending again
  bool acked = false;                    // retransmission of what a response covered already
  const SentPacket* original = nullptr;  // retransmission: as first seen
  bool content_differs = false;
  // Place in a message, judged for packets that stand where they should.
  bool breaks_message = false;       // a message was in progress and this packet does not continue it
  bool lacks_first = false;          // Middle or Last with no message in progress
  std::uint8_t previous_opcode = 0;  // of the message in progress
  Message* message = nullptr;        // it belongs to
  bool partial_read = false;         // READ for the rest of an earlier READ
  const DataRequest* earlier_read = nullptr;
  bool ends_message = false;               // and the whole of it was seen
  bool inside_read = false;                // a PSN that belongs to an earlier READ's responses, and is no retry of it
  bool reveals_ahead = false;              // a response acknowledged this PSN before it was sent
  const MsnDoubt* msn_too_high = nullptr;  // an MSN before was, as this packet proves
  bool came_late = false;                  // the PSN a NAK asked for, after the sender had resumed behind it
};

struct ResponseFacts {
  enum class Kind : std::uint8_t { ack, sequence_nak, rnr_nak, fatal_nak, reserved, read, atomic_ack };
  Kind kind = Kind::ack;
  bool judged = false;                   // its requests are known
  Message* message = nullptr;            // that holds its PSN
  bool ahead = false;                    // a PSN no request had
  bool repeated = false;                 // about requests answered before
  bool late = false;                     // overtaken on its way by later ones
  bool order_known = false;              // the sender counts its packets: this one was sent after all seen before it
  const DataRequest* request = nullptr;  // READ or atomic at its PSN
  // READ responses: what should stand at this PSN.
  bool position_known = false;
  dissect::Position expected_position = dissect::Position::only;
  bool payload_known = false;
  std::uint32_t expected_payload = 0;
  std::uint32_t expected_psn = 0;              // next response wanted, before this one
  std::uint32_t holes = 0;                     // READ and atomic responses passed over just before it
  std::optional<std::uint64_t> original_data;  // ATOMIC ACK: what the first one to this request said
  bool again = false;                          // a READ response that came before, and nothing was asked again
  // MSN: allowed range as far as it is known. More than that is certain at once for a NAK only: MsnDoubt.
  bool msn_low_known = false, msn_high_known = false;
  std::uint32_t msn_low = 0, msn_high = 0;
  bool msn_decreases = false;
  std::uint32_t previous_msn = 0;
  std::optional<Gap> skipped_gap;  // it acknowledges PSNs where no packet can have been
  // The answer to a message that was sent once took this long; usual: of the flow so far. 0: not known.
  std::int64_t wait_ns = 0, usual_wait_ns = 0;
  std::optional<std::uint32_t> superseded;  // plain acknowledge behind this one, which came before
  bool starves = false;                     // credits went down to none
  bool second_nak = false;                  // for a gap that was NAKed already
  bool another_nak = false;                 // and surely not the same packet captured twice
  std::uint32_t previous_psn = 0;           // of the last response
  bool goes_back = false;                   // before the last response, and nothing was sent again
  // A READ or atomic answered after a later acknowledge had gone out, and without having been asked again.
  bool was_overtaken = false;
  std::uint32_t overtaking_psn = 0;
  std::uint64_t overtaking_frame = 0;
  std::int64_t overtaking_ns = 0;
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
  std::uint32_t content_crc = 0;      // of requests of reliable transports
  Flow* flow = nullptr;               // requests of `side`, or those it answers
  RequestFacts* request = nullptr;    // set for requests of connected transports
  ResponseFacts* response = nullptr;  // set for responses
};

}  // namespace rdmascope::check
