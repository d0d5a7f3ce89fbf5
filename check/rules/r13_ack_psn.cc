// R-13: the acknowledge for a duplicate SEND or WRITE does not use the PSN of a READ response.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::ack || !f.judged || f.ahead || !f.request || c.flow->retransmitted == 0) return;
  if (f.request->operation != Operation::read || !f.request->answered) return;
  wrong(out, r13_ack_psn.info, c, "infiniband.bth.psn", c.psn,
        fmt::format("this PSN belongs to the READ of frame {}, which only READ responses answer", f.request->frame));
}

}  // namespace

const Rule r13_ack_psn{
    {.id = "R-13",
     .title = "An acknowledge for a duplicate has no PSN of a READ",
     .source = "Linux commit IB/rxe: fix for duplicate request processing and ack psns",
     .help =
         R"(A plain acknowledge is about SENDs and WRITEs. When a duplicate of one is acknowledged again and a READ has been
answered since, the acknowledge carries the PSN of the latest SEND or WRITE, not that of the READ: a requester whose READ
responses were lost would take it for the answer to the READ.

Usual causes: a responder that acknowledges with "expected PSN - 1".

Look next at: the retransmission that was acknowledged.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
