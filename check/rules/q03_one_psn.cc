// Q-03: atomics, FLUSH and ATOMIC WRITE take one PSN.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (!f.skipped_gap || f.skipped_gap->behind <= Operation::read) return;
  const Gap& gap = *f.skipped_gap;
  mismatch_at(out, q03_one_psn.info, c.connection, c.side ^ 1, gap.frame, gap.time_ns, "infiniband.bth.psn", gap.first,
              psn_add(gap.first, gap.count), fmt::format("a {} takes one PSN", name(gap.behind)));
}

}  // namespace

const Rule q03_one_psn{
    {.id = "Q-03",
     .title = "Atomics, FLUSH and ATOMIC WRITE take one PSN",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c",
     .help =
         R"(Compare-and-swap, fetch-and-add, FLUSH and ATOMIC WRITE are one packet and get one response packet with the same
PSN. The next request has the next PSN.

Reported when the responder acknowledged a later request although its message count leaves no room for a packet between.

Usual causes: a requester that reserves PSNs as for a READ of 8 bytes, or counts request and response.

Look next at: the atomic before the gap and its response.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
