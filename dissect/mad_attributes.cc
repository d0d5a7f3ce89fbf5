#include "dissect/mad_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dissect/components.h"
#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

using enum MadGroup;

template <class H>
constexpr const Header* h = &header<H>;

constexpr MadClass classes[] = {
    {0x01, 0x01, subn, "Subn", {h<SmpLid>}},
    {0x81, 0x81, subn, "Subn", {h<SmpDirected>}},
    {0x03, 0x03, sa, "SubnAdm", {h<Rmpp>, h<Sa>}},
    {0x04, 0x04, perf, "Perf", {h<PerfMad>}},
    {0x05, 0x05, bm, "BM", {h<BaseboardMad>}},
    {0x06, 0x06, devmgt, "DevMgt", {h<DeviceMad>}},
    {0x07, 0x07, cm, "ComMgt", {}},
    {0x08, 0x08, snmp, "SNMP", {h<SnmpMad>}},
    {0x09, 0x0f, other, "Vendor", {}},
    {0x21, 0x21, congestion, "CC", {h<CongestionMad>}},
    {0x10, 0x2f, other, "Application", {}},
    {0x30, 0x4f, other, "Vendor", {h<Rmpp>, h<VendorMad>}},
};

constexpr MadAttribute attributes[] = {
    {any, 0x0001, "ClassPortInfo", {h<ClassPortInfo>}},
    {subn, 0x0002, "Notice", {h<Notice>}},
    {any, 0x0002, "Notice", {h<Notice>}},

    {subn, 0x0010, "NodeDescription", {h<NodeDescription>}},
    {subn, 0x0011, "NodeInfo", {h<NodeInfo>}},
    {subn, 0x0012, "SwitchInfo", {h<SwitchInfo>}},
    {subn, 0x0014, "GUIDInfo", {h<GuidInfo>}},
    {subn, 0x0015, "PortInfo", {h<PortInfo>}},
    {subn, 0x0016, "P_KeyTable", {h<PKeyTable>}},
    {subn, 0x0017, "SLtoVLMappingTable", {h<SlToVlTable>}},
    {subn, 0x0018, "VLArbitrationTable", {h<VlArbitrationTable>}},
    {subn, 0x0019, "LinearForwardingTable", {h<LinearForwardingTable>}},
    {subn, 0x001a, "RandomForwardingTable", {h<RandomForwardingTable>}},
    {subn, 0x001b, "MulticastForwardingTable", {h<MulticastForwardingTable>}},
    {subn, 0x001c, "LinkSpeedWidthPairsTable", {}},
    {subn, 0x001d, "VendorSpecificMadsTable", {}},
    {subn, 0x001e, "HierarchyInfo", {}},
    {subn, 0x0020, "SMInfo", {h<SmInfo>}},
    {subn, 0x0030, "VendorDiag", {h<VendorDiag>}},
    {subn, 0x0031, "LedInfo", {h<LedInfo>}},
    {subn, 0x0032, "CableInfo", {}},
    {subn, 0x0033, "PortInfoExtended", {h<PortInfoExtended>}},
    {subn, 0xff90, "ExtendedPortInfo", {h<ExtendedPortInfo>}},

    {sa, 0x0003, "InformInfo", {h<InformInfo>}},
    {sa, 0x0011, "NodeRecord", {h<NodeRecord>, h<NodeInfo>, h<NodeDescription>}},
    {sa, 0x0012, "PortInfoRecord", {h<PortInfoRecord>, h<PortInfo>}},
    {sa, 0x0013, "SLtoVLMappingTableRecord", {h<SlToVlRecord>, h<SlToVlTable>}},
    {sa, 0x0014, "SwitchInfoRecord", {h<SwitchInfoRecord>, h<SwitchInfo>}},
    {sa, 0x0015, "LinearForwardingTableRecord", {h<LinearForwardingTableRecord>, h<LinearForwardingTable>}},
    {sa, 0x0016, "RandomForwardingTableRecord", {h<RandomForwardingTableRecord>, h<RandomForwardingTable>}},
    {sa, 0x0017, "MulticastForwardingTableRecord", {h<MulticastForwardingTableRecord>, h<MulticastForwardingTable>}},
    {sa, 0x0018, "SMInfoRecord", {h<SmInfoRecord>, h<SmInfo>}},
    {sa, 0x0019, "LinkSpeedWidthPairsTableRecord", {}},
    {sa, 0x0020, "LinkRecord", {h<LinkRecord>}},
    {sa, 0x0030, "GUIDInfoRecord", {h<GuidInfoRecord>, h<GuidInfo>}},
    {sa, 0x0031, "ServiceRecord", {h<ServiceRecord>}},
    {sa, 0x0033, "P_KeyTableRecord", {h<PKeyTableRecord>, h<PKeyTable>}},
    {sa, 0x0035, "PathRecord", {h<PathRecord>}},
    {sa, 0x0036, "VLArbitrationTableRecord", {h<VlArbitrationRecord>, h<VlArbitrationTable>}},
    {sa, 0x0038, "MCMemberRecord", {h<McMemberRecord>}},
    {sa, 0x0039, "TraceRecord", {h<TraceRecord>}},
    {sa, 0x003a, "MultiPathRecord", {h<MultiPathRecord>}},
    {sa, 0x003b, "ServiceAssociationRecord", {h<ServiceAssociationRecord>}},
    {sa, 0x003c, "HierarchyInfoRecord", {}},
    {sa, 0x003d, "CableInfoRecord", {}},
    {sa, 0x003e, "PortInfoExtendedRecord", {}},
    {sa, 0x00f3, "InformInfoRecord", {h<InformInfoRecord>, h<InformInfo>, h<InformInfoRecordEnd>}},

    {perf, 0x0010, "PortSamplesControl", {h<PortSamplesControl>}},
    {perf, 0x0011, "PortSamplesResult", {h<PortSamplesResult>}},
    {perf, 0x0012, "PortCounters", {h<PortCounters>}},
    {perf, 0x0015, "PortRcvErrorDetails", {h<PortRcvErrorDetails>}},
    {perf, 0x0016, "PortXmitDiscardDetails", {h<PortXmitDiscardDetails>}},
    {perf, 0x0017, "PortOpRcvCounters", {h<PortOpRcvCounters>}},
    {perf, 0x0018, "PortFlowCtlCounters", {h<PortFlowCtlCounters>}},
    {perf, 0x0019, "PortVLOpPackets", {h<PortVlOpPackets>}},
    {perf, 0x001a, "PortVLOpData", {h<PortVlOpData>}},
    {perf, 0x001b, "PortVLXmitFlowCtlUpdateErrors", {h<PortVlXmitFlowCtlUpdateErrors>}},
    {perf, 0x001c, "PortVLXmitWaitCounters", {h<PortVlXmitWaitCounters>}},
    {perf, 0x001d, "PortCountersExtended", {h<PortCountersExtended>}},
    {perf, 0x001e, "PortSamplesResultExtended", {h<PortSamplesResultExtended>}},
    {perf, 0x001f, "PortExtendedSpeedsCounters", {h<PortExtendedSpeedsCounters>}},
    {perf, 0x0030, "SwPortVLCongestion", {h<SwPortVlCongestion>}},
    {perf, 0x0031, "PortRcvConCtrl", {h<PortRcvConCtrl>}},
    {perf, 0x0032, "PortSLRcvFECN", {h<PortSlRcvFecn>}},
    {perf, 0x0033, "PortSLRcvBECN", {h<PortSlRcvBecn>}},
    {perf, 0x0034, "PortXmitConCtrl", {h<PortXmitConCtrl>}},
    {perf, 0x0035, "PortVLXmitTimeCong", {h<PortVlXmitTimeCong>}},
    {perf, 0x0036, "PortXmitDataSL", {h<PortXmitDataSl>}},
    {perf, 0x0037, "PortRcvDataSL", {h<PortRcvDataSl>}},

    {bm, 0x0010, "BKeyInfo", {}},
    {bm, 0x0020, "WriteVPD", {}},
    {bm, 0x0021, "ReadVPD", {}},
    {bm, 0x0022, "ResetIBML", {}},
    {bm, 0x0023, "SetModulePMControl", {}},
    {bm, 0x0024, "GetModulePMControl", {}},
    {bm, 0x0025, "SetUnitPMControl", {}},
    {bm, 0x0026, "GetUnitPMControl", {}},
    {bm, 0x0027, "SetIOCPMControl", {}},
    {bm, 0x0028, "GetIOCPMControl", {}},
    {bm, 0x0029, "SetModuleState", {}},
    {bm, 0x002a, "SetModuleAttention", {}},
    {bm, 0x002b, "GetModuleStatus", {}},
    {bm, 0x002c, "IB2IBML", {}},
    {bm, 0x002d, "IB2CME", {}},
    {bm, 0x002e, "IB2MME", {}},
    {bm, 0x002f, "OEM", {}},

    {devmgt, 0x0010, "IOUnitInfo", {}},
    {devmgt, 0x0011, "IOControllerProfile", {}},
    {devmgt, 0x0012, "ServiceEntries", {}},
    {devmgt, 0x0020, "DiagnosticTimeout", {}},
    {devmgt, 0x0021, "PrepareToTest", {}},
    {devmgt, 0x0022, "TestDeviceOnce", {}},
    {devmgt, 0x0023, "TestDeviceLoop", {}},
    {devmgt, 0x0024, "DiagCode", {}},

    {cm, 0x0010, "REQ", {h<CmReq>}},
    {cm, 0x0011, "MRA", {h<CmMra>}},
    {cm, 0x0012, "REJ", {h<CmRej>}},
    {cm, 0x0013, "REP", {h<CmRep>}},
    {cm, 0x0014, "RTU", {h<CmRtu>}},
    {cm, 0x0015, "DREQ", {h<CmDreq>}},
    {cm, 0x0016, "DREP", {h<CmDrep>}},
    {cm, 0x0017, "SIDR_REQ", {h<CmSidrReq>}},
    {cm, 0x0018, "SIDR_REP", {h<CmSidrRep>}},
    {cm, 0x0019, "LAP", {h<CmLap>}},
    {cm, 0x001a, "APR", {h<CmApr>}},
    {cm, 0x001b, "SAP", {}},
    {cm, 0x001c, "SPR", {}},

    {snmp, 0x0010, "CommunityInfo", {}},
    {snmp, 0x0011, "PDUInfo", {}},

    {congestion, 0x0011, "CongestionInfo", {h<CongestionInfo>}},
    {congestion, 0x0012, "CongestionKeyInfo", {h<CongestionKeyInfo>}},
    {congestion, 0x0013, "CongestionLog", {}},
    {congestion, 0x0014, "SwitchCongestionSetting", {h<SwitchCongestionSetting>}},
    {congestion, 0x0015, "SwitchPortCongestionSetting", {h<SwitchPortCongestionSetting>}},
    {congestion, 0x0016, "CACongestionSetting", {h<CaCongestionSetting>}},
    {congestion, 0x0017, "CongestionControlTable", {h<CongestionControlTable>}},
    {congestion, 0x0018, "TimeStamp", {}},
};

