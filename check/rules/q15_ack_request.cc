// Q-15: AckReq belongs on the last packet the requester wants to see completed. Not a violation: without it the
// responder owes nothing, and a requester that then waits runs into its timer.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || f.back_by != BackBy::timeout || !c.connection.reliable() || f.last_asked) return;
  out.say(q15_ack_request.info, c,
          fmt::format("the timer ran out after {}, and the last packet sent before did not ask for an acknowledge",
                      duration(f.silent_ns)));
}

void end(Connection& c, Findings& out) {
  if (!c.reliable()) return;
  for (std::uint8_t side = 0; side < 2; ++side) {
    const Flow& flow = *c.flow[side];
    if (!flow.started || flow.response_packets == 0 || flow.last_asked || !flow.next_known) continue;
    if (flow.has_acked && psn_diff(psn_add(flow.acked_psn, 1), flow.next_psn) >= 0) continue;
    out.say_of(q15_ack_request.info, c, side, flow.last_request_frame, flow.last_request_ns,
               "the last request did not ask for an acknowledge, and got none");
  }
}

}  // namespace

const Rule q15_ack_request{
    {.id = "Q-15",
     .title = "The last packet of a burst asks for an acknowledge",
     .kind = Class::anomaly,
     .severity = Severity::info,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c, which asks at the end of a message and every 64 packets",
     .help =
         R"(A responder must answer a request with AckReq set; without it, it may wait for a later one. A requester that wants a
completion therefore sets AckReq at least on the last packet of what it sends. Where it does not, the responder owes
nothing, and the requester sends again when its timer runs out.

Usual causes: unsignaled work requests at the end of a burst (harmless until something is lost), a requester that sets
AckReq only on every n-th packet and forgets the last.

Look next at: whether a retransmission by timeout follows each burst.)"},
    on_request,
    packet,
    end};

}  // namespace rdmascope::check
