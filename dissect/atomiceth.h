// Atomic extended transport header: CmpSwap and FetchAdd requests. 28 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Atomiceth {
  static constexpr std::string_view name = "infiniband.atomiceth", title = "Atomic Extended Transport Header";
  static constexpr std::uint32_t bytes = 28;
  static constexpr auto fields = layout(bytes, {
                                                   {"va", 64, Show::hex, "Virtual Address"},
                                                   {"r_key", 32, Show::hex, "Remote Key"},
                                                   {"swapdt", 64, Show::dec, "Swap (Or Add) Data"},
                                                   {"cmpdt", 64, Show::dec, "Compare Data"},  // unused by FetchAdd
                                               });
};

}  // namespace rdmascope::dissect
