// H-FATAL-NAK: the responder refused a request for good; both queue pairs go to the error state. With what preceded it.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::fatal_nak || !f.judged || f.late) return;
  const auto aeth = c.packet.find<dissect::Aeth>();
  const unsigned code = aeth ? static_cast<unsigned>(aeth->get<"syndrome">()) & 31 : 31;
  std::string text = fmt::format(
      "{} for PSN {}", code < std::size(dissect::nak_codes) ? dissect::nak_codes[code].name : "Reserved code", c.psn);
  if (const SentPacket* sent = sent_at(*c.flow, c.psn))
    text += fmt::format(", {} in frame {}", dissect::opcodes[sent->opcode].name, sent->frame);
  if (f.message && f.message->has_reth)
    text += fmt::format(", for {}", range(f.message->r_key, f.message->va, f.message->dma_length));
  text += fmt::format("; {} completed before", count(c.flow->completed, "message"));
  out.say(h_fatal_nak.info, c, std::move(text));
}

}  // namespace

const Rule h_fatal_nak{
    {.id = "H-FATAL-NAK",
     .title = "The connection broke: fatal NAK",
     .kind = Class::anomaly,
     .severity = Severity::error,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c, rxe_comp.c; hw/hfi1: rc.c",
     .help =
         R"(The responder refused a request, and both queue pairs go to the error state; all that is still posted is flushed
(WR_FLUSH_ERR). Invalid Request: unsupported or out-of-order opcode, wrong length, too many READs, operation not enabled.
Remote Access Error: R_Key wrong or out of its range or without the right. Remote Operational Error: the responder could
not go on for a reason of its own, for instance a receive buffer that is too small.

Usual causes: memory deregistered or an R_Key used after its lifetime, lengths that the two applications see differently,
access flags missing at registration.

Look next at: R_Key, VA and length in the finding against what the responder registered, and the first failed completion
on both hosts.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
