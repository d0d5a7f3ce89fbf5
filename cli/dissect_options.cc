#include "cli/dissect_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

namespace rdmascope::cli {

void DissectOptions::add_to(CLI::App& command) {
  command
      .add_option("--roce-port", roce_ports_, "UDP destination port that carries RoCEv2, besides 4791; may be repeated")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535).description(""))
      ->group("Dissection")
      ->take_all();
  command
      .add_option("-d,--decode-as", decode_as_,
                  "what UDP datagrams to and from a port start with, as udp.port==2000,cdi; may be repeated")
      ->type_name("LAYER==PORT,START")
      ->group("Dissection")
      ->take_all();
  command
      .add_option("--user-link", user_links_,
                  "what frames of a private link type start with, as USER0=infiniband.lrh; may be repeated")
      ->type_name("TYPE=START")
      ->group("Dissection")
      ->take_all();
  command
      .add_option("--bth-ip-proto", bth_ip_protocol_,
                  "IP protocol number that carries InfiniBand transport without UDP")
      ->type_name("N")
      ->check(CLI::Range(1, 255).description(""))
      ->group("Dissection");
  command
      .add_flag("--rd-is-dc", rd_is_dc_, "opcodes 0x40 to 0x5f are a vendor's DC, not RD; what follows is not decoded")
      ->group("Dissection");
}

std::string start_names() {
  std::string names;
  for (const dissect::Start& start : dissect::all_starts()) {
    if (!names.empty()) names += ", ";
    names += start.name;
  }
  return names;
}

namespace {

// tshark's syntax: "udp.port==2000,cdi". Says what is wrong with it.
std::string add_decode_as(dissect::WalkOptions& options, std::string_view rule) {
  constexpr std::string_view layer = "udp.port==";
  const std::size_t comma = rule.find(',');
  unsigned port = 0;
  if (rule.starts_with(layer) && comma != std::string_view::npos) {
    const std::string_view digits = rule.substr(layer.size(), comma - layer.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size() || port > 65535) port = 0;
  }
  if (port == 0) return "give it as udp.port==PORT,START with PORT from 1 to 65535";
  const std::string_view name = rule.substr(comma + 1);
  const dissect::Start* start = dissect::find_start(name);
  if (!start) return fmt::format("no start named {} (there are {})", name, start_names());
  if (!options.decode_as(static_cast<std::uint16_t>(port), start))
    return fmt::format("at most {} ports can be given", options.decode_as_ports.size());
  return {};
}

}  // namespace

Result<dissect::WalkOptions> DissectOptions::walk_options() const {
  dissect::WalkOptions options;
  for (std::uint16_t port : roce_ports_)
    if (!options.add_roce_port(port))
      return Error{fmt::format("--roce-port takes at most {} ports", options.roce_ports.size() - 1)};
  for (const std::string& rule : decode_as_)
    if (const std::string wrong = add_decode_as(options, rule); !wrong.empty())
      return Error{fmt::format("--decode-as {}: {}", rule, wrong)};
  for (const std::string& link : user_links_) {
    const std::size_t equals = link.find('=');
    const int number = dissect::link_type_by_name(link.substr(0, equals));
    if (equals == std::string::npos || number < 147 || number > 162)
      return Error{fmt::format("--user-link {}: give it as USERn=START with n from 0 to 15", link)};
    const dissect::Start* start = dissect::find_start(link.substr(equals + 1));
    if (!start)
      return Error{fmt::format("--user-link {}: no start named {} (there are {})", link, link.substr(equals + 1),
                               start_names())};
    options.user_links[static_cast<std::size_t>(number - 147)] = start;
  }
  options.bth_ip_protocol = static_cast<std::uint8_t>(bth_ip_protocol_);
  options.rd_is_dc = rd_is_dc_;
  return options;
}

}  // namespace rdmascope::cli
