// L-04: the packets of a WRITE carry as many bytes together as its RETH announces. UC: U-02.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.ends_message || !f.message || f.message->operation != Operation::write || !f.message->has_reth ||
      f.message->bytes == f.message->dma_length || !c.connection.reliable() || !lengths_agree(c.packet))
    return;
  out.mismatch(l04_write_length.info, c, payload_field, f.message->dma_length, f.message->bytes,
               "bytes in all packets of the WRITE that began in frame " + std::to_string(f.message->first_frame));
}

}  // namespace

const Rule l04_write_length{{.id = "L-04",
                             .title = "A WRITE carries as many bytes as DMALen says",
                             .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: uc.c",
                             .help = R"(The RETH of the first packet tells the length of the whole WRITE, so that the
responder can check key and bounds once. The payloads of all its packets together must be exactly that. A responder
that sees more or less at the Last packet refuses the message as an invalid request, after writing part of it.

Usual causes: a sender that takes DMALen from one buffer of a gather list, or cuts the Last packet short; packets of
two messages mixed up; PadCnt that is wrong, so that pad counts as payload.

Look next at: the frame where the WRITE began, and how many packets DMALen needs at this path MTU. Judged only
when all packets of the message are in the capture.)"},
                            on_request,
                            packet};

}  // namespace rdmascope::check
