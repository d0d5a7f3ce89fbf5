// F-19: the UDP checksum of RoCEv2 is 0 or right. RFC 768.
#include <cstring>
#include <span>

#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

// One's complement sum of the bytes as 16-bit words in the order of this machine.
std::uint16_t fold(std::uint64_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}
std::uint64_t sum_of(const std::uint8_t* p, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (; bytes >= 4; bytes -= 4, p += 4) {
    std::uint32_t word;
    std::memcpy(&word, p, 4);
    sum += word;
  }
  std::uint8_t last[4] = {};
  std::memcpy(last, p, bytes);
  std::uint32_t word;
  std::memcpy(&word, last, 4);
  return sum + word;
}
std::uint16_t big_endian(std::uint16_t v) {
  std::uint8_t b[2];
  std::memcpy(b, &v, 2);
  return static_cast<std::uint16_t>(b[0] << 8 | b[1]);
}

void packet(const Context& c, Findings& out) {
  const Packet& p = c.packet;
  const Layer* udp = before_bth(p, 1);
  if (!is<Udp>(udp)) return;
  const std::uint8_t* b = p.data(*udp);
  const auto checksum = static_cast<std::uint16_t>(b[6] << 8 | b[7]);
  if (checksum == 0) return;
  const std::uint32_t length = static_cast<std::uint32_t>(b[4] << 8 | b[5]);
  const Layer* ip = ip_of(p);
  if (!ip || udp->at + length > p.bytes.size() || !lengths_agree(p)) return;
  // The addresses stand next to each other in both headers.
  const std::uint8_t* header_bytes = p.data(*ip);
  const std::uint8_t rest[4] = {0, ip_udp, b[4], b[5]};
  const std::uint64_t pseudo =
      (is<Ipv4>(ip) ? sum_of(header_bytes + 12, 8) : sum_of(header_bytes + 8, 32)) + sum_of(rest, 4);
  if (big_endian(fold(pseudo)) == checksum) return;  // captured before the adapter filled it in
  const std::uint8_t without[8] = {b[0], b[1], b[2], b[3], b[4], b[5], 0, 0};
  auto right = static_cast<std::uint16_t>(~fold(pseudo + sum_of(without, 8) + sum_of(b + 8, length - 8)));
  if (right == 0) right = 0xffff;
  if (big_endian(right) != checksum)
    out.mismatch(f19_udp_checksum.info, c, "udp.checksum", big_endian(right), checksum);
}

}  // namespace

const Rule f19_udp_checksum{
    {.id = "F-19",
     .title = "RoCEv2 UDP checksum is 0 or correct",
     .severity = Severity::warning,
     .source = "RFC 768",
     .help = R"(RoCEv2 has its own CRC, so senders put 0 into the UDP checksum: not used. Another value must be right,
or a router, firewall or the receiving host may drop the packet; RDMA adapters mostly do not look. A capture on the
sending host that shows the half-finished value a driver leaves for its adapter is not reported.

Usual causes: a generator that edits a packet and recomputes the ICRC only, address translation that does not adapt
the checksum.

Look next at: whether the receiver takes the packet (an acknowledge follows), and the ICRC. If both checks fail,
the packet was damaged.)"},
    on_good,
    packet};

}  // namespace rdmascope::check
