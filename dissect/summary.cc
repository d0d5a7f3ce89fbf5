#include "dissect/summary.h"

#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

// The last layer with network addresses, else the last with a MAC address.
const Layer* addresses(const Packet& packet) {
  const Layer* found = nullptr;
  for (const Layer& layer : packet.layers()) {
    const Header* h = layer.header;
    const bool network = h == &header<Ipv4> || h == &header<Ipv6> || h == &header<Grh> || h == &header<Lrh>;
    if (network || (h == &header<Ethernet> && !found)) found = &layer;
  }
  return found;
}

void put_address(Text& out, const Packet& packet, bool source) {
  const Layer* layer = addresses(packet);
  if (!layer) return;
  const std::uint8_t* p = packet.data(*layer);
  if (layer->header == &header<Ipv4>)
    out.ipv4(p + (source ? 12 : 16));
  else if (layer->header == &header<Ipv6> || layer->header == &header<Grh>)
    out.ipv6(p + (source ? 8 : 24));
  else if (layer->header == &header<Ethernet>)
    out.mac(p + (source ? 6 : 0));
  else {
    out.put("LID ");
    const View<Lrh> lrh(p);
    out.dec(source ? lrh.get<"slid">() : lrh.get<"dlid">());
  }
}

void put_hex(Text& out, std::string_view label, std::uint64_t value, std::size_t digits) {
  out.put(label);
  out.put("0x");
  out.hex(value, digits);
}

void put_dec(Text& out, std::string_view label, std::uint64_t value) {
  out.put(label);
  out.dec(value);
}

void put_syndrome(Text& out, View<Aeth> aeth) {
  const std::uint8_t syndrome = static_cast<std::uint8_t>(aeth.get<"syndrome">());
  const Syndrome s = decode_syndrome(syndrome);
  switch (s.kind) {
    case SyndromeKind::ack:
      if (s.value != no_credit_limit) put_dec(out, " credits ", credits_by_code[s.value]);
      break;
    case SyndromeKind::rnr_nak:
      out.put(" RNR NAK, timer ");
      out.put(rnr_timer_names[s.value].name);
      break;
    case SyndromeKind::nak: {
      const std::string_view code = name_of(nak_codes, s.value);
      out.put(" NAK ");
      if (code.empty())
        put_hex(out, "reserved code ", s.value, 2);
      else
        out.put(code);
      break;
    }
    case SyndromeKind::reserved:
      put_hex(out, " reserved syndrome ", syndrome, 2);
      break;
  }
  put_dec(out, " MSN ", aeth.get<"msn">());
}

void put_mad(Text& out, View<Mad> mad) {
  const auto put_name = [&out](std::string_view label, std::span<const ValueName> names, std::uint64_t value) {
    const std::string_view known = name_of(names, value);
    if (known.empty())
      put_hex(out, label, value, 2);
    else
      out.put(known);
  };
  put_name("class ", mad_classes, mad.get<"mgmtclass">());
  out.put(' ');
  put_name("method ", mad_methods, mad.get<"method">());
  put_hex(out, " attribute ", mad.get<"attributeid">(), 4);
  put_hex(out, " TID ", mad.get<"transactionid">(), 16);
}

void put_transport(Text& out, const Packet& packet) {
  const View<Bth> bth(packet.data(packet.layers()[static_cast<std::size_t>(packet.bth_layer)]));
  const auto code = static_cast<std::uint8_t>(bth.get<"opcode">());
  out.put(opcode_title(code));
  put_hex(out, " QP ", bth.get<"destqp">(), 6);
  if (opcodes[code].transport == Transport::cnp) return;
  put_dec(out, " PSN ", bth.get<"psn">());
  if (bth.get<"a">()) out.put(" [A]");
  if (bth.get<"se">()) out.put(" [SE]");
  const std::span<const Layer> layers = packet.layers();
  for (std::size_t i = static_cast<std::size_t>(packet.bth_layer) + 1; i < layers.size(); ++i) {
    const Header* h = layers[i].header;
    const std::uint8_t* p = packet.data(layers[i]);
    if (h == &header<Reth>) {
      const View<Reth> reth(p);
      put_hex(out, " VA ", reth.get<"va">(), 16);
      put_hex(out, " R_Key ", reth.get<"r_key">(), 8);
      put_dec(out, " DMALen ", reth.get<"dmalen">());
    } else if (h == &header<Aeth>) {
      put_syndrome(out, View<Aeth>(p));
    } else if (h == &header<Deth>) {
      put_hex(out, " from QP ", View<Deth>(p).get<"srcqp">(), 6);
    } else if (h == &header<Immdt>) {
      put_hex(out, " Imm ", View<Immdt>(p).get<"data">(), 8);
    } else if (h == &header<Ieth>) {
      put_hex(out, " Invalidate ", View<Ieth>(p).get<"r_key">(), 8);
    } else if (h == &header<Xrceth>) {
      put_hex(out, " XRCSRQ ", View<Xrceth>(p).get<"xrcsrq">(), 6);
    } else if (h == &header<Atomiceth>) {
      const View<Atomiceth> atomic(p);
      put_hex(out, " VA ", atomic.get<"va">(), 16);
      put_hex(out, " R_Key ", atomic.get<"r_key">(), 8);
    } else if (h == &header<Atomicacketh>) {
      put_hex(out, " original ", View<Atomicacketh>(p).get<"origremdt">(), 16);
    } else if (h == &header<Mad>) {
      out.put(": ");
      put_mad(out, View<Mad>(p));
      return;
    } else if (h == &header<Ipoib>) {
      out.put(": IPoIB");
      return;
    }
  }
  if (packet.payload_bytes > 0) {
    put_dec(out, " payload ", packet.payload_bytes);
    if (packet.pad_bytes > 0) put_dec(out, " pad ", packet.pad_bytes);
  }
}

