// The model's performance management agent: counters of every port. Those of the tester's port count what it sends and
// receives on data VLs. mad.md section 5.
#include <algorithm>

#include "dissect/notice.h"
#include "dissect/perf.h"
#include "replay/mad_attributes.h"
#include "replay/mad_model.h"

namespace rdmascope::replay {
namespace {

using dissect::ClassPortInfo;
using dissect::Field;
using dissect::field;
using dissect::load;
using dissect::PortCounters;
using dissect::PortCountersExtended;
using dissect::put;
using dissect::store;
using dissect::View;

// In the order of the bits of CounterSelect; the last has its bit in CounterSelect2.
constexpr Field counters[] = {
    field<PortCounters, "symbolerrorcounter">(),
    field<PortCounters, "linkerrorrecoverycounter">(),
    field<PortCounters, "linkdownedcounter">(),
    field<PortCounters, "portrcverrors">(),
    field<PortCounters, "portrcvremotephysicalerrors">(),
    field<PortCounters, "portrcvswitchrelayerrors">(),
    field<PortCounters, "portxmitdiscards">(),
    field<PortCounters, "portxmitconstrainterrors">(),
    field<PortCounters, "portrcvconstrainterrors">(),
    field<PortCounters, "locallinkintegrityerrors">(),
    field<PortCounters, "excessivebufferoverrunerrors">(),
    field<PortCounters, "vl15dropped">(),
    field<PortCounters, "portxmitdata">(),
    field<PortCounters, "portrcvdata">(),
    field<PortCounters, "portxmitpkts">(),
    field<PortCounters, "portrcvpkts">(),
    field<PortCounters, "portxmitwait">(),
};
enum : std::size_t { xmit_data = 12, rcv_data = 13, xmit_packets = 14, rcv_packets = 15, xmit_wait = 16 };

constexpr Field extended[] = {
    field<PortCountersExtended, "portxmitdata">(),          field<PortCountersExtended, "portrcvdata">(),
    field<PortCountersExtended, "portxmitpkts">(),          field<PortCountersExtended, "portrcvpkts">(),
    field<PortCountersExtended, "portunicastxmitpkts">(),   field<PortCountersExtended, "portunicastrcvpkts">(),
    field<PortCountersExtended, "portmulticastxmitpkts">(), field<PortCountersExtended, "portmulticastrcvpkts">(),
};
constexpr std::size_t extended_xmit = 0, extended_rcv = 1, one_kind = 2;  // data, then packets, then unicast packets

constexpr std::uint8_t all_ports = 255;
constexpr std::uint16_t all_port_select = 0x0100, extended_width = 0x0200, xmit_wait_supported = 0x1000;
constexpr std::uint64_t mad_words = 72;  // of a MAD's packet, LRH through ICRC

bool chosen(std::uint64_t select, std::size_t bit) { return (select >> bit & 1) != 0; }

}  // namespace

void MadModel::count(bool received) {
  Port& port = ports_[tester_port];
  const std::uint64_t words = is<"mad-pm-data-bytes">() ? 4 * mad_words : mad_words;
  port.counters[received ? rcv_data : xmit_data] += words;
  if (!received || !is<"mad-pm-counters-stand">()) ++port.counters[received ? rcv_packets : xmit_packets];
  if (is<"mad-pm-extended-apart">()) return;
  const std::size_t data = received ? extended_rcv : extended_xmit;
  port.extended[data] += words;
  ++port.extended[data + one_kind];
  ++port.extended[data + 2 * one_kind];
}

MadModel::Code MadModel::performance_attribute(Request& request) {
  switch (request.attribute) {
    case attribute_class_port_info:
      return class_port_info(request);
    case attribute_port_counters:
      return port_counters(request);
    case attribute_port_counters_extended:
      return port_counters_extended(request);
    default:
      return is<"mad-pm-attribute-unknown">() ? Code::ok : Code::attribute;
  }
}

MadModel::Code MadModel::class_port_info(Request& request) {
  std::uint8_t* const info = class_port_info_.data();
  if (View<ClassPortInfo>(info).get<"baseversion">() == 0) {
    put<ClassPortInfo, "baseversion">(info, 1);
    put<ClassPortInfo, "classversion">(info, is<"mad-pm-class-version">() ? 2 : 1);
    put<ClassPortInfo, "capabilitymask">(info, all_port_select | extended_width | xmit_wait_supported);
    put<ClassPortInfo, "resptimevalue">(info, 18);
  }
  // What could be set is where traps go, and it sends none.
  if (request.is_set() && is<"mad-pm-class-port-info-set">())
    put<ClassPortInfo, "capabilitymask">(info, View<ClassPortInfo>(request.data.data()).get<"capabilitymask">());
  std::ranges::fill(request.data, std::uint8_t{0});
  std::ranges::copy(class_port_info_, request.data.begin());
  return Code::ok;
}

MadModel::Code MadModel::port_counters(Request& request) {
  std::uint8_t* const data = request.data.data();
  const View<PortCounters> asked(data);
  const std::uint64_t number = asked.get<"portselect">(), select = asked.get<"counterselect">(),
                      select_2 = asked.get<"counterselect2">();
  std::vector<Port*> chosen_ports;
  if (number == all_ports)
    for (std::size_t i = first_port(); i < ports_.size(); ++i) chosen_ports.push_back(&ports_[i]);
  else if (number >= first_port() && number < ports_.size())
    chosen_ports.push_back(&ports_[number]);
  else if (is<"mad-pm-port-beyond">())
    chosen_ports.push_back(&ports_[tester_port]);
  if (chosen_ports.empty()) return Code::value;
  if (request.is_set() && !is<"mad-pm-clear-none">())
    for (Port* port : chosen_ports)
      for (std::size_t i = 0; i < std::size(counters); ++i)
        if (is<"mad-pm-clear-all">() || (i == xmit_wait ? chosen(select_2, 0) : chosen(select, i)))
          port->counters[i] = is<"mad-pm-set-zero">() ? 0 : load(data, counters[i]);
  std::ranges::fill(request.data, std::uint8_t{0});
  put<PortCounters, "portselect">(data, is<"mad-pm-port-select">() ? 0 : number);
  put<PortCounters, "counterselect">(data, select);
  put<PortCounters, "counterselect2">(data, select_2);
  for (std::size_t i = 0; i < std::size(counters); ++i) {
    std::uint64_t sum = 0;
    for (const Port* port : chosen_ports) sum += port->counters[i];
    const std::uint64_t most = counters[i].mask();
    store(data, counters[i], is<"mad-pm-counters-wrap">() ? sum & most : std::min(sum, most));
  }
  return Code::ok;
}

MadModel::Code MadModel::port_counters_extended(Request& request) {
  std::uint8_t* const data = request.data.data();
  const View<PortCountersExtended> asked(data);
  const std::uint64_t number = asked.get<"portselect">(), select = asked.get<"counterselect">();
  if (number < first_port() || number >= ports_.size()) return Code::value;
  Port& port = ports_[number];
  if (request.is_set() && !is<"mad-pm-extended-clear">())
    for (std::size_t i = 0; i < std::size(extended); ++i)
      if (chosen(select, i)) port.extended[i] = load(data, extended[i]);
  std::ranges::fill(request.data, std::uint8_t{0});
  put<PortCountersExtended, "portselect">(data, number);
  put<PortCountersExtended, "counterselect">(data, select);
  for (std::size_t i = 0; i < std::size(extended); ++i) store(data, extended[i], port.extended[i]);
  return Code::ok;
}

}  // namespace rdmascope::replay
