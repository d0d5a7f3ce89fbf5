// Global route header: native packets with LNH 3, and RoCEv1. 40 bytes. ib-wire.md 2.2.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr std::uint8_t nxthdr_iba = 0x1b;

inline constexpr ValueName grh_next_headers[] = {{nxthdr_iba, "IBA transport"}};

struct Grh {
  static constexpr std::string_view name = "infiniband.grh", title = "Global Route Header";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields =
      layout(bytes, {
                        {"ipver", 4, Show::dec, "IP Version"},
                        {"tclass", 8, Show::dec, "Traffic Class"},
                        {"flowlabel", 20, Show::dec, "Flow Label"},
                        Field{"paylen", 16, Show::dec, "Payload Length"}.in("bytes"),  // after GRH through ICRC
                        {"nxthdr", 8, Show::dec, "Next Header", grh_next_headers},
                        {"hoplmt", 8, Show::dec, "Hop Limit"},
                        Field{"sgid", 128, Show::ipv6, "Source GID"}.also("gid"),
                        Field{"dgid", 128, Show::ipv6, "Destination GID"}.also("gid"),
                    });
};

}  // namespace rdmascope::dissect