// Packets without InfiniBand transport: name what is there.
void put_other(Text& out, const Packet& packet) {
  for (std::size_t i = packet.layers().size(); i-- > 0;) {
    const Layer& layer = packet.layers()[i];
    const Header* h = layer.header;
    const std::uint8_t* p = packet.data(layer);
    if (h == &header<Udp>) {
      const View<Udp> udp(p);
      out.dec(udp.get<"srcport">());
      put_dec(out, " to ", udp.get<"dstport">());
      put_dec(out, ", length ", udp.get<"length">());
      return;
    }
    if (h == &header<Ipv4> || h == &header<Ipv6>) {
      const std::uint64_t protocol = h == &header<Ipv4> ? View<Ipv4>(p).get<"proto">() : View<Ipv6>(p).get<"nxt">();
      const std::string_view known = name_of(ip_protocols, protocol);
      if (known.empty())
        put_dec(out, "IP protocol ", protocol);
      else
        out.put(known);
      return;
    }
    if (h == &header<Ethernet>) {
      const std::uint64_t type = View<Ethernet>(p).get<"type">();
      const std::string_view known = name_of(ethertypes, type);
      if (known.empty())
        put_hex(out, "EtherType ", type, 4);
      else
        out.put(known);
      return;
    }
    if (h == &header<Mad>) return put_mad(out, View<Mad>(p));
    if (h == &header<IbLink>) {
      const View<IbLink> link(p);
      put_dec(out, "Flow control VL ", link.get<"vl">());
      put_dec(out, " FCTBS ", link.get<"fctbs">());
      put_dec(out, " FCCL ", link.get<"fccl">());
      return;
    }
    if (h == &header<Erf>) {
      const std::uint64_t type = View<Erf>(p).get<"types.type">();
      const std::string_view known = name_of(erf_types, type);
      if (known.empty())
        put_dec(out, "ERF type ", type);
      else
        out.put(known);
      return;
    }
  }
  if (packet.frame.link_type) put_dec(out, "link type ", *packet.frame.link_type);
}

}  // namespace

void put_source(Text& out, const Packet& packet) { put_address(out, packet, true); }
void put_destination(Text& out, const Packet& packet) { put_address(out, packet, false); }

std::string_view protocol(const Packet& packet) {
  std::string_view last = "data";
  const std::span<const Layer> layers = packet.layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Header* h = layers[i].header;
    if (!h->protocol.empty()) last = h->protocol;
    if (static_cast<int>(i) != packet.bth_layer) continue;
    const Header* before = i > 0 ? layers[i - 1].header : nullptr;
    const bool native = packet.find(header<Lrh>) != nullptr;
    last = before == &header<Udp>   ? "RoCEv2"
           : native                 ? "InfiniBand"
           : before == &header<Grh> ? "RoCEv1"
                                    : "IB transport";
  }
  return last;
}

void put_info(Text& out, const Packet& packet) {
  if (packet.bth_layer >= 0)
    put_transport(out, packet);
  else
    put_other(out, packet);

  const Crc& icrc = packet.icrc();
  if (icrc.status == CrcStatus::bad) put_hex(out, " [ICRC bad, should be ", icrc.expected, 8), out.put(']');
  const Crc& vcrc = packet.vcrc();
  if (vcrc.status == CrcStatus::bad) put_hex(out, " [VCRC bad, should be ", vcrc.expected, 4), out.put(']');

  if (packet.events().empty()) return;
  const Event& event = packet.events().front();
  out.put(" [");
  out.put(event.where->name);
  out.put('.');
  out.put(name(event.problem));
  Value words;
  if (event_text(packet, packet.layers().front(), 0, words)) {
    out.put(": ");
    out.put(words.text);
  }
  out.put(']');
}

Tone tone(const Packet& packet) {
  if (packet.icrc().status == CrcStatus::bad || packet.vcrc().status == CrcStatus::bad) return Tone::bad_crc;
  for (const Event& event : packet.events())
    if (event.problem != Problem::cut && event.problem != Problem::fragment) return Tone::malformed;
  if (packet.bth_layer < 0) return packet.find(header<Mad>) ? Tone::management : Tone::other;
  const auto bth = packet.find<Bth>();
  if (opcodes[bth->get<"opcode">()].transport == Transport::cnp) return Tone::congestion;
  if (packet.find(header<Mad>)) return Tone::management;
  if (const auto aeth = packet.find<Aeth>()) {
    const Syndrome s = decode_syndrome(static_cast<std::uint8_t>(aeth->get<"syndrome">()));
    if (s.kind == SyndromeKind::nak || s.kind == SyndromeKind::reserved) return Tone::nak;
    if (s.kind == SyndromeKind::rnr_nak) return Tone::rnr;
    if (packet.payload_bytes == 0) return Tone::acknowledge;
  }
  return Tone::plain;
}

}  // namespace rdmascope::dissect
