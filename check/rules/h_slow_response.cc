// H-SLOW-RESPONSE: an answer took much longer than is usual for this connection.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  constexpr std::int64_t worth_telling_ns = 1'000'000, times = 10;
  if (f.wait_ns < worth_telling_ns || f.wait_ns < times * f.usual_wait_ns || !f.message) return;
  out.say(h_slow_response.info, c,
          fmt::format("{} of frame {} answered after {}, usual so far is {}", name(f.message->operation),
                      f.message->first_frame, duration(f.wait_ns), duration(f.usual_wait_ns)));
}

}  // namespace

const Rule h_slow_response{
    {.id = "H-SLOW-RESPONSE",
     .title = "The responder took unusually long",
     .kind = Class::anomaly,
     .severity = Severity::info,
     .source = "a rule of thumb, no specification",
     .help =
         R"(From the last packet of a request to the packet that completes it, at least 1 ms and ten times the moving average of
this connection. Messages that were sent again are not counted.

Usual causes: the responder's memory or bus was busy, page faults (on-demand paging), power saving, a virtual machine that
did not run, congestion on the way.

Look next at: what else the responder sent at that time, and whether other connections of the host waited, too.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
