// L-01: First and Middle packets carry exactly the path MTU. Before it is known: a size that a path MTU can have.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.opcode.payload != dissect::PayloadRule::pmtu) return;
  const std::uint32_t payload = c.packet.payload_bytes, pmtu = c.connection.pmtu;
  if (payload == pmtu || !lengths_agree(c.packet)) return;
  if (pmtu != 0)
    return out.mismatch(l01_pmtu.info, c, payload_field, pmtu, payload, "bytes of payload; the path MTU is the first");
  if (payload < 256 || payload > 4096 || (payload & (payload - 1)) != 0)
    wrong(out, l01_pmtu.info, c, payload_field, payload, "bytes of payload, which no path MTU is");
}

}  // namespace

const Rule l01_pmtu{{.id = "L-01",
                     .title = "First and Middle packets carry exactly the path MTU",
                     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; hw/hfi1: rc.c",
                     .help = R"(A message longer than the path MTU is cut into packets that are all full, but for the
last. The path MTU is 256, 512, 1024, 2048 or 4096 bytes and the same in both directions of a connection. A responder
answers a request of another size with NAK Invalid Request; a requester ends a READ with a local length error; UC
drops.

Usual causes: the two ends were set up with different path MTUs, a sender that counts headers into the MTU, a CM REQ
that says another MTU than the queue pair has.

Look next at: the path MTU in the CM REQ, and the first First packet of the connection: without a REQ, the MTU is
taken from there.)"},
                    on_request | on_response,
                    packet};

}  // namespace rdmascope::check
