// L-08: an ATOMIC WRITE carries 8 bytes, says so in DMALen, and has no pad.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

constexpr std::uint32_t size = 8;

void packet(const Context& c, Findings& out) {
  if (c.opcode.payload != dissect::PayloadRule::eight || !c.opcode.confirmed) return;
  const RuleInfo& rule = l08_atomic_write.info;
  if (c.packet.payload_bytes != size && lengths_agree(c.packet))
    return out.mismatch(rule, c, payload_field, size, c.packet.payload_bytes, "bytes of payload");
  if (const auto pad = c.bth.get<"padcnt">(); pad != 0) return out.mismatch(rule, c, "infiniband.bth.padcnt", 0, pad);
  const auto reth = c.packet.find<dissect::Reth>();
  if (reth && reth->get<"dmalen">() != size)
    out.mismatch(rule, c, "infiniband.reth.dmalen", size, reth->get<"dmalen">());
}

}  // namespace

const Rule l08_atomic_write{
    {.id = "L-08",
     .title = "An ATOMIC WRITE is 8 bytes long",
     .ibta = "oA19-28",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c",
     .help = R"(ATOMIC WRITE puts exactly eight bytes into the responder's memory at once: payload 8, DMALen 8, no
pad. It comes with the memory placement extensions (IBTA 1.5 and later). A responder refuses any other length as an
invalid request.

Usual causes: an application that uses it for 4 byte values, a generator that fills DMALen with the size of a buffer.

Look next at: whether the responder supports the operation at all, and its answer (a READ Response Only without
payload when it took the packet).)"},
    on_request,
    packet};

}  // namespace rdmascope::check
