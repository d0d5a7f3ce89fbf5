// H-MIDSTREAM: the capture began when the connection was already in use. Said once for each direction.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void end(Connection& c, Findings& out) {
  for (std::uint8_t side = 0; side < 2; ++side) {
    const Flow& flow = *c.flow[side];
    if (!flow.started || c.facts[side].start_psn) continue;
    const bool counted = c.reliable() && flow.msn_low_known && flow.msn_low > 0 && psn_diff(flow.msn_low, 0) > 0;
    if (!counted && !flow.began_inside) continue;
    out.say_of(h_midstream.info, c, side, c.first_frame, c.first_ns,
               counted ? fmt::format("about {} before the capture, by the first MSN", count(flow.msn_low, "message"))
                       : std::string("the first packet continues a message"));
  }
}

}  // namespace

const Rule h_midstream{
    {.id = "H-MIDSTREAM",
     .title = "The capture starts in the middle",
     .kind = Class::artifact,
     .severity = Severity::info,
     .source = "the first packets of the capture; no specification",
     .help =
         R"(The connection had carried messages before the first frame. Rules that need what was before wait until they know
enough; parameters agreed on when connecting (path MTU, depth, timers) are not known, unless they show in the packets.

Look next at: nothing, if that is what you meant to capture. For all checks, start the capture before the connection is
made.)"},
    0,
    nullptr,
    end};

}  // namespace rdmascope::check
