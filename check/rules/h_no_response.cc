// H-NO-RESPONSE: requests without any response, or responses without their requests: the capture saw one direction.
// Said once.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void end(Connection& c, Findings& out) {
  if (!c.reliable()) return;
  for (std::uint8_t side = 0; side < 2; ++side) {
    const Flow& flow = *c.flow[side];
    if (flow.request_packets > 0 && flow.response_packets == 0) {
      Finding f{&h_no_response.info, h_no_response.info.kind, 0, c.last_ns};
      f.side = side;
      if (c.packets[side ^ 1] == 0) {
        f.text = fmt::format("{} and not one packet of the other direction", count(flow.request_packets, "request"));
      } else {
        f.kind = Class::anomaly;
        f.text = fmt::format("{} and no response, though the other side sends", count(flow.request_packets, "request"));
      }
      out.add(&c, std::move(f));
    } else if (flow.request_packets == 0 && flow.response_packets > 0 && c.packets[side] == 0) {
      out.say_of(h_no_response.info, c, side ^ 1, 0, c.last_ns,
                 fmt::format("{} and not one packet of the requester", count(flow.response_packets, "response")));
    }
  }
}

}  // namespace

const Rule h_no_response{
    {.id = "H-NO-RESPONSE",
     .title = "Only one direction is in the capture",
     .kind = Class::artifact,
     .severity = Severity::info,
     .source = "no specification says how long a responder may take",
     .help = R"(Most rules judge requests and responses against each other. With one direction alone they keep silent.

Usual causes: a switch port mirror set to one direction, a filter by source address, asymmetric routing; two directions that
could not be paired, since several connections between the same hosts use the same PSNs (name the pair with --pair).

When the other side does send packets, but no response, this is no fault of the capture: the responder is silent.

Look next at: how the capture was taken.)"},
    0,
    nullptr,
    end};

}  // namespace rdmascope::check
