// Wireshark upper PDU (link type 252): tags that name a dissector, then the bytes for it.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct UpperPduTag {
  static constexpr std::string_view name = "exported_pdu", title = "Exported PDU tag", protocol = "Exported PDU";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {
                                                   {"tag", 16, Show::dec, "Tag"},
                                                   Field{"length", 16, Show::dec, "Length"}.in("bytes"),
                                                   rest("value", Show::bytes, "Value"),
                                               });
};

}  // namespace rdmascope::dissect
