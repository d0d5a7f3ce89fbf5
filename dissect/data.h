// Bytes with no further structure: transport payload and its pad, vendor data, whatever nobody decodes.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

struct Payload {
  static constexpr std::string_view name = "infiniband.payload", title = "Payload";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Payload")});
};

// 0 to 3 bytes behind the payload, as BTH PadCnt says. No part of the message.
struct Pad {
  static constexpr std::string_view name = "infiniband.pad", title = "Pad";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Pad")});
};

// What follows BTH under a manufacturer or undefined opcode.
struct Vendor {
  static constexpr std::string_view name = "infiniband.vendor", title = "Unknown or vendor specific data";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Data")});
};

// Raw (LNH 0 or 1) packets: no transport inside.
struct RawData {
  static constexpr std::string_view name = "infiniband.rawdata", title = "Raw data";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Data")});
};

// Native packet bytes behind ICRC and VCRC that no length accounts for.
struct IbTrailer {
  static constexpr std::string_view name = "infiniband.trailer", title = "Trailer";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Trailer")});
};

struct Data {
  static constexpr std::string_view name = "data", title = "Data";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Data")});
};

}  // namespace rdmascope::dissect
