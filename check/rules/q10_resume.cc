// Q-10: after a sequence NAK the requester resumes at exactly the PSN the NAK names. Earlier is allowed when a READ or
// atomic before it lacks its answer, since the NAK asks for that, too.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || f.back_by != BackBy::sequence_nak || psn_diff(c.psn, f.cause.psn) <= 0) return;
  // Were packets lost before the capture point, the one that is wanted may have been lost there once more. Damaged ones
  // are in the capture.
  const bool certain = c.flow->gap_packets <= c.connection.bad_icrc[c.side] && c.flow->resend_skips == 0;
  if (!certain) return;
  out.mismatch(q10_resume.info, c, "infiniband.bth.psn", f.cause.psn, c.psn,
               fmt::format("the NAK in frame {} asks for PSN {}", f.cause.frame, f.cause.psn));
}

}  // namespace

const Rule q10_resume{
    {.id = "Q-10",
     .title = "After a sequence NAK the requester resumes at its PSN",
     .source = "ib-wire.md 6.3; rxe-comp, hfi1-rc",
     .help =
         R"(NAK PSN Sequence Error names the PSN the responder expects. Everything from there on was discarded and must be sent
again, beginning with exactly that packet; a requester that begins later never gets an answer but further timeouts.

Judged only when all packets of the requester were captured so far: otherwise the packet may have been sent, and lost
before the capture point.

Usual causes: a requester that resumes at the PSN behind the NAK, as if it were an acknowledge.

Look next at: the NAK named in the finding, and whether the requester recovers by a timeout.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
