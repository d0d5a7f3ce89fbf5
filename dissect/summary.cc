#include "dissect/summary.h"

#include <bit>
#include <optional>

#include "dissect/headers.h"
#include "dissect/mad_attributes.h"

namespace rdmascope::dissect {
namespace {

bool has_network_addresses(const Header* h) {
  return h == &header<Ipv4> || h == &header<Ipv6> || h == &header<Grh> || h == &header<Lrh>;
}
bool has_addresses(const Header* h) { return h == &header<Ethernet> || has_network_addresses(h); }

void put_address(Text& out, const Packet& packet, const Layer& layer, bool source) {
  const std::uint8_t* p = packet.data(layer);
  if (layer.header == &header<Ipv4>)
    out.ipv4(p + (source ? 12 : 16));
  else if (layer.header == &header<Ipv6> || layer.header == &header<Grh>)
    out.ipv6(p + (source ? 8 : 24));
  else if (layer.header == &header<Ethernet>)
    out.mac(p + (source ? 6 : 0));
  else {
    out.put("LID ");
    const View<Lrh> lrh(p);
    out.dec(source ? lrh.get<"slid">() : lrh.get<"dlid">());
  }
}

// What a header says, as facts one after the other: "QP 0x000011", "PSN 5". The line puts blanks between them, the
// heading of a layer commas.
class Facts {
 public:
  Facts(Text& out, std::string_view between) : out_(out), between_(between) {}

  // Starts a fact, whose words the caller puts.
  Text& next() {
    if (any_) out_.put(between_);
    any_ = true;
    return out_;
  }
  void word(std::string_view word) { next().put(word); }
  void word(std::string_view label, std::string_view word) {
    next().put(label);
    out_.put(word);
  }
  void dec(std::string_view label, std::uint64_t value) {
    next().put(label);
    out_.dec(value);
  }
  void hex(std::string_view label, std::uint64_t value, std::size_t digits) {
    next().put(label);
    out_.put("0x");
    out_.hex(value, digits);
  }
  // Without leading zeros: 64 bits are mostly zeros.
  void hex(std::string_view label, std::uint64_t value) {
    hex(label, value, (static_cast<std::size_t>(std::bit_width(value | 1)) + 3) / 4);
  }
  // By name; a value without one as "method 0x7f", or in decimal when no hex digits are wanted.
  void name(std::span<const ValueName> names, std::uint64_t value, std::string_view label, std::size_t digits) {
    const std::string_view known = name_of(names, value);
    if (!known.empty())
      word(known);
    else if (digits > 0)
      hex(label, value, digits);
    else
      dec(label, value);
  }
  bool any() const { return any_; }
  Text& last() { return out_; }  // to go on with the last fact

