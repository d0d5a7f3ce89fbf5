// R-10: a fatal NAK carries the failing request's PSN and the count of the messages completed before it; afterwards the
// responder sends no more.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  const Flow& flow = *c.flow;
  if (!f.judged || f.ahead || f.late || !flow.trouble->dead) return;
  if (f.kind == ResponseFacts::Kind::fatal_nak) {
    const auto aeth = c.packet.find<dissect::Aeth>();
    const std::uint32_t msn = aeth ? static_cast<std::uint32_t>(aeth->get<"msn">()) : 0;
    if (aeth && f.msn_high_known && psn_diff(msn, f.msn_high) > 0)
      out.mismatch(r10_fatal_nak.info, c, "infiniband.aeth.msn", f.msn_high, msn, "counts the request that failed");
  } else if (f.order_known && psn_diff(c.psn, flow.trouble->dead_psn) >= 0) {
    out.say(r10_fatal_nak.info, c,
            fmt::format("the responder refused PSN {} with a fatal NAK {} before", flow.trouble->dead_psn,
                        duration(c.packet.frame.time_ns - flow.trouble->dead_ns)));
  }
}

}  // namespace

const Rule r10_fatal_nak{
    {.id = "R-10",
     .title = "A fatal NAK counts completed messages only and is the last response",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: rc.c",
     .help =
         R"(NAK Invalid Request, Remote Access Error and Remote Operational Error carry the PSN of the request that failed and
the count (MSN) of the messages completed before it. The responder's queue pair then goes to the error state: it answers
nothing from that PSN on.

Usual causes: a responder that counts a message before it has checked it, or goes on after an error.

Look next at: H-FATAL-NAK and the request with the PSN of the NAK.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