bool put_text(Value& out, std::string_view text) {
  out.kind = Value::Kind::text;
  out.text = text;
  return !text.empty();
}

// Text made in the scratch of a value.
class Words {
 public:
  explicit Words(Value& out) : out_(out) {}

  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    put("{}", size_ > 0 ? separator : "");
    put(format, std::forward<T>(values)...);
  }
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    char* const at = out_.scratch.data() + size_;
    const std::size_t room = out_.scratch.size() - size_;
    size_ += std::min(room, fmt::format_to_n(at, room, format, std::forward<T>(values)...).size);
  }
  // False when there are no words.
  bool done() { return put_text(out_, {out_.scratch.data(), size_}); }

  std::string_view separator = ", ";

 private:
  Value& out_;
  std::size_t size_ = 0;
};

// The common header of the MAD a layer belongs to, which stands `behind` bytes in front of it; nullptr: another layer
// was read alone.
const std::uint8_t* mad_before(const Packet& packet, const Layer& layer, std::uint32_t behind) {
  const Layer* mad = packet.find(header<Mad>);
  return mad && mad->at + behind == layer.at ? packet.data(*mad) : nullptr;
}

bool hops(const Packet& packet, const Layer& layer, unsigned n, std::uint32_t offset, Value& out) {
  const std::uint8_t* mad = mad_before(packet, layer, mad_bytes - SmpPaths::bytes);
  if (n > 0 || !mad) return false;
  const auto count = std::min<std::uint64_t>(View<Mad>(mad).get<"hopcount">(), smp_path_ports - 1);
  Words words(out);
  words.separator = ",";
  for (std::uint64_t i = 0; i <= count; ++i) words.add("{}", packet.data(layer)[offset + i]);
  return words.done();
}

