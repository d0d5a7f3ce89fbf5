// Q-14: SE is set only in the last packet of a message that consumes a receive buffer: SEND Last and Only, WRITE Last
// and Only with Immediate.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.opcode.response || !c.opcode.defined || !c.bth.get<"se">()) return;
  if (c.opcode.transport >= dissect::Transport::vendor6 || c.opcode.transport == dissect::Transport::rd) return;
  const bool ends = c.opcode.position == dissect::Position::last || c.opcode.position == dissect::Position::only;
  const Operation operation = operation_of(c.opcode_byte);
  const bool consumes =
      operation == Operation::send || (operation == Operation::write && (c.opcode.extensions & dissect::ext_immdt));
  if (c.opcode.transport != dissect::Transport::cnp && ends && consumes) return;
  out.mismatch(q14_solicited.info, c, "infiniband.bth.se", 0, 1, std::string(c.opcode.name));
}

}  // namespace

const Rule q14_solicited{
    {.id = "Q-14",
     .title = "Solicited event only where a receive completes",
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c; FLUSH: linux-rdma, December 2021, RDMA/rxe: Add RDMA FLUSH "
               "operation",
     .help =
         R"(SE asks the receiver to raise an event when the receive completes. It has a meaning only in a packet that completes
a receive: SEND Last or Only of any kind, WRITE Last or Only with Immediate. Elsewhere it is sent as 0.

Usual causes: a requester that sets SE in every packet of a message, or for plain WRITEs and READs.

Look next at: the opcode of the packet.)"},
    on_good,
    packet};

}  // namespace rdmascope::check