 private:
  Text& out_;
  std::string_view between_;
  bool any_ = false;
};

void bth_facts(Facts& facts, View<Bth> bth) {
  const auto code = static_cast<std::uint8_t>(bth.get<"opcode">());
  facts.word(opcode_title(code));
  facts.hex("QP ", bth.get<"destqp">(), 6);
  if (opcodes[code].transport == Transport::cnp) return;
  Text& out = facts.next();
  out.put("PSN ");
  out.dec(bth.get<"psn">());
  if (bth.get<"a">()) out.put(" [A]");
  if (bth.get<"se">()) out.put(" [SE]");
}

void aeth_facts(Facts& facts, View<Aeth> aeth) {
  const std::uint8_t syndrome = static_cast<std::uint8_t>(aeth.get<"syndrome">());
  const Syndrome s = decode_syndrome(syndrome);
  switch (s.kind) {
    case SyndromeKind::ack:
      if (s.value != no_credit_limit) facts.dec("credits ", credits_by_code[s.value]);
      break;
    case SyndromeKind::rnr_nak:
      facts.word("RNR NAK");
      facts.word("timer ", rnr_timer_names[s.value].name);
      break;
    case SyndromeKind::nak:
      if (const std::string_view code = name_of(nak_codes, s.value); !code.empty())
        facts.word("NAK ", code);
      else
        facts.hex("NAK reserved code ", s.value, 2);
      break;
    case SyndromeKind::reserved:
      facts.hex("reserved syndrome ", syndrome, 2);
      break;
  }
  facts.dec("MSN ", aeth.get<"msn">());
}

// "CQ 0x000085 ci 7 QP 0x00004a send RDMA_READ WQE 7 12288 bytes", "... receive error: work request flushed (0x05)"
void cqe_facts(Facts& facts, const Packet& packet) {
  const std::optional<Completion> c = completion_of(packet);
  if (!c) return;
  if (const auto record = packet.find<CqeRecord>()) {
    facts.hex("CQ ", record->get<"cqn">(), 6);
    if (cqe_has_index(record->bytes())) facts.dec("ci ", record->get<"ci">());
  }
  if (c->qpn) {
    facts.hex("QP ", *c->qpn, 6);
    facts.word(name_of(cqe_queues, c->send));
  }
  if (!c->operation.empty()) facts.word(c->operation);
  Value value;
  if (c->kind != Completion::Kind::completion && c->kind != Completion::Kind::error) {
    if (cqe_status(packet, *c->layer, 0, value)) facts.word(value.text);
    if (c->kind == Completion::Kind::unknown) facts.hex("", c->opcode, 2);
  } else if (c->failed()) {
    Text& out = facts.next();
    out.put("error: ");
    out.put(words_of(c->fault).name);
    out.put(" (0x");
    out.hex(c->status, 2);
    out.put(')');
    if (c->vendor) facts.hex("vendor ", *c->vendor, 2);
  }
  if (c->wqe) facts.dec("WQE ", *c->wqe);
  if (c->byte_count) {
    facts.dec("", *c->byte_count);
    facts.last().put(" bytes");
  }
}

// "SubnGetResp(PortInfo)", "port 1", "error: no records (0x0300)"
void mad_facts(Facts& facts, const Packet& packet, const Layer& layer) {
  const std::uint8_t* p = packet.data(layer);
  const View<Mad> mad(p);
  if (is_cm_message(p)) return facts.name(cm_attributes, mad.get<"attributeid">(), "CM attribute ", 4);
  const MadClass* c = mad_class(p[1]);
  if (!c) {
    facts.hex("class ", mad.get<"mgmtclass">(), 2);
    facts.name(mad_methods, mad.get<"method">(), "method ", 2);
    return facts.hex("attribute ", mad.get<"attributeid">(), 4);
  }
  Text& out = facts.next();
  const std::string_view class_name = name_of(mad_classes, mad.get<"mgmtclass">());
  if (c->group == MadGroup::other && !class_name.empty()) {
    out.put(class_name);
  } else {
    out.put(c->prefix);
    if (c->group == MadGroup::other) {
      out.put(" class 0x");
      out.hex(mad.get<"mgmtclass">(), 2);
      out.put(' ');
    }
  }
  if (const std::string_view method = name_of(mad_methods, mad.get<"method">()); !method.empty()) {
    out.put(method);
  } else {
    out.put(" method 0x");
    out.hex(mad.get<"method">(), 2);
  }
  out.put('(');
  Value words;
  if (mad_attribute_name(packet, layer, 0, words)) {
    out.put(words.text);
  } else {
    out.put("0x");
    out.hex(mad.get<"attributeid">(), 4);
  }
  out.put(')');
  if (mad_modifier_meaning(packet, layer, 0, words)) facts.word(words.text);
  if (mad_status_meaning(packet, layer, 0, words)) {
    facts.word("error: ", words.text);
    out.put(" (0x");
    out.hex(mad.get<"status">(), 4);
    out.put(')');
  }
}

// "segment 1 of 3", "segment 3, last", "RMPP ACK segment 3, window to 35"
void rmpp_facts(Facts& facts, View<Rmpp> rmpp) {
  if (!rmpp.get<"rmppflags.active">() || rmpp.get<"rmpptype">() == 0) return;
  if (!rmpp_is_data(rmpp.bytes())) facts.name(rmpp_types, rmpp.get<"rmpptype">(), "RMPP type ", 0);
  if (!rmpp_has_segment(rmpp.bytes())) return facts.name(rmpp_statuses, rmpp.get<"rmppstatus">(), "status ", 0);
  facts.dec("segment ", rmpp.get<"segmentnumber">());
  if (rmpp_is_ack(rmpp.bytes())) return facts.dec("window to ", rmpp.get<"newwindowlast">());
  constexpr std::uint64_t full_segment = Sa::bytes + sa_data_bytes;
  const std::uint64_t length = rmpp.get<"payloadlength">();
  if (rmpp.get<"rmppflags.first">() && length > 0) {  // then it is that of the whole answer
    facts.last().put(" of ");
    facts.last().dec((length + full_segment - 1) / full_segment);
  } else if (rmpp.get<"rmppflags.last">()) {
    facts.last().put(", last");
  }
}

// The port whose counters are meant: a row of most attributes of performance management.
void port_facts(Facts& facts, const Packet& packet, const Layer& layer) {
  constexpr std::uint64_t all_ports = 255;
  for (const Field& f : layer.header->fields) {
    if (f.name != "portselect") continue;
    const std::uint64_t port = load(packet.data(layer), f);
    if (port == all_ports)
      facts.word("all ports");
    else
      facts.dec("port ", port);
  }
}

// The checksum this one should be, if it is wrong.
std::optional<std::uint16_t> cdi_wrong_checksum(const Packet& packet, const Layer& control) {
  Value value;
  cdi_checksum_status(packet, control, 0, value);
  if (static_cast<CrcStatus>(value.number) != CrcStatus::bad) return {};
  cdi_checksum_expected(packet, control, 0, value);
  return static_cast<std::uint16_t>(value.number);
}

void put_number(Text& out, std::span<const ValueName> names, std::uint64_t command, std::uint64_t number) {
  Facts facts(out, " ");
  facts.name(names, command, "command ", 0);
  facts.dec("#", number);
}

void cdi_stream_fact(Facts& facts, const Packet& packet, const Layer& cdi) {
  Value value;
  read(packet, cdi, field<Cdi, "senders_stream_name_str">(), 0, value);
  if (value.text.empty()) return;
  facts.next().put("stream \"");
  facts.last().printable(value.text);
  facts.last().put('"');
}

// "Reset, 1.0.5, stream "cam1"": of a control message
void cdi_facts(Facts& facts, const Packet& packet, const Layer& layer) {
  facts.name(cdi_commands, View<Cdi>(packet.data(layer)).get<"command">(), "command ", 0);
  Value version;
  if (cdi_version(packet, layer, 0, version)) facts.word(version.text);
  cdi_stream_fact(facts, packet, layer);
}

// "#3", "checksum bad, should be 0x254f"
void cdi_control_facts(Facts& facts, const Packet& packet, const Layer& layer) {
  facts.dec("#", View<CdiControl>(packet.data(layer)).get<"control_packet_num">());
  if (const auto expected = cdi_wrong_checksum(packet, layer)) facts.hex("checksum bad, should be ", *expected, 4);
}

void efa_facts(Facts& facts, const Packet& packet, const Layer& layer) {
  const std::uint8_t* p = packet.data(layer);
  if (layer.header == &header<EfaRecord>) {
    const View<EfaRecord> record(p);
    if (record.get<"direction">() != 0) facts.name(efa_directions, record.get<"direction">(), "direction ", 0);
    facts.hex("QP ", record.get<"local_qpn">(), 4);
    facts.hex("peer ", record.get<"remote_qpn">(), 4);
    if (efa_has_status(p) && record.get<"status">() != 0)
      facts.name(efa_status_names, record.get<"status">(), "status ", 0);
  } else {
    const View<EfaRdm> rdm(p);
    facts.name(efa_rdm_type_names, rdm.get<"type">(), "type ", 0);
    facts.dec("v", rdm.get<"version">());
  }
}

void put_pair(Text& out, const std::uint8_t* from_gid, const std::uint8_t* to_gid) {
  out.ipv6(from_gid);
  out.put(" to ");
  out.ipv6(to_gid);
}

// What a header of InfiniBand says; nothing for those whose fields say it all.
void put_facts(Facts& facts, const Packet& packet, const Layer& layer) {
  const Header* h = layer.header;
  const std::uint8_t* p = packet.data(layer);
  if (h == &header<Bth>) {
    bth_facts(facts, View<Bth>(p));
  } else if (h == &header<Aeth>) {
    aeth_facts(facts, View<Aeth>(p));
  } else if (h == &header<Reth>) {
    const View<Reth> reth(p);
    facts.hex("VA ", reth.get<"va">());
    facts.hex("R_Key ", reth.get<"r_key">(), 8);
    facts.dec("DMALen ", reth.get<"dmalen">());
  } else if (h == &header<Deth>) {
    facts.hex("from QP ", View<Deth>(p).get<"srcqp">(), 6);
  } else if (h == &header<Immdt>) {
    facts.hex("Imm ", View<Immdt>(p).get<"data">(), 8);
  } else if (h == &header<Ieth>) {
    facts.hex("Invalidate ", View<Ieth>(p).get<"r_key">(), 8);
  } else if (h == &header<Xrceth>) {
    facts.hex("XRCSRQ ", View<Xrceth>(p).get<"xrcsrq">(), 6);
  } else if (h == &header<Atomiceth>) {
    const View<Atomiceth> atomic(p);
    facts.hex("VA ", atomic.get<"va">());
    facts.hex("R_Key ", atomic.get<"r_key">(), 8);
  } else if (h == &header<Atomicacketh>) {
    facts.hex("original ", View<Atomicacketh>(p).get<"origremdt">());
  } else if (h == &header<Mad>) {
    mad_facts(facts, packet, layer);
    facts.hex("TID ", View<Mad>(p).get<"transactionid">());
  } else if (h == &header<Rmpp>) {
    rmpp_facts(facts, View<Rmpp>(p));
  } else if (h == &header<SmpPaths>) {
    Value path;
    if (smp_initial_hops(packet, layer, 0, path)) facts.word("DR ", path.text);
  } else if (h == &header<NodeInfo>) {
    const View<NodeInfo> node(p);
    facts.name(ib_node_types, node.get<"nodetype">(), "node type ", 0);
    facts.hex("GUID ", node.get<"nodeguid">(), 16);
    facts.dec("ports ", node.get<"numports">());
  } else if (h == &header<NodeDescription>) {
    Value text;
    read(packet, layer, field<NodeDescription, "nodestring">(), 0, text);
    facts.next().put('"');
    facts.last().printable(text.text);
    facts.last().put('"');
  } else if (h == &header<PortInfo>) {
    const View<PortInfo> port(p);
    facts.name(port_states, port.get<"portstate">(), "state ", 0);
    if (port.get<"lid">() != 0) facts.dec("LID ", port.get<"lid">());
  } else if (h == &header<SmInfo>) {
    facts.name(sm_states, View<SmInfo>(p).get<"smstate">(), "state ", 0);
    facts.dec("priority ", View<SmInfo>(p).get<"priority">());
  } else if (h == &header<Notice>) {
    const View<Notice> notice(p);
    if (is_generic_notice(p))
      facts.name(trap_names, notice.get<"trapnumber">(), "trap ", 0);
    else
      facts.hex("vendor notice ", notice.get<"trapnumberdeviceid">(), 4);
    facts.dec("from LID ", notice.get<"issuerlid">());
  } else if (h == &header<PathRecord>) {
    put_pair(facts.next(), p + field<PathRecord, "sgid">().at / 8, p + field<PathRecord, "dgid">().at / 8);
    const View<PathRecord> path(p);
    if (path.get<"dlid">() != 0) {
      facts.dec("LID ", path.get<"slid">());
      facts.last().put(" to ");
      facts.last().dec(path.get<"dlid">());
    }
  } else if (h == &header<McMemberRecord>) {
    facts.next().ipv6(p + field<McMemberRecord, "mgid">().at / 8);
    if (const auto mlid = View<McMemberRecord>(p).get<"mlid">(); mlid != 0) facts.hex("MLID ", mlid, 4);
  } else if (h == &header<VendorMad>) {
    facts.hex("OUI ", View<VendorMad>(p).get<"oui">(), 6);
  } else if (h == &header<Ipoib>) {
    facts.name(ethertypes, View<Ipoib>(p).get<"type">(), "EtherType ", 4);
  } else if (h == &header<IbLink>) {
    const View<IbLink> link(p);
    facts.dec("Flow control VL ", link.get<"vl">());
    facts.dec("FCTBS ", link.get<"fctbs">());
    facts.dec("FCCL ", link.get<"fccl">());
  } else if (h == &header<Cdi>) {
    cdi_facts(facts, packet, layer);
  } else if (h == &header<CdiControl>) {
    cdi_control_facts(facts, packet, layer);
  } else if (h == &header<CdiRequest>) {
    facts.word(p[0] != 0 ? "asks for Ack" : "no Ack");
  } else if (h == &header<CdiAck>) {
    const View<CdiAck> ack(p);
    put_number(facts.next(), cdi_commands, ack.get<"command">(), ack.get<"control_packet_num">());
  } else if (h == &header<CdiData>) {
    const View<CdiData> data(p);
    facts.name(cdi_payload_types, data.get<"payload_type">(), "type ", 0);
    facts.dec("packet ", data.get<"packet_sequence_num">());
  } else if (h == &header<CdiDataV1>) {
    facts.dec("of payload ", View<CdiDataV1>(p).get<"payload_num">());
  } else if (h == &header<CdiDataV2>) {
    facts.dec("of payload ", View<CdiDataV2>(p).get<"payload_num">());
    facts.dec("id ", View<CdiDataV2>(p).get<"packet_id">());
  } else if (h == &header<CdiDataFirst>) {
    facts.dec("", View<CdiDataFirst>(p).get<"total_payload_size">());
    facts.last().put(" bytes in all");
  } else if (h == &header<CdiDataOffset>) {
    facts.dec("offset ", View<CdiDataOffset>(p).get<"payload_data_offset">());
  } else if (h == &header<CdiPayload>) {
    facts.dec("data ", layer.bytes);
  } else if (h == &header<EfaRecord> || h == &header<EfaRdm>) {
    efa_facts(facts, packet, layer);
  } else if (h == &header<EfaMessage>) {
    facts.dec("message ", View<EfaMessage>(p).get<"msg_id">());
  } else if (h == &header<Cqe>) {
    cqe_facts(facts, packet);
  } else if (h == &header<CqeRecord>) {
    const View<CqeRecord> record(p);
    facts.name(cqe_formats, record.get<"format">(), "format ", 2);
    facts.hex("CQ ", record.get<"cqn">(), 6);
    if (cqe_has_index(p)) facts.dec("ci ", record.get<"ci">());
  }
}

// "good", "bad, should be 0x12345678", "unverified, cut short by the capture"
void put_verdict(Text& out, const Crc& crc, std::size_t digits) {
  switch (crc.status) {
    case CrcStatus::good:
      out.put("good");
      break;
    case CrcStatus::bad:
      out.put("bad, should be 0x");
      out.hex(crc.expected, digits);
      break;
    case CrcStatus::unverified:
      out.put("unverified, ");
      out.put(crc.reason);
      break;
    case CrcStatus::absent:
      break;
  }
}
constexpr std::size_t icrc_digits = 8, vcrc_digits = 4;

// A management datagram. Nearly all are UD Send Only between the same two queue pairs; only others say how they travel.
void put_mad(Text& out, const Packet& packet, const Layer& mad) {
  constexpr std::uint8_t ud_send_only = 0x64;
  Facts facts(out, " ");
  const std::uint8_t* p = packet.data(mad);
  mad_facts(facts, packet, mad);
  // A request to read has nothing in its attribute yet. Of several records only the number is told.
  const std::uint8_t method = p[3];
  const bool asks = method == mad_get || method == mad_get_table;
  const MadAttribute* attribute = mad_attribute(p);
  const Header* record = attribute && is_sa(p) && !attribute->layers().empty() ? attribute->parts[0] : nullptr;
  if (method == mad_get_multi_resp && record == &header<MultiPathRecord>) record = &header<PathRecord>;
  std::uint64_t records = 0;
  for (const Layer& layer : packet.layers()) records += layer.header == record;
  for (const Layer& layer : packet.layers())
    if (layer.at >= mad.at + Mad::bytes && layer.header != &header<SmpPaths>)
      if (layer.header == &header<Rmpp> || layer.header == &header<VendorMad> || (!asks && records <= 1))
        put_facts(facts, packet, layer);
  if (attribute && attribute->group == MadGroup::perf)
    if (const Layer* counters = attribute->layers().empty() ? nullptr : packet.find(*attribute->parts[0]))
      port_facts(facts, packet, *counters);
  const bool is_table = method == mad_get_table_resp || method == mad_get_multi_resp;
  if (is_table && (records > 0 || View<Mad>(p).get<"status">() == 0)) facts.dec("records ", records);
  if (const Layer* paths = packet.find(header<SmpPaths>)) put_facts(facts, packet, *paths);
  facts.hex("TID ", View<Mad>(p).get<"transactionid">());
  if (packet.bth_layer < 0) return;
  const View<Bth> bth = *packet.find<Bth>();
  const auto code = static_cast<std::uint8_t>(bth.get<"opcode">());
  if (code != ud_send_only) facts.word("by ", opcode_title(code));
  facts.hex("QP ", bth.get<"destqp">(), 6);
  if (const auto deth = packet.find<Deth>(); deth && deth->get<"srcqp">() != bth.get<"destqp">())
    facts.hex("from QP ", deth->get<"srcqp">(), 6);
}

void put_transport(Text& out, const Packet& packet) {
  const std::span<const Layer> layers = packet.layers();
  const std::size_t first = static_cast<std::size_t>(packet.bth_layer);
  if (View<Bth>(packet.data(layers[first])).get<"destqp">() <= qp_gsi)
    if (const Layer* mad = packet.find(header<Mad>)) return put_mad(out, packet, *mad);
  Facts facts(out, " ");
  for (std::size_t i = first; i < layers.size(); ++i) {
    if (layers[i].header == &header<Payload>) break;
    if (layers[i].header == &header<Ipoib>) {
      out.put(": IPoIB ");
      Facts inside(out, " ");
      put_facts(inside, packet, layers[i]);
      return;
    }
    put_facts(facts, packet, layers[i]);
  }
  if (packet.payload_bytes > 0) {
    facts.dec("payload ", packet.payload_bytes);
    if (packet.pad_bytes > 0) facts.dec("pad ", packet.pad_bytes);
  }
}

void put_ports(Text& out, View<Udp> udp) {
  out.dec(udp.get<"srcport">());
  out.put(" -> ");
  out.dec(udp.get<"dstport">());
}

// "Reset #1 1.0.5 asks for Ack", "Ack #2 of ProtocolVersion #4 2.3.5 [checksum bad, should be 0x254f]"
void put_cdi_control(Text& out, const Packet& packet, const Layer& cdi) {
  const Layer* control = packet.find(header<CdiControl>);
  if (control)
    put_number(out, cdi_commands, View<Cdi>(packet.data(cdi)).get<"command">(),
               View<CdiControl>(packet.data(*control)).get<"control_packet_num">());
  if (const auto ack = packet.find<CdiAck>()) {
    out.put(" of ");
    put_number(out, cdi_commands, ack->get<"command">(), ack->get<"control_packet_num">());
  }
  if (control) out.put(' ');
  Facts facts(out, " ");
  if (!control) facts.name(cdi_commands, View<Cdi>(packet.data(cdi)).get<"command">(), "command ", 0);
  Value version;
  if (cdi_version(packet, cdi, 0, version)) facts.word(version.text);
  if (const auto request = packet.find<CdiRequest>(); request && request->get<"requires_ack">())
    facts.word("asks for Ack");
  cdi_stream_fact(facts, packet, cdi);
  const auto expected = control ? cdi_wrong_checksum(packet, *control) : std::nullopt;
  if (!expected) return;
  facts.hex("[checksum bad, should be ", *expected, 4);
  out.put(']');
}

// Packets without InfiniBand transport: name what is there.
void put_other(Text& out, const Packet& packet) {
  if (const Layer* cdi = packet.find(header<Cdi>)) return put_cdi_control(out, packet, *cdi);
  if (packet.find(header<CdiData>) || packet.find(header<EfaRecord>) || packet.find(header<EfaRdm>)) {
    Facts all(out, " ");
    for (const Layer& layer : packet.layers())
      if (layer.header->name.starts_with("cdi.") || layer.header->name.starts_with("efa."))
        put_facts(all, packet, layer);
    return;
  }
  if (const Layer* mad = packet.find(header<Mad>)) return put_mad(out, packet, *mad);
  Facts facts(out, " ");
  for (std::size_t i = packet.layers().size(); i-- > 0 && !facts.any();) {
    const Layer& layer = packet.layers()[i];
    const Header* h = layer.header;
    const std::uint8_t* p = packet.data(layer);
    if (h == &header<Udp>) {
      put_ports(facts.next(), View<Udp>(p));
      facts.dec("length ", View<Udp>(p).get<"length">());
    } else if (h == &header<Ipv4>) {
      facts.name(ip_protocols, View<Ipv4>(p).get<"proto">(), "IP protocol ", 0);
    } else if (h == &header<Ipv6>) {
      facts.name(ip_protocols, View<Ipv6>(p).get<"nxt">(), "IP protocol ", 0);
    } else if (h == &header<Ethernet>) {
      facts.name(ethertypes, View<Ethernet>(p).get<"type">(), "EtherType ", 4);
    } else if (h == &header<Erf>) {
      facts.name(erf_types, View<Erf>(p).get<"types.type">(), "ERF type ", 0);
    } else {
      put_facts(facts, packet, layer);
    }
  }
  if (facts.any()) return;
  if (packet.frame.link_type)
    facts.dec("link type ", *packet.frame.link_type);
  else
    facts.word("data");
}

}  // namespace

const Layer* address_layer(const Packet& packet) {
  const Layer* found = nullptr;
  for (const Layer& layer : packet.layers())
    if (has_network_addresses(layer.header) || (layer.header == &header<Ethernet> && !found)) found = &layer;
  return found;
}
void put_source(Text& out, const Packet& packet, const Layer* addresses) {
  if (addresses) put_address(out, packet, *addresses, true);
}
void put_destination(Text& out, const Packet& packet, const Layer* addresses) {
  if (addresses) put_address(out, packet, *addresses, false);
}

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
  if (packet.bth_layer < 0)
    put_other(out, packet);
  else
    put_transport(out, packet);

