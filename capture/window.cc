#include "capture/window.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/open.h"

namespace rdmascope::capture {

namespace {

// A mapped file is given out in steps of this size; between them its length is checked. A file that another program
// makes shorter would otherwise end this one (SIGBUS on a page that is gone).
constexpr std::size_t step_bytes = std::size_t{1} << 20;
constexpr std::size_t release_bytes = std::size_t{8} << 20;
// For a file that grows: address space, no memory. The most first; systems may have limits.
constexpr std::size_t reserved_bytes[] = {std::size_t{1} << 42, std::size_t{1} << 38, std::size_t{1} << 35};

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

void* page_of(const std::uint8_t* p) {
  return const_cast<std::uint8_t*>(p - reinterpret_cast<std::uintptr_t>(p) % page_bytes());
}

}  // namespace

Window::Window(std::span<const std::uint8_t> bytes)
    : at_(bytes.data()), end_(bytes.data() + bytes.size()), start_(bytes.data()), map_end_(end_), released_(end_) {}

Window::Window(std::unique_ptr<ByteStream> stream, bool unpacked, std::size_t first_buffer)
    : stream_(std::move(stream)), buffer_(first_buffer), unpacked_(unpacked) {
  at_ = end_ = start_ = buffer_.data();
}

std::optional<Window> Window::map(int fd, std::uint64_t from, std::uint64_t to, bool grows, int stop) {
  if (to > SIZE_MAX || from > to) return std::nullopt;
  Window window;
  window.grows_ = grows;
  window.stop_ = stop;
  void* mapping = MAP_FAILED;
  const auto try_to_map = [&](std::size_t bytes) {
    window.mapping_bytes_ = bytes;
    mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | (grows ? MAP_NORESERVE : 0), fd, 0);
    return mapping != MAP_FAILED;
  };
  if (grows)
    static_cast<void>(
        std::ranges::any_of(reserved_bytes, [&](std::size_t bytes) { return bytes >= to && try_to_map(bytes); }));
  else
    try_to_map(static_cast<std::size_t>(to));
  if (mapping == MAP_FAILED) return std::nullopt;
  window.mapping_ = mapping;
  window.guard_ = GuardedMapping(mapping, window.mapping_bytes_);
  // Nothing is won by MAP_POPULATE or by MADV_POPULATE_READ in steps (84 to 42 ms for 866 MB where plain faults took 96
  // to 14), and MADV_WILLNEED ahead of the reader doubles the time from disk.
  ::madvise(mapping, window.mapping_bytes_, MADV_SEQUENTIAL);  // reads ahead further; a hint, may fail
  window.fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  window.released_ = static_cast<const std::uint8_t*>(mapping);
  window.map_end_ = window.released_ + to;
  window.start_ = window.released_;
  window.at_ = window.end_ = window.start_ + from;
  return window;
}

Window::Window(Window&& other) noexcept
    : at_(other.at_),
      end_(other.end_),
      start_(other.start_),
      start_position_(other.start_position_),
      map_end_(other.map_end_),
      released_(other.released_),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      guard_(std::move(other.guard_)),
      fd_(std::exchange(other.fd_, -1)),
      stop_(other.stop_),
      grows_(other.grows_),
      stream_(std::move(other.stream_)),
      buffer_(std::move(other.buffer_)),
      ended_(other.ended_),
      unpacked_(other.unpacked_) {}

Window::~Window() {
  if (mapping_) ::munmap(mapping_, mapping_bytes_);
  if (fd_ >= 0) ::close(fd_);
}

Result<bool> Window::fill(std::size_t need) {
  if (size() >= need) return true;
  return stream_ ? fill_stream(need) : fill_mapped(need);
}

