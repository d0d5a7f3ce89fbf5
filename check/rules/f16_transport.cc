// F-16: one queue pair, one transport: RC, UC and XRC packets do not mix. Congestion notifications go to any of them.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const dissect::Transport seen = c.connection.transport;
  if (seen == c.opcode.transport || c.connection.id == 0 || !c.opcode.defined || !is_connected(c.opcode.transport) ||
      !is_connected(seen))
    return;
  out.mismatch(f16_transport.info, c, "infiniband.bth.opcode",
               static_cast<std::uint64_t>(seen) << 5 | (c.opcode_byte & 31), c.opcode_byte,
               "the queue pair has another transport, or its number was used anew");
}

}  // namespace

const Rule f16_transport{{.id = "F-16",
                          .title = "The opcode class is that of the queue pair",
                          .source = "Linux drivers/infiniband/sw/rxe: rxe_recv.c",
                          .help = R"(A queue pair is made for one transport: reliable (RC), unreliable (UC) or
extended reliable (XRC). The class in the opcode of every packet to it is the same. A receiver drops packets of
another class.

Usual causes: the two ends created their queue pairs with different types, a sender confuses two queue pairs, or a
queue pair was closed and another one got its number while the capture ran.

Look next at: the transport type in the CM REQ, and whether all later packets to this queue pair have the new
class. Packets of the other class are not followed: sequence numbers and messages are judged for the first class
only.)"},
                         on_good,
                         packet};

}  // namespace rdmascope::check
