// CQE-13: a received datagram has a possible length. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!is_receive(c) || c.sniffer() || !c.entry.byte_count) return;
  const std::uint32_t count = *c.entry.byte_count;
  constexpr std::uint32_t grh = 40, largest_mtu = 4096, smallest_frame = 14;
  if (c.qp_type() == dissect::qpt_ud && (c.is_mlx4() || c.is_mlx5())) {
    const bool is_send =
        c.is_mlx5() ? c.entry.opcode == 2 || c.entry.opcode == 3 : c.entry.opcode == 1 || c.entry.opcode == 2;
    if (!is_send) return;
    const bool split = c.is_mlx4() && count >> 24 != 0;  // with header separation the top byte is another length
    const std::uint32_t total = split ? count & 0xffffff : count;
    if (total < grh || total > grh + largest_mtu)
      out.wrong_in(cqe13_datagram_length.info, c, byte_count_field(c), count,
                   "a UD receive counts 40 bytes for the GRH and at most 4096 of payload");
  } else if (c.qp_type() == dissect::qpt_raw && c.is_mlx4() && count < smallest_frame) {
    out.wrong_in(cqe13_datagram_length.info, c, byte_count_field(c), count, "shorter than an Ethernet header");
  }
}

}  // namespace

const Rule cqe13_datagram_length{
    .info =
        {.id = "CQE-13",
         .title = "A received datagram has a possible length",
         .source = "iPXE drivers/infiniband/hermon.c",
         .help =
             R"(The receive buffer of a UD queue pair begins with 40 bytes for a GRH, filled or not, and the byte count has them in. So
it lies between 40 and 40 plus the MTU. A raw packet has at least an Ethernet header. Sniffer queue pairs are not judged:
their buffers begin with the packet.

Usual causes: a wrong queue pair type in the capture, a damaged entry.

Look next at: the received packet, and the type of the queue pair.)"},
    .completion = completion};

}  // namespace rdmascope::check
