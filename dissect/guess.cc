#include "dissect/guess.h"

#include <algorithm>

#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

std::uint16_t u16(std::span<const std::uint8_t> b, std::size_t at) {
  return static_cast<std::uint16_t>(b[at] << 8 | b[at + 1]);
}

bool is_ethernet(std::span<const std::uint8_t> b) {
  return b.size() >= Ethernet::bytes && !name_of(ethertypes, u16(b, 12)).empty();
}

// Exact: the header's own length says that these bytes are the whole packet. Otherwise they may be cut or padded.
bool is_ipv4(std::span<const std::uint8_t> b, bool exact) {
  if (b.size() < Ipv4::bytes || b[0] >> 4 != 4 || (b[0] & 15) < 5) return false;
  const std::uint16_t total = u16(b, 2);
  return exact ? total == b.size() : total >= Ipv4::bytes && !name_of(ip_protocols, b[9]).empty();
}

bool is_ipv6(std::span<const std::uint8_t> b, bool exact) {
  if (b.size() < Ipv6::bytes || b[0] >> 4 != 6) return false;
  return exact ? u16(b, 4) + Ipv6::bytes == b.size() : !name_of(ip_protocols, b[6]).empty();
}

bool is_lrh(std::span<const std::uint8_t> b) {
  if (b.size() < Lrh::bytes + Bth::bytes || (b[0] & 15) != 0) return false;
  const std::size_t packet = (u16(b, 4) & 0x7ffu) * 4u;
  return packet == b.size() || packet + Vcrc::bytes == b.size();
}

bool is_bth(std::span<const std::uint8_t> b) {
  return b.size() >= Bth::bytes + Icrc::bytes && opcodes[b[0]].defined && (b[1] & 15) == 0 && (b.size() % 4) == 0;
}

bool is_zero(std::span<const std::uint8_t> b) {
  return std::all_of(b.begin(), b.end(), [](std::uint8_t byte) { return byte == 0; });
}

// Error entries: what people find in a log. Their reserved bytes are zero but for the first eight, where drivers leave
// marks, and the syndrome is a known one. Entries that succeeded look like anything else.
bool is_mlx5_error_entry(std::span<const std::uint8_t> b) {
  return b.size() == Mlx5Cqe::bytes && is_mlx5_error(b.data()) && is_zero(b.subspan(8, 24)) &&
         !name_of(syndrome_names, b[55]).empty();
}
bool is_mlx4_error_entry(std::span<const std::uint8_t> b) {
  return b.size() == Mlx4Cqe::bytes && is_mlx4_error(b.data()) && b[0] == 0 && is_zero(b.subspan(4, 20)) &&
         !name_of(syndrome_names, b[27]).empty();
}

}  // namespace

const Start* guess_start(std::span<const std::uint8_t> b) {
  if (is_ipv4(b, true)) return find_start("ipv4");
  if (b.size() >= Grh::bytes && b[0] >> 4 == 6 && b[6] == nxthdr_iba) return find_start("infiniband.grh");
  if (is_ipv6(b, true)) return find_start("ipv6");
  if (is_lrh(b)) return find_start("infiniband.lrh");
  if (is_mlx5_error_entry(b)) return find_start("cqe:mlx5");
  if (is_mlx4_error_entry(b)) return find_start("cqe:mlx4");
  if (is_cdi_control(b)) return find_start("cdi");
  if (is_ethernet(b)) return find_start("eth");
  if (is_ipv4(b, false)) return find_start("ipv4");
  if (is_ipv6(b, false)) return find_start("ipv6");
  if (is_bth(b)) return find_start("infiniband.bth");
  if (b.size() == mad_bytes && b[0] == 1) return find_start("infiniband.mad");
  return nullptr;
}

}  // namespace rdmascope::dissect
