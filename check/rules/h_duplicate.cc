// H-DUPLICATE: a requester sends what the responder has acknowledged already.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || !f.acked || !c.connection.reliable()) return;
  out.say(
      h_duplicate.info, c,
      fmt::format("PSN {} is sent again, though responses up to PSN {} are in the capture", c.psn, c.flow->acked_psn));
}

}  // namespace

const Rule h_duplicate{
    {.id = "H-DUPLICATE",
     .title = "Sent again though acknowledged",
     .kind = Class::anomaly,
     .severity = Severity::info,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c (duplicate_request)",
     .help =
         R"(The capture holds an acknowledge for this PSN, and the requester sends it once more. Duplicates are harmless: the
responder recognises them and only acknowledges again.

Usual causes: the acknowledge was lost behind the capture point; it came when the timer had run out (timer too short for
the path); READ responses that the requester could not use, since earlier ones were missing.

Look next at: the time between the acknowledge and the retransmission, H-TIMEOUT and H-IMPLIED-NAK.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
