// F-10: no pad where there is nothing to pad: First and Middle carry a full path MTU, some operations no payload.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const auto pad = c.bth.get<"padcnt">();
  if (pad == 0 || !layout_known(c.opcode)) return;
  if (c.opcode.payload == dissect::PayloadRule::none || c.opcode.payload == dissect::PayloadRule::pmtu)
    out.mismatch(f10_no_pad.info, c, "infiniband.bth.padcnt", 0, pad);
}

}  // namespace

const Rule f10_no_pad{{.id = "F-10",
                       .title = "PadCnt is 0 on First, Middle and packets without payload",
                       .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c, for WRITE; for other packets it follows "
                                 "from their payload",
                       .help = R"(First and Middle packets carry exactly the path MTU, a multiple of four. READ
Requests, acknowledges, atomics, FLUSH and congestion notifications carry no payload. None of them has anything to
pad, so PadCnt is 0. A responder refuses a padded WRITE First or Middle as an invalid request.

Usual causes: a sender that takes PadCnt from the length of the whole message and puts it into every packet of it, or
leaves it from the last packet sent.

Look next at: the Last packet of the same message: its PadCnt is the one that belongs there.)"},
                      on_good,
                      packet};

}  // namespace rdmascope::check
