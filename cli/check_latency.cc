#include "cli/check_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rdmascope::cli {
namespace {

// Where step i begins: 0, 1, 2, 5, 10, 20, 50, ...
std::uint64_t step_start(std::size_t i) {
  if (i == 0) return 0;
  constexpr std::uint64_t factor[] = {1, 2, 5};
  std::uint64_t power = 1;
  for (std::size_t k = 0; k < (i - 1) / 3; ++k) power *= 10;
  return factor[(i - 1) % 3] * power;
}

}  // namespace

void LatencyHistogram::add(std::uint64_t ns) {
  min_ = count_ == 0 ? ns : std::min(min_, ns);
  max_ = std::max(max_, ns);
  ++count_;
  if (exact_.size() < most_exact) exact_.push_back(ns);
  const std::size_t c = class_of(ns);
  if (c >= classes_.size()) classes_.resize(c + 1);
  ++classes_[c];
  std::size_t step = 0;
  while (step + 1 < steps_.size() && step_start(step + 1) <= ns) ++step;
  ++steps_[step];
}

void LatencyHistogram::sort() { std::sort(exact_.begin(), exact_.end()); }

std::uint64_t LatencyHistogram::middle_of(std::size_t c) {
  constexpr std::size_t per_power = 1u << sub_bits;
  if (c < 2 * per_power) return c;
  const std::size_t shift = (c >> sub_bits) - 1;
  const std::uint64_t from = static_cast<std::uint64_t>(c - (shift << sub_bits)) << shift;
  return from + (std::uint64_t{1} << shift) / 2;
}

std::uint64_t LatencyHistogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  const std::uint64_t rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(percent / 100 * static_cast<double>(count_))));
  if (count_ <= most_exact) return exact_[std::min(rank, count_) - 1];
  std::uint64_t seen = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    seen += classes_[c];
    if (seen >= rank) return std::clamp(middle_of(c), min_, max_);
  }
  return max_;
}

std::vector<LatencyHistogram::Step> LatencyHistogram::steps() const {
  std::vector<Step> out;
  std::size_t last = steps_.size();
  while (last > 0 && steps_[last - 1] == 0) --last;
  for (std::size_t i = 0; i < last; ++i)
    if (steps_[i] > 0 || !out.empty()) out.push_back({step_start(i), step_start(i + 1), steps_[i]});
  return out;
}

std::string LatencyHistogram::text(std::uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{} us", ns / 1000);
  if (ns < 1'000'000'000) return fmt::format("{} ms", ns / 1'000'000);
  return fmt::format("{} s", ns / 1'000'000'000);
}

}  // namespace rdmascope::cli
