// R-19: nothing is answered on an unreliable connection.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (!c.opcode.response || c.connection.transport != dissect::Transport::uc) return;
  wrong(out, r19_no_response.info, c, "infiniband.bth.opcode", c.opcode_byte,
        "the queue pair it goes to is an unreliable connection");
}

}  // namespace

const Rule r19_no_response{
    {.id = "R-19",
     .title = "No response on an unreliable connection",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_recv.c",
     .help =
         R"(On an unreliable connection (UC) nobody acknowledges: lost messages are dropped and the application finds out. A
response toward a UC queue pair is dropped by it.

Responses to packets with a wrong ICRC, P_Key or queue pair would break this rule as well; a capture cannot show what a
responder took in, so they are left to the tester.

Usual causes: a responder that does not know the type of its queue pair.

Look next at: F-16 for the same queue pair.)"},
    on_any,
    packet};

}  // namespace rdmascope::check
