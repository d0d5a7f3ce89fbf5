// Geneve (RFC 8926), 8 bytes and options.
#pragma once

#include "dissect/ethernet.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

struct Geneve {
  static constexpr std::string_view name = "geneve", title = "Geneve", protocol = "Geneve";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {
                        {"version", 2, Show::dec, "Version"},
                        Field{"opt_len", 6, Show::dec, "Options Length"}.times(4).in("bytes"),
                        {"flags.oam", 1, Show::flag, "Operations, Administration and Management Frame"},
                        {"flags.critical", 1, Show::flag, "Critical Options Present"},
                        {"flags.reserved", 6, Show::reserved, "Reserved"},
                        {"proto_type", 16, Show::hex, "Protocol Type", ethertypes},
                        {"vni", 24, Show::hex, "Virtual Network Identifier"},
                        {"reserved", 8, Show::reserved, "Reserved"},
                        rest("options", Show::bytes, "Options"),
                    });
};

}  // namespace rdmascope::dissect
