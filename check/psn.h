// 24-bit sequence numbers (PSN, MSN): all arithmetic is modulo 2^24.
#pragma once

#include <cstdint>

namespace rdmascope::check {

inline constexpr std::uint32_t psn_mask = 0xffffff;

constexpr std::uint32_t psn_add(std::uint32_t psn, std::uint32_t count) { return (psn + count) & psn_mask; }

// How far a is after b: -2^23 .. 2^23-1. A distance of exactly 2^23 counts as before.
constexpr std::int32_t psn_diff(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

}  // namespace rdmascope::check
