// Ethernet MAC header, 14 bytes, and what may follow the packet inside the frame. IEEE 802.3.
#pragma once

#include "dissect/packet.h"

namespace rdmascope::dissect {

inline constexpr std::uint16_t ethertype_ipv4 = 0x0800, ethertype_arp = 0x0806, ethertype_ipv6 = 0x86dd,
                               ethertype_vlan = 0x8100, ethertype_qinq = 0x88a8, ethertype_qinq_9100 = 0x9100,
                               ethertype_qinq_9200 = 0x9200, ethertype_mpls = 0x8847, ethertype_mpls_multicast = 0x8848,
                               ethertype_roce = 0x8915, ethertype_teb = 0x6558, ethertype_erspan2 = 0x88be,
                               ethertype_erspan3 = 0x22eb;

inline constexpr ValueName ethertypes[] = {{ethertype_ipv4, "IPv4"},
                                           {ethertype_arp, "ARP"},
                                           {ethertype_ipv6, "IPv6"},
                                           {ethertype_vlan, "802.1Q"},
                                           {ethertype_qinq, "802.1ad"},
                                           {ethertype_qinq_9100, "QinQ 0x9100"},
                                           {ethertype_qinq_9200, "QinQ 0x9200"},
                                           {ethertype_mpls, "MPLS"},
                                           {ethertype_mpls_multicast, "MPLS multicast"},
                                           {ethertype_roce, "RoCEv1"},
                                           {ethertype_teb, "Ethernet bridging"},
                                           {ethertype_erspan2, "ERSPAN"},
                                           {ethertype_erspan3, "ERSPAN III"},
                                           {0x88cc, "LLDP"},
                                           {0x8808, "Flow control"},
                                           {0x22f0, "AVTP"},
                                           {0x88f7, "PTP"}};

struct Ethernet {
  static constexpr std::string_view name = "eth", title = "Ethernet", protocol = "Ethernet";
  static constexpr std::uint32_t bytes = 14;
  static constexpr auto fields = layout(bytes, {
                                                   Field{"dst", 48, Show::mac, "Destination"}.also("addr"),
                                                   Field{"src", 48, Show::mac, "Source"}.also("addr"),
                                                   {"type", 16, Show::hex, "Type", ethertypes},
                                               });
};

// Bytes after the packet, up to the minimum frame length or put there by a switch or tap. No part of the packet.
struct EthernetTrailer {
  static constexpr std::string_view name = "eth.trailer", title = "Ethernet trailer";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {
                                                   rest("data", Show::bytes, "Padding or trailer"),
                                               });
};

bool ethernet_fcs_status(const Packet&, const Layer&, unsigned n, Value&);

// The frame check sequence, when the capture holds it. CRC-32 as of zlib, least significant byte first; the field reads it
// big-endian, like the CRCs of InfiniBand.
struct EthernetFcs {
  static constexpr std::string_view name = "eth.fcs", title = "Frame check sequence";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(
      bytes, {
                 {"value", 32, Show::hex, "Frame check sequence"},
                 generated("status", Show::named, "Frame check sequence status", ethernet_fcs_status, crc_statuses),
             });
};

}  // namespace rdmascope::dissect
