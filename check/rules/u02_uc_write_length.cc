// U-02: the packets of a UC WRITE carry as many bytes together as its RETH announces; the receiver drops it otherwise.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (c.connection.transport != dissect::Transport::uc || !f.ends_message || !f.message ||
      f.message->operation != Operation::write || !f.message->has_reth || f.message->bytes == f.message->dma_length ||
      !lengths_agree(c.packet))
    return;
  out.mismatch(u02_uc_write_length.info, c, payload_field, f.message->dma_length, f.message->bytes,
               "bytes in all packets of the WRITE that began in frame " + std::to_string(f.message->first_frame));
}

}  // namespace

const Rule u02_uc_write_length{
    {.id = "U-02",
     .title = "A UC WRITE carries as many bytes as DMALen says",
     .source = "Linux drivers/infiniband/hw/hfi1: uc.c",
     .help = R"(The RETH of the first packet tells the length of the whole WRITE; the payloads of all its packets
together must be exactly that. On UC the receiver drops a message that does not fit and tells nobody: the data, or the
immediate value the application waits for, never arrives.

Usual causes: as on RC (L-04): DMALen taken from one buffer of a list, a Last packet cut short, a wrong PadCnt.

Look next at: the frame where the WRITE began. Judged only when all packets of the message are in the capture.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
