// R-06: a READ response or ATOMIC ACK acknowledges all SENDs and WRITEs before it; they are not sent again after it
// arrived. Whether it arrived is not in the capture, so this is an anomaly.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || !f.acked || operation_of(c.opcode_byte) >= Operation::read || !c.connection.reliable()) return;
  // By which kind of response?
  const DataRequest* covering = nullptr;
  for (std::size_t i = c.flow->asked.size(); i-- > 0 && !covering;) {
    const DataRequest& d = c.flow->asked[i];
    if (psn_diff(d.psn, c.psn) > 0 && psn_diff(d.psn, c.flow->acked_psn) <= 0 && d.answered) covering = &d;
  }
  if (!covering) return;
  out.say(r06_implied_ack.info, c,
          fmt::format("the {} of frame {}, which is behind it, has been answered", name(covering->operation),
                      covering->frame));
}

}  // namespace

const Rule r06_implied_ack{
    {.id = "R-06",
     .title = "What a READ response acknowledges is not sent again",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/hw/hfi1: rc.c",
     .help =
         R"(A response to a READ or atomic tells the requester that everything before it has arrived: SENDs and WRITEs with
earlier PSNs are acknowledged by it and need not be sent again.

The capture shows the response, not whether it reached the requester; so this is an anomaly.

Usual causes: the response was lost behind the capture point; a requester that waits for an acknowledge of its own for each
SEND and WRITE.

Look next at: whether it happens each time a READ follows a WRITE (requester), or now and then (loss).)"},
    on_request,
    packet};

}  // namespace rdmascope::check
