// H-IMPLIED-NAK: a requester went back because READ or atomic responses were passed over: a later response told it that
// they are missing.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || f.back_by != BackBy::implied_nak || !c.connection.reliable()) return;
  const std::int32_t again = psn_diff(f.back_from, c.psn);
  out.say(h_implied_nak.info, c,
          fmt::format("{} passed over before frame {}; from PSN {} on {} asked for again", count(f.holes, "response"),
                      c.packet.frame.number, c.psn, again == 1 ? "1 PSN is" : fmt::format("{} PSNs are", again)));
}

}  // namespace

const Rule h_implied_nak{
    {.id = "H-IMPLIED-NAK",
     .title = "READ or atomic asked again because responses are missing",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/hw/hfi1: rc.c (do_rc_ack)",
     .help =
         R"(Responses come in PSN order. When a later one arrives first, the requester knows that those between are lost (or
late), and sends the READ or atomic again, from the first missing PSN on. This is quick, unlike a timeout, but everything
behind it is transferred once more.

Usual causes: responses lost on the way back (congestion without flow control, damaged packets), or a network that changes
the order of packets, for instance by adaptive routing or load balancing per packet.

Look next at: H-REORDERED (are the missing ones only late?), H-LOSS, and the responses just before.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
