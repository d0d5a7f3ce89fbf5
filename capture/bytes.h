// Numbers out of file bytes, in either byte order, at any alignment.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace rdmascope::capture {

inline std::uint16_t load16(const std::uint8_t* p, bool big_endian) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return big_endian != (std::endian::native == std::endian::big) ? __builtin_bswap16(v) : v;
}
inline std::uint32_t load32(const std::uint8_t* p, bool big_endian) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return big_endian != (std::endian::native == std::endian::big) ? __builtin_bswap32(v) : v;
}
inline std::uint64_t load64(const std::uint8_t* p, bool big_endian) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return big_endian != (std::endian::native == std::endian::big) ? __builtin_bswap64(v) : v;
}

}  // namespace rdmascope::capture
