// R-08: a gap gets one sequence NAK, with the expected PSN; no further one until that PSN arrives.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::sequence_nak || !f.another_nak || f.ahead) return;
  out.say(r08_one_nak.info, c, fmt::format("PSN {} was asked for already and has not been sent since", c.psn));
}

}  // namespace

const Rule r08_one_nak{
    {.id = "R-08",
     .title = "One NAK for a gap",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: rc.c",
     .help =
         R"(A responder that gets a PSN ahead of the expected one sends one NAK PSN Sequence Error with the expected PSN, discards
the packet and all that follow, and stays silent until the expected PSN arrives. A NAK for every discarded packet makes the
requester go back again and again.

Usual causes: a responder that does not remember that it has sent the NAK.

Look next at: the first NAK for this PSN and how many requests arrived since.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
