// Flush extended transport header, before RETH in a FLUSH request. 4 bytes. IBTA annex A19, ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName flush_selectivity[] = {
    {0, "Memory region range"}, {1, "Whole memory region"}, {2, "Reserved"}, {3, "Reserved"}};

struct Feth {
  static constexpr std::string_view name = "infiniband.feth", title = "Flush Extended Transport Header";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"reserved26", 26, Show::reserved, "Reserved"},
                                                   {"sel", 2, Show::dec, "Selectivity Level", flush_selectivity},
                                                   view("plt", 4, Show::hex, "Placement Type"),
                                                   {"plt.reserved2", 2, Show::reserved, "Reserved"},
                                                   {"plt.persistence", 1, Show::flag, "Persistence"},
                                                   {"plt.visibility", 1, Show::flag, "Global Visibility"},
                                               });
};

}  // namespace rdmascope::dissect
