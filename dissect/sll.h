// Linux cooked capture, version 1 (16 bytes) and 2 (20 bytes). ib-wire.md 1.1.
#pragma once

#include "dissect/ethernet.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName sll_packet_types[] = {
    {0, "To us"}, {1, "Broadcast"}, {2, "Multicast"}, {3, "Other host"}, {4, "Sent by us"}};

struct Sll {
  static constexpr std::string_view name = "sll", title = "Linux cooked capture", protocol = "SLL";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {
                                                   {"pkttype", 16, Show::dec, "Packet type", sll_packet_types},
                                                   {"hatype", 16, Show::dec, "Link-layer address type"},
                                                   {"halen", 16, Show::dec, "Link-layer address length"},
                                                   {"addr", 64, Show::bytes, "Source"},
                                                   {"etype", 16, Show::hex, "Protocol", ethertypes},
                                               });
};

struct Sll2 {
  static constexpr std::string_view name = "sll2", title = "Linux cooked capture v2", protocol = "SLL";
  static constexpr std::uint32_t bytes = 20;
  static constexpr auto fields = layout(bytes, {
                                                   {"etype", 16, Show::hex, "Protocol", ethertypes},
                                                   {"reserved", 16, Show::reserved, "Reserved"},
                                                   {"ifindex", 32, Show::dec, "Interface index"},
                                                   {"hatype", 16, Show::dec, "Link-layer address type"},
                                                   {"pkttype", 8, Show::dec, "Packet type", sll_packet_types},
                                                   {"halen", 8, Show::dec, "Link-layer address length"},
                                                   {"addr", 64, Show::bytes, "Source"},
                                               });
};

}  // namespace rdmascope::dissect
