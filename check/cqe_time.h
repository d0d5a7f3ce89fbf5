// Time stamps of mlx4 completion entries, as the driver corrects them. cqe-sniffer.md 1.9; linux en_clock.c.
#pragma once

#include "dissect/cqe_mlx4.h"

namespace rdmascope::check {

// 48 bits. The device latches the halves apart: a low half of 0 belongs to the next high one.
inline std::uint64_t corrected_timestamp(const std::uint8_t* cqe) {
  const dissect::View<dissect::Mlx4TimestampCqe> entry(cqe);
  const std::uint64_t low = entry.get<"timestamp15_0">();
  return ((entry.get<"timestamp47_16">() + (low == 0)) << 16 | low) & 0xffffffffffff;
}

}  // namespace rdmascope::check
