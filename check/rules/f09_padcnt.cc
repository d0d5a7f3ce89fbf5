// F-09: payload and pad bytes together fill words of four bytes.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const dissect::Packet& p = c.packet;
  if ((p.payload_bytes + p.pad_bytes) % 4 == 0 || !layout_known(c.opcode) || !lengths_agree(p)) return;
  out.mismatch(f09_padcnt.info, c, "infiniband.bth.padcnt", -p.payload_bytes % 4, p.pad_bytes,
               "the payload has " + std::to_string(p.payload_bytes) + " bytes");
}

}  // namespace

const Rule f09_padcnt{{.id = "F-09",
                       .title = "PadCnt fills the payload up to a multiple of four",
                       .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c; include/rdma/ib_pack.h",
                       .help = R"(InfiniBand packets are made of words of four bytes. A payload that does not fill its
last word gets 1 to 3 pad bytes, and PadCnt says how many, so that the receiver can take them off. A packet of any
other length was built wrongly.

Usual causes: a sender that does not pad, pads without saying so in PadCnt, or puts the pad in front of the payload; a
length field that is wrong by a few bytes.

Look next at: RETH DMALen or the message size the application posted, which tell the true payload length.)"},
                      on_good,
                      packet};

}  // namespace rdmascope::check
