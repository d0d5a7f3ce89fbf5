#include "plugins/wireshark/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plugins/wireshark/compat.h"

namespace rdmascope::wireshark {
namespace {

// Wireshark writes to these.
struct Preferences {
  range_t* roce_ports = nullptr;
  const char* rules_off = "";
  gboolean rd_is_dc = FALSE;
};
Preferences preferences;

struct Settings {
  dissect::WalkOptions walk;
  std::vector<const check::Rule*> rules;  // empty: all
};
Settings& settings() {
  static Settings now;
  return now;
}

bool same_id(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, g_ascii_toupper, g_ascii_toupper);
}

// "Q-06, R-17"; unknown ones are told.
std::vector<const check::Rule*> rules_without(std::string_view list) {
  std::vector<const check::Rule*> rules(check::all_rules().begin(), check::all_rules().end());
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(", "), list.size());
    const std::string id(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (id.empty()) continue;
    const std::size_t erased = std::erase_if(rules, [&](const check::Rule* r) { return same_id(r->info.id, id); });
    if (erased == 0 && !check::find_rule(id))
      report_warning(
          "%s", fmt::format("rdmascope: preference rules_off: no rule {}; `rdmascope rules` lists them", id).c_str());
  }
  return rules;
}

Settings read_settings() {
  Settings next;
  next.walk.roce_port_count = 0;
  bool room = true;
  for (guint i = 0; preferences.roce_ports && i < preferences.roce_ports->nranges && room; ++i)
    for (std::uint32_t port = preferences.roce_ports->ranges[i].low;
         port <= preferences.roce_ports->ranges[i].high && room; ++port)
      room = port == 0 || next.walk.add_roce_port(static_cast<std::uint16_t>(port));
  if (!room)
    report_warning("%s", fmt::format("rdmascope: preference roce_ports: only the first {} ports are used",
                                     next.walk.roce_ports.size())
                             .c_str());
  next.walk.rd_is_dc = preferences.rd_is_dc;
  if (*preferences.rules_off) next.rules = rules_without(preferences.rules_off);
  return next;
}

}  // namespace

void register_preferences(int protocol) {
  range_convert_str(wmem_epan_scope(), &preferences.roce_ports, std::to_string(dissect::port_roce_v2).c_str(), 65535);
  module_t* const module = prefs_register_protocol(protocol, nullptr);
  prefs_register_range_preference(
      module, "roce_ports", "UDP ports of RoCEv2",
      "UDP destination ports that carry RoCEv2, as far as the findings are concerned; Wireshark's own "
      "dissector has a preference of its own.",
      &preferences.roce_ports, 65535);
  prefs_register_string_preference(
      module, "rules_off", "Rules that are off",
      "Do not judge by these rules, as Q-06, R-17. `rdmascope rules` lists and explains them.", &preferences.rules_off);
  prefs_register_bool_preference(
      module, "rd_is_dc", "Opcodes 0x40 to 0x5f are DC, not RD",
      "A vendor uses these opcodes for its dynamically connected transport; what follows BTH is then "
      "not decoded.",
      &preferences.rd_is_dc);
}

void take_preferences() { settings() = read_settings(); }

const dissect::WalkOptions& walk_options() { return settings().walk; }

check::CheckOptions check_options() {
  check::CheckOptions out;
  out.walk = settings().walk;
  out.rules = settings().rules;
  out.packets = out.messages = true;
  return out;
}

}  // namespace rdmascope::wireshark
