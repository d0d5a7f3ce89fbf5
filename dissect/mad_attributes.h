// Which headers a management datagram consists of: one row for each class, one for each attribute. The walker follows
// them; names in lines, trees and filters are these. mad.md 1.1, 2, 3 to 7.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "dissect/field.h"

namespace rdmascope::dissect {

// Classes with attributes of their own. `any`: what all but subnet management have.
enum class MadGroup : std::uint8_t { subn, sa, perf, bm, devmgt, cm, snmp, congestion, other, any };

struct MadClass {
  std::uint8_t first, last;  // codes
  MadGroup group;
  std::string_view prefix;               // of method and attribute: "Subn" of SubnGet(NodeInfo)
  std::array<const Header*, 2> headers;  // behind the common header; nullptr: no more
};

struct MadAttribute {
  MadGroup group;
  std::uint16_t id;
  std::string_view name;
  // In their order; none: its layout is not known. Those of the SA are records.
  std::array<const Header*, 3> parts;

  std::span<const Header* const> layers() const {
    std::size_t count = 0;
    while (count < parts.size() && parts[count]) ++count;
    return {parts.data(), count};
  }
  std::uint32_t bytes() const {
    std::uint32_t sum = 0;
    for (const Header* h : layers()) sum += h->bytes;
    return sum;
  }
};

// nullptr: a class or an attribute nobody knows.
const MadClass* mad_class(std::uint8_t code);
const MadAttribute* mad_attribute(MadGroup group, std::uint16_t id);
const MadAttribute* mad_attribute(const std::uint8_t* mad);  // of a common header
std::span<const MadAttribute> mad_attributes();

}  // namespace rdmascope::dissect
