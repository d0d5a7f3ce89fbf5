// MPLS label stack entry, 4 bytes (RFC 3032), and the Ethernet pseudowire control word (RFC 4448).
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Mpls {
  static constexpr std::string_view name = "mpls", title = "MPLS label", protocol = "MPLS";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"label", 20, Show::dec, "Label"},
                                                   {"exp", 3, Show::dec, "Experimental bits"},
                                                   {"bottom", 1, Show::dec, "Bottom of label stack"},
                                                   {"ttl", 8, Show::dec, "TTL"},
                                               });
};

struct PseudowireControlWord {
  static constexpr std::string_view name = "pweth", title = "Pseudowire control word";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"cw.reserved16", 16, Show::reserved, "Reserved"},
                                                   {"cw.sequence_number", 16, Show::dec, "Sequence number"},
                                               });
};

}  // namespace rdmascope::dissect
