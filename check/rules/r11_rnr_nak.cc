// R-11: RNR NAK answers only requests that need a receive buffer: SEND First and Only, WRITE Last and Only with
// Immediate.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::rnr_nak || !f.judged || f.ahead) return;
  const SentPacket* const sent = sent_at(*c.flow, c.psn);
  if (!sent && !f.request) return;
  const std::uint8_t byte = sent ? sent->opcode : std::uint8_t{0x0c};
  const dissect::Opcode& opcode = dissect::opcodes[byte];
  const bool starts = opcode.position == dissect::Position::first || opcode.position == dissect::Position::only;
  const bool ends = opcode.position == dissect::Position::last || opcode.position == dissect::Position::only;
  if (is_send(byte) && starts) return;
  if (operation_of(byte) == Operation::write && ends && (opcode.extensions & dissect::ext_immdt)) return;
  out.say(r11_rnr_nak.info, c,
          fmt::format("the request with this PSN is {}{}, which needs no receive buffer", opcode.name,
                      sent ? fmt::format(" in frame {}", sent->frame) : std::string()));
}

}  // namespace

const Rule r11_rnr_nak{
    {.id = "R-11",
     .title = "RNR NAK only where a receive buffer is needed",
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: rc.c",
     .help =
         R"(Receiver Not Ready says that no receive buffer is posted. It can answer only a request that takes one: the first
packet of a SEND, and the last one of a WRITE with Immediate. READs, plain WRITEs and atomics never wait for a buffer.

Usual causes: a responder that uses RNR NAK to slow a requester down; a NAK with a wrong PSN.

Look next at: the request with the PSN of the NAK.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
