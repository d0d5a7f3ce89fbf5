// GRE (RFC 2784, 2890) and NVGRE (RFC 7637): 4 bytes, then checksum, key and sequence number as the flags say.
#pragma once

#include "dissect/ethernet.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

struct Gre {
  static constexpr std::string_view name = "gre", title = "Generic Routing Encapsulation", protocol = "GRE";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"flags.checksum", 1, Show::flag, "Checksum present"},
                                                   {"flags.routing", 1, Show::flag, "Routing present"},
                                                   {"flags.key", 1, Show::flag, "Key present"},
                                                   {"flags.sequence_number", 1, Show::flag, "Sequence number present"},
                                                   {"flags.strict_source_route", 1, Show::flag, "Strict Source Route"},
                                                   {"flags.recursion_control", 3, Show::dec, "Recursion control"},
                                                   {"flags.reserved", 5, Show::reserved, "Reserved"},
                                                   {"flags.version", 3, Show::dec, "Version"},
                                                   {"proto", 16, Show::hex, "Protocol Type", ethertypes},
                                                   rest("options", Show::bytes, "Checksum, key, sequence number"),
                                               });
};

}  // namespace rdmascope::dissect
