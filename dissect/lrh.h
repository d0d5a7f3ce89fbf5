// Local route header: starts every native InfiniBand packet. 8 bytes. ib-wire.md 2.1.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName link_next_headers[] = {{0, "Raw"}, {1, "IP, non-IBA"}, {2, "IBA local"}, {3, "IBA global"}};

struct Lrh {
  static constexpr std::string_view name = "infiniband.lrh", title = "Local Route Header", protocol = "InfiniBand";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(
      bytes,
      {
          {"vl", 4, Show::hex, "Virtual Lane"},
          {"lver", 4, Show::dec, "Link Version"},
          {"sl", 4, Show::dec, "Service Level"},
          {"reserved2", 2, Show::reserved, "Reserved"},
          {"lnh", 2, Show::hex, "Link Next Header", link_next_headers},
          {"dlid", 16, Show::dec, "Destination Local ID"},
          {"reserved5", 5, Show::reserved, "Reserved"},
          Field{"pktlen", 11, Show::dec, "Packet Length"}.in("words of 4 bytes"),  // LRH through ICRC; VCRC not counted
          {"slid", 16, Show::dec, "Source Local ID"},
      });
};

}  // namespace rdmascope::dissect
