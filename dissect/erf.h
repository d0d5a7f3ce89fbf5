// ERF record header (Endace, ibdump), 16 bytes and extension headers of 8 bytes each. ib-wire.md 1.3.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName erf_types[] = {{2, "Ethernet"},
                                          {11, "Colour Ethernet"},
                                          {16, "DSM colour Ethernet"},
                                          {20, "Colour hash Ethernet"},
                                          {21, "InfiniBand"},
                                          {22, "IPv4"},
                                          {23, "IPv6"},
                                          {24, "Raw link"},
                                          {25, "InfiniBand link"},
                                          {27, "Meta"},
                                          {28, "Omni-Path SNC"},
                                          {29, "Omni-Path 9B"}};

struct Erf {
  static constexpr std::string_view name = "erf", title = "Extensible Record Format", protocol = "ERF";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"ts", 64, Show::hex, "Timestamp"}.little(),  // 32.32 fixed point seconds
                        {"types.ext_header", 1, Show::dec, "Extension header present"},
                        {"types.type", 7, Show::dec, "Type", erf_types},
                        view("flags", 8, Show::hex, "Flags"),
                        {"flags.res", 2, Show::reserved, "Reserved"},
                        {"flags.dse", 1, Show::dec, "DS error"},
                        {"flags.rxe", 1, Show::dec, "RX error"},
                        {"flags.trunc", 1, Show::dec, "Truncated"},
                        {"flags.vlen", 1, Show::dec, "Varying record length"},
                        {"flags.cap", 2, Show::dec, "Capture interface"},
                        Field{"rlen", 16, Show::dec, "Record length"}.in("bytes"),  // with padding
                        {"lctr", 16, Show::dec, "Loss counter"},
                        Field{"wlen", 16, Show::dec, "Wire length"}.in("bytes"),
                        rest("extensions", Show::bytes, "Extension headers"),
                    });
};

// Between the record header and the MAC header of Ethernet records.
struct ErfEthernet {
  static constexpr std::string_view name = "erf.eth", title = "ERF Ethernet subheader";
  static constexpr std::uint32_t bytes = 2;
  static constexpr auto fields = layout(bytes, {
                                                   {"off", 8, Show::dec, "Offset"},
                                                   {"pad", 8, Show::reserved, "Padding"},
                                               });
};

}  // namespace rdmascope::dissect
