// R-12: a duplicate SEND or WRITE is acknowledged again, with the PSN of the latest one completed. A plain acknowledge
// that goes back behind what was acknowledged before tells an old state.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  const Flow& flow = *c.flow;
  if (f.kind != ResponseFacts::Kind::ack || !f.judged || f.ahead || f.late || !f.repeated || !f.order_known) return;
  if (flow.trouble->go_backs == 0 || f.request) return;  // R-01, R-13
  // Behind the last SEND or WRITE; READs and atomics after it were answered by themselves.
  if (!f.superseded) return;
  out.mismatch(r12_duplicate_ack.info, c, "infiniband.bth.psn", *f.superseded, c.psn,
               "a later SEND or WRITE was acknowledged before");
}

}  // namespace

const Rule r12_duplicate_ack{
    {.id = "R-12",
     .title = "A duplicate is acknowledged with the latest PSN",
     .severity = Severity::warning,
     .ibta = "C9-105",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: rc.c, which answers only when asked to",
     .help =
         R"(When a SEND or WRITE comes again that was executed already, the responder does not execute it but acknowledges
again, so that the requester learns what it missed: with the PSN of the latest SEND or WRITE it has completed. An older PSN
makes the requester send again what has arrived.

Usual causes: a responder that answers a duplicate with the duplicate's own PSN.

Look next at: the acknowledges before, and the retransmission this one answers.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
