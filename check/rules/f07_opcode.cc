// F-07: the opcode is defined for its transport class. Vendor classes may use theirs as they like; class RD shares its
// codes with DC, whose list is not public.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.opcode.defined || c.opcode.transport >= dissect::Transport::vendor6 ||
      c.opcode.transport == dissect::Transport::rd)
    return;
  wrong(out, f07_opcode.info, c, "infiniband.bth.opcode", c.opcode_byte, "this transport class has no such operation");
}

}  // namespace

const Rule f07_opcode{{.id = "F-07",
                       .title = "The opcode is defined for its transport class",
                       .source = "Linux include/rdma/ib_pack.h; Linux drivers/infiniband/hw/hfi1: rc.c; sw/rxe: "
                                 "rxe_recv.c",
                       .help = R"(The upper three bits of the opcode are the transport class, the lower five the
operation. Not every class has every operation: UC has no READ, no atomic, no acknowledge and no SEND with Invalidate;
UD only has the two SEND Only codes. A responder refuses an unknown code with NAK Invalid Request, or drops the
packet.

Usual causes: a sender that mixes up the class of its queue pair, a newer or vendor operation used without agreement,
bytes that are no BTH.

Look next at: the other packets to this queue pair. Codes 0xC0 to 0xFF are free for manufacturers and not judged,
nor are 0x40 to 0x5F, which one vendor uses for another transport.)"},
                      on_good,
                      packet};

}  // namespace rdmascope::check
