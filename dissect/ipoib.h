// IP over InfiniBand encapsulation, first 4 bytes of the payload (RFC 4391), and the pseudo GRH of link type 242.
// ib-wire.md 2.4.
#pragma once

#include "dissect/ethernet.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

struct Ipoib {
  static constexpr std::string_view name = "ipoib", title = "IP over InfiniBand", protocol = "IPoIB";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"type", 16, Show::hex, "Type", ethertypes},
                                                   {"reserved", 16, Show::reserved, "Reserved"},
                                               });
};

// 40 bytes before the IPoIB header in link type 242: a GRH, or anything at all when the packet had none.
struct IpoibGrh {
  static constexpr std::string_view name = "ipoib.grh", title = "IPoIB pseudo Global Route Header";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields = layout(bytes, {
                                                   {"data", 320, Show::bytes, "GRH or padding"},
                                               });
};

}  // namespace rdmascope::dissect