// Until so many bytes are there behind at_, or it is told to stop.
Result<void> Window::wait_for_growth(std::size_t need) {
  const auto* const begin = static_cast<const std::uint8_t*>(mapping_);
  for (bool stopped = false;;) {
    struct stat status;
    if (::fstat(fd_, &status) != 0) return {};
    const std::size_t there = std::min(static_cast<std::size_t>(status.st_size), mapping_bytes_);
    const std::size_t known = static_cast<std::size_t>(map_end_ - begin);
    if (there < known)
      return Error{fmt::format("it was made shorter while it was read, from {} to {} bytes", known, status.st_size)};
    map_end_ = begin + there;
    // What came before the word to stop belongs to it.
    if (static_cast<std::size_t>(map_end_ - at_) >= need || stopped) return {};
    pollfd stop{stop_ >= 0 ? stop_ : stop_descriptor.load(), POLLIN, 0};
    constexpr int moment_ms = 50;
    stopped = ::poll(&stop, 1, moment_ms) > 0 && stop.revents != 0;
  }
}

Result<bool> Window::fill_mapped(std::size_t need) {
  if (grows_ && static_cast<std::size_t>(map_end_ - at_) < need)
    if (const Result<void> waited = wait_for_growth(need); !waited) return Error{waited.error()};
  const std::size_t rest = static_cast<std::size_t>(map_end_ - at_);
  const std::size_t wanted = std::min(rest, std::max(need, step_bytes));
  const bool enough = rest >= need;
  if (!mapping_ || at_ + wanted <= end_) {
    end_ = map_end_;
    return enough;
  }
  if (static_cast<std::size_t>(at_ - released_) >= release_bytes) {
    std::uint8_t* const first = static_cast<std::uint8_t*>(page_of(released_));
    std::uint8_t* const last = static_cast<std::uint8_t*>(page_of(at_));
    ::madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED);
    released_ = last;
  }
  struct stat status;
  const auto known = static_cast<std::size_t>(map_end_ - static_cast<const std::uint8_t*>(mapping_));
  if (::fstat(fd_, &status) == 0 && static_cast<std::size_t>(status.st_size) < known)
    return Error{fmt::format("it was made shorter while it was read, from {} to {} bytes", known, status.st_size)};
  end_ = at_ + wanted;
  return enough;
}

Result<bool> Window::fill_stream(std::size_t need) {
  if (need > largest_piece) return Error{fmt::format("more than {} MiB in one piece", largest_piece >> 20)};
  if (ended_) return false;
  // The caller holds no frames now: what is left of a record goes to the front.
  std::size_t have = size();
  start_position_ = position();
  std::memmove(buffer_.data(), at_, have);
  Result<bool> enough = true;
  while (have < need) {
    if (have == buffer_.size()) buffer_.grow(std::min(2 * have, largest_piece));
    const Result<std::size_t> got = stream_->read({buffer_.data() + have, buffer_.size() - have});
    if (!got) {
      enough = Error{got.error()};
      break;
    }
    if (*got == 0) {
      ended_ = true;
      enough = false;
      break;
    }
    have += *got;
  }
  at_ = start_ = buffer_.data();
  end_ = at_ + have;
  return enough;
}

bool Window::hand_over(Memory& memory, std::size_t used) {
  const std::size_t rest = size();
  if (!stream_ || rest > used) return false;
  if (memory.size() < buffer_.size()) memory = Memory(buffer_.size());
  if (rest > 0) std::memcpy(memory.data(), at_, rest);
  start_position_ = position();
  std::swap(memory, buffer_);
  at_ = start_ = buffer_.data();
  end_ = at_ + rest;
  return true;
}

Progress Window::progress() const {
  if (stream_) return stream_->progress();
  return {position(), static_cast<std::uint64_t>(map_end_ - start_)};
}

std::string byte_text(const Window& window, std::uint64_t position) {
  return fmt::format("byte {}{}", position, window.is_unpacked() ? " of the unpacked data" : "");
}

std::string packets_before(std::uint64_t packets) {
  if (packets == 0) return "; there is no whole packet before it";
  if (packets == 1) return "; the one whole packet before it was read";
  return fmt::format("; the {} whole packets before it were read", packets);
}

Error cut_short(const std::string& name, const Window& window, const std::string& what, std::uint64_t left,
                std::uint64_t packets) {
  return {fmt::format("cannot read {}: cut short at {} ({}, {} {} left){}", name,
                      byte_text(window, window.position() + window.size()), what, left, left == 1 ? "is" : "are",
                      packets_before(packets))};
}

}  // namespace rdmascope::capture
