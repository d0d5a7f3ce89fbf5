// ERSPAN type II (8 bytes) and type III (12 bytes, 20 with the platform subheader). Type I has no header of its own.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Erspan2 {
  static constexpr std::string_view name = "erspan", title = "ERSPAN type II", protocol = "ERSPAN";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {
                                                   {"version", 4, Show::dec, "Version"},  // 1 is type II
                                                   {"vlan", 12, Show::dec, "Vlan"},
                                                   {"cos", 3, Show::dec, "COS"},
                                                   {"encap", 2, Show::dec, "Encap"},
                                                   {"truncated", 1, Show::flag, "Truncated"},
                                                   {"spanid", 10, Show::dec, "SpanID"},
                                                   {"reserved", 12, Show::reserved, "Reserved"},
                                                   {"index", 20, Show::dec, "Index"},
                                               });
};

struct Erspan3 {
  static constexpr std::string_view name = "erspan3", title = "ERSPAN type III", protocol = "ERSPAN";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields = layout(bytes, {
                                                   {"version", 4, Show::dec, "Version"},  // 2 is type III
                                                   {"vlan", 12, Show::dec, "Vlan"},
                                                   {"cos", 3, Show::dec, "COS"},
                                                   {"bso", 2, Show::dec, "Bad/Short/Oversized"},
                                                   {"truncated", 1, Show::flag, "Truncated"},
                                                   {"spanid", 10, Show::dec, "SpanID"},
                                                   {"timestamp", 32, Show::dec, "Timestamp"},
                                                   {"sgt", 16, Show::dec, "Security Group Tag"},
                                                   {"p", 1, Show::flag, "Has Ethernet PDU"},
                                                   {"ft", 5, Show::dec, "Frame Type"},
                                                   {"hw", 6, Show::dec, "Hardware ID"},
                                                   {"direction", 1, Show::flag, "Direction"},
                                                   {"gra", 2, Show::dec, "Timestamp granularity"},
                                                   {"o", 1, Show::flag, "Optional Sub header"},
                                                   rest("subheader", Show::bytes, "Platform subheader"),
                                               });
};

}  // namespace rdmascope::dissect
