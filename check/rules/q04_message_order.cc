// Q-04: inside a SEND only SEND Middle and Last follow, inside a WRITE only WRITE Middle and Last; otherwise only what
// can begin a message. READs and atomics inside a message are Q-05's.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (f.breaks_message && operation_of(c.opcode_byte) < Operation::read)
    wrong(out, q04_message_order.info, c, "infiniband.bth.opcode", c.opcode_byte,
          fmt::format("the message before it is not finished, its last packet is {}",
                      dissect::opcodes[f.previous_opcode].name));
  else if (f.lacks_first)
    wrong(out, q04_message_order.info, c, "infiniband.bth.opcode", c.opcode_byte,
          "no message is in progress that it could continue");
}

}  // namespace

const Rule q04_message_order{
    {.id = "Q-04",
     .title = "The packets of a message follow each other",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c (check_op_seq); hw/hfi1: rc.c",
     .help =
         R"(A message of several packets is First, any number of Middle, Last, all of the same kind, with nothing between.
A responder answers anything else with NAK Invalid Request and both queue pairs stop; on an unreliable connection it drops
the message.

Judged only where the PSN is the one expected, so that lost packets do not fire it.

Usual causes: two work requests sent at the same time by one queue pair, a message cut off after an error, a wrong opcode.

Look next at: the packets just before, by PSN.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
