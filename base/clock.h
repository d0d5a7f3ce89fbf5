// The machine's two clocks, in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace rdmascope {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}
inline std::int64_t real_time_ns() { return clock_ns(CLOCK_REALTIME); }  // since 1970-01-01 00:00:00 UTC
inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

}  // namespace rdmascope
