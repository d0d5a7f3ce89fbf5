// How long things took, in memory that does not grow with their number. Up to 65,536 values percentiles are exact. Of
// more, values are counted in 128 classes per power of two, and a percentile is right within 0.4 %; minimum and maximum
// are always exact.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace rdmascope::cli {

class LatencyHistogram {
 public:
  // Of the picture: 1, 2, 5, 10, 20, 50 ... ns.
  struct Step {
    std::uint64_t from_ns, to_ns, count;
  };

  void add(std::uint64_t ns);
  // After the last add().
  void sort();
  std::uint64_t count() const { return count_; }
  std::uint64_t min() const { return min_; }
  std::uint64_t max() const { return max_; }
  // The value that so many percent do not exceed (nearest rank).
  std::uint64_t percentile(double percent) const;
  // From the first to the last step that has something.
  std::vector<Step> steps() const;

  // "500 ns", "2 us", "1 ms"
  static std::string text(std::uint64_t ns);

 private:
  static constexpr unsigned sub_bits = 7;
  static constexpr std::size_t most_exact = 65536;
  static std::size_t class_of(std::uint64_t ns) {
    if (ns < (1u << sub_bits)) return ns;
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - sub_bits - 1;
    return (static_cast<std::size_t>(shift) << sub_bits) + (ns >> shift);
  }
  static std::uint64_t middle_of(std::size_t c);

  std::vector<std::uint64_t> exact_;    // the first ones
  std::vector<std::uint64_t> classes_;  // of all, up to the largest that occurs
  std::array<std::uint64_t, 58> steps_{};
  std::uint64_t count_ = 0, min_ = 0, max_ = 0;
};

}  // namespace rdmascope::cli
