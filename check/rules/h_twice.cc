// H-TWICE: the same frame stands twice in the capture: same PSN, same IP identification. Said once.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void end(Connection& c, Findings& out) {
  if (c.twice == 0) return;
  out.say_of(h_twice.info, c, 0, c.first_twice_frame, c.last_ns,
             fmt::format("{} captured twice, the first is frame {}; the copies are not judged", count(c.twice, "frame"),
                         c.first_twice_frame));
}

}  // namespace

const Rule h_twice{
    {.id = "H-TWICE",
     .title = "Frames were captured twice",
     .kind = Class::artifact,
     .severity = Severity::info,
     .source = "identification of IP packets, which most senders count up; no specification",
     .help =
         R"(A retransmission gets a new IP identification; a frame with the same one is the same frame seen at two places. The
copies are left out of all counts and rules.

Usual causes: captures of several interfaces merged into one file, capturing on "any" with bridges or bonds, a mirror port
that copies a packet when it comes in and when it goes out.

Look next at: the interfaces in the file; judge one of them at a time.)"},
    0,
    nullptr,
    end};

}  // namespace rdmascope::check
