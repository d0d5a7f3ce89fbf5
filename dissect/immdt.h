// Immediate data, opaque, handed over in wire order. 4 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Immdt {
  static constexpr std::string_view name = "infiniband.immdt", title = "Immediate Data";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"data", 32, Show::hex, "Immediate Data"},
                                               });
};

}  // namespace rdmascope::dissect
