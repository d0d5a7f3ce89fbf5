// The option list that ends a pcapng block: 16-bit code, 16-bit length, value, padding to 4 bytes, again.
// draft-ietf-opsawg-pcapng section 3.5. The bytes come from outside: nothing is read past their end.
#pragma once

#include <cstdint>
#include <span>

#include "capture/bytes.h"

namespace rdmascope::capture {

namespace option {
inline constexpr std::uint16_t end = 0, comment = 1;                               // in every block
inline constexpr std::uint16_t shb_hardware = 2, shb_os = 3, shb_application = 4;  // section header
inline constexpr std::uint16_t if_name = 2, if_description = 3, if_tsresol = 9;    // interface description
inline constexpr std::uint16_t if_filter = 11, if_os = 12, if_fcslen = 13, if_tsoffset = 14;
inline constexpr std::uint16_t isb_starttime = 2, isb_endtime = 3, isb_ifrecv = 4, isb_ifdrop = 5;  // statistics
inline constexpr std::uint16_t isb_osdrop = 7;
inline constexpr std::uint16_t epb_flags = 2, epb_dropcount = 4, epb_packetid = 5, epb_queue = 6;  // packets
}  // namespace option

// Calls callback(code, value) for each option up to the end mark. False: the last one is longer than what is left;
// the options before it were given.
template <class Callback>
bool for_each_option(std::span<const std::uint8_t> options, bool big_endian, Callback&& callback) {
  while (options.size() >= 4) {
    const std::uint16_t code = load16(options.data(), big_endian);
    const std::size_t bytes = load16(options.data() + 2, big_endian);
    if (code == option::end) return true;
    options = options.subspan(4);
    if (bytes > options.size()) return false;
    callback(code, options.first(bytes));
    const std::size_t padded = (bytes + 3) & ~std::size_t{3};
    options = options.subspan(padded < options.size() ? padded : options.size());
  }
  return options.empty();
}

}  // namespace rdmascope::capture
