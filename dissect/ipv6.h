// IPv6 header, 40 bytes, and its extension headers (RFC 8200).
#pragma once

#include "dissect/field.h"
#include "dissect/ipv4.h"

namespace rdmascope::dissect {

struct Ipv6 {
  static constexpr std::string_view name = "ipv6", title = "Internet Protocol Version 6", protocol = "IPv6";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields =
      layout(bytes, {
                        {"version", 4, Show::dec, "Version"},
                        view("tclass", 8, Show::hex, "Traffic Class"),
                        {"tclass.dscp", 6, Show::dec, "Differentiated Services Codepoint"},
                        {"tclass.ecn", 2, Show::dec, "Explicit Congestion Notification", ecn_codes},
                        {"flow", 20, Show::hex, "Flow Label"},
                        Field{"plen", 16, Show::dec, "Payload Length"}.in("bytes"),
                        {"nxt", 8, Show::dec, "Next Header", ip_protocols},
                        {"hlim", 8, Show::dec, "Hop Limit"},
                        Field{"src", 128, Show::ipv6, "Source Address"}.also("addr"),
                        Field{"dst", 128, Show::ipv6, "Destination Address"}.also("addr"),
                    });
};

// Hop-by-hop, routing, destination options and authentication headers start alike; the length unit differs for AH.
struct Ipv6Extension {
  static constexpr std::string_view name = "ipv6.ext", title = "IPv6 Extension Header";
  static constexpr std::uint32_t bytes = 2;
  static constexpr auto fields = layout(bytes, {
                                                   {"nxt", 8, Show::dec, "Next Header", ip_protocols},
                                                   {"len", 8, Show::dec, "Length"},
                                                   rest("data", Show::bytes, "Options"),
                                               });
};

struct Ipv6Fragment {
  static constexpr std::string_view name = "ipv6.fraghdr", title = "IPv6 Fragment Header";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {
                                                   {"nxt", 8, Show::dec, "Next header", ip_protocols},
                                                   {"reserved_octet", 8, Show::reserved, "Reserved octet"},
                                                   {"offset", 13, Show::dec, "Offset"},
                                                   {"reserved_bits", 2, Show::reserved, "Reserved bits"},
                                                   {"more", 1, Show::flag, "More Fragments"},
                                                   {"ident", 32, Show::hex, "Identification"},
                                               });
};

}  // namespace rdmascope::dissect
