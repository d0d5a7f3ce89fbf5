#include "dissect/walk.h"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>

#include "dissect/headers.h"
#include "dissect/walk_state.h"

namespace rdmascope::dissect {

Next step_data(Walk& w) { return w.rest(header<Data>); }

namespace {

Next step_ethernet(Walk& w);
Next step_ipv4(Walk& w);
Next step_ipv6(Walk& w);
Next step_ip(Walk& w);
Next step_bth(Walk& w);
Next step_grh(Walk& w);

// --- Link layers -----------------------------------------------------------------------------------------------------

Next step_vlan(Walk& w);
Next step_mpls(Walk& w);
Next step_roce_v1(Walk& w);

// Who follows an EtherType.
Next by_ethertype(std::uint16_t type) {
  switch (type) {
    case ethertype_ipv4:
      return {step_ipv4};
    case ethertype_ipv6:
      return {step_ipv6};
    case ethertype_roce:
      return {step_roce_v1};
    case ethertype_vlan:
    case ethertype_qinq:
    case ethertype_qinq_9100:
    case ethertype_qinq_9200:
      return {step_vlan};
    case ethertype_mpls:
    case ethertype_mpls_multicast:
      return {step_mpls};
    case ethertype_teb:
      return {step_ethernet};
    default:
      return {step_data};
  }
}

Next step_ethernet(Walk& w) {
  const std::uint8_t* eth = w.take<Ethernet>();
  if (!eth) return {};
  w.leftover = &header<EthernetTrailer>;
  return by_ethertype(u16(eth + 12));
}

Next step_vlan(Walk& w) {
  const std::uint8_t* tag = w.take<Vlan>();
  return tag ? by_ethertype(u16(tag + 2)) : Next{};
}

Next step_sll(Walk& w) {
  const std::uint8_t* sll = w.take<Sll>();
  if (!sll) return {};
  w.leftover = &header<EthernetTrailer>;
  return by_ethertype(u16(sll + 14));
}

Next step_sll2(Walk& w) {
  const std::uint8_t* sll = w.take<Sll2>();
  if (!sll) return {};
  w.leftover = &header<EthernetTrailer>;
  return by_ethertype(u16(sll));
}

// Is there an EtherType we know at the usual place of a MAC header that starts at p?
bool looks_like_ethernet(const std::uint8_t* p, std::uint32_t bytes) {
  return bytes >= Ethernet::bytes && !name_of(ethertypes, u16(p + 12)).empty();
}

bool looks_like_ip(const std::uint8_t* p, std::uint32_t bytes) {
  if (bytes < Ipv4::bytes) return false;
  if (p[0] >> 4 == 4) return (p[0] & 15) >= 5 && u16(p + 2) >= Ipv4::bytes && u16(p + 2) <= bytes;
  return p[0] >> 4 == 6 && bytes >= Ipv6::bytes && u16(p + 4) + Ipv6::bytes <= bytes;
}

Next step_mpls(Walk& w) {
  const std::uint8_t* label = w.take<Mpls>();
  if (!label) return {};
  if (!(label[2] & 1)) return {step_mpls};
  if (w.left() == 0) return {};
  // Labels do not say what they carry: IP if it reads as such, else Ethernet, perhaps behind a control word.
  if (looks_like_ip(w.here(), w.left())) return {step_ip};
  if (w.here()[0] >> 4 == 0 && w.left() > PseudowireControlWord::bytes && !looks_like_ethernet(w.here(), w.left()) &&
      looks_like_ethernet(w.here() + PseudowireControlWord::bytes, w.left() - PseudowireControlWord::bytes))
    w.take<PseudowireControlWord>();
  return {step_ethernet};
}

Next step_lrh(Walk& w);
Next step_ib_link(Walk& w);

Next step_erf(Walk& w) {
  const std::uint8_t* erf = w.take<Erf>();
  if (!erf) return {};
  std::uint8_t more = erf[8];
  while (more & 0x80) {
    if (w.left() < 8) {
      w.event(Problem::truncated, header<Erf>, w.pos, 8, w.left());
      return {};
    }
    more = w.here()[0];
    w.extend<Erf>(8);
  }
  const std::uint8_t type = erf[8] & 0x7f;
  const bool is_ethernet = type == 2 || type == 11 || type == 16 || type == 20;
  if (is_ethernet && !w.take<ErfEthernet>()) return {};
  // The record may be padded to 8 bytes; the wire length counts packet bytes only. The pcap record's own length may or
  // may not count the ERF header, so wlen decides.
  const std::uint32_t wire_end = w.pos + u16(erf + 14);
  if (wire_end > w.claimed) {
    w.claimed = wire_end;
    w.end = std::min(w.claimed, w.captured);
  } else {
    w.narrow(header<Erf>, w.pos, wire_end - w.pos);
  }
  if (is_ethernet) return {step_ethernet};
  switch (type) {
    case 21:
      return {step_lrh};
    case 22:
      return {step_ipv4};
    case 23:
      return {step_ipv6};
    case 25:
      return {step_ib_link};
    default:
      return {step_data};
  }
}

Next step_ib_link(Walk& w) {
  if (!w.take<IbLink>()) return {};
  return w.rest(header<Data>);
}

Next step_upper_pdu(Walk& w) {
  const Start* start = nullptr;
  while (true) {
    const std::uint8_t* tag = w.take<UpperPduTag>();
    if (!tag) return {};
    const std::uint16_t kind = u16(tag), length = u16(tag + 2);
    const auto* value = reinterpret_cast<const char*>(w.here());
    if (!w.extend<UpperPduTag>(length)) return {};
    if (kind == 0) break;
    if (kind == 12) {  // dissector name; padded with zeros
      std::string_view name(value, length);
      name = name.substr(0, name.find('\0'));
      if (name == "infiniband") name = "infiniband.lrh";
      if (name == cqe_dissector) name = CqeRecord::name;
      if (name == efa_dissector) name = EfaRecord::name;
      if (name == "eth_withoutfcs" || name == "eth_maybefcs") name = "eth";
      start = find_start(name);
    }
  }
  return start ? start->first : Next{step_data};
}

// --- IP --------------------------------------------------------------------------------------------------------------

Next step_udp(Walk& w);
Next step_gre(Walk& w);
Next step_ipv6_extension(Walk& w);
Next step_ipv6_auth(Walk& w);
Next step_ipv6_fragment(Walk& w);

Next by_ip_protocol(Walk& w, std::uint8_t protocol) {
  switch (protocol) {
    case ip_udp:
      return {step_udp};
    case ip_ipip:
      return {step_ipv4};
    case ip_ipv6:
      return {step_ipv6};
    case ip_gre:
      return {step_gre};
    default:
      break;
  }
  if (w.options.bth_ip_protocol != 0 && protocol == w.options.bth_ip_protocol) {
    w.envelope = Envelope::none;  // no standard says what its ICRC covers
    return {step_bth};
  }
  return {step_data};
}

Next step_ipv4(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* ip = w.take<Ipv4>();
  if (!ip) return {};
  const std::uint32_t header_bytes = (ip[0] & 15u) * 4;
  if (ip[0] >> 4 != 4) {
    w.event(Problem::bad_value, header<Ipv4>, at, 4, ip[0] >> 4);
    return {step_data};
  }
  if (header_bytes < Ipv4::bytes) {
    w.event(Problem::bad_length, header<Ipv4>, at, Ipv4::bytes, header_bytes);
    return {step_data};
  }
  if (!w.extend<Ipv4>(header_bytes - Ipv4::bytes)) return {};
  const std::uint32_t total = u16(ip + 2);
  if (total < header_bytes)  // 0 where the sending host left segmentation to the adapter
    w.event(Problem::bad_length, header<Ipv4>, at, header_bytes, total);
  else
    w.narrow(header<Ipv4>, at, total);
  w.leftover = &header<Data>;
  w.envelope = Envelope::roce_v2_ipv4;
  w.envelope_at = at;
  if (u16(ip + 6) & 0x3fff) {
    w.event(Problem::fragment, header<Ipv4>, at + 6);
    return {step_data};
  }
  return by_ip_protocol(w, ip[9]);
}

// Who follows a Next Header value.
Next by_next_header(Walk& w, std::uint8_t next) {
  switch (next) {
    case ip_hop_by_hop:
    case ip_routing:
    case ip_destination_options:
      return {step_ipv6_extension};
    case ip_auth:
      return {step_ipv6_auth};
    case ip_fragment:
      return {step_ipv6_fragment};
    default:
      return by_ip_protocol(w, next);
  }
}

Next step_ipv6(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* ip = w.take<Ipv6>();
  if (!ip) return {};
  if (ip[0] >> 4 != 6) {
    w.event(Problem::bad_value, header<Ipv6>, at, 6, ip[0] >> 4);
    return {step_data};
  }
  w.narrow(header<Ipv6>, w.pos, u16(ip + 4));
  w.leftover = &header<Data>;
  w.envelope = Envelope::roce_v2_ipv6;
  w.envelope_at = at;
  return by_next_header(w, ip[6]);
}

Next step_ipv6_extension(Walk& w) {
  const std::uint8_t* ext = w.take<Ipv6Extension>();
  if (!ext || !w.extend<Ipv6Extension>((ext[1] + 1u) * 8 - Ipv6Extension::bytes)) return {};
  return by_next_header(w, ext[0]);
}

Next step_ipv6_auth(Walk& w) {
  const std::uint8_t* ext = w.take<Ipv6Extension>();
  if (!ext || !w.extend<Ipv6Extension>((ext[1] + 2u) * 4 - Ipv6Extension::bytes)) return {};
  return by_next_header(w, ext[0]);
}

Next step_ipv6_fragment(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* fragment = w.take<Ipv6Fragment>();
  if (!fragment) return {};
  if (u16(fragment + 2) & 0xfff9) {
    w.event(Problem::fragment, header<Ipv6Fragment>, at);
    return {step_data};
  }
  return by_next_header(w, fragment[0]);  // the only fragment of its datagram
}

Next step_ip(Walk& w) {
  if (w.left() > 0 && w.here()[0] >> 4 == 6) return {step_ipv6};
  return {step_ipv4};
}

Next step_vxlan(Walk& w);
Next step_vxlan_gpe(Walk& w);
Next step_geneve(Walk& w);

// The destination port decides: source ports are free, RoCE senders use them for flow entropy. Only what the user said
// of a port is true of datagrams from it, too.
Next by_udp_port(Walk& w, std::uint16_t port, std::uint16_t source) {
  if (w.options.is_roce_port(port)) return {step_bth};
  if (const Start* start = w.options.decoded_as(port)) return start->first;
  if (const Start* start = w.options.decoded_as(source)) return start->first;
  switch (port) {
    case port_vxlan:
      return {step_vxlan};
    case port_vxlan_gpe:
      return {step_vxlan_gpe};
    case port_geneve:
      return {step_geneve};
    default:
      return is_cdi_here(w) ? Next{step_cdi_control} : Next{step_data};
  }
}

Next step_udp(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* udp = w.take<Udp>();
  if (!udp) return {};
  const std::uint16_t length = u16(udp + 4);
  if (length < Udp::bytes) {
    w.event(Problem::bad_length, header<Udp>, at, Udp::bytes, length);
    return {step_data};
  }
  w.narrow(header<Udp>, at, length);
  return by_udp_port(w, u16(udp + 2), u16(udp));
}

// --- Tunnels ---------------------------------------------------------------------------------------------------------

Next step_vxlan(Walk& w) { return w.take<Vxlan>() ? Next{step_ethernet} : Next{}; }

Next step_vxlan_gpe(Walk& w) {
  const std::uint8_t* vxlan = w.take<Vxlan>();
  if (!vxlan) return {};
  switch (vxlan[3]) {
    case 1:
      return {step_ipv4};
    case 2:
      return {step_ipv6};
    case 3:
      return {step_ethernet};
    default:
      return {step_data};
  }
}

Next step_geneve(Walk& w) {
  const std::uint8_t* geneve = w.take<Geneve>();
  if (!geneve || !w.extend<Geneve>((geneve[0] & 63u) * 4)) return {};
  return by_ethertype(u16(geneve + 2));
}

Next step_erspan2(Walk& w) { return w.take<Erspan2>() ? Next{step_ethernet} : Next{}; }

Next step_erspan3(Walk& w) {
  const std::uint8_t* erspan = w.take<Erspan3>();
  if (!erspan || !w.extend<Erspan3>(erspan[11] & 1 ? 8 : 0)) return {};
  const unsigned frame_type = erspan[10] >> 2 & 31;
  return frame_type == 2 ? Next{step_ip} : Next{step_ethernet};
}

Next step_gre(Walk& w) {
  const std::uint8_t* gre = w.take<Gre>();
  if (!gre) return {};
  const bool has_checksum = gre[0] & 0x80, has_routing = gre[0] & 0x40, has_key = gre[0] & 0x20,
             has_sequence = gre[0] & 0x10;
  if (has_routing || (gre[1] & 7) != 0) return {step_data};
  if (!w.extend<Gre>((has_checksum + has_key + has_sequence) * 4u)) return {};
  switch (const std::uint16_t protocol = u16(gre + 2)) {
    case ethertype_erspan2:
      return has_sequence ? Next{step_erspan2} : Next{step_ethernet};  // type I has no header
    case ethertype_erspan3:
      return {step_erspan3};
    default:
      return by_ethertype(protocol);
  }
}

// --- InfiniBand ------------------------------------------------------------------------------------------------------

// A mirrored packet. The two bytes at the end belong to the mirror, and what they cover is not known.
Next step_ib_mirror(Walk& w) {
  if (!w.take<IbMirror>()) return {};
  for (Walk::Tail& tail : std::span(w.tails).first(w.tail_count))
    if (tail.header == &header<Vcrc>) tail.header = &header<IbTrailer>;
  w.p.set_vcrc({});
  return {step_lrh};
}

// Raw packets may carry any EtherType.
Next step_rwh(Walk& w) {
  const std::uint8_t* rwh = w.take<Rwh>();
  if (!rwh) return {};
  if (u16(rwh + 2) == ethertype_ib_mirror) return {step_ib_mirror};
  const Next next = by_ethertype(u16(rwh + 2));
  return next.step == step_data ? w.rest(header<RawData>) : next;
}

Next step_lrh(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* lrh = w.take<Lrh>();
  if (!lrh) return {};
  w.leftover = &header<IbTrailer>;
  const std::uint32_t packet_end = at + (u16(lrh + 4) & 0x7ffu) * 4;
  const unsigned lnh = lrh[1] & 3;
  if (packet_end > w.claimed || packet_end < w.pos) {
    w.event(Problem::bad_length, header<Lrh>, at + 4, w.claimed - at, packet_end - at);
    w.contradiction = true;
  } else {
    // Exactly two bytes more are a VCRC; other counts are unknown. Captures exist with and without.
    if (w.claimed - packet_end == Vcrc::bytes) {
      Crc vcrc{CrcStatus::unverified, false, Envelope::none, at, at, packet_end, 0, "cut short by the capture"};
      if (w.captured >= packet_end + Vcrc::bytes) {
        vcrc.pending = true;
        w.later(header<Vcrc>, packet_end, Vcrc::bytes);
      } else {
        w.later(header<Vcrc>, w.captured, 0);
      }
      w.p.set_vcrc(vcrc);
    } else if (w.captured > packet_end) {
      w.later(header<IbTrailer>, packet_end, std::min(w.claimed, w.captured) - packet_end);
    }
    w.claimed = packet_end;
    w.end = std::min(w.claimed, w.captured);
  }
  w.envelope_at = at;
  w.envelope = lnh == 3 ? Envelope::ib_global : Envelope::ib_local;
  switch (lnh) {
    case 0:
      return {step_rwh};
    case 1:
      return {step_ipv6};
    case 2:
      return {step_bth};
    default:
      return {step_grh};
  }
}

// GRH of a native packet.
Next step_grh(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* grh = w.take<Grh>();
  if (!grh) return {};
  if (w.envelope != Envelope::ib_global) {  // the frame starts here: no LRH
    w.envelope = Envelope::roce_v1;
    w.envelope_at = at;
  }
  const std::uint32_t payload = u16(grh + 4);
  if (payload != w.claimed - w.pos && !w.contradiction)
    w.event(Problem::bad_length, header<Grh>, at + 4, w.claimed - w.pos, payload);
  if (grh[6] != nxthdr_iba) {
    w.event(Problem::bad_value, header<Grh>, at + 6, nxthdr_iba, grh[6]);
    return w.rest(header<RawData>);
  }
  return {step_bth};
}

Next step_roce_v1(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* grh = w.take<Grh>();
  if (!grh) return {};
  w.envelope = Envelope::roce_v1;
  w.envelope_at = at;
  w.narrow(header<Grh>, w.pos, u16(grh + 4));
  if (grh[6] != nxthdr_iba) {
    w.event(Problem::bad_value, header<Grh>, at + 6, nxthdr_iba, grh[6]);
    return w.rest(header<RawData>);
  }
  return {step_bth};
}

std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += u16(bytes.data() + i);
  if (bytes.size() % 2) sum += std::uint32_t{bytes.back()} << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// Is this payload IP over InfiniBand beyond doubt? Any data may start with an EtherType, so everything must fit: the
// reserved bytes, the IP version, its length against the payload, the header checksum.
bool is_ipoib(const std::uint8_t* p, std::uint32_t bytes) {
  if (bytes < Ipoib::bytes + 20 || u16(p + 2) != 0) return false;
  const std::uint8_t* inside = p + Ipoib::bytes;
  const std::uint32_t left = bytes - Ipoib::bytes;
  switch (u16(p)) {
    case ethertype_ipv4: {
      const std::uint32_t header_bytes = (inside[0] & 15u) * 4;
      return inside[0] >> 4 == 4 && header_bytes >= 20 && header_bytes <= left && u16(inside + 2) == left &&
             internet_checksum({inside, header_bytes}) == 0;
    }
    case ethertype_ipv6:
      return left >= Ipv6::bytes && inside[0] >> 4 == 6 && u16(inside + 4) + Ipv6::bytes == left;
    case ethertype_arp:
      return u16(inside) == 32 && u16(inside + 2) == ethertype_ipv4 && inside[4] == 20 && inside[5] == 4;
    default:
      return false;
  }
}

Next step_ipoib(Walk& w) {
  const std::uint8_t* ipoib = w.take<Ipoib>();
  if (!ipoib) return {};
  w.envelope = Envelope::none;
  return by_ethertype(u16(ipoib));
}

Next step_ipoib_frame(Walk& w) { return w.take<IpoibGrh>() ? Next{step_ipoib} : Next{}; }

Next step_payload(Walk& w) { return w.rest(header<Payload>); }
Next step_vendor(Walk& w) { return w.rest(header<Vendor>); }

// The headers after BTH, in wire order. False when one does not fit.
bool take_extensions(Walk& w, unsigned extensions) {
  for (; extensions != 0; extensions &= extensions - 1) {
    const Header& h = *extension_headers[std::countr_zero(extensions)];
    if (!w.take(h, h.bytes)) return false;
  }
  return true;
}

// The last four bytes of the present PDU are the ICRC. Sets its verdict up and takes it off the end.
void take_icrc(Walk& w, std::uint32_t bth) {
  if (w.claimed < w.pos + Icrc::bytes) {
    w.event(Problem::truncated, header<Icrc>, w.pos, Icrc::bytes, w.claimed - w.pos);
    return;
  }
  Crc crc{CrcStatus::unverified, false, w.envelope, w.envelope_at, bth, w.claimed - Icrc::bytes, 0, {}};
  const bool captured = w.captured >= w.claimed;
  if (!captured)
    crc.reason = "cut short by the capture";
  else if (w.contradiction)
    crc.reason = "the headers contradict each other on the length";
  else if (w.envelope == Envelope::none)
    crc.reason = "the headers it covers are not in the capture";
  else
    crc.pending = true;
  if (!captured && w.captured >= crc.at)
    w.event(Problem::cut, header<Icrc>, crc.at, w.claimed - crc.at, w.captured - crc.at);
  w.p.set_icrc(crc);
  w.later(header<Icrc>, captured ? crc.at : w.captured, captured ? Icrc::bytes : 0);
  w.claimed = crc.at;
  w.end = std::min(w.claimed, w.captured);
}

Next step_bth(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* bth = w.take<Bth>();
  if (!bth) return {};
  w.p.bth_layer = static_cast<int>(w.p.layers().size()) - 1;
  w.leftover = &header<IbTrailer>;
  take_icrc(w, at);

  const Opcode& opcode = opcodes[bth[0]];
  if (!opcode.defined || (w.options.rd_is_dc && opcode.transport == Transport::rd)) {
    const bool vendor = opcode.transport >= Transport::vendor6 || opcode.transport == Transport::rd;
    if (!vendor) w.event(Problem::unknown_opcode, header<Bth>, at, 0, bth[0]);
    return {step_vendor};
  }
  if (!take_extensions(w, opcode.extensions)) return {};

  const std::uint32_t body = w.claimed - w.pos;
  std::uint32_t pad = bth[1] >> 4 & 3;
  if (pad > body) {
    w.event(Problem::bad_length, header<Bth>, at + 1, body, pad);
    pad = body;
  }
  const std::uint32_t payload = body - pad;
  w.p.payload_bytes = payload;
  w.p.pad_bytes = pad;
  if (w.captured < w.claimed) w.event(Problem::cut, header<Payload>, w.captured, w.p.frame.wire_bytes, w.captured);
  if (pad > 0 && w.captured > w.pos + payload)
    w.later(header<Pad>, w.pos + payload, std::min(pad, w.captured - w.pos - payload));
  w.claimed = w.pos + payload;
  w.end = std::min(w.claimed, w.captured);

  if (opcode.extensions & ext_deth) {
    const View<Bth> view(bth);
    const std::uint64_t qp = view.get<"destqp">();
    if (qp == qp_smi || qp == qp_gsi) return {step_mad};
    const std::uint8_t* deth = bth + Bth::bytes + (opcode.extensions & ext_rdeth ? Rdeth::bytes : 0);
    if (View<Deth>(deth).get<"q_key">() == 0x0b1b && w.left() >= Ipoib::bytes &&
        !name_of(ethertypes, u16(w.here())).empty())
      return {step_ipoib};
  }
  if (is_ipoib(w.here(), w.claimed <= w.captured ? w.left() : 0)) return {step_ipoib};
  return {step_payload};
}

// --- Completion queue entries ----------------------------------------------------------------------------------------

// Behind an entry: what it says, for all families alike.
Next add_completion(Walk& w, std::uint32_t at) {
  if (w.has_room())
    w.p.add(header<Cqe>, at, 0);
  else
    w.event(Problem::too_deep, header<Cqe>, at);
  return w.left() > 0 ? w.rest(header<CqeSlot>) : Next{};
}

template <class H>
Next step_cqe(Walk& w) {
  const std::uint32_t at = w.pos;
  return w.take<H>() ? add_completion(w, at) : Next{};
}

Next step_cqe_efa(Walk& w) {
  const std::uint32_t at = w.pos;
  if (!w.take<EfaCqe>()) return {};
  if (w.left() >= EfaCqe::extended_bytes - EfaCqe::bytes) w.extend<EfaCqe>(EfaCqe::extended_bytes - EfaCqe::bytes);
  return add_completion(w, at);
}

// The array of a slot behind a compressed title.
Next step_cqe_mini(Walk& w) {
  while (w.left() > 0)
    if (!w.take<Mlx5MiniCqe>()) break;
  return {};
}

struct CqeLayout {
  Next step;
  std::uint32_t bytes;
};

// By format; {}: its layout is not known.
CqeLayout cqe_layout(CqeFormat format) {
  switch (format) {
    case CqeFormat::mlx4:
      return {{step_cqe<Mlx4Cqe>}, Mlx4Cqe::bytes};
    case CqeFormat::mlx4_timestamp:
      return {{step_cqe<Mlx4TimestampCqe>}, Mlx4TimestampCqe::bytes};
    case CqeFormat::mlx5:
      return {{step_cqe<Mlx5Cqe>}, Mlx5Cqe::bytes};
    case CqeFormat::efa:
      return {{step_cqe_efa}, EfaCqe::bytes};
    case CqeFormat::erdma:
      return {{step_cqe<ErdmaCqe>}, ErdmaCqe::bytes};
    case CqeFormat::work_completion:
      return {{step_cqe<WorkCompletion>}, WorkCompletion::bytes};
    default:
      return {};
  }
}

Next step_cqe_record(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* bytes = w.take<CqeRecord>();
  if (!bytes) return {};
  const View<CqeRecord> record(bytes);
  if (record.get<"version">() != CqeRecord::this_version) {
    w.event(Problem::bad_value, header<CqeRecord>, at, CqeRecord::this_version, record.get<"version">());
    return {step_data};
  }
  const auto header_bytes = static_cast<std::uint32_t>(record.get<"header_len">());
  if (header_bytes < CqeRecord::bytes || header_bytes % 4 != 0)  // where the slot begins is anybody's guess
    w.event(Problem::bad_length, header<CqeRecord>, at + 1, CqeRecord::bytes, header_bytes);
  if (header_bytes > CqeRecord::bytes && !w.extend<CqeRecord>(header_bytes - CqeRecord::bytes)) return {};
  const auto stride = static_cast<std::uint32_t>(record.get<"stride">());
  w.leftover = &header<Data>;
  w.narrow(header<CqeRecord>, w.pos, stride);

  const std::uint64_t format = record.get<"format">();
  const CqeLayout layout = format < std::size(cqe_formats) ? cqe_layout(static_cast<CqeFormat>(format)) : CqeLayout{};
  if (!is_known_cqe_format(format)) w.event(Problem::bad_value, header<CqeRecord>, at + 2, 0, format);  // 0: unknown
  if (!layout.step.step) return w.rest(header<CqeSlot>);
  const auto offset = static_cast<std::uint32_t>(record.get<"cqe_off">());
  if (offset + layout.bytes > stride) {
    w.event(Problem::bad_length, header<CqeRecord>, at + 6, stride, offset + layout.bytes);
    return w.rest(header<CqeSlot>);
  }
  if (offset > 0 && !w.take(header<CqeSlot>, offset)) return {};
  return layout.step;
}

// A private link type may carry anything: what is no record by its own lengths is bytes.
Next step_user0(Walk& w) {
  if (w.left() < CqeRecord::bytes) return {step_data};
  const View<CqeRecord> record(w.here());
  const std::uint64_t header_bytes = record.get<"header_len">(), stride = record.get<"stride">();
  const bool fits = record.get<"version">() == CqeRecord::this_version && header_bytes >= CqeRecord::bytes &&
                    header_bytes % 4 == 0 && stride > 0 && header_bytes + stride == w.claimed - w.pos &&
                    record.get<"flags.reserved">() == 0;
  return fits ? Next{step_cqe_record} : Next{step_data};
}

// --- Where a frame may start -----------------------------------------------------------------------------------------

constexpr Start starts[] = {
    {"eth", {step_ethernet}},
    {"ip", {step_ip}},
    {"ipv4", {step_ipv4}},
    {"ipv6", {step_ipv6}},
    {"udp", {step_udp}},
    {"infiniband.lrh", {step_lrh}},
    {"infiniband.grh", {step_grh}},
    {"infiniband.bth", {step_bth}},
    {"infiniband.mad", {step_mad}},
    {"infiniband_link", {step_ib_link}},
    {"erf", {step_erf}},
    {"sll", {step_sll}},
    {"sll2", {step_sll2}},
    {"ipoib", {step_ipoib}},
    {"ipoib.grh", {step_ipoib_frame}},
    {"exported_pdu", {step_upper_pdu}},
    {"vlan", {step_vlan}},
    {"mpls", {step_mpls}},
    {"vxlan", {step_vxlan}},
    {"geneve", {step_geneve}},
    {"gre", {step_gre}},
    {"cqe.record", {step_cqe_record}},
    {"cqe:mlx4", {step_cqe<Mlx4Cqe>}},
    {"cqe:mlx4-ts", {step_cqe<Mlx4TimestampCqe>}},
    {"cqe:mlx5", {step_cqe<Mlx5Cqe>}},
    {"cqe:mlx5-mini", {step_cqe_mini}},
    {"cqe:efa", {step_cqe_efa}},
    {"cqe:erdma", {step_cqe<ErdmaCqe>}},
    {"cqe:wc", {step_cqe<WorkCompletion>}},
    {"cdi", {step_cdi}},
    {"cdi.data.v1", {step_cdi_data_v1}},
    {"cdi.data.v2", {step_cdi_data_v2}},
    {"efa.rdm", {step_efa_rdm}},
    {"efa.record", {step_efa_record}},
    {"data", {step_data}},
};

struct LinkType {
  std::uint16_t number;
  std::string_view name;
  Next first;
};

constexpr LinkType link_types[] = {
    {1, "ETHERNET", {step_ethernet}},
    {12, "RAW_12", {step_ip}},
    {14, "RAW_14", {step_ip}},
    {101, "RAW", {step_ip}},
    {113, "LINUX_SLL", {step_sll}},
    {197, "ERF", {step_erf}},
    {228, "IPV4", {step_ipv4}},
    {229, "IPV6", {step_ipv6}},
    {242, "IPOIB", {step_ipoib_frame}},
    {247, "INFINIBAND", {step_lrh}},
    {252, "WIRESHARK_UPPER_PDU", {step_upper_pdu}},
    {276, "LINUX_SLL2", {step_sll2}},
};
constexpr std::uint16_t user0 = 147, user1 = 148;

Next by_link_type(const WalkOptions& options, std::uint16_t link_type) {
  if (link_type == 1) return {step_ethernet};
  for (const LinkType& l : link_types)
    if (l.number == link_type) return l.first;
  if (link_type >= user0 && link_type < user0 + options.user_links.size())
    if (const Start* start = options.user_links[link_type - user0]) return start->first;
  return link_type == user0 ? Next{step_user0} : link_type == user1 ? Next{step_user1} : Next{step_data};
}

// The FCS of the outermost Ethernet frame, whose last byte stands before `end`, as a number read big-endian. False: the
// packet has no Ethernet header.
bool compute_fcs(const Packet& p, std::uint32_t end, std::uint32_t& fcs) {
  const Layer* eth = p.find(header<Ethernet>);
  if (!eth || end < eth->at) return false;
  fcs = __builtin_bswap32(libdeflate_crc32(0, p.data(*eth), end - eth->at));
  return true;
}

std::uint32_t u32(const std::uint8_t* p) { return std::uint32_t{u16(p)} << 16 | u16(p + 2); }

// A frame check sequence nobody speaks of: behind the padding, recognised because it fits the bytes before it.
void find_fcs(Walk& w) {
  if (w.tail_count == 0 || w.tail_count == w.tails.size() || !w.has_room()) return;
  Walk::Tail& outer = w.tails[0];
  if (outer.header != &header<EthernetTrailer> || outer.bytes < EthernetFcs::bytes) return;
  const std::uint32_t at = outer.at + outer.bytes - EthernetFcs::bytes;
  std::uint32_t fcs = 0;
  if (at + EthernetFcs::bytes > w.captured || !compute_fcs(w.p, at, fcs) || fcs != u32(w.data + at)) return;
  outer.bytes -= EthernetFcs::bytes;
  if (outer.bytes > 0) {  // padding stays before it; what stands last on the wire goes to the bottom of the tails
    std::copy_backward(w.tails.begin(), w.tails.begin() + static_cast<std::ptrdiff_t>(w.tail_count),
                       w.tails.begin() + static_cast<std::ptrdiff_t>(w.tail_count) + 1);
    ++w.tail_count;
  }
  w.tails[0] = {&header<EthernetFcs>, at, EthernetFcs::bytes};
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::toupper(static_cast<unsigned char>(x)) == std::toupper(static_cast<unsigned char>(y));
  });
}

}  // namespace

