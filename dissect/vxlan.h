// VXLAN (RFC 7348), group policy and GPE bits included. 8 bytes.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Vxlan {
  static constexpr std::string_view name = "vxlan", title = "Virtual eXtensible LAN", protocol = "VXLAN";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {
                        {"flags", 16, Show::hex, "Flags"},
                        {"gbp", 16, Show::dec, "Group Policy ID"},  // GPE: reserved and next protocol
                        {"vni", 24, Show::dec, "VXLAN Network Identifier"},
                        {"reserved8", 8, Show::reserved, "Reserved"},
                    });
};

}  // namespace rdmascope::dissect