constexpr ValueName vl_arbitration_parts[] = {{1, "low priority, lower 32 entries"},
                                              {2, "low priority, upper 32 entries"},
                                              {3, "high priority, lower 32 entries"},
                                              {4, "high priority, upper 32 entries"}};
constexpr ValueName sm_controls[] = {
    {1, "HANDOVER"}, {2, "ACKNOWLEDGE"}, {3, "DISABLE"}, {4, "STANDBY"}, {5, "DISCOVER"}};

void subn_modifier(Words& words, std::uint16_t attribute, std::uint8_t method, std::uint32_t modifier) {
  const unsigned high = modifier >> 16, low = modifier & 0xffff;
  switch (attribute) {
    case 0x0014:
    case 0x0019:
    case 0x001a:
      return words.add("block {}", modifier);
    case 0x0015:
      words.add("port {}", modifier & 0xff);
      if (modifier >> 31) words.add("extended speeds known");
      return;
    case 0x0016:
      return words.add("port {}, block {}", high, low);
    case 0x0017:
      if (modifier == 0) return;  // of an adapter
      return words.add("input port {}, output port {}", low >> 8, low & 0xff);
    case 0x0018:
      if (const std::string_view part = name_of(vl_arbitration_parts, high); !part.empty())
        words.add("{}", part);
      else
        words.add("part {}", high);
      return words.add("port {}", low);
    case 0x001b:
      return words.add("block {}, position {}", modifier & 0x1ff, modifier >> 28);
    case 0x0020:
      if (method == mad_set) words.add("{}", name_of(sm_controls, modifier));
      return;
    case 0x0030:
      return words.add("index {}", modifier);
    case 0x0031:
    case 0x0033:
      return words.add("port {}", modifier);
    default:
      return;
  }
}

