// Q-05: no READ or atomic between First and Last of another message.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.breaks_message || operation_of(c.opcode_byte) < Operation::read) return;
  wrong(out, q05_no_read_inside.info, c, "infiniband.bth.opcode", c.opcode_byte,
        fmt::format("the message before it is not finished, its last packet is {}",
                    dissect::opcodes[f.previous_opcode].name));
}

}  // namespace

const Rule q05_no_read_inside{
    {.id = "Q-05",
     .title = "No READ or atomic inside another message",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c (check_op_seq); hw/hfi1: rc.c",
     .help =
         R"(Between First and Last of a SEND or WRITE no other request may be sent, READs and atomics (and FLUSH, ATOMIC
WRITE) included. A responder answers with NAK Invalid Request and both queue pairs stop.

Judged only where the PSN is the one expected, so that lost packets do not fire it.

Usual causes: a requester with separate send queues for READs and WRITEs that does not wait for the message boundary.

Look next at: the packets just before, by PSN.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
