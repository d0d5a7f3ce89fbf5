// L-03: an Only packet carries at most the path MTU.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

constexpr std::uint32_t largest_pmtu = 4096;

void packet(const Context& c, Findings& out) {
  if (c.opcode.payload != dissect::PayloadRule::zero_to_pmtu) return;
  const std::uint32_t payload = c.packet.payload_bytes;
  const std::uint32_t most = c.connection.pmtu != 0 ? c.connection.pmtu : largest_pmtu;
  if (payload <= most || !lengths_agree(c.packet)) return;
  out.mismatch(l03_only.info, c, payload_field, most, payload, "bytes of payload; at most");
}

}  // namespace

const Rule l03_only{{.id = "L-03",
                     .title = "An Only packet carries at most the path MTU",
                     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c",
                     .help = R"(A message that fits into one packet is sent as Only. If it is longer than the path MTU
it has to be cut into First, Middle and Last. A responder refuses a longer Only as an invalid request; switches may
drop it.

Usual causes: the sender believes in a larger path MTU than the receiver (the MTU of its port instead of that of the
path), a generator without segmentation.

Look next at: the path MTU in the CM REQ, the port MTU at both ends, and the sizes of First packets in both
directions.)"},
                    on_request | on_response,
                    packet};

}  // namespace rdmascope::check