// Bits 0 to 15 of CapabilityMask, then those of CapabilityMask2 from 16 on.
constexpr ValueName class_capability_names[] = {
    {0, "IsTrapSupported"}, {1, "IsNoticeSupported"}, {2, "IsCapabilityMask2Supported"}};
constexpr ValueName perf_capability_names[] = {{8, "AllPortSelect"},
                                               {9, "IsExtendedWidthSupported"},
                                               {10, "IsExtendedWidthSupportedNoIETF"},
                                               {11, "SamplesOnlySupported"},
                                               {12, "PortCountersXmitWaitSupported"},
                                               {13, "IsInhibitLimitedPkeyMulticastConstraintErrors"},
                                               {14, "IsRSFECCountersSupported"},
                                               {15, "IsQP1DroppedSupported"},
                                               {16, "IsPMKeySupported"},
                                               {17, "IsAdditionalPortCountersExtendedSupported"}};

}  // namespace

const MadClass* mad_class(std::uint8_t code) {
  const auto found = std::find_if(std::begin(classes), std::end(classes),
                                  [code](const MadClass& c) { return code >= c.first && code <= c.last; });
  return found == std::end(classes) ? nullptr : found;
}

const MadAttribute* mad_attribute(MadGroup group, std::uint16_t id) {
  for (const MadAttribute& a : attributes)
    if (a.id == id && (a.group == group || (a.group == any && group != subn && group != other))) return &a;
  return nullptr;
}

const MadAttribute* mad_attribute(const std::uint8_t* mad) {
  const MadClass* c = mad_class(mad[1]);
  if (!c) return nullptr;
  const MadAttribute* found = mad_attribute(c->group, static_cast<std::uint16_t>(mad[16] << 8 | mad[17]));
  // Messages of the connection manager are sent, the other methods are about the class.
  if (found && c->group == cm && (found->group == cm) != is_cm_message(mad)) return nullptr;
  return found;
}

std::span<const MadAttribute> mad_attributes() { return attributes; }

bool mad_attribute_name(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const MadAttribute* found = n > 0 ? nullptr : mad_attribute(packet.data(layer));
  return found && put_text(out, found->name);
}

bool mad_modifier_meaning(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const View<Mad> mad(packet.data(layer));
  const MadClass* c = mad_class(static_cast<std::uint8_t>(mad.get<"mgmtclass">()));
  if (n > 0 || !c) return false;
  const auto attribute = static_cast<std::uint16_t>(mad.get<"attributeid">());
  const auto modifier = static_cast<std::uint32_t>(mad.get<"attributemodifier">());
  Words words(out);
  if (c->group == subn) subn_modifier(words, attribute, static_cast<std::uint8_t>(mad.get<"method">()), modifier);
  if (c->group == bm && modifier & 1) words.add("response");
  if (c->group == sa && attribute == 0x0012 && modifier >> 31) words.add("match set bits of CapabilityMask");
  return words.done();
}

