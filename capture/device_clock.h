// Turns the free-running counter of a device into wall-clock time. The device says its nominal rate; now and then both
// clocks are read together, which corrects the offset and, within what crystals do, the rate.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rdmascope::capture {

class DeviceClock {
 public:
  // `mask` covers the bits of the counter, which wraps; `kilohertz` is not 0.
  DeviceClock(std::uint64_t mask, std::uint64_t kilohertz)
      : mask_(mask), nominal_(1e6 / static_cast<double>(kilohertz)), ns_per_tick_(nominal_) {}

  // The counter stood at `ticks` when the wall clock showed `wall_ns`.
  void anchor(std::uint64_t ticks, std::int64_t wall_ns) {
    if (anchored_) {
      const double passed = distance(ticks), measured = static_cast<double>(wall_ns - wall_ns_) / passed;
      // Else the wall clock was set meanwhile, or the two readings are too close to each other.
      const bool believable = passed > 0 && measured > nominal_ * 0.999 && measured < nominal_ * 1.001;
      ns_per_tick_ = believable ? measured : nominal_;
    }
    ticks_ = ticks & mask_;
    wall_ns_ = wall_ns;
    anchored_ = true;
  }

  // Of a moment within half a turn of the counter before or after the last anchor; limited to an hour.
  std::int64_t wall_ns(std::uint64_t ticks) const {
    constexpr double hour_ns = 3.6e12;
    return wall_ns_ + static_cast<std::int64_t>(std::clamp(distance(ticks) * ns_per_tick_, -hour_ns, hour_ns));
  }

 private:
  // In ticks, negative before the anchor.
  double distance(std::uint64_t ticks) const {
    const std::uint64_t forward = (ticks - ticks_) & mask_, back = (ticks_ - ticks) & mask_;
    return forward <= back ? static_cast<double>(forward) : -static_cast<double>(back);
  }

  std::uint64_t mask_;
  double nominal_, ns_per_tick_;
  std::uint64_t ticks_ = 0;
  std::int64_t wall_ns_ = 0;
  bool anchored_ = false;
};

}  // namespace rdmascope::capture
