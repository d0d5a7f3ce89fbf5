// L-10: a datagram is one packet of at most the port MTU, of which 4096 is the largest.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

constexpr std::uint32_t largest_mtu = 4096;

void packet(const Context& c, Findings& out) {
  if (c.packet.payload_bytes <= largest_mtu || !lengths_agree(c.packet)) return;
  out.mismatch(l10_ud_length.info, c, payload_field, largest_mtu, c.packet.payload_bytes, "bytes of payload; at most");
}

}  // namespace

const Rule l10_ud_length{
    {.id = "L-10",
     .title = "A UD packet carries at most 4096 bytes",
     .ibta = "C10-93.1.1",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c",
     .help = R"(Datagrams are not segmented: the whole message is one packet, and the largest MTU of an InfiniBand
port is 4096 bytes. A sender that is asked for more must send nothing. The MTU of the ports in question may be
smaller; a capture does not tell it, so only the limit of 4096 is judged.

Usual causes: a generator without a length check, an Ethernet network with jumbo frames taken for the MTU.

Look next at: the active MTU of the ports (ibv_devinfo), and what the application posted.)"},
    on_datagram,
    packet};

}  // namespace rdmascope::check