void walk(Packet& packet, std::span<const std::uint8_t> bytes, const WalkOptions& options) {
  packet.reset(bytes);
  const std::uint32_t captured = static_cast<std::uint32_t>(bytes.size());
  const std::uint32_t wire = std::max(packet.frame.wire_bytes, captured);
  Walk w(packet, options, wire);
  packet.add(header<Frame>, 0, captured);
  if (packet.frame.wire_bytes < captured)
    w.event(Problem::bad_length, header<Frame>, 0, captured, packet.frame.wire_bytes);

  Next next{step_data};
  if (options.only) {
    if (w.take(*options.only, options.only->bytes))
      next = {step_data};
    else
      next = {};
  } else if (options.start) {
    next = options.start->first;
  } else if (packet.frame.link_type) {
    next = by_link_type(options, *packet.frame.link_type);
    const std::uint32_t fcs = packet.frame.fcs_bytes.value_or(0);
    if (fcs > 0 && fcs <= wire && *packet.frame.link_type == 1) {  // stated by the capture: off the end first
      w.claimed -= fcs;
      w.end = std::min(w.claimed, captured);
      if (fcs == EthernetFcs::bytes && captured >= w.claimed + fcs)
        w.later(header<EthernetFcs>, w.claimed, fcs);
      else if (captured > w.claimed)
        w.later(header<EthernetTrailer>, w.claimed, captured - w.claimed);
    }
  }
  while (next.step) next = next.step(w);
  if (w.pos < w.end && w.has_room()) packet.add(header<Data>, w.pos, w.left());  // behind a header that does not fit
  find_fcs(w);
  w.finish();
}

