// VLAN tag after an EtherType 0x8100, 0x88A8, 0x9100 or 0x9200. 4 bytes. IEEE 802.1Q.
#pragma once

#include "dissect/ethernet.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

struct Vlan {
  static constexpr std::string_view name = "vlan", title = "VLAN tag";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"priority", 3, Show::dec, "Priority"},
                                                   {"dei", 1, Show::flag, "Drop eligible"},
                                                   {"id", 12, Show::dec, "ID"},
                                                   {"etype", 16, Show::hex, "Type", ethertypes},
                                               });
};

}  // namespace rdmascope::dissect
