// The 16 reserved bytes behind the BTH of a RoCEv2 congestion notification packet (opcode 0x81). A17.9.3,
// ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Cnp {
  static constexpr std::string_view name = "infiniband.cnp", title = "Congestion Notification Packet";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {
                                                   {"reserved128", 128, Show::bytes, "Reserved"},
                                               });
};

}  // namespace rdmascope::dissect