bool mad_status_meaning(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  if (n > 0) return false;
  const std::uint8_t* p = packet.data(layer);
  const View<Mad> mad(p);
  Words words(out);
  const auto class_bits = static_cast<unsigned>(mad.get<"status.class">()) & (is_directed(p) ? 0x7f : 0xff);
  std::string_view known;
  if (is_sa(p)) known = name_of(sa_statuses, class_bits);
  if (is_devmgt(p)) known = name_of(devmgt_statuses, class_bits);
  if (!known.empty())
    words.add("{}", known);
  else if (class_bits != 0)
    words.add("class specific 0x{:02x}", class_bits);
  if (const auto code = mad.get<"status.code">(); code != 0) {
    if (known = name_of(mad_status_codes, code); !known.empty())
      words.add("{}", known);
    else
      words.add("reserved code {}", code);
  }
  if (mad.get<"status.redirect">()) words.add("redirect");
  if (mad.get<"status.busy">()) words.add("busy");
  if (mad.get<"status.reserved">()) words.add("reserved bits");
  return words.done();
}

bool mad_reserved_nonzero(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  if (n > 0) return false;
  const std::span<const std::uint8_t> bytes = packet.bytes.subspan(layer.at, layer.bytes);
  out.kind = Value::Kind::number;
  out.number = static_cast<std::uint64_t>(std::ranges::count_if(bytes, [](std::uint8_t b) { return b != 0; }));
  return true;
}

bool smp_initial_hops(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  return hops(packet, layer, n, field<SmpPaths, "initialpath">().at / 8, out);
}
bool smp_return_hops(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  return hops(packet, layer, n, field<SmpPaths, "returnpath">().at / 8, out);
}

bool sa_components(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const std::uint8_t* mad = mad_before(packet, layer, Mad::bytes + Rmpp::bytes);
  if (!mad) return false;
  const MadAttribute* attribute = mad_attribute(mad);
  const std::span<const Header* const> record = attribute ? attribute->layers() : std::span<const Header* const>();
  return selected_component(record, View<Sa>(packet.data(layer)).get<"componentmask">(), n, out);
}

bool sa_part_record(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const Layer* sa_layer = packet.find(header<Sa>);
  const auto rmpp = packet.find<Rmpp>();
  if (n > 0 || !sa_layer || !rmpp) return false;
  const std::uint64_t stride = View<Sa>(packet.data(*sa_layer)).get<"attributeoffset">() * 8;
  if (stride == 0) return false;
  std::uint64_t at = layer.at - (sa_layer->at + Sa::bytes);
  if (rmpp_is_data(rmpp->bytes()) && rmpp->get<"segmentnumber">() > 0)
    at += (rmpp->get<"segmentnumber">() - 1) * sa_data_bytes;
  out.kind = Value::Kind::number;
  out.number = at / stride + 1;
  return true;
}

bool perf_selected_counters(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const Header* const record[] = {layer.header};
  std::uint64_t mask = 0;
  for (const Field& f : layer.header->fields) {
    if (f.name == "counterselect") mask |= load(packet.data(layer), f);
    if (f.name == "counterselect2" && f.width == 32) mask |= load(packet.data(layer), f) << 8;
  }
  return selected_component(record, mask, n, out);
}

bool class_capabilities(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const View<ClassPortInfo> info(packet.data(layer));
  const std::uint64_t mask = info.get<"capabilitymask">() | info.get<"capabilitymask2">() << 16;
  const int bit = n < 64 ? set_bit(mask, n) : -1;
  if (bit < 0) return false;
  const auto mad = packet.find<Mad>();
  std::string_view known = name_of(class_capability_names, static_cast<std::uint64_t>(bit));
  if (known.empty() && mad && mad->get<"mgmtclass">() == mad_class_perf)
    known = name_of(perf_capability_names, static_cast<std::uint64_t>(bit));
  if (!known.empty()) return put_text(out, known);
  Words words(out);
  words.add("CapabilityMask{} bit {}", bit < 16 ? "" : "2", bit < 16 ? bit : bit - 16);
  return words.done();
}

}  // namespace rdmascope::dissect
