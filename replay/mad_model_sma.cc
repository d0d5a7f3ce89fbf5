// The model's subnet management agent: attributes, what of them can be set, and which values are refused. mad.md
// section 3, rules of 9.2 and 9.3.
#include <algorithm>
#include <cstring>

#include "dissect/smp.h"
#include "dissect/subn.h"
#include "replay/mad_attributes.h"
#include "replay/mad_model.h"

namespace rdmascope::replay {
namespace {

using dissect::Field;
using dissect::field;
using dissect::GuidInfo;
using dissect::LedInfo;
using dissect::load;
using dissect::NodeDescription;
using dissect::NodeInfo;
using dissect::PKeyTable;
using dissect::PortInfo;
using dissect::put;
using dissect::SlToVlTable;
using dissect::SmInfo;
using dissect::store;
using dissect::SwitchInfo;
using dissect::View;
using dissect::VlArbitrationTable;

constexpr std::uint64_t first_guid = 0x0002c90300a00000;  // of the node; its ports have the next ones
constexpr std::uint16_t partition_cap = 40, guid_cap = 12, linear_cap = 1024, multicast_cap = 256;
constexpr std::uint16_t linear_block = 64, multicast_block = 32, ports_in_mask = 16;
constexpr std::uint8_t node_ca = 1, node_switch = 2;
constexpr std::uint8_t down = 1, initialize = 2, armed = 3, active = 4;
constexpr std::uint8_t discard_port = 0xff;
constexpr std::uint16_t first_multicast_lid = 0xc000;

// What a Set changes. Fields that are the whole node's are those of the port that has the M_Key.
constexpr Field node_wide[] = {
    field<PortInfo, "m_key">(),         field<PortInfo, "gidprefix">(),        field<PortInfo, "lid">(),
    field<PortInfo, "mastersmlid">(),   field<PortInfo, "m_keyleaseperiod">(), field<PortInfo, "m_keyprotectbits">(),
    field<PortInfo, "lmc">(),           field<PortInfo, "mastersmsl">(),       field<PortInfo, "inittypereply">(),
    field<PortInfo, "subnettimeout">(),
};
constexpr Field of_every_port[] = {
    field<PortInfo, "neighbormtu">(),
    field<PortInfo, "vlhighlimit">(),
    field<PortInfo, "vlstallcount">(),
    field<PortInfo, "hoqlife">(),
    field<PortInfo, "partitionenforcementinbound">(),
    field<PortInfo, "partitionenforcementoutbound">(),
    field<PortInfo, "filterrawinbound">(),
    field<PortInfo, "filterrawoutbound">(),
    field<PortInfo, "localphyerrors">(),
    field<PortInfo, "overrunerrors">(),
};
// 0 changes nothing.
constexpr Field if_not_zero[] = {
    field<PortInfo, "linkwidthenabled">(),
    field<PortInfo, "linkspeedenabled">(),
    field<PortInfo, "linkdowndefaultstate">(),
    field<PortInfo, "operationalvls">(),
};
// 0 clears, and nothing else can be written.
constexpr Field violations[] = {
    field<PortInfo, "m_keyviolations">(),
    field<PortInfo, "p_keyviolations">(),
    field<PortInfo, "q_keyviolations">(),
};
constexpr Field of_switch_info[] = {
    field<SwitchInfo, "linearfdbtop">(),
    field<SwitchInfo, "defaultport">(),
    field<SwitchInfo, "defaultmulticastprimaryport">(),
    field<SwitchInfo, "defaultmulticastnotprimaryport">(),
    field<SwitchInfo, "lifetimevalue">(),
    field<SwitchInfo, "multicastfdbtop">(),
};

void copy_fields(std::uint8_t* to, const std::uint8_t* from, std::span<const Field> fields) {
  for (const Field& f : fields) store(to, f, load(from, f));
}

template <class Table>
void answer_with(std::span<std::uint8_t> data, const Table& table) {
  std::ranges::fill(data, std::uint8_t{0});
  std::copy_n(table.begin(), std::min(table.size(), data.size()), data.begin());
}

}  // namespace

void MadModel::furnish() {
  const auto numbers = static_cast<std::uint8_t>(ports_.size() - 1);
  std::uint8_t* const node = node_info_.data();
  put<NodeInfo, "baseversion">(node, 1);
  put<NodeInfo, "classversion">(node, 1);
  put<NodeInfo, "nodetype">(node, is_switch_ ? node_switch : node_ca);
  put<NodeInfo, "numports">(node, numbers);
  put<NodeInfo, "systemimageguid">(node, first_guid);
  put<NodeInfo, "nodeguid">(node, is<"mad-node-guid-zero">() ? 0 : first_guid);
  put<NodeInfo, "portguid">(node, first_guid + (is_switch_ ? 0 : tester_port));
  put<NodeInfo, "partitioncap">(node, partition_cap);
  put<NodeInfo, "deviceid">(node, 0x1011);
  put<NodeInfo, "revision">(node, 0xa0);
  put<NodeInfo, "localportnum">(node, is<"mad-local-port">() ? 2 : tester_port);
  put<NodeInfo, "vendorid">(node, 0x0002c9);
  if (is<"mad-node-info-reserved">()) node_info_[NodeInfo::bytes] = 1;
  if (is<"mad-port-guid">()) put<NodeInfo, "portguid">(node, first_guid + 0x100);

  constexpr std::string_view of_switch = "rdmascope model of a switch", of_ca = "rdmascope model of an HCA";
  const std::string_view text = is_switch_ ? of_switch : of_ca;
  std::ranges::copy(text, node_description_.begin());

  std::uint8_t* const sw = switch_info_.data();
  put<SwitchInfo, "linearfdbcap">(sw, is<"mad-lft-cap-zero">() ? 0 : linear_cap);
  put<SwitchInfo, "multicastfdbcap">(sw, multicast_cap);
  put<SwitchInfo, "linearfdbtop">(sw, linear_block - 1);
  put<SwitchInfo, "lifetimevalue">(sw, 18);
  put<SwitchInfo, "portstatechange">(sw, 1);
  put<SwitchInfo, "inboundenforcementcap">(sw, 0);
  linear_.assign(linear_cap, discard_port);

  std::uint8_t* const sm = sm_info_.data();
  put<SmInfo, "guid">(sm, first_guid + tester_port + (is<"mad-sm-info-guid">() ? 0x100 : 0));
  put<SmInfo, "sm_key">(sm, is<"mad-sm-info-key">() ? 0x1234567800000001 : 0);
  put<SmInfo, "priority">(sm, 5);
  put<SmInfo, "smstate">(sm, is<"mad-sm-info-state">() ? 4 : 2);

  for (std::size_t i = first_port(); i < ports_.size(); ++i) {
    Port& port = ports_[i];
    std::uint8_t* const info = port.info.data();
    const bool external = is_switch_ && i != 0;
    put<PortInfo, "gidprefix">(info, external ? 0 : 0xfe80000000000000);
    if (!is<"mad-sl-to-vl-unsupported">()) put<PortInfo, "capabilitymask.slmappingsupported">(info, 1);
    put<PortInfo, "capabilitymask.systemimageguidsupported">(info, 1);
    put<PortInfo, "capabilitymask.clientregistrationsupported">(info, 1);
    put<PortInfo, "capabilitymask.issm">(info, !is_switch_);
    put<PortInfo, "linkwidthenabled">(info, 3);
    put<PortInfo, "linkwidthsupported">(info, 3);
    put<PortInfo, "linkwidthactive">(info, 2);
    put<PortInfo, "linkspeedsupported">(info, 7);
    put<PortInfo, "linkspeedenabled">(info, 7);
    put<PortInfo, "linkspeedactive">(info, 4);
    // The tester's link is up; those of ports 2 and 3 of a switch wait for a subnet manager; nobody is at the others.
    const bool up = i <= tester_port, waits = external && i <= 3;
    put<PortInfo, "portstate">(info, up ? active : waits ? initialize : down);
    put<PortInfo, "portphysicalstate">(info, up || waits ? 5 : 2);
    put<PortInfo, "linkdowndefaultstate">(info, 2);
    put<PortInfo, "neighbormtu">(info, 4);
    put<PortInfo, "mtucap">(info, 4);
    put<PortInfo, "vlcap">(info, 4);
    put<PortInfo, "operationalvls">(info, 4);
    put<PortInfo, "vlarbitrationhighcap">(info, 2 * VlArbitrationTable::entries);
    put<PortInfo, "vlarbitrationlowcap">(info, 2 * VlArbitrationTable::entries);
    put<PortInfo, "vlstallcount">(info, 7);
    put<PortInfo, "hoqlife">(info, 16);
    put<PortInfo, "guidcap">(info, external ? 0 : guid_cap);
    put<PortInfo, "subnettimeout">(info, 18);
    put<PortInfo, "resptimevalue">(info, 16);
    put<PortInfo, "localphyerrors">(info, 8);
    put<PortInfo, "overrunerrors">(info, 8);
    if (!external) {
      port.guids.assign(guid_cap, 0);
      port.guids[0] = first_guid + (is_switch_ ? 0 : i);
      port.p_keys.assign(partition_cap, 0);
      port.p_keys[0] = 0xffff;
    }
    Attribute levels{};
    for (unsigned sl = 0; sl < 16; ++sl) store(levels.data(), field<SlToVlTable, "sltovl">(), sl % 8, sl);
    port.sl_to_vl.assign(is_switch_ ? ports_.size() : 1, levels);
  }
}

MadModel::Port* MadModel::port_of(std::uint32_t number) {
  if (!is_switch_ && number == 0) number = tester_port;
  return number < ports_.size() ? &ports_[number] : nullptr;
}

MadModel::Code MadModel::subnet_attribute(Request& request) {
  const bool of_switches = request.attribute == attribute_switch_info || request.attribute == attribute_linear_table ||
                           request.attribute == attribute_random_table ||
                           request.attribute == attribute_multicast_table;
  if (of_switches && !is_switch_) return is<"mad-switch-only-at-ca">() ? Code::ok : Code::attribute;
  switch (request.attribute) {
    case attribute_node_description:
      return node_description(request);
    case attribute_node_info:
      return node_info(request);
    case attribute_switch_info:
      return switch_info(request);
    case attribute_guid_info:
      return guid_info(request);
    case attribute_port_info:
      return port_info(request);
    case attribute_p_key_table:
      return p_key_table(request);
    case attribute_sl_to_vl:
      return sl_to_vl(request);
    case attribute_vl_arbitration:
      return vl_arbitration(request);
    case attribute_linear_table:
      return linear_table(request);
    case attribute_random_table:  // RandomFDBCap is 0
      return is<"mad-rft-answered">() ? Code::ok : Code::attribute;
    case attribute_multicast_table:
      return multicast_table(request);
    case attribute_sm_info:
      return sm_info(request);
    case attribute_led_info:
      return led_info(request);
    default:
      if (is<"mad-attribute-unknown">()) return Code::ok;
      return is<"mad-attribute-status">() ? Code::value : Code::attribute;
  }
}

// ---- what can only be read

MadModel::Code MadModel::node_description(Request& request) {
  if (request.is_set() && is<"mad-node-description-written">())
    std::ranges::copy(request.data, node_description_.begin());
  if (request.is_set()) return Code::attribute;
  answer_with(request.data, node_description_);
  return Code::ok;
}

MadModel::Code MadModel::node_info(Request& request) {
  if (request.is_set()) {
    if (is<"mad-node-info-written">())
      put<NodeInfo, "revision">(node_info_.data(), View<NodeInfo>(request.data.data()).get<"revision">());
    if (!is<"mad-node-info-set">()) return Code::attribute;
  }
  answer_with(request.data, node_info_);
  return Code::ok;
}

MadModel::Code MadModel::sm_info(Request& request) {
  const bool runs = !is_switch_;
  if (!runs && !is<"mad-sm-info-without-sm">()) return Code::attribute;
  if (runs && is<"mad-sm-info-missing">()) return Code::attribute;
  if (request.is_set()) return Code::value;  // there is no other subnet manager that could ask for a change
  put<SmInfo, "actcount">(sm_info_.data(), View<SmInfo>(sm_info_.data()).get<"actcount">() + 1);
  answer_with(request.data, sm_info_);
  return Code::ok;
}

MadModel::Code MadModel::led_info(Request& request) {
  if (!is<"mad-led-answered">()) return Code::attribute;
  if (request.is_set()) std::ranges::copy(request.data, led_info_.begin());
  answer_with(request.data, led_info_);
  return Code::ok;
}

// ---- PortInfo

MadModel::Code MadModel::set_port_info(Port& port, std::uint8_t number, std::span<const std::uint8_t> wanted) {
  std::uint8_t* const info = port.info.data();
  const View<PortInfo> now(info), asked(wanted.data());
  const bool node_port = &port == &own_port();
  const std::uint64_t state = asked.get<"portstate">(), before = now.get<"portstate">();
  const auto bits_within = [](std::uint64_t bits, std::uint64_t supported, std::uint64_t all) {
    return bits == all || (bits & ~supported) == 0;
  };
  bool legal = asked.get<"portphysicalstate">() <= 3 && asked.get<"linkdowndefaultstate">() <= 2;
  legal = legal && (state <= active || is<"mad-state-unknown">());
  legal = legal && (state != initialize || is<"mad-state-init">());
  legal = legal && (state != armed || before == initialize);
  legal = legal && (state != active || before == armed || (before == initialize && is<"mad-state-jump">()));
  const std::uint64_t mtu = asked.get<"neighbormtu">();
  legal = legal && (mtu >= 1 && (mtu <= now.get<"mtucap">() || is<"mad-mtu-above-cap">()));
  legal = legal && (asked.get<"operationalvls">() <= now.get<"vlcap">() || is<"mad-vls-above-cap">());
  legal = legal && (bits_within(asked.get<"linkwidthenabled">(), now.get<"linkwidthsupported">(), 0xff) ||
                    is<"mad-width-unsupported">());
  legal = legal && bits_within(asked.get<"linkspeedenabled">(), now.get<"linkspeedsupported">(), 0xf);
  if (node_port) {
    legal = legal && asked.get<"lid">() < first_multicast_lid;
    legal = legal && (!is_switch_ || asked.get<"lmc">() == 0);
  }
  if (!legal) {
    if (is<"mad-illegal-stored">()) put<PortInfo, "mastersmlid">(info, asked.get<"mastersmlid">());
    return Code::value;
  }
  if (is<"mad-port-info-lost">()) return Code::ok;
  if (node_port) copy_fields(info, wanted.data(), node_wide);
  copy_fields(info, wanted.data(), of_every_port);
  for (const Field& f : if_not_zero)
    if (load(wanted.data(), f) != 0 || (is<"mad-no-change-stored">() && f.name == "linkwidthenabled"))
      store(info, f, load(wanted.data(), f));
  if (asked.get<"linkwidthenabled">() == 0xff) put<PortInfo, "linkwidthenabled">(info, now.get<"linkwidthsupported">());
  if (asked.get<"linkspeedenabled">() == 0xf) put<PortInfo, "linkspeedenabled">(info, now.get<"linkspeedsupported">());
  for (const Field& f : violations)
    if (load(wanted.data(), f) == 0 || is<"mad-violations-written">()) store(info, f, load(wanted.data(), f));
  if (is<"mad-port-info-ro-written">()) put<PortInfo, "capabilitymask">(info, asked.get<"capabilitymask">());
  if (is<"mad-reregister-stays">()) put<PortInfo, "clientreregister">(info, asked.get<"clientreregister">());
  // The tester's own link stays up, whatever is asked of it: a link that goes down and comes up again.
  if (state == armed || state == active || (state > active && state != 0)) put<PortInfo, "portstate">(info, state);
  if (state == down && number != tester_port) put<PortInfo, "portstate">(info, initialize);
  return Code::ok;
}

MadModel::Code MadModel::port_info(Request& request) {
  constexpr std::uint32_t port_bits = 0xff, extended_speeds = 0x80000000;
  std::uint32_t number = request.modifier & ~extended_speeds;
  if (number == 0 && is<"mad-port-info-zero">()) return Code::value;
  if (is<"mad-port-info-same-port">()) number = tester_port;
  Port* port = port_of(number);
  if (!port && is<"mad-port-beyond">()) port = &ports_[number & port_bits & 1];
  if (!port) return Code::value;
  const auto index = static_cast<std::uint8_t>(port - ports_.data());
  const Attribute asked = [&] {
    Attribute out{};
    std::ranges::copy(request.data, out.begin());
    return out;
  }();
  if (request.is_set()) {
    // Of a channel adapter only the port by which the request came in.
    if (!is_switch_ && index != tester_port) return Code::value;
    if (const Code code = set_port_info(*port, index, asked); code != Code::ok) return code;
    if (is<"mad-port-info-answer">()) return Code::ok;
  }
  answer_with(request.data, port->info);
  put<PortInfo, "localportnum">(request.data.data(), tester_port);
  const View<PortInfo> own(own_port().info.data());
  const std::uint64_t protect = own.get<"m_keyprotectbits">();
  const bool hidden = !request.m_key_fits && (protect == 1 || (protect == 0 && is<"mad-m-key-hidden">()));
  if (hidden && !is<"mad-m-key-readable">()) put<PortInfo, "m_key">(request.data.data(), 0);
  return Code::ok;
}

// ---- tables of ports

MadModel::Code MadModel::p_key_table(Request& request) {
  const std::uint32_t block = request.modifier & 0xffff, number = request.modifier >> 16;
  if (!is_switch_ && number != 0) return Code::value;
  Port* const port = port_of(number);
  if (!port) return Code::value;
  const bool external = is_switch_ && number != 0;
  std::vector<std::uint16_t>& keys = port->p_keys;
  const std::size_t first = std::size_t{block} * PKeyTable::entries;
  if (first >= keys.size()) {
    if (external) {
      if (is<"mad-p-key-set-accepted">() && request.is_set()) return Code::ok;
      if (is<"mad-p-key-get-answered">() && !request.is_set()) return Code::ok;
      if (is<"mad-p-key-last-block">() && block == 2047) return Code::ok;
      if (is<"mad-p-key-last-port">() && number == ports_.size() - 1) return Code::ok;
      if (is<"mad-p-key-wrong-status">()) return Code::attribute;
    } else if (is<"mad-p-key-block-beyond">()) {
      return Code::ok;
    }
    return Code::value;
  }
  constexpr Field entry = field<PKeyTable, "p_key">();
  if (request.is_set() && !is<"mad-p-key-lost">()) {
    if (is<"mad-p-key-entry-beyond">() && keys.size() % PKeyTable::entries != 0)
      keys.resize((keys.size() + PKeyTable::entries - 1) / PKeyTable::entries * PKeyTable::entries);
    for (unsigned i = 0; i < PKeyTable::entries && first + i < keys.size(); ++i) {
      keys[first + i] = static_cast<std::uint16_t>(load(request.data.data(), entry, i));
      if (is<"mad-p-key-membership">()) keys[first + i] &= 0x7fff;
    }
  }
  std::ranges::fill(request.data, std::uint8_t{0});
  for (unsigned i = 0; i < PKeyTable::entries && first + i < keys.size(); ++i)
    store(request.data.data(), entry, keys[first + i], i);
  return Code::ok;
}

MadModel::Code MadModel::guid_info(Request& request) {
  constexpr std::uint32_t blocks = 32;
  if (request.modifier >= blocks) return Code::value;
  const std::size_t first = is<"mad-guid-block-ignored">() ? 0 : std::size_t{request.modifier} * GuidInfo::guids;
  std::vector<std::uint64_t>& guids = own_port().guids;
  if (is<"mad-guid-beyond-cap">()) guids.resize(std::size_t{blocks} * GuidInfo::guids);
  constexpr Field entry = field<GuidInfo, "guid">();
  if (request.is_set() && !is<"mad-guid-lost">())
    for (unsigned i = 0; i < GuidInfo::guids && first + i < guids.size(); ++i)
      if (first + i != 0 || is<"mad-guid-0-written">()) guids[first + i] = load(request.data.data(), entry, i);
  std::ranges::fill(request.data, std::uint8_t{0});
  for (unsigned i = 0; i < GuidInfo::guids && first + i < guids.size(); ++i)
    store(request.data.data(), entry, guids[first + i], i);
  return Code::ok;
}

MadModel::Code MadModel::sl_to_vl(Request& request) {
  std::uint32_t in = request.modifier >> 8 & 0xff;
  const std::uint32_t out = request.modifier & 0xff;
  if (request.modifier >> 16 != 0 || (!is_switch_ && request.modifier != 0)) return Code::value;
  if (in >= ports_.size() || out >= ports_.size()) {
    if (!is<"mad-sl-to-vl-beyond">()) return Code::value;
    return Code::ok;
  }
  Port* const port = port_of(is<"mad-sl-to-vl-shared">() ? 1 : out);
  if (!is_switch_) in = 0;
  Attribute& levels = port->sl_to_vl[in];
  if (request.is_set() && !is<"mad-sl-to-vl-lost">())
    std::copy_n(request.data.begin(), SlToVlTable::bytes, levels.begin());
  answer_with(request.data, levels);
  return Code::ok;
}

MadModel::Code MadModel::vl_arbitration(Request& request) {
  const std::uint32_t part = request.modifier >> 16, number = request.modifier & 0xffff;
  Port* const port = port_of(number);
  if (!port || (!is_switch_ && number != 0)) return Code::value;
  if (part == 5 && is<"mad-vl-arbitration-part">()) return Code::ok;
  if (part < 1 || part > 4) return Code::value;
  std::size_t index = part - 1;
  if (is<"mad-vl-arbitration-shared">()) index %= 2;
  Attribute& table = port->vl_arbitration[index];
  if (request.is_set()) {
    for (unsigned i = 0; i < VlArbitrationTable::entries; ++i)
      if (load(request.data.data(), field<VlArbitrationTable, "vl">(), i) == 15 && !is<"mad-vl-arbitration-vl15">())
        return Code::value;
    if (!is<"mad-vl-arbitration-lost">()) std::ranges::copy(request.data, table.begin());
  }
  answer_with(request.data, table);
  return Code::ok;
}

// ---- of switches

MadModel::Code MadModel::switch_info(Request& request) {
  const View<SwitchInfo> asked(request.data.data());
  std::uint8_t* const info = switch_info_.data();
  if (request.is_set()) {
    if (asked.get<"linearfdbtop">() >= linear_cap && !is<"mad-top-above-cap">()) return Code::value;
    if (!is<"mad-switch-info-lost">()) copy_fields(info, request.data.data(), of_switch_info);
    if (is<"mad-switch-info-ro-written">()) put<SwitchInfo, "multicastfdbcap">(info, asked.get<"multicastfdbcap">());
    if (asked.get<"portstatechange">() && !is<"mad-state-change-stays">()) put<SwitchInfo, "portstatechange">(info, 0);
  }
  answer_with(request.data, switch_info_);
  return Code::ok;
}

MadModel::Code MadModel::linear_table(Request& request) {
  if (request.modifier >= linear_cap / linear_block) return is<"mad-lft-beyond">() ? Code::ok : Code::value;
  const std::size_t first = is<"mad-lft-block-shared">() ? 0 : std::size_t{request.modifier} * linear_block;
  const auto block = linear_.begin() + static_cast<std::ptrdiff_t>(first);
  if (request.is_set() && !is<"mad-lft-lost">()) std::copy_n(request.data.begin(), linear_block, block);
  std::copy_n(block, linear_block, request.data.begin());
  return Code::ok;
}

MadModel::Code MadModel::multicast_table(Request& request) {
  constexpr std::uint32_t block_bits = 0x1ff, position_shift = 28;
  const std::uint32_t block = request.modifier & block_bits, position = request.modifier >> position_shift;
  const bool reserved = (request.modifier & ~(block_bits | 0xfU << position_shift)) != 0;
  if (reserved || block >= multicast_cap / multicast_block || position > (ports_.size() - 1) / ports_in_mask)
    return is<"mad-mft-beyond">() ? Code::ok : Code::value;
  Attribute& masks = multicast_[request.modifier];
  if (request.is_set() && !is<"mad-mft-lost">()) std::ranges::copy(request.data, masks.begin());
  answer_with(request.data, masks);
  return Code::ok;
}

}  // namespace rdmascope::replay
