// Header of subnet administration, behind RMPP; and the parts of records that a segment holds. mad.md 2.4.
#pragma once

#include "dissect/field.h"
#include "dissect/mad.h"

namespace rdmascope::dissect {

inline constexpr std::uint32_t sa_data_bytes = 200;  // of a MAD

// Titles of the components whose bits are set in the mask.
bool sa_components(const Packet&, const Layer&, unsigned n, Value& out);

struct Sa {
  static constexpr std::string_view name = "infiniband.sa", title = "Subnet Administration", protocol = "SA";
  static constexpr std::uint32_t bytes = 20;
  static constexpr auto fields =
      layout(bytes, {
                        {"smkey", 64, Show::hex, "SM_Key"},
                        // Counts 8 bytes; from one record to the next.
                        Field{"attributeoffset", 16, Show::dec, "Attribute Offset"}.in("* 8 bytes"),
                        {"reserved", 16, Show::reserved, "Reserved"},
                        {"componentmask", 64, Show::hex, "Component Mask"},
                        generated("components", Show::text, "Component", sa_components).repeated(),
                        rest("subnetadmindata", Show::bytes, "Subnet Admin Data"),
                    });
};

// Which record of the whole answer it belongs to, from 1.
bool sa_part_record(const Packet&, const Layer&, unsigned n, Value& out);

// A record that the segment before began, or that the next one ends.
struct SaRecordPart {
  static constexpr std::string_view name = "infiniband.sa.part", title = "Part of a record";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {generated("record", Show::dec, "Number of the record", sa_part_record),
                                                rest("data", Show::bytes, "Bytes of it")});
};

}  // namespace rdmascope::dissect
