// How long messages took: which count, and what so many percent do not exceed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "check/connection.h"

namespace rdmascope::gui {

// Of a message that is complete and whose first packet was seen, as `stats` counts them.
inline std::optional<std::int64_t> latency_of(const check::Message& m) {
  if (m.state != check::MessageState::complete || !m.has_first || m.done_ns < m.start_ns) return std::nullopt;
  return m.done_ns - m.start_ns;
}

// The value that so many percent do not exceed (nearest rank). Of at least one; their order changes.
inline std::int64_t percentile(std::vector<std::int64_t>& values, std::size_t percent) {
  const std::size_t rank = std::max<std::size_t>(1, (percent * values.size() + 99) / 100);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace rdmascope::gui
