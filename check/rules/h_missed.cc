// H-MISSED: acknowledged, but not captured. Said once for each direction.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void end(Connection& c, Findings& out) {
  if (!c.reliable()) return;
  for (std::uint8_t side = 0; side < 2; ++side) {
    const Flow& flow = *c.flow[side];
    if (flow.missed_packets > 0)
      out.say_of(h_missed.info, c, side, flow.trouble->first_missed_frame, c.last_ns,
                 fmt::format("{} acknowledged that {} not in the capture, the first before frame {}",
                             count(flow.missed_packets, "PSN"), flow.missed_packets == 1 ? "is" : "are",
                             flow.trouble->first_missed_frame));
    if (flow.trouble->ahead_psn && psn_diff(flow.trouble->ahead_last_psn, flow.next_psn) >= 0)
      out.say_of(h_missed.info, c, side, flow.trouble->ahead_frame, flow.trouble->ahead_ns,
                 fmt::format("a response names PSN {}, and no request in the capture goes that far",
                             flow.trouble->ahead_last_psn));
  }
}

}  // namespace

const Rule h_missed{
    {.id = "H-MISSED",
     .title = "The capture lacks packets",
     .kind = Class::artifact,
     .severity = Severity::info,
     .source = "what was acknowledged and is not in the capture; no specification",
     .help =
         R"(The responder acknowledged PSNs that the capture does not hold: the packets were on the wire, and the capture missed
them. Rules that count messages start anew behind such a hole.

Usual causes: a capturing host that is too slow (see the capture tool's drop count), a mirror port with less bandwidth than
the traffic it copies, a capture that ended before the last requests.

Look next at: the drop counter of the capture; use a larger buffer, a shorter snap length or a filter.)"},
    0,
    nullptr,
    end};

}  // namespace rdmascope::check
