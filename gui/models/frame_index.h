// Where the frames of a capture are: 24 bytes each. One thread adds, any number read what is there so far.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rdmascope::gui {

struct IndexedFrame {
  static constexpr std::int64_t no_time = INT64_MIN;
  static constexpr unsigned address_bits = 48;

  std::uint64_t where;     // address of its bytes in the low 48 bits, number of its link (CaptureFile) above
  std::int64_t time_ns;    // since 1970-01-01 UTC, or no_time
  std::uint32_t captured;  // bytes
  std::uint32_t wire;      // bytes

  const std::uint8_t* bytes() const {
    return reinterpret_cast<const std::uint8_t*>(where & ((std::uint64_t{1} << address_bits) - 1));
  }
  std::uint16_t link() const { return static_cast<std::uint16_t>(where >> address_bits); }
};
static_assert(sizeof(IndexedFrame) == 24);

class FrameIndex {
 public:
  // Rows of models are ints.
  static constexpr std::size_t most = INT32_MAX;

  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const IndexedFrame& operator[](std::size_t i) const { return (*chunks_[i / chunk])[i % chunk]; }

  // False: it is full.
  bool add(const IndexedFrame& frame) {
    const std::size_t n = size_.load(std::memory_order_relaxed);
    if (n == most) return false;
    std::unique_ptr<Chunk>& into = chunks_[n / chunk];
    if (!into) into = std::make_unique_for_overwrite<Chunk>();
    (*into)[n % chunk] = frame;
    size_.store(n + 1, std::memory_order_release);
    return true;
  }
  std::size_t memory() const { return (size() + chunk - 1) / chunk * sizeof(Chunk); }  // bytes

 private:
  static constexpr std::size_t chunk = 1 << 16;
  using Chunk = std::array<IndexedFrame, chunk>;
  std::array<std::unique_ptr<Chunk>, most / chunk + 1> chunks_;
  std::atomic<std::size_t> size_ = 0;
};

}  // namespace rdmascope::gui
