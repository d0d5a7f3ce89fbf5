#include "cli/dissect_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace rdmascope::cli {

void DissectOptions::add_to(CLI::App& command) {
  command
      .add_option("--roce-port", roce_ports_, "UDP destination port that carries RoCEv2, besides 4791; may be repeated")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535).description(""))
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

Result<dissect::WalkOptions> DissectOptions::walk_options() const {
  dissect::WalkOptions options;
  for (std::uint16_t port : roce_ports_)
    if (!options.add_roce_port(port))
      return Error{fmt::format("--roce-port takes at most {} ports", options.roce_ports.size() - 1)};
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
