// Invalidate extended transport header: the R_Key a SEND with Invalidate takes away. 4 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Ieth {
  static constexpr std::string_view name = "infiniband.ieth", title = "Invalidate Extended Transport Header";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"r_key", 32, Show::hex, "Remote Key to invalidate"},
                                               });
};

}  // namespace rdmascope::dissect
