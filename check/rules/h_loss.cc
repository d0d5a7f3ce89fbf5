// H-LOSS: how many packets were lost on the wire: those the responder asked for again, and responses that never came.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void end(Connection& c, Findings& out) {
  for (std::uint8_t side = 0; side < 2; ++side) {
    const Flow& flow = *c.flow[side];
    if (!c.reliable()) {
      if (flow.gap_packets > 0)
        out.say_of(h_loss.info, c, side, 0, c.last_ns,
                   fmt::format("{} of {} passed over: lost, or missed by the capture", count(flow.gap_packets, "PSN"),
                               flow.gap_packets + flow.request_packets));
      continue;
    }
    if (flow.trouble->lost_requests > 0) {
      std::string text =
          fmt::format("{} of {} lost, the responder asked again", count(flow.trouble->lost_requests, "request packet"),
                      flow.trouble->lost_requests + flow.request_packets);
      if (c.bad_icrc[side] > 0) text += fmt::format(" ({} arrived damaged)", count(c.bad_icrc[side], "packet"));
      out.say_of(h_loss.info, c, side, flow.trouble->first_lost_frame, c.last_ns, std::move(text));
    }
    if (flow.trouble->lost_responses > flow.trouble->late_responses)
      out.say_of(h_loss.info, c, side ^ 1, flow.trouble->first_lost_frame, c.last_ns,
                 fmt::format("{} of {} lost",
                             count(flow.trouble->lost_responses - flow.trouble->late_responses, "response packet"),
                             flow.trouble->lost_responses - flow.trouble->late_responses + flow.response_packets));
  }
}

}  // namespace

const Rule h_loss{
    {.id = "H-LOSS",
     .title = "Packets were lost on the wire",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "what was asked for again; no specification",
     .help =
         R"(Counted are requests the responder asked for again, and READ and atomic responses that later ones passed over (less
those that came late). What got lost at the end of a burst shows as H-TIMEOUT only, so the true number may be higher.

RDMA networks are meant to be nearly free of loss: each one costs a go-back of the whole window, or a timeout.

Usual causes: switch buffers that overflow (priority flow control not set up end to end, wrong traffic class), a bad
cable or transceiver (then F-01 fires as well), a receiver that cannot keep up.

Look next at: drop and pause counters of the ports on the path, H-ECN, and whether losses come in bursts.)"},
    0,
    nullptr,
    end};

}  // namespace rdmascope::check
