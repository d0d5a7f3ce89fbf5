// Q-01: each new request packet carries the PSN after the last one taken. A gap in a capture can be a loss, or a frame
// the capture missed; it is a violation when the responder acknowledges the PSNs and no packet can have been there: its
// MSN counts no message among them, or a WRITE has all its bytes without them. After a READ the gap is Q-02's, after an
// atomic Q-03's.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (!f.skipped_gap || f.skipped_gap->behind >= Operation::read) return;
  const Gap& gap = *f.skipped_gap;
  mismatch_at(out, q01_next_psn.info, c.connection, c.side ^ 1, gap.frame, gap.time_ns, "infiniband.bth.psn", gap.first,
              psn_add(gap.first, gap.count),
              fmt::format("{} passed over; frame {} acknowledges and no packet can have been there",
                          count(gap.count, "PSN"), c.packet.frame.number));
}

}  // namespace

const Rule q01_next_psn{
    {.id = "Q-01",
     .title = "Requests count their PSNs without gaps",
     .source = "InfiniBand Network Architecture (2002), chapter 11; Linux drivers/infiniband/sw/rxe: rxe_req.c",
     .help =
         R"(Every request packet takes the next PSN, modulo 2^24; a READ takes one for each response packet. A responder
that is given a later one answers with a NAK and waits.

A gap alone is no proof: the packet may have been lost (then the responder asks for it), or the capture missed it (then the
responder acknowledges it). This is reported when the responder acknowledged the PSNs although its message count, or the
bytes of the WRITE around them, leave no room for a packet.

Usual causes: a requester that advances its PSN for packets it does not send, or twice for one.

Look next at: the packet before the gap and how many PSNs it takes, and the first acknowledge behind it.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
