// RDMA extended transport header: address, key and length of an RDMA operation. 16 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Reth {
  static constexpr std::string_view name = "infiniband.reth", title = "RDMA Extended Transport Header";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {
                                                   {"va", 64, Show::hex, "Virtual Address"},
                                                   {"r_key", 32, Show::hex, "Remote Key"},
                                                   Field{"dmalen", 32, Show::dec, "DMA Length"}.in("bytes"),
                                               });
};

}  // namespace rdmascope::dissect
