#include "dissect/crc.h"

#include <libdeflate.h>

#include <array>
#include <cstring>

namespace rdmascope::dissect {
namespace {

// zlib value of eight 0xFF bytes: they stand in for an LRH that RoCE does not have and GRH packets mask.
constexpr std::uint32_t crc_of_masked_lrh = 0x2144df1c;

constexpr std::size_t bth_bytes = 12;
constexpr std::size_t longest_header = 256;

// Polynomial 0x100B, reflected, eight tables: eight bytes a step.
constexpr std::array<std::array<std::uint16_t, 256>, 8> make_vcrc_tables() {
  std::array<std::array<std::uint16_t, 256>, 8> t{};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned v = i;
    for (int bit = 0; bit < 8; ++bit) v = v & 1 ? v >> 1 ^ 0xd008 : v >> 1;
    t[0][i] = static_cast<std::uint16_t>(v);
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (unsigned i = 0; i < 256; ++i)
      t[k][i] = static_cast<std::uint16_t>(t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff]);
  return t;
}
constexpr auto vcrc_tables = make_vcrc_tables();

void compute(const Packet& p, Crc& crc) {
  std::uint32_t value = 0;
  if (!compute_icrc(crc.envelope, p.bytes.subspan(crc.from, crc.at - crc.from), crc.bth - crc.from, value)) {
    crc.status = CrcStatus::unverified;
    crc.reason = "headers before BTH are too long";
    return;
  }
  const std::uint8_t* b = p.bytes.data() + crc.at;
  const std::uint32_t wire = std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  crc.expected = value;
  crc.status = wire == value ? CrcStatus::good : CrcStatus::bad;
}

bool status_value(const Crc& crc, unsigned n, Value& out) {
  if (n > 0 || crc.status == CrcStatus::absent) return false;
  out.kind = Value::Kind::number;
  out.number = static_cast<std::uint64_t>(crc.status);
  return true;
}

bool expected_value(const Crc& crc, unsigned n, Value& out) {
  if (n > 0 || crc.status != CrcStatus::bad) return false;
  out.kind = Value::Kind::number;
  out.number = crc.expected;
  return true;
}

bool reason_value(const Crc& crc, unsigned n, Value& out) {
  if (n > 0 || crc.status != CrcStatus::unverified) return false;
  out.kind = Value::Kind::text;
  out.text = crc.reason;
  return true;
}

}  // namespace

bool compute_icrc(Envelope envelope, std::span<const std::uint8_t> covered, std::size_t bth, std::uint32_t& icrc) {
  const std::size_t header_bytes = bth + bth_bytes;
  if (header_bytes > longest_header || covered.size() < header_bytes) return false;
  std::uint8_t h[longest_header];
  std::memcpy(h, covered.data(), header_bytes);

  std::uint32_t seed = crc_of_masked_lrh;
  std::size_t from = 0;
  switch (envelope) {
    case Envelope::none:
      return false;
    case Envelope::ib_local:
      seed = 0;
      h[0] |= 0xf0;  // VL
      break;
    case Envelope::ib_global:
      from = 8;  // the LRH is replaced by ones
      [[fallthrough]];
    case Envelope::roce_v1:
      h[from] |= 0x0f;  // traffic class, flow label
      h[from + 1] = h[from + 2] = h[from + 3] = 0xff;
      h[from + 7] = 0xff;  // hop limit
      break;
    case Envelope::roce_v2_ipv4:
      h[1] = 0xff;                     // TOS
      h[8] = 0xff;                     // TTL
      h[10] = h[11] = 0xff;            // header checksum
      h[bth - 2] = h[bth - 1] = 0xff;  // UDP checksum
      break;
    case Envelope::roce_v2_ipv6:
      h[0] |= 0x0f;
      h[1] = h[2] = h[3] = 0xff;
      h[7] = 0xff;
      h[bth - 2] = h[bth - 1] = 0xff;
      break;
  }
  h[bth + 4] = 0xff;  // FECN, BECN, reserved

  std::uint32_t crc = libdeflate_crc32(seed, h + from, header_bytes - from);
  crc = libdeflate_crc32(crc, covered.data() + header_bytes, covered.size() - header_bytes);
  icrc = __builtin_bswap32(crc);
  return true;
}

std::uint16_t compute_vcrc(std::span<const std::uint8_t> covered) {
  const auto& t = vcrc_tables;
  unsigned crc = 0xffff;
  const std::uint8_t* p = covered.data();
  std::size_t left = covered.size();
  for (; left >= 8; left -= 8, p += 8)
    crc = t[7][p[0] ^ (crc & 0xff)] ^ t[6][p[1] ^ (crc >> 8)] ^ t[5][p[2]] ^ t[4][p[3]] ^ t[3][p[4]] ^ t[2][p[5]] ^
          t[1][p[6]] ^ t[0][p[7]];
  for (; left > 0; --left, ++p) crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xff];
  return __builtin_bswap16(static_cast<std::uint16_t>(~crc));
}

const Crc& Packet::icrc() const {
  if (icrc_.pending) {
    icrc_.pending = false;
    compute(*this, icrc_);
  }
  return icrc_;
}

const Crc& Packet::vcrc() const {
  if (vcrc_.pending) {
    vcrc_.pending = false;
    vcrc_.expected = compute_vcrc(bytes.subspan(vcrc_.from, vcrc_.at - vcrc_.from));
    const std::uint32_t wire = std::uint32_t{bytes[vcrc_.at]} << 8 | bytes[vcrc_.at + 1];
    vcrc_.status = wire == vcrc_.expected ? CrcStatus::good : CrcStatus::bad;
  }
  return vcrc_;
}

bool icrc_status(const Packet& p, const Layer&, unsigned n, Value& out) { return status_value(p.icrc(), n, out); }
bool icrc_expected(const Packet& p, const Layer&, unsigned n, Value& out) { return expected_value(p.icrc(), n, out); }
bool icrc_reason(const Packet& p, const Layer&, unsigned n, Value& out) { return reason_value(p.icrc(), n, out); }
bool vcrc_status(const Packet& p, const Layer&, unsigned n, Value& out) { return status_value(p.vcrc(), n, out); }
bool vcrc_expected(const Packet& p, const Layer&, unsigned n, Value& out) { return expected_value(p.vcrc(), n, out); }
bool vcrc_reason(const Packet& p, const Layer&, unsigned n, Value& out) { return reason_value(p.vcrc(), n, out); }

}  // namespace rdmascope::dissect
