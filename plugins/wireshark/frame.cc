#include "plugins/wireshark/frame.h"

#include <array>

namespace rdmascope::wireshark {
namespace {

constexpr std::uint16_t link_ethernet = 1, link_ipv4 = 228, link_ipv6 = 229, link_infiniband = 247;
constexpr std::uint16_t link_end = 300;  // beyond the numbers that dissect knows
constexpr std::uint8_t erf_infiniband = 21, erf_infiniband_link = 25;

// LINKTYPE_ numbers by Wireshark's. Wireshark takes the record header off ERF, so ERF is not one of them.
std::optional<std::uint16_t> link_type_of(int encapsulation) {
  static const std::array<std::uint16_t, 512> known = [] {
    std::array<std::uint16_t, 512> out{};
    for (std::uint16_t n = link_end; n-- > 1;) {
      if (dissect::link_type_name(n).empty()) continue;
      const int theirs = wtap_pcap_encap_to_wtap_encap(n);
      if (theirs > 0 && static_cast<std::size_t>(theirs) < out.size()) out[static_cast<std::size_t>(theirs)] = n;
    }
    return out;
  }();
  if (encapsulation < 0 || static_cast<std::size_t>(encapsulation) >= known.size()) return std::nullopt;
  const std::uint16_t number = known[static_cast<std::size_t>(encapsulation)];
  return number != 0 ? std::optional(number) : std::nullopt;
}

std::uint8_t erf_type(const packet_info* pinfo) { return pinfo->pseudo_header->erf.phdr.type & 0x7f; }

std::uint16_t link_type_of_erf(std::uint8_t type) {
  switch (type) {
    case erf_infiniband:
      return link_infiniband;
    case 2:
    case 11:
    case 16:
    case 20:
      return link_ethernet;
    case 22:
      return link_ipv4;
    case 23:
      return link_ipv6;
    default:
      return 0;  // unknown to dissect: bytes
  }
}

}  // namespace

Bytes captured_bytes(tvbuff_t* tvb) {
  const unsigned size = tvb_captured_length(tvb);
  if (size == 0) return {};
  return {tvb_get_ptr(tvb, 0, static_cast<int>(size)), size};
}

std::optional<dissect::FrameInfo> frame_info(const packet_info* pinfo) {
  if (!pinfo->rec || pinfo->rec->rec_type != REC_TYPE_PACKET) return std::nullopt;
  const int encapsulation = pinfo->rec->rec_header.packet_header.pkt_encap;
  dissect::FrameInfo out;
  if (encapsulation == WTAP_ENCAP_ERF)
    out.link_type = link_type_of_erf(erf_type(pinfo));
  else
    out.link_type = link_type_of(encapsulation);
  if (!out.link_type) return std::nullopt;
  out.number = pinfo->num;
  out.has_time = pinfo->presence_flags & PINFO_HAS_TS;
  if (out.has_time) out.time_ns = std::int64_t{pinfo->abs_ts.secs} * 1'000'000'000 + pinfo->abs_ts.nsecs;
  out.wire_bytes = pinfo->fd->pkt_len;
  if (pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID)
    out.interface_id = pinfo->rec->rec_header.packet_header.interface_id;
  if (encapsulation == WTAP_ENCAP_ETHERNET && pinfo->pseudo_header->eth.fcs_len >= 0)
    out.fcs_bytes = static_cast<std::uint8_t>(pinfo->pseudo_header->eth.fcs_len);
  return out;
}

const dissect::Start* start_of(const packet_info* pinfo) {
  static const dissect::Start* const ib_link = dissect::find_start("infiniband_link");
  const bool is_erf = pinfo->rec && pinfo->rec->rec_header.packet_header.pkt_encap == WTAP_ENCAP_ERF;
  return is_erf && erf_type(pinfo) == erf_infiniband_link ? ib_link : nullptr;
}

}  // namespace rdmascope::wireshark
