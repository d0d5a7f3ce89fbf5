// H-CREDITS: the responder's credits went down to none: SENDs have to wait.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (!c.response->starves) return;
  out.say(
      h_credits.info, c,
      fmt::format("no receive buffer left behind message {}; time {} on this connection",
                  c.response->message ? c.response->message->index : c.flow->message_count, c.flow->trouble->starved));
}

}  // namespace

const Rule h_credits{
    {.id = "H-CREDITS",
     .title = "Out of credits",
     .kind = Class::anomaly,
     .severity = Severity::info,
     .source = "credit table: Linux drivers/infiniband/sw/rdmavt/rc.c; InfiniBand Network Architecture (2002), chapter "
               "17",
     .help =
         R"(The acknowledge says that the responder has no receive buffers for further messages (credit count 0). The requester
holds SENDs and WRITEs with Immediate back, but for one to probe, until a later acknowledge gives credits.

Usual causes: a receiver that posts buffers more slowly than messages come; a receive queue shorter than the sender's
window.

Look next at: how long it lasts, RNR NAKs (H-RNR), and the receive queue depth of the application.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
