// InfiniBand link (flow control) packet, 6 bytes. ERF record type 25. ib-wire.md 1.5.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName link_operands[] = {{0, "Normal flow control"}, {1, "Flow control init"}};

struct IbLink {
  static constexpr std::string_view name = "infiniband_link", title = "InfiniBand Link Packet", protocol = "IB link";
  static constexpr std::uint32_t bytes = 6;
  static constexpr auto fields =
      layout(bytes, {
                        {"op", 4, Show::dec, "Operand", link_operands},
                        {"fctbs", 12, Show::dec, "Flow Control Total Blocks Sent"},
                        {"vl", 4, Show::dec, "Virtual Lane"},
                        {"fccl", 12, Show::dec, "Flow Control Credit Limit"},
                        {"lpcrc", 16, Show::hex, "Link Packet CRC"},  // parameters UNCONFIRMED: shown, not judged
                    });
};

}  // namespace rdmascope::dissect
