// UDP header, 8 bytes (RFC 768).
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr std::uint16_t port_roce_v2 = 4791, port_vxlan = 4789, port_vxlan_gpe = 4790, port_geneve = 6081;

struct Udp {
  static constexpr std::string_view name = "udp", title = "User Datagram Protocol", protocol = "UDP";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"srcport", 16, Show::dec, "Source Port"}.also("port"),
                        Field{"dstport", 16, Show::dec, "Destination Port"}.also("port"),
                        Field{"length", 16, Show::dec, "Length"}.in("bytes"),  // this header and its payload
                        {"checksum", 16, Show::hex, "Checksum"},
                    });
};

}  // namespace rdmascope::dissect
