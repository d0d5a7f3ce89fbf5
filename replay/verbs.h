// What the tester's device needs of libibverbs besides the run-time opening in capture/verbs.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/verbs.h"
#include "replay/wire.h"

namespace rdmascope::replay::verbs {

using namespace capture::verbs;

// An address that RoCEv2 can use on a port.
struct Gid {
  std::uint8_t index = 0;
  IpAddress address{};
  std::optional<MacAddress> mac;
};
std::vector<Gid> roce_v2_gids(ibv_context* context, std::uint8_t port, int table_length);

}  // namespace rdmascope::replay::verbs
