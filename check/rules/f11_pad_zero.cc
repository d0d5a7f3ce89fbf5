// F-11: pad bytes are 0.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.packet.pad_bytes == 0 || !layout_known(c.opcode)) return;
  const dissect::Layer* pad = c.packet.find(dissect::header<dissect::Pad>);
  if (!pad) return;
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < pad->bytes; ++i) value = value << 8 | c.packet.data(*pad)[i];
  if (value != 0) out.mismatch(f11_pad_zero.info, c, "infiniband.pad.data", 0, value);
}

}  // namespace

const Rule f11_pad_zero{{.id = "F-11",
                         .title = "Pad bytes are 0",
                         .severity = Severity::warning,
                         .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c, which writes 0; no receiver looks",
                         .help = R"(Behind a payload that is no multiple of four stand 1 to 3 pad bytes. Senders write
0. Receivers take them off without looking, so nothing breaks; but what stands there left the sender's memory.

Usual causes: a sender that rounds the length up and sends what happens to stand behind its buffer (other data may
leak out that way), or that sets PadCnt although the bytes belong to the message.

Look next at: RETH DMALen or the posted size: are these bytes part of the message? If so, PadCnt is wrong, not the
pad.)"},
                        on_good,
                        packet};

}  // namespace rdmascope::check
