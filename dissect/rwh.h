// Raw header: native packets with LNH 0 carry any EtherType. 4 bytes. ib-wire.md 2.4.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Rwh {
  static constexpr std::string_view name = "infiniband.rwh", title = "Raw Header", protocol = "IB raw";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"reserved16", 16, Show::reserved, "Reserved"},
                                                   {"etype", 16, Show::hex, "Ethertype"},
                                               });
};

// What a port mirror of InfiniBand puts around a packet: local route header, raw header with this type, this prefix;
// then the packet from its own local route header on. What the prefix says is not public. cqe-sniffer.md 3.1,
// ib-wire.md.
inline constexpr std::uint16_t ethertype_ib_mirror = 0x1123;

struct IbMirror {
  static constexpr std::string_view name = "infiniband.mirror", title = "Port mirror";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {{"prefix", 32, Show::hex, "Prefix"}});
};

}  // namespace rdmascope::dissect
