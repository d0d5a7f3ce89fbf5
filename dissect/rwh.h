// Raw header: native packets with LNH 0 carry any EtherType. 4 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Rwh {
  static constexpr std::string_view name = "infiniband.rwh", title = "Raw Header", protocol = "IB raw";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"reserved16", 16, Show::reserved, "Reserved"},
                                                   {"etype", 16, Show::hex, "Ethertype"},
                                               });
};

}  // namespace rdmascope::dissect
