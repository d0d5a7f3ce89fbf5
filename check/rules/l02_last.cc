// L-02: a Last packet carries something, and at most the path MTU.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

constexpr std::uint32_t largest_pmtu = 4096;

void packet(const Context& c, Findings& out) {
  if (c.opcode.payload != dissect::PayloadRule::one_to_pmtu) return;
  const std::uint32_t payload = c.packet.payload_bytes;
  const std::uint32_t most = c.connection.pmtu != 0 ? c.connection.pmtu : largest_pmtu;
  if ((payload >= 1 && payload <= most) || !lengths_agree(c.packet)) return;
  out.mismatch(l02_last.info, c, payload_field, payload == 0 ? 1 : most, payload,
               payload == 0 ? "bytes of payload; at least" : "bytes of payload; at most");
}

}  // namespace

const Rule l02_last{{.id = "L-02",
                     .title = "A Last packet carries 1 byte to the path MTU",
                     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: rc.c",
                     .help = R"(The Last packet of a message carries what is left of it: at least one byte, at most
the path MTU. A message that ends on a full packet ends with a full Last packet, not with an empty one behind it.

Usual causes: a sender that divides the length by the MTU and rounds down, so that a length of exactly n packets gets
n full packets and an empty Last; different path MTUs at the two ends.

Look next at: DMALen of the message (RETH of the WRITE First or READ Request) divided by the path MTU.)"},
                    on_request | on_response,
                    packet};

}  // namespace rdmascope::check
