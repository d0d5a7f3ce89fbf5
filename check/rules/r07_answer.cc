// R-07: a request that asks for an acknowledge gets one within the requester's timeout. One timeout can be a loss in
// either direction; the second in a row without any response says that the responder is silent.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || f.back_by != BackBy::timeout || !f.last_asked || c.flow->trouble->timeouts_in_row != 2) return;
  if (!c.connection.reliable() || c.flow->response_packets == 0) return;
  out.say(r07_answer.info, c,
          fmt::format("sent for the third time from PSN {} on without any response; the last one was frame {}", c.psn,
                      c.flow->last_response_frame));
}

}  // namespace

const Rule r07_answer{
    {.id = "R-07",
     .title = "A request that asks for an acknowledge gets one",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: rc.c",
     .help =
         R"(A responder answers a request with AckReq, or a READ or atomic, at once or with a later response. Two timeouts in a
row without any response mean that it is silent, or that nothing gets through.

Usual causes: a responder that died or whose queue pair is in the error state, a broken path in one direction, packets that
the responder drops without a word (wrong ICRC, P_Key, unknown queue pair).

Look next at: F-rules for this connection, whether the responder still sends requests of its own, and H-FATAL-NAK in the
other direction.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
