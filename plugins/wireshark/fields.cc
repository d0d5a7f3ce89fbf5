#include "plugins/wireshark/fields.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "dissect/field_index.h"
#include "dissect/headers.h"

namespace rdmascope::wireshark {
namespace {

using dissect::Field;
using dissect::Header;
using dissect::Show;

// Wireshark keeps pointers to all of this until it ends.
struct Registry {
  std::deque<std::string> texts;
  std::deque<std::vector<value_string>> names;
  std::deque<std::vector<val64_string>> names64;
  std::deque<unit_name_string> units;
  std::deque<std::vector<int>> numbers;
  std::deque<Registered> headers;
  absl::flat_hash_map<const Header*, Registered*> by_header;
  std::vector<hf_register_info> fields;
  OwnFields own;
  std::deque<expert_field> experts;
  std::vector<ei_register_info> expert_infos;
  absl::flat_hash_map<const check::RuleInfo*, expert_field*> by_rule;
};

Registry& registry() {
  static Registry all;
  return all;
}

char* keep(std::string text) { return registry().texts.emplace_back(std::move(text)).data(); }

// What Wireshark lacks or reads otherwise: the transport headers, verdicts on CRCs, what the rules say, and what it has
// no dissector for.
bool is_ours(const Header& header) {
  static const Header* const transport[] = {&dissect::header<dissect::Bth>,     &dissect::header<dissect::Icrc>,
                                            &dissect::header<dissect::Vcrc>,    &dissect::header<dissect::Events>,
                                            &dissect::header<dissect::Vendor>,  &dissect::header<dissect::Analysis>,
                                            &dissect::header<dissect::Exchange>};
  if (std::ranges::find(transport, &header) != std::end(transport)) return true;
  if (std::ranges::find(dissect::extension_headers, &header) != std::end(dissect::extension_headers)) return true;
  return std::ranges::any_of(std::array<std::string_view, 3>{"cqe", "cdi", "efa"}, [&](std::string_view family) {
    return header.name == family || (header.name.starts_with(family) && header.name[family.size()] == '.');
  });
}

// --- From a row to Wireshark's description --------------------------------------------------------------------------

ftenum unsigned_type(unsigned bytes) {
  static constexpr ftenum types[] = {FT_UINT8,  FT_UINT8,  FT_UINT16, FT_UINT24, FT_UINT32,
                                     FT_UINT40, FT_UINT48, FT_UINT56, FT_UINT64};
  return types[std::min(bytes, 8u)];
}

// The bytes that the row's bits lie in.
unsigned container_bytes(const Field& f) { return (f.at % 8 + f.width + 7u) / 8; }

void describe_number(header_field_info& info, const Field& f) {
  const bool on_wire = f.kind != Field::Kind::generated;
  const unsigned bytes = on_wire ? container_bytes(f) : f.show == Show::dec ? 8 : 4;
  // A mask says which bits of the container it is. Rows of other scale or order are handed over as numbers.
  const bool masked = on_wire && !f.many && !f.little_endian && f.scale == 1 && f.width % 8 + f.at % 8 > 0;
  if (masked) info.bitmask = f.mask() << (bytes * 8 - f.at % 8 - f.width);
  if (f.show == Show::flag) {
    info.type = FT_BOOLEAN;
    info.display = masked ? static_cast<int>(bytes * 8) : BASE_NONE;
    return;
  }
  if (dissect::names_a_frame(f)) {
    info.type = FT_FRAMENUM;
    info.display = BASE_NONE;
    return;
  }
  info.type = unsigned_type(bytes);
  info.display = f.show == Show::hex || f.show == Show::reserved           ? BASE_HEX
                 : f.show == Show::named && !f.names.empty() && bytes <= 4 ? BASE_NONE
                                                                           : BASE_DEC;
  if (!f.names.empty() && bytes <= 4) {
    std::vector<value_string>& list = registry().names.emplace_back();
    for (const dissect::ValueName& n : f.names)
      if (!n.name.empty()) list.push_back({static_cast<std::uint32_t>(n.value), keep(std::string(n.name))});
    list.push_back({0, nullptr});
    info.strings = VALS(list.data());
  } else if (!f.names.empty()) {
    std::vector<val64_string>& list = registry().names64.emplace_back();
    for (const dissect::ValueName& n : f.names)
      if (!n.name.empty()) list.push_back({n.value, keep(std::string(n.name))});
    list.push_back({0, nullptr});
    info.display |= BASE_VAL64_STRING;
    info.strings = VALS64(list.data());
  } else if (!f.unit.empty()) {
    info.display |= BASE_UNIT_STRING;
    info.strings = &registry().units.emplace_back(unit_name_string{keep(" " + std::string(f.unit)), nullptr});
  }
}

void describe(header_field_info& info, const Field& f) {
  info.display = BASE_NONE;
  switch (f.show) {
    case Show::mac:
      info.type = FT_ETHER;
      return;
    case Show::ipv4:
      info.type = FT_IPv4;
      return;
    case Show::ipv6:
      info.type = FT_IPv6;
      return;
    case Show::bytes:
      info.type = FT_BYTES;
      return;
    case Show::text:
      info.type = FT_STRING;
      return;
    case Show::time:
      info.type = FT_RELATIVE_TIME;
      return;
    default:
      describe_number(info, f);
  }
}

hf_register_info entry(int* number, std::string title, std::string name) {
  hf_register_info out{};
  out.p_id = number;
  out.hfinfo.name = keep(std::move(title));
  out.hfinfo.abbrev = keep(std::move(name));
  HFILL_INIT(out);
  return out;
}

}  // namespace

std::string filter_name(const Header& header, const Field& field) {
  std::string name = dissect::shared_name(header, field);  // one for all versions of a message
  if (name.empty()) name = dissect::full_name(header, field);
  const auto shorten = [&name](std::string_view from, std::string_view to) {
    if (name.starts_with(from)) name.replace(0, from.size(), to);
  };
  shorten("infiniband.", "");
  shorten("rdmascope.", "");
  shorten("invariant.crc", "icrc");
  shorten("variant.crc", "vcrc");
  return "rdmascope." + name;
}

void register_fields(int protocol) {
  Registry& all = registry();
  std::vector<int*> subtrees;
  for (const Header* h : dissect::all_headers()) {
    if (!is_ours(*h)) continue;
    Registered& out = all.headers.emplace_back();
    out.hf = all.numbers.emplace_back(h->fields.size(), not_registered).data();
    all.by_header.emplace(h, &out);
    subtrees.push_back(&out.ett);
    for (std::size_t i = 0; i < h->fields.size(); ++i) {
      hf_register_info field = entry(&out.hf[i], std::string(h->fields[i].title), filter_name(*h, h->fields[i]));
      describe(field.hfinfo, h->fields[i]);
      all.fields.push_back(field);
    }
  }
  for (const auto& [number, title, name] : {std::tuple{&all.own.payload_len, "Payload length", "rdmascope.payload.len"},
                                            std::tuple{&all.own.pad_len, "Pad length", "rdmascope.pad.len"}}) {
    hf_register_info field = entry(number, title, name);
    field.hfinfo.type = FT_UINT32;
    field.hfinfo.display = BASE_DEC | BASE_UNIT_STRING;
    field.hfinfo.strings = &all.units.emplace_back(unit_name_string{keep(" bytes"), nullptr});
    all.fields.push_back(field);
  }
  subtrees.push_back(&all.own.tree);
  subtrees.push_back(&all.own.finding_tree);
  proto_register_field_array(protocol, all.fields.data(), static_cast<int>(all.fields.size()));
  proto_register_subtree_array(subtrees.data(), static_cast<int>(subtrees.size()));
}

const Registered* registered(const Header& header) {
  const auto found = registry().by_header.find(&header);
  return found == registry().by_header.end() ? nullptr : found->second;
}

const OwnFields& own_fields() { return registry().own; }

// --- Rules -----------------------------------------------------------------------------------------------------------

namespace {

int severity_of(const check::RuleInfo& rule) {
  switch (rule.severity) {
    case check::Severity::error:
      return PI_ERROR;
    case check::Severity::warning:
      return PI_WARN;
    case check::Severity::info:
      return PI_NOTE;
  }
  return PI_NOTE;
}

}  // namespace

void register_experts(int protocol) {
  Registry& all = registry();
  std::vector<ei_register_info>& list = all.expert_infos;
  for (const check::Rule* rule : check::all_rules()) {
    expert_field* number = &all.experts.emplace_back(expert_field EI_INIT);
    all.by_rule.emplace(&rule->info, number);
    std::string id(rule->info.id);
    std::ranges::transform(id, id.begin(), [](char c) { return g_ascii_tolower(c); });
    ei_register_info& e = list.emplace_back();
    e.ids = number;
    e.eiinfo.name = keep("rdmascope.rule." + id);
    e.eiinfo.group = rule->info.kind == check::Class::violation ? PI_PROTOCOL : PI_SEQUENCE;
    e.eiinfo.severity = severity_of(rule->info);
    e.eiinfo.summary = keep(std::string(rule->info.id) + ": " + std::string(rule->info.title));
    HFILL_INIT(e.eiinfo.hf_info);
  }
  expert_register_field_array(expert_register_protocol(protocol), list.data(), static_cast<int>(list.size()));
}

expert_field* expert_of(const check::RuleInfo& rule) {
  const auto found = registry().by_rule.find(&rule);
  return found == registry().by_rule.end() ? nullptr : found->second;
}

}  // namespace rdmascope::wireshark
