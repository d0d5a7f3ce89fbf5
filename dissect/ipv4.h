// IPv4 header, 20 bytes and options (RFC 791).
#pragma once

#include "dissect/packet.h"

namespace rdmascope::dissect {

inline constexpr std::uint8_t ip_hop_by_hop = 0, ip_ipip = 4, ip_tcp = 6, ip_udp = 17, ip_ipv6 = 41, ip_routing = 43,
                              ip_fragment = 44, ip_gre = 47, ip_auth = 51, ip_icmpv6 = 58, ip_none = 59,
                              ip_destination_options = 60;

inline constexpr ValueName ip_protocols[] = {{ip_hop_by_hop, "Hop-by-hop"},
                                             {1, "ICMP"},
                                             {2, "IGMP"},
                                             {ip_ipip, "IPIP"},
                                             {ip_tcp, "TCP"},
                                             {ip_udp, "UDP"},
                                             {ip_ipv6, "IPv6"},
                                             {ip_routing, "Routing"},
                                             {ip_fragment, "Fragment"},
                                             {ip_gre, "GRE"},
                                             {50, "ESP"},
                                             {ip_auth, "AH"},
                                             {ip_icmpv6, "ICMPv6"},
                                             {ip_none, "None"},
                                             {ip_destination_options, "Destination options"},
                                             {89, "OSPF"},
                                             {103, "PIM"},
                                             {132, "SCTP"}};

inline constexpr ValueName ecn_codes[] = {{0, "Not-ECT"}, {1, "ECT(1)"}, {2, "ECT(0)"}, {3, "CE"}};

bool ipv4_checksum_status(const Packet&, const Layer&, unsigned n, Value&);

struct Ipv4 {
  static constexpr std::string_view name = "ip", title = "Internet Protocol Version 4", protocol = "IPv4";
  static constexpr std::uint32_t bytes = 20;
  static constexpr auto fields =
      layout(bytes, {
                        {"version", 4, Show::dec, "Version"},
                        Field{"hdr_len", 4, Show::dec, "Header Length"}.times(4).in("bytes"),
                        view("dsfield", 8, Show::hex, "Differentiated Services Field"),
                        {"dsfield.dscp", 6, Show::dec, "Differentiated Services Codepoint"},
                        {"dsfield.ecn", 2, Show::dec, "Explicit Congestion Notification", ecn_codes},
                        Field{"len", 16, Show::dec, "Total Length"}.in("bytes"),
                        {"id", 16, Show::hex, "Identification"},
                        {"flags.rb", 1, Show::flag, "Reserved bit"},
                        {"flags.df", 1, Show::flag, "Don't fragment"},
                        {"flags.mf", 1, Show::flag, "More fragments"},
                        Field{"frag_offset", 13, Show::dec, "Fragment Offset"}.in("units of 8 bytes"),
                        {"ttl", 8, Show::dec, "Time to Live"},
                        {"proto", 8, Show::dec, "Protocol", ip_protocols},
                        {"checksum", 16, Show::hex, "Header Checksum"},
                        generated("checksum.status", Show::named, "Header checksum status", ipv4_checksum_status, crc_statuses),
                        Field{"src", 32, Show::ipv4, "Source Address"}.also("addr"),
                        Field{"dst", 32, Show::ipv4, "Destination Address"}.also("addr"),
                        rest("options", Show::bytes, "Options"),
                    });
};

}  // namespace rdmascope::dissect
