// Atomic acknowledge extended transport header: the value before the operation. 8 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Atomicacketh {
  static constexpr std::string_view name = "infiniband.atomicacketh", title = "Atomic ACK Extended Transport Header";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {
                                                   {"origremdt", 64, Show::dec, "Original Remote Data"},
                                               });
};

}  // namespace rdmascope::dissect
