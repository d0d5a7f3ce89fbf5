// L-07: READ Request, acknowledges, atomics and FLUSH carry no payload.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.opcode.payload != dissect::PayloadRule::none || c.packet.payload_bytes == 0 || !lengths_agree(c.packet)) return;
  out.mismatch(l07_no_payload.info, c, payload_field, 0, c.packet.payload_bytes, "bytes of payload");
}

}  // namespace

const Rule l07_no_payload{{.id = "L-07",
                           .title = "Requests for data, acknowledges and atomics carry no payload",
                           .ibta = "oA19-2",
                           .source = "Linux drivers/infiniband/sw/rxe: rxe_opcode.c",
                           .help = R"(A READ Request, an Acknowledge, an atomic request or answer and a FLUSH consist
of headers only. Bytes between the last header and the ICRC have no meaning there, and a receiver drops or refuses the
packet.

Usual causes: a wrong opcode on a packet that carries data, a length field that counts Ethernet padding in (short
frames are padded to 60 bytes), an ICRC written twice.

Look next at: what the bytes are. Zeros point to padding, four of them to a second CRC. The statement number is
that of FLUSH; the others follow from their header lists.)"},
                          on_request | on_response,
                          packet};

}  // namespace rdmascope::check
