#include "replay/verbs.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "replay/agent_protocol.h"

namespace rdmascope::replay::verbs {
namespace {

std::optional<MacAddress> mac_of(std::uint32_t interface) {
  char name[IF_NAMESIZE] = "";
  if (interface == 0 || !if_indextoname(interface, name)) return std::nullopt;
  std::ifstream file(fmt::format("/sys/class/net/{}/address", name));
  std::string text;
  file >> text;
  return agent::mac_address(text);
}

}  // namespace

std::vector<Gid> roce_v2_gids(ibv_context* context, std::uint8_t port, int table_length) {
  const Library& library = **load();
  std::vector<Gid> out;
  for (int i = 0; i < std::min(table_length, 256); ++i) {
    ibv_gid_entry entry{};
    if (library._ibv_query_gid_ex(context, port, static_cast<std::uint32_t>(i), &entry, 0, sizeof entry) != 0) continue;
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    Gid gid{static_cast<std::uint8_t>(i), {}, mac_of(entry.ndev_ifindex)};
    std::memcpy(gid.address.data(), entry.gid.raw, gid.address.size());
    out.push_back(gid);
  }
  return out;
}

}  // namespace rdmascope::replay::verbs
