// rdmascope interfaces: where packets can be captured here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "capture/live.h"
#include "capture/places.h"
#include "capture/sniffer.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/output.h"

namespace rdmascope::cli {
namespace {

enum class InterfacesForm { text, json };
constexpr Choice<InterfacesForm> form_choices[] = {{"text", InterfacesForm::text}, {"json", InterfacesForm::json}};

struct InterfacesCommand {
  std::string name;
  InterfacesForm form = InterfacesForm::text;
};

int fail(std::string_view sentence) {
  complain(sentence);
  return exit_error;
}

int run_interfaces(const InterfacesCommand& command) {
  const Result<std::vector<capture::LiveInterface>> all = capture::live_interfaces();
  if (!all) return fail(all.error());
  const std::vector<capture::RdmaPort> ports = capture::rdma_ports();
  const std::vector<capture::Place> places = capture::places(*all, ports);
  const auto place_of = [&](const std::string& name) -> const capture::Place& {
    return *std::ranges::find(places, name, &capture::Place::name);
  };
  Output output;
  dissect::Text& out = output.text();
  bool any = false;
  const auto text_line = [&](const capture::Place& place) {
    out.printable(fmt::format("{:<16} {:<10} {}", place.name, place.state, place.detail));
    out.put('\n');
    if (!command.name.empty()) out.printable("captures there: " + place.sees), out.put('\n');
  };
  if (command.form == InterfacesForm::json) out.put("[");
  for (const capture::LiveInterface& i : *all) {
    if (!command.name.empty() && i.name != command.name) continue;
    if (command.form == InterfacesForm::json) {
      out.put(any ? ",\n{\"name\":\"" : "\n{\"name\":\"");
      out.json_escaped(i.name);
      out.put("\",\"description\":\"");
      out.json_escaped(i.description);
      out.put(fmt::format("\",\"state\":\"{}\",\"loopback\":{},\"addresses\":[", place_of(i.name).state, i.loopback));
      const char* comma = "";
      for (const std::string& address : i.addresses) {
        out.put(comma);
        out.put('"');
        out.json_escaped(address);
        out.put('"');
        comma = ",";
      }
      out.put("],\"sees\":\"");
      out.json_escaped(place_of(i.name).sees);
      out.put("\"}");
    } else {
      text_line(place_of(i.name));
    }
    any = true;
  }
  for (const capture::RdmaPort& p : ports) {
    const std::string name = fmt::format("{}:{}", p.device, p.port);
    if (!command.name.empty() && command.name != name && command.name != p.device) continue;
    if (command.form == InterfacesForm::json) {
      out.put(any ? ",\n{" : "\n{");
      auto member = [&, comma = ""](std::string_view key, std::string_view value) mutable {
        out.put(fmt::format("{}\"{}\":\"", comma, key));
        out.json_escaped(value);
        out.put('"');
        comma = ",";
      };
      member("name", name);
      member("rdma_device", p.device);
      member("driver", p.driver);
      member("state", p.state);
      member("link_layer", p.link_layer);
      member("network_interface", p.network_device);
      member("sees", place_of(name).sees);
      out.put('}');
    } else {
      text_line(place_of(name));
    }
    any = true;
  }
  if (command.form == InterfacesForm::json) out.put(any ? "\n]\n" : "]\n");
  if (!command.name.empty() && !any)
    return fail(fmt::format("no such interface: {}; `rdmascope interfaces` shows what there is", command.name));
  if (!command.name.empty() && command.form == InterfacesForm::text) {
    if (const Result<std::vector<std::string>> types = capture::timestamp_types(command.name); types && !types->empty())
      out.put(fmt::format("timestamps (-j): {}\n", fmt::join(*types, ", ")));
  }
  output.flush();
  return output.error().empty() ? exit_fine : fail(output.error());
}

}  // namespace

void add_interfaces_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<InterfacesCommand>();
  CLI::App* interfaces = app.add_subcommand("interfaces", "Show where packets can be captured here");
  interfaces->add_option("NAME", options->name, "only this one, with the timestamps it offers")->type_name("IF");
  add_choice(*interfaces, "-T,--format", options->form, form_choices, "form", "text for people, json for programs");
  interfaces->callback([options, &run] { run = [options] { return run_interfaces(*options); }; });
}

}  // namespace rdmascope::cli
