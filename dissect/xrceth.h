// XRC extended transport header, after BTH in every XRC request packet. 4 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Xrceth {
  static constexpr std::string_view name = "infiniband.xrceth", title = "XRC Extended Transport Header";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"reserved8", 8, Show::reserved, "Reserved"},
                                                   {"xrcsrq", 24, Show::hex, "XRC Shared Receive Queue"},
                                               });
};

}  // namespace rdmascope::dissect
