// H-REORDERED: a packet was overtaken on its way. Its sender's IP identification says so, or it fills a gap at once
// without having been asked for.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const bool late = c.request ? c.request->late : c.response->late;
  if (!late) return;
  out.say(h_reordered.info, c, fmt::format("PSN {} was overtaken by packets that its sender sent later", c.psn));
}

}  // namespace

const Rule h_reordered{
    {.id = "H-REORDERED",
     .title = "Packets changed places",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "identification of IP packets, which most senders count up; no specification",
     .help =
         R"(RDMA transports expect packets in order: a requester takes a READ response that is late for a lost one, a responder
sends a NAK. So a network that reorders costs as much as one that loses.

Usual causes: load balancing per packet instead of per flow, adaptive routing with devices that cannot handle it, link
aggregation, a software switch with several queues. A capture taken on several queues can reorder by itself.

Look next at: whether NAKs or H-IMPLIED-NAK follow (then the packets were out of order for the receiver, too).)"},
    on_request | on_response,
    packet};

}  // namespace rdmascope::check
