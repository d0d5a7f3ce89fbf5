#include "replay/mad_attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "dissect/mad_attributes.h"
#include "dissect/perf.h"
#include "dissect/smp.h"

namespace rdmascope::replay {
namespace {

using dissect::field;
using dissect::Mad;
using dissect::put;
using dissect::SmpDirected;
using dissect::SmpLid;
using dissect::SmpPaths;
using dissect::View;

constexpr std::uint16_t mgmt_blocks = 0xffff;

dissect::MadGroup group_of(std::uint8_t mgmt_class) {
  const dissect::MadClass* const found = dissect::mad_class(mgmt_class);
  return found ? found->group : dissect::MadGroup::other;
}

// Where the data of a class begin, and how many there are.
std::pair<std::size_t, std::size_t> place_of_data(std::span<const std::uint8_t> mad) {
  std::size_t at = Mad::bytes;
  const std::uint8_t mgmt_class = class_of(mad);
  if (const dissect::MadClass* const found = dissect::mad_class(mgmt_class))
    for (const dissect::Header* header : found->headers)
      if (header) at += header->bytes;
  const std::size_t bytes = is_smp(mgmt_class) ? dissect::smp_data_bytes : dissect::mad_bytes - at;
  return {std::min(at, mad.size()), std::min(bytes, mad.size() - std::min(at, mad.size()))};
}

// The paths of a directed route stand behind its data.
std::uint8_t* paths_of(std::span<std::uint8_t> mad) {
  const auto [at, bytes] = place_of_data(mad);
  return mad.data() + at + bytes;
}

// The header of an SMP stands behind the common one; where the M_Key is, both kinds agree.
std::uint8_t* smp_of(std::span<std::uint8_t> mad) { return mad.data() + Mad::bytes; }
static_assert(field<SmpLid, "mkey">().at == field<SmpDirected, "mkey">().at);

}  // namespace

std::vector<dissect::ValueName> attribute_names(std::uint8_t mgmt_class) {
  const dissect::MadGroup group = group_of(mgmt_class);
  std::vector<dissect::ValueName> out;
  for (const dissect::MadAttribute& a : dissect::mad_attributes())
    if (dissect::mad_attribute(group, a.id) == &a) out.push_back({a.id, a.name});
  return out;
}

std::string attribute_text(std::span<const std::uint8_t> mad) {
  const auto id = static_cast<std::uint16_t>(View<Mad>(mad.data()).get<"attributeid">());
  const dissect::MadAttribute* const found = dissect::mad_attribute(group_of(class_of(mad)), id);
  return found ? std::string(found->name) : fmt::format("attribute 0x{:04x}", id);
}

std::span<std::uint8_t> attribute_data(std::span<std::uint8_t> mad) {
  const auto [at, bytes] = place_of_data(mad);
  return mad.subspan(at, bytes);
}

std::span<const std::uint8_t> attribute_data(std::span<const std::uint8_t> mad) {
  const auto [at, bytes] = place_of_data(mad);
  return mad.subspan(at, bytes);
}

std::uint64_t m_key_of(std::span<const std::uint8_t> mad) {
  return View<SmpLid>(mad.data() + Mad::bytes).get<"mkey">();
}

void put_m_key(std::span<std::uint8_t> mad, std::uint64_t m_key) { put<SmpLid, "mkey">(smp_of(mad), m_key); }

void put_directed_route(std::span<std::uint8_t> mad, std::span<const std::uint8_t> ports, bool on_link) {
  put<Mad, "hoppointer">(mad.data(), on_link && !ports.empty() ? 1 : 0);
  put<Mad, "hopcount">(mad.data(), ports.size());
  put_directed_lids(mad, permissive_lid, permissive_lid);
  const std::span<std::uint8_t> path = initial_path(mad);
  std::copy_n(ports.begin(), std::min(ports.size(), path.size() - 1), path.begin() + 1);
}

void put_directed_lids(std::span<std::uint8_t> mad, std::uint16_t source, std::uint16_t destination) {
  put<SmpDirected, "drslid">(smp_of(mad), source);
  put<SmpDirected, "drdlid">(smp_of(mad), destination);
}

std::span<std::uint8_t> initial_path(std::span<std::uint8_t> mad) {
  return {paths_of(mad) + field<SmpPaths, "initialpath">().at / 8, dissect::smp_path_ports};
}

std::span<std::uint8_t> return_path(std::span<std::uint8_t> mad) {
  return {paths_of(mad) + field<SmpPaths, "returnpath">().at / 8, dissect::smp_path_ports};
}

// mad.md sections 3 and 5.
std::optional<std::uint32_t> highest_port(std::span<const std::uint8_t> mad) {
  const View<Mad> view(mad.data());
  const std::uint64_t attribute = view.get<"attributeid">();
  const auto modifier = static_cast<std::uint32_t>(view.get<"attributemodifier">());
  if (class_of(mad) == class_perf) {
    // All attributes of ports begin alike; 255 means all of them.
    const std::span<const std::uint8_t> data = attribute_data(mad);
    if (attribute == attribute_class_port_info || data.size() < dissect::PortCounters::bytes) return std::nullopt;
    const std::uint64_t port = View<dissect::PortCounters>(data.data()).get<"portselect">();
    return port == 0xff ? std::nullopt : std::optional(static_cast<std::uint32_t>(port));
  }
  if (!is_smp(class_of(mad))) return std::nullopt;
  switch (attribute) {
    case attribute_port_info:
    case attribute_port_info_extended:
      return modifier & 0x7fffffff;  // bit 31: the asker knows extended speeds
    case attribute_p_key_table:
      return modifier >> 16;
    case attribute_sl_to_vl:
      return std::max(modifier >> 8, modifier & 0xff);
    case attribute_vl_arbitration:
      return modifier & mgmt_blocks;
    case attribute_led_info:
      return modifier;
    default:
      return std::nullopt;
  }
}

}  // namespace rdmascope::replay
