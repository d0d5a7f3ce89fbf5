// A packet sequence number as scripts see it: it remembers which start it was counted from, so that reports can say
// "S+3 (0x000001)". All arithmetic is modulo 2^24.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "check/psn.h"

namespace rdmascope::replay {

struct Psn {
  std::uint32_t start = 0;
  std::int32_t offset = 0;
  char base = 0;  // 'S': the DUT's first PSN, 'T': the tester's; 0: a plain number in offset

  std::uint32_t value() const { return check::psn_add(start, static_cast<std::uint32_t>(offset)); }
  Psn plus(std::int64_t n) const { return {start, static_cast<std::int32_t>((offset + n) % 0x1000000), base}; }

  // `value` as it stands to a start, near it or far.
  static Psn relative(std::uint32_t value, std::uint32_t start, char base) {
    return {start, check::psn_diff(value, start), base};
  }
};

inline std::string to_text(const Psn& psn) {
  if (psn.base == 0) return fmt::format("0x{:06x}", psn.value());
  return fmt::format("{}{:+} (0x{:06x})", psn.base, psn.offset, psn.value());
}
// Without the value: "S+3".
inline std::string to_short_text(const Psn& psn) {
  return psn.base == 0 ? fmt::format("0x{:06x}", psn.value()) : fmt::format("{}{:+}", psn.base, psn.offset);
}

}  // namespace rdmascope::replay
