// R-03: READ responses and ATOMIC ACKs carry an AETH of type ACK; errors are told by Acknowledge packets only.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::read && f.kind != ResponseFacts::Kind::atomic_ack) return;
  const auto aeth = c.packet.find<dissect::Aeth>();
  if (!aeth) return;
  const std::uint8_t syndrome = static_cast<std::uint8_t>(aeth->get<"syndrome">());
  const dissect::Syndrome decoded = dissect::decode_syndrome(syndrome);
  if (decoded.kind == dissect::SyndromeKind::ack) return;
  out.mismatch(r03_read_aeth.info, c, "infiniband.aeth.syndrome", decoded.value, syndrome,
               fmt::format("{} carries an acknowledge or nothing", c.opcode.name));
}

}  // namespace

const Rule r03_read_aeth{
    {.id = "R-03",
     .title = "READ responses and ATOMIC ACKs carry an acknowledge",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_opcode.c, rxe_comp.c",
     .help =
         R"(READ Response First, Last and Only and ATOMIC Acknowledge have an AETH, and its type is ACK. A responder that cannot
go on answers with an Acknowledge packet that carries the NAK. A requester takes a data response with another type for a
broken one.

Expected is the same syndrome with the type bits of an ACK.

Usual causes: a responder that puts the NAK into the response it was about to send.

Look next at: the request with this PSN and what was wrong with it.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
