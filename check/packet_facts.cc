#include "check/packet_facts.h"

#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void take_request(const Context& c, const RequestFacts& r, PacketFacts& out) {
  if (r.order == Order::twice) return;
  const Operation operation = operation_of(c.opcode_byte);
  out.kind = PacketFacts::Kind::request;
  out.expects_answer = c.connection.reliable();
  out.asks_for_data = operation >= Operation::read;
  out.psns = operation == Operation::read && c.connection.pmtu == 0 ? 0 : r.psns;
  out.message = r.message ? r.message->index : 0;
  const bool seen = r.order == Order::retransmission || r.order == Order::old || r.order == Order::fills_gap;
  out.retransmission = seen && !r.late;  // as Flow::retransmitted counts
  if (!out.retransmission) return;
  if (r.original)
    out.retransmission_of = r.original->frame;
  else if (r.partial_read)
    out.retransmission_of = r.earlier_read->frame;
}

void take_response(const Context& c, const ResponseFacts& r, PacketFacts& out) {
  if (!r.judged) return;
  out.acknowledges = true;
  out.ahead = r.ahead;
  switch (r.kind) {
    case ResponseFacts::Kind::ack:
    case ResponseFacts::Kind::reserved:
      out.kind = PacketFacts::Kind::acknowledge;
      break;
    case ResponseFacts::Kind::sequence_nak:
    case ResponseFacts::Kind::rnr_nak:
    case ResponseFacts::Kind::fatal_nak:
      out.kind = PacketFacts::Kind::nak;
      break;
    case ResponseFacts::Kind::read:
      out.kind = PacketFacts::Kind::read_response;
      out.acknowledges = c.opcode.position != dissect::Position::middle;  // Middle has no AETH
      break;
    case ResponseFacts::Kind::atomic_ack:
      out.kind = PacketFacts::Kind::atomic_response;
      break;
  }
}

}  // namespace

bool is_marked(const dissect::Packet& packet) {
  const dissect::Layer* const ip = ip_of(packet);
  if (!ip) return false;
  constexpr std::uint64_t congestion_experienced = 3;
  const std::uint8_t* const bytes = packet.data(*ip);
  const std::uint64_t ecn = is<dissect::Ipv4>(ip) ? dissect::View<dissect::Ipv4>(bytes).get<"dsfield.ecn">()
                                                  : dissect::View<dissect::Ipv6>(bytes).get<"tclass.ecn">();
  return ecn == congestion_experienced;
}

PacketFacts facts_of(const Context& c) {
  PacketFacts out;
  out.frame = c.packet.frame.number;
  out.connection = c.connection.id;
  out.other_half = c.connection.other_half_id;
  out.side = c.side;
  out.psn = c.psn;
  out.marked = is_marked(c.packet);
  out.cnp = c.opcode.transport == dissect::Transport::cnp && !c.bad_crc;
  if (c.request) take_request(c, *c.request, out);
  if (c.response) take_response(c, *c.response, out);
  return out;
}

}  // namespace rdmascope::check
