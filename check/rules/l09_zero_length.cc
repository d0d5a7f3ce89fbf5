// L-09: a message of length 0 is one Only packet; a READ of length 0 is answered by one READ Response Only without
// payload.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using dissect::Position;

constexpr std::uint8_t response_only = 0x10;

void request(const Context& c, Findings& out) {
  if (c.opcode.position != Position::first || !(c.opcode.extensions & dissect::ext_reth)) return;
  const auto reth = c.packet.find<dissect::Reth>();
  if (reth && reth->get<"dmalen">() == 0)
    wrong(out, l09_zero_length.info, c, "infiniband.reth.dmalen", 0, "a WRITE of length 0 is an Only packet");
}

void response(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (!f.judged || !f.message || f.message->operation != Operation::read || f.message->dma_length != 0) return;
  const std::uint8_t wanted = (c.opcode_byte & 0xe0) | response_only;
  if (f.kind == ResponseFacts::Kind::ack) {
    if (f.message->state == MessageState::open && !f.repeated && c.psn == f.message->first_psn)
      out.mismatch(l09_zero_length.info, c, "infiniband.bth.opcode", wanted, c.opcode_byte,
                   "to a READ of length 0; a plain acknowledge does not answer it");
  } else if (f.kind == ResponseFacts::Kind::read) {
    if (c.opcode.position != Position::only)
      out.mismatch(l09_zero_length.info, c, "infiniband.bth.opcode", wanted, c.opcode_byte, "to a READ of length 0");
    else if (c.packet.payload_bytes != 0 && lengths_agree(c.packet))
      out.mismatch(l09_zero_length.info, c, payload_field, 0, c.packet.payload_bytes,
                   "bytes of payload, to a READ of length 0");
  }
}

void packet(const Context& c, Findings& out) { c.response ? response(c, out) : request(c, out); }

}  // namespace

const Rule l09_zero_length{
    {.id = "L-09",
     .title = "A message of length 0 is one packet",
     .ibta = "C9-88",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c, rxe_req.c",
     .help = R"(SEND, WRITE and READ of no bytes are legal, often used to flush or to wake a peer. They take one PSN:
one Only packet; the READ is answered by one READ Response Only without payload. Key and address are not checked by
the responder.

Usual causes: a responder that treats length 0 as an error or acknowledges it like a SEND, a sender that starts a
segmented message before it knows the length.

Look next at: DMALen in the RETH: is it really meant to be 0? The next request carries the PSN after this one.)"},
    on_request | on_response,
    packet};

}  // namespace rdmascope::check
