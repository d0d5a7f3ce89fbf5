// R-01: responses are sent in PSN order: what READs and atomics ask for goes out before any later acknowledge. Seen out
// of order in a capture they may have changed places on the way; that is ruled out by the sender's IP packet numbers,
// or by time.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (!f.judged || f.ahead || f.late) return;
  if (f.was_overtaken) {
    mismatch_at(out, r01_response_order.info, c.connection, c.side, f.overtaking_frame, f.overtaking_ns,
                "infiniband.bth.psn", c.psn, f.overtaking_psn,
                fmt::format("acknowledges a later request; the response for PSN {} was sent after it, in frame {}",
                            c.psn, c.packet.frame.number));
    return;
  }
  // READs are answered anew when they are asked again, which the capture may lack; acknowledges never go back.
  if (f.kind != ResponseFacts::Kind::ack || !f.superseded || !f.order_known || c.flow->trouble->go_backs > 0) return;
  out.mismatch(r01_response_order.info, c, "infiniband.bth.psn", *f.superseded, c.psn,
               "goes back behind an earlier acknowledge");
}

}  // namespace

const Rule r01_response_order{
    {.id = "R-01",
     .title = "Responses are sent in PSN order",
     .ibta = "C9-27",
     .source = "InfiniBand Test Specification, C09_027_05",
     .help =
         R"(A responder answers in the order of the requests. The responses of a READ or atomic go out before any acknowledge for
a later request: a requester that sees the later one first takes it for a NAK of the READ and sends the READ again.

Reported only when the order of sending is certain, by the sender's IP identification or by more than 50 microseconds
between the two.

Usual causes: a responder that acknowledges SENDs and WRITEs from a faster path than the one that reads memory.

Look next at: the READ or atomic named in the finding and the time its responses took.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
