// The bytes of a capture file as a reader sees them: a window that slides forward over a buffer which a stream fills
// (file, pipe, unpacker), or over a mapped file. Frames point into the window, so nothing is copied on the way.
//
// A buffer starts small enough for the second-level cache, grows only when it is full of bytes that really arrived, and
// never beyond `largest_piece`. A mapping belongs to the page cache and is let go behind the reader.
//
// Measured, 866 MB of random record lengths in the page cache, per record of 850 bytes, caller looks at 100 of them:
// read() into 512 KiB 35 to 45 ns; mapped 165 to 210 ns, with prefetch() 35 to 110 ns. What a mapping costs depends on
// how the file came into the cache: 14 to 120 ms of page faults. So read() is the rule; a mapping is for those who need
// frames that stay.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/memory.h"
#include "base/result.h"
#include "capture/mapping_guard.h"
#include "capture/source.h"

namespace rdmascope::capture {

// Bytes in order, from something that cannot be mapped.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // What is there now, at least one byte; waits only when there is none. 0: the end.
  virtual Result<std::size_t> read(std::span<std::uint8_t> to) = 0;
  virtual Progress progress() const = 0;
};

class Window {
 public:
  static constexpr std::size_t largest_piece = std::size_t{32} << 20;  // one record or block, unless mapped

  explicit Window(std::span<const std::uint8_t> bytes);  // somebody else's memory
  explicit Window(std::unique_ptr<ByteStream> stream, bool unpacked = false, std::size_t first_buffer = 512 << 10);
  // nullopt: cannot be mapped. `grows`: what is written behind `to` belongs to it, too, until `stop` (-1:
  // stop_descriptor) becomes readable.
  static std::optional<Window> map(int fd, std::uint64_t from, std::uint64_t to, bool grows = false, int stop = -1);

  Window(Window&& other) noexcept;
  Window& operator=(Window&&) = delete;
  ~Window();

  // Unread bytes that can be used now.
  const std::uint8_t* data() const { return at_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - at_); }
  void skip(std::size_t bytes) { at_ += bytes; }

  // Makes size() at least `need`; false: the input ends before that, and all of its rest is in the window. Bytes of a
  // stream move: earlier pointers into the window become invalid.
  Result<bool> fill(std::size_t need);

  std::uint64_t position() const { return start_position_ + static_cast<std::uint64_t>(at_ - start_); }

  // Record headers form a chain: each tells where the next one is, and in a mapping each is a cache miss. Fetching all
  // bytes some way ahead of the reader, headers or not, breaks it; guessing header places from recent lengths does not.
  // (GCC takes a function of prefetches only for one without effect, and drops calls that it does not inline.)
  [[gnu::always_inline]] inline void prefetch(const std::uint8_t* record, std::size_t bytes) const {
    if (stream_) return;
    const std::uint8_t* ahead = record + prefetch_distance;
    for (const std::uint8_t* const end = ahead + (bytes < prefetch_distance ? bytes : prefetch_distance); ahead < end;
         ahead += 64)
      __builtin_prefetch(ahead);
  }

  // Gives away the memory that the bytes before data() lie in and goes on in `memory`, where unread bytes are copied to.
  // False, and nothing is done: there are more of these than `used`, or there is no buffer.
  bool hand_over(Memory& memory, std::size_t used);

  bool is_stream() const { return stream_ != nullptr; }
  bool was_cut() const { return guard_.was_cut(); }
  bool is_unpacked() const { return unpacked_; }
  Progress progress() const;

 private:
  static constexpr std::size_t prefetch_distance = 4096;

  Window() = default;
  Result<bool> fill_mapped(std::size_t need);
  Result<void> wait_for_growth(std::size_t need);
  Result<bool> fill_stream(std::size_t need);

  const std::uint8_t *at_ = nullptr, *end_ = nullptr;
  const std::uint8_t* start_ = nullptr;  // where start_position_ is
  std::uint64_t start_position_ = 0;

  // Mapped: [start_, map_end_) is the file, [released_, map_end_) may be in memory.
  const std::uint8_t *map_end_ = nullptr, *released_ = nullptr;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  GuardedMapping guard_;
  int fd_ = -1, stop_ = -1;
  bool grows_ = false;

  // Stream.
  std::unique_ptr<ByteStream> stream_;
  Memory buffer_;
  bool ended_ = false, unpacked_ = false;
};

// "byte 1234", or "byte 1234 of the unpacked data".
std::string byte_text(const Window& window, std::uint64_t position);
// "; the 11 whole packets before it were read"
std::string packets_before(std::uint64_t packets);
// The file ends too early: what = "record 12 at byte 1198 claims 66 bytes", of which `left` are there.
Error cut_short(const std::string& name, const Window& window, const std::string& what, std::uint64_t left,
                std::uint64_t packets);

}  // namespace rdmascope::capture
