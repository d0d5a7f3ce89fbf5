// R-04: a response names a PSN that was sent. A capture can lack the request, so it is a violation only when the
// requester goes on and the next packet it sends, without a gap, is one the response acknowledged before.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  Flow& flow = *c.flow;
  if (!f.reveals_ahead || !flow.trouble->ahead_psn) return;
  const std::uint32_t ahead = *flow.trouble->ahead_psn;
  const std::int64_t before_ns = c.packet.frame.time_ns - flow.trouble->ahead_ns;
  flow.trouble.write().ahead_psn.reset();
  // Nearer: the two changed places while they were captured. Farther: the capture may lack the request, and this is it
  // once more after a timeout.
  constexpr std::int64_t nearest_ns = 50'000, farthest_ns = 4'000'000;
  if (f.order != Order::next || before_ns < nearest_ns || before_ns > farthest_ns || flow.missed_packets > 0) return;
  mismatch_at(
      out, r04_ack_sent.info, c.connection, c.side ^ 1, flow.trouble->ahead_frame, flow.trouble->ahead_ns,
      "infiniband.bth.psn", psn_add(c.psn, psn_mask), ahead,
      fmt::format("PSN {} was sent only {} later, in frame {}", c.psn, duration(before_ns), c.packet.frame.number));
}

}  // namespace

const Rule r04_ack_sent{
    {.id = "R-04",
     .title = "A response names a PSN that was sent",
     .source = "Linux drivers/infiniband/hw/hfi1: rc.c; sw/rxe: rxe_comp.c",
     .help =
         R"(An acknowledge covers every SEND and WRITE packet up to and including its PSN, so that PSN must have been received.
A requester ignores an acknowledge ahead of what it has sent.

Expected is the last PSN sent before. Responses ahead of all requests in the capture are counted; they are reported as
violation only when the requester sends that PSN later, shortly and without a gap. Else the capture lacks the requests:
H-MISSED.

Usual causes: a responder that acknowledges the PSN it expects next instead of the last one received.

Look next at: the last request before the response.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
