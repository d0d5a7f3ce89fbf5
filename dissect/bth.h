// Base transport header: first header of every InfiniBand transport packet. 12 bytes, big-endian. ib-wire.md 2.3.
#pragma once

#include "dissect/field.h"
#include "dissect/opcodes.h"

namespace rdmascope::dissect {

struct Bth {
  static constexpr std::string_view name = "infiniband.bth", title = "Base Transport Header";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields = layout(bytes, {
                                                   {"opcode", 8, Show::dec, "Opcode", opcode_names},
                                                   {"se", 1, Show::flag, "Solicited Event"},
                                                   {"m", 1, Show::flag, "MigReq"},
                                                   Field{"padcnt", 2, Show::dec, "Pad Count"}.in("bytes"),
                                                   {"tver", 4, Show::dec, "Header Version"},
                                                   {"p_key", 16, Show::hex, "Partition Key"},
                                                   {"fecn", 1, Show::flag, "Forward Explicit Congestion Notification"},
                                                   {"becn", 1, Show::flag, "Backward Explicit Congestion Notification"},
                                                   {"reserved6", 6, Show::reserved, "Reserved"},
                                                   {"destqp", 24, Show::hex, "Destination Queue Pair"},
                                                   {"a", 1, Show::flag, "Acknowledge Request"},
                                                   {"reserved7", 7, Show::reserved, "Reserved"},
                                                   {"psn", 24, Show::dec, "Packet Sequence Number"},
                                               });
};
static_assert(field<Bth, "psn">().at == 72);  // byte 9

inline constexpr std::uint32_t qp_smi = 0, qp_gsi = 1, qp_multicast = 0xffffff;

}  // namespace rdmascope::dissect
