// L-05: number and sizes of READ responses follow from DMALen and the path MTU. One response: Only; else First, Middle,
// Last, each full but the Last, which carries the rest.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using dissect::Position;

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::read || !f.message || f.message->operation != Operation::read ||
      f.message->dma_length == 0 || !f.position_known)  // length 0: L-09
    return;
  const auto about = [&f](std::string_view what) {
    return std::string(what) + " of the READ of " + std::to_string(f.message->dma_length) + " bytes in frame " +
           std::to_string(f.message->first_frame);
  };
  if (f.expected_position != c.opcode.position) {
    if (f.repeated || f.expected_psn != c.psn) return;  // R-02
    constexpr std::uint8_t codes[] = {0x0d, 0x0e, 0x0f, 0x10};
    return out.mismatch(l05_read_length.info, c, "infiniband.bth.opcode",
                        (c.opcode_byte & 0xe0) | codes[static_cast<std::size_t>(f.expected_position)], c.opcode_byte,
                        about("response " + std::to_string(psn_diff(c.psn, f.message->first_psn))));
  }
  const std::uint32_t payload = c.packet.payload_bytes;
  if (!f.payload_known || payload == f.expected_payload || !lengths_agree(c.packet)) return;
  const bool full = c.opcode.position == Position::first || c.opcode.position == Position::middle;
  const bool empty_last = c.opcode.position == Position::last && payload == 0;
  const bool too_long = c.connection.pmtu != 0 && payload > c.connection.pmtu;
  if (full || empty_last || too_long) return;  // L-01, L-02, L-03
  out.mismatch(l05_read_length.info, c, payload_field, f.expected_payload, payload, about("bytes of payload"));
}

}  // namespace

const Rule l05_read_length{{.id = "L-05",
                            .title = "READ responses are as many and as long as DMALen says",
                            .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c (read_reply); hw/hfi1: rc.c",
                            .help = R"(A READ of DMALen bytes is answered by DMALen / path MTU packets, rounded up:
one Only, or First, as many Middle as needed, and Last with the rest. The requester knows beforehand which packet
stands at which PSN; a response of another kind or size ends the READ with an error, or is dropped and the READ is
repeated.

Usual causes: a responder with another path MTU, one that ends a READ early (memory region too short, end of a
buffer), or takes the length of an earlier READ.

Look next at: the READ Request with its DMALen, and whether it was repeated for the rest: then a Last may stand
nearer.)"},
                           on_response,
                           packet};

}  // namespace rdmascope::check
