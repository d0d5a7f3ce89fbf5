// Follows one connection packet by packet: requests into messages, responses to what they answer, and the facts that
// rules judge. InfiniBand Network Architecture (2002), chapters 11 and 17; Linux drivers/infiniband/hw/hfi1/rc.c.
#pragma once

#include "check/context.h"

namespace rdmascope::check {

// Room for the facts of one packet; reused, so that a packet allocates nothing.
struct Facts {
  RequestFacts request;
  ResponseFacts response;
  SentPacket original;  // RequestFacts::original points here
  DataRequest earlier;  // and earlier_read here
  MsnDoubt doubt;       // and msn_doubt
};

// Of everything between BTH and ICRC, to tell whether a packet sent again is the same; 0: not known.
std::uint32_t content_crc(const dissect::Packet& packet);

// A message that left its flow's queue: answered, or given up.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  virtual void message(const Connection& connection, std::uint8_t side, const Message& message) = 0;
};

// Works out the facts of the packet in `c` and takes them over into the connection. Call before the rules; flow,
// request and response of `c` are set. `messages` may be null.
void follow(Context& c, Facts& facts, MessageSink* messages);

// Hands over the messages that are still open when the capture or the connection ends.
void finish_messages(Connection& connection, MessageSink* messages);

}  // namespace rdmascope::check