bool WalkOptions::add_roce_port(std::uint16_t port) {
  if (is_roce_port(port)) return true;
  if (roce_port_count == roce_ports.size()) return false;
  roce_ports[roce_port_count++] = port;
  return true;
}

bool WalkOptions::decode_as(std::uint16_t port, const Start* first) {
  if (const auto end = roce_ports.begin() + static_cast<std::ptrdiff_t>(roce_port_count);
      std::find(roce_ports.begin(), end, port) != end)
    roce_port_count = static_cast<std::size_t>(std::remove(roce_ports.begin(), end, port) - roce_ports.begin());
  for (DecodeAs& d : std::span(decode_as_ports).first(decode_as_count))
    if (d.port == port) {
      d.start = first;
      return true;
    }
  if (decode_as_count == decode_as_ports.size()) return false;
  decode_as_ports[decode_as_count++] = {port, first};
  return true;
}

std::span<const Start> all_starts() { return starts; }

const Start* find_start(std::string_view name) {
  for (const Start& s : starts)
    if (same_letters(s.name, name) || (s.name.starts_with("infiniband.") && same_letters(s.name.substr(11), name)))
      return &s;
  return nullptr;
}

std::string_view link_type_name(std::uint16_t link_type) {
  static constexpr std::string_view users[16] = {"USER0",  "USER1",  "USER2",  "USER3", "USER4",  "USER5",
                                                 "USER6",  "USER7",  "USER8",  "USER9", "USER10", "USER11",
                                                 "USER12", "USER13", "USER14", "USER15"};
  for (const LinkType& l : link_types)
    if (l.number == link_type) return l.name;
  if (link_type >= user0 && link_type < user0 + 16) return users[link_type - user0];
  return {};
}

