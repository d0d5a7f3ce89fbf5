// Datagram extended transport header: UD packets and RD requests. 8 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName q_keys[] = {{0x80010000, "GSI"}, {0x00000b1b, "IPoIB default"}};

struct Deth {
  static constexpr std::string_view name = "infiniband.deth", title = "Datagram Extended Transport Header";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {
                                                   {"q_key", 32, Show::hex, "Queue Key", q_keys},
                                                   {"reserved8", 8, Show::reserved, "Reserved"},
                                                   {"srcqp", 24, Show::hex, "Source Queue Pair"},
                                               });
};

}  // namespace rdmascope::dissect
