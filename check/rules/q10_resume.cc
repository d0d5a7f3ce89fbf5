// Q-10: after a sequence NAK the requester resumes at exactly the PSN the NAK names. Earlier is allowed when a READ or
// atomic before it lacks its answer, since the NAK asks for that, too.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  Flow& flow = *c.flow;
  if (!c.request->came_late) return;
  const std::uint32_t wanted = *flow.trouble->wanted_psn;
  flow.trouble.write().wanted_psn.reset();
  // Were packets lost or damaged before the capture point, the one that was wanted may have been lost there once more.
  if (flow.gap_packets > 0 || flow.trouble->resend_skips > 0 || c.connection.bad_icrc[c.side] > 0) return;
  mismatch_at(out, q10_resume.info, c.connection, c.side, flow.trouble->resumed_frame, flow.trouble->resumed_ns,
              "infiniband.bth.psn", wanted, flow.trouble->resumed_psn,
              fmt::format("a NAK asked for PSN {}, which was sent {} later, in frame {}", wanted,
                          duration(c.packet.frame.time_ns - flow.trouble->resumed_ns), c.packet.frame.number));
}

}  // namespace

const Rule q10_resume{
    {.id = "Q-10",
     .title = "After a sequence NAK the requester resumes at its PSN",
     .source = "Linux drivers/infiniband/hw/hfi1: rc.c; sw/rxe: rxe_comp.c",
     .help =
         R"(NAK PSN Sequence Error names the PSN the responder expects. Everything from there on was discarded and must be sent
again, beginning with exactly that packet; a requester that begins later never gets an answer but further timeouts.

Reported when the PSN that was asked for comes later than others, and all packets of the requester were captured so far:
otherwise it may have been sent in time, and lost before the capture point.

Usual causes: a requester that resumes at the PSN behind the NAK, as if it were an acknowledge.

Look next at: the NAK named in the finding, and whether the requester recovers by a timeout.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
