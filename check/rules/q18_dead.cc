// Q-18: after a fatal NAK the requester sends nothing more. What was on the way when the NAK was sent is legal.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  const Flow& flow = *c.flow;
  if (!flow.trouble->dead || f.late || (f.order != Order::next && f.order != Order::retransmission)) return;
  constexpr std::int64_t on_the_way_ns = 5'000'000;  // there, and the NAK back
  const std::int64_t after_ns = c.packet.frame.time_ns - flow.trouble->dead_ns;
  if (after_ns <= on_the_way_ns) return;
  out.say(q18_dead.info, c,
          fmt::format("sent {} after the fatal NAK for PSN {}", duration(after_ns), flow.trouble->dead_psn));
}

}  // namespace

const Rule q18_dead{
    {.id = "Q-18",
     .title = "Nothing is sent after a fatal NAK",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_comp.c; hw/hfi1: rc.c",
     .help =
         R"(NAK Invalid Request, Remote Access Error and Remote Operational Error end the connection: the requester's queue pair
goes to the error state and sends nothing more, until it is reset and connected anew. Requests sent within 5 ms of the NAK
may have been on the way and are not reported.

Usual causes: a requester that takes every NAK for a retry; a queue pair number used anew at once for another connection
whose CM exchange is not in the capture.

Look next at: the NAK (H-FATAL-NAK) and the request it names.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