  if (const Crc& icrc = packet.icrc(); icrc.status == CrcStatus::bad) {
    out.put(" [ICRC ");
    put_verdict(out, icrc, icrc_digits);
    out.put(']');
  }
  if (const Crc& vcrc = packet.vcrc(); vcrc.status == CrcStatus::bad) {
    out.put(" [VCRC ");
    put_verdict(out, vcrc, vcrc_digits);
    out.put(']');
  }
  if (packet.events().empty()) return;
  out.put(" [");
  put_event(out, packet, 0, Place::left_out);
  out.put(']');
}

void put_essence(Text& out, const Packet& packet, const Layer& layer) {
  const Header* h = layer.header;
  if (has_addresses(h)) {
    put_address(out, packet, layer, true);
    out.put(" -> ");
    put_address(out, packet, layer, false);
  } else if (h == &header<Udp>) {
    put_ports(out, View<Udp>(packet.data(layer)));
  } else if (h == &header<Icrc>) {
    put_verdict(out, packet.icrc(), icrc_digits);
  } else if (h == &header<Vcrc>) {
    put_verdict(out, packet.vcrc(), vcrc_digits);
  } else {
    Facts facts(out, ", ");
    put_facts(facts, packet, layer);
  }
}

void put_heading(Text& out, const Packet& packet, const Layer& layer) {
  out.put(layer.header->title);
  const std::size_t title_end = out.size();
  out.put(": ");
  const std::size_t start = out.size();
  put_essence(out, packet, layer);
  if (out.size() == start) out.truncate(title_end);
}

void put_event(Text& out, const Packet& packet, unsigned n, Place place) {
  const Event& event = packet.events()[n];
  out.put(event.where->name);
  out.put('.');
  out.put(name(event.problem));
  if (place == Place::shown) {
    out.put(" at byte ");
    out.dec(event.byte);
  }
  Value words;
  if (event_text(packet, packet.layers().front(), n, words)) {
    out.put(": ");
    out.put(words.text);
  }
}

Tone tone(const Packet& packet) {
  if (packet.icrc().status == CrcStatus::bad || packet.vcrc().status == CrcStatus::bad) return Tone::bad_crc;
  for (const Event& event : packet.events())
    if (event.problem != Problem::cut && event.problem != Problem::fragment) return Tone::malformed;
  if (packet.bth_layer < 0) {
    if (packet.find(header<Cqe>))
      if (const auto completion = completion_of(packet); completion && completion->failed()) return Tone::nak;
    if (packet.find(header<Cdi>)) {
      const Layer* control = packet.find(header<CdiControl>);
      return control && cdi_wrong_checksum(packet, *control) ? Tone::bad_crc : Tone::management;
    }
    return packet.find(header<Mad>) ? Tone::management : Tone::other;
  }
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
