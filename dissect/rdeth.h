// Reliable datagram extended transport header, after BTH in every RD packet. 4 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Rdeth {
  static constexpr std::string_view name = "infiniband.rdeth", title = "Reliable Datagram Extended Transport Header";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"reserved8", 8, Show::reserved, "Reserved"},
                                                   {"eecnxt", 24, Show::hex, "E2E Context"},
                                               });
};

}  // namespace rdmascope::dissect