int link_type_by_name(std::string_view name) {
  if (name.size() > 9 && same_letters(name.substr(0, 9), "LINKTYPE_")) name.remove_prefix(9);
  for (const LinkType& l : link_types)
    if (same_letters(l.name, name)) return l.number;
  for (std::uint16_t i = 0; i < 16; ++i)
    if (same_letters(link_type_name(static_cast<std::uint16_t>(user0 + i)), name)) return user0 + i;
  return -1;
}

bool ethernet_fcs_status(const Packet& p, const Layer& layer, unsigned n, Value& out) {
  std::uint32_t fcs = 0;
  if (n > 0 || layer.bytes < EthernetFcs::bytes || !compute_fcs(p, layer.at, fcs)) return false;
  out.kind = Value::Kind::number;
  out.number = static_cast<std::uint64_t>(fcs == u32(p.data(layer)) ? CrcStatus::good : CrcStatus::bad);
  return true;
}

bool ipv4_checksum_status(const Packet& p, const Layer& layer, unsigned n, Value& out) {
  if (n > 0) return false;
  const bool good = internet_checksum({p.data(layer), layer.bytes}) == 0;
  out.kind = Value::Kind::number;
  out.number = static_cast<std::uint64_t>(good ? CrcStatus::good : CrcStatus::bad);
  return true;
}

}  // namespace rdmascope::dissect
