#include "capture/open.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/readers.h"
#include "capture/unpack.h"
#include "capture/window.h"

namespace rdmascope::capture {

namespace {

using namespace std::string_view_literals;

std::string reason(int error) { return std::strerror(error); }

class Fd {
 public:
  Fd(int fd, bool own) : fd_(fd), own_(own) {}
  Fd(Fd&& other) noexcept : fd_(other.fd_), own_(std::exchange(other.own_, false)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() {
    if (own_) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
  bool own_;
};

class FdStream final : public ByteStream {
 public:
  // `follows`: it is a regular file, and its end is no end. `stop`: -1 is stop_descriptor.
  FdStream(Fd fd, std::optional<std::uint64_t> total, bool follows, int stop)
      : fd_(std::move(fd)), total_(total), follows_(follows), stop_(stop) {}
  Result<std::size_t> read(std::span<std::uint8_t> to) override {
    if (!total_ && !follows_ && is_stopped()) return std::size_t{0};
    ssize_t got;
    do got = ::read(fd_.get(), to.data(), to.size());
    while ((got < 0 && errno == EINTR) || (got == 0 && follows_ && more_may_come()));
    struct stat status;
    if (got == 0 && follows_ && ::fstat(fd_.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) < bytes_)
      return Error{fmt::format("it was made shorter while it was read, from {} to {} bytes", bytes_, status.st_size)};
    if (got < 0) return Error{fmt::format("reading failed after byte {}: {}", bytes_, reason(errno))};
    bytes_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
  Progress progress() const override { return {bytes_, total_}; }

 private:
  // Waits a moment at the end of a file. False: it is to read no more, or the file was made anew.
  bool more_may_come() const {
    pollfd stop{stop_from(), POLLIN, 0};
    constexpr int moment_ms = 100;
    if (::poll(&stop, 1, moment_ms) > 0 && stop.revents != 0) return false;
    struct stat status;
    return ::fstat(fd_.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= bytes_;
  }

  // Waits until there is something to read. True: it is to read no more.
  bool is_stopped() const {
    pollfd wanted[] = {{fd_.get(), POLLIN, 0}, {stop_from(), POLLIN, 0}};  // poll() passes over -1
    while (::poll(wanted, 2, -1) < 0)
      if (errno != EINTR) return false;  // read() says why
    return wanted[1].revents != 0;
  }

  int stop_from() const { return stop_ >= 0 ? stop_ : stop_descriptor.load(); }

  Fd fd_;
  std::optional<std::uint64_t> total_;
  bool follows_;
  int stop_;
  std::uint64_t bytes_ = 0;
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::span<const std::uint8_t> bytes, std::size_t piece)
      : rest_(bytes), total_(bytes.size()), piece_(piece) {}
  Result<std::size_t> read(std::span<std::uint8_t> to) override {
    const std::size_t bytes = std::min({rest_.size(), to.size(), piece_});
    if (bytes > 0) std::memcpy(to.data(), rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return bytes;
  }
  Progress progress() const override { return {total_ - rest_.size(), total_}; }

 private:
  std::span<const std::uint8_t> rest_;
  std::size_t total_, piece_;
};

struct Foreign {
  std::string_view magic, what;
  bool packed = false;
};

// Formats people do meet and that are not read here.
constexpr Foreign foreign[] = {
    {"snoop\0\0\0"sv, "a Sun snoop file"},
    {"iptrace 1.0"sv, "an AIX iptrace file"},
    {"iptrace 2.0"sv, "an AIX iptrace file"},
    {"RTSS"sv, "a Microsoft Network Monitor 1 file"},
    {"GMBU"sv, "a Microsoft Network Monitor 2 file"},
    {"TRSNIFF data    \x1a"sv, "a Network General Sniffer file"},
    {"XCP\0"sv, "a NetXray or Windows Sniffer file"},
    {"\x7fver"sv, "a WildPackets Peek file"},
    {"\x1c\0\x01\xac"sv, "an IXIA lcap file (hardware time stamps)"},
    {"\xac\x01\0\x1c"sv, "an IXIA lcap file (hardware time stamps)"},
    {"\x1c\0\x01\xab"sv, "an IXIA lcap file (software time stamps)"},
    {"\xab\x01\0\x1c"sv, "an IXIA lcap file (software time stamps)"},
    {"\xa1\x2b\x3c\x4d"sv, "a Navtel variant of pcap"},
    {"\x4d\x3c\x2b\xa1"sv, "a Navtel variant of pcap"},
    {"\xfd"
     "7zXZ\0"sv,
     "xz", true},
    {"BZh"sv, "bzip2", true},
    {"\x04\x22\x4d\x18"sv, "lz4", true},
    {"PK\x03\x04"sv, "zip", true},
    {"7z\xbc\xaf\x27\x1c"sv, "7z", true},
};

Error not_a_capture(const Window& window, const std::string& name) {
  const std::string_view start(reinterpret_cast<const char*>(window.data()), window.size());
  for (const Foreign& f : foreign) {
    if (start.substr(0, f.magic.size()) != f.magic) continue;
    if (f.packed) return {fmt::format("cannot read {}: packed with {}; unpack it first", name, f.what)};
    return {
        fmt::format("cannot read {}: this is {}; convert it first: editcap -F pcapng {} OUTPUT", name, f.what, name)};
  }
  std::string hex;
  for (const char c : start.substr(0, 8)) hex += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  return {
      fmt::format("cannot read {}: neither pcap nor pcapng nor ERF, it starts with{}; hex text and dumps are for "
                  "rdmascope decode",
                  name, hex)};
}

Result<std::unique_ptr<Source>> open_window(Window window, const std::string& name) {
  const Result<bool> begin = window.fill(16);
  if (!begin) return Error{fmt::format("cannot read {}: {}", name, begin.error())};
  if (window.size() == 0)
    return Error{fmt::format("cannot read {}: {}; a capture has a header even without packets", name,
                             window.is_unpacked() ? "nothing is packed in it" : "it is empty")};
  if (const Packing packing = packing_of(window); packing != Packing::none) {
    if (window.is_unpacked()) return Error{fmt::format("cannot read {}: packed twice; unpack it once first", name)};
    return open_window(Window(unpack(std::move(window), packing, name), true), name);
  }
  if (is_pcapng(window)) return read_pcapng(std::move(window), name);
  if (is_pcap(window)) return read_pcap(std::move(window), name);
  if (is_erf(window)) return read_erf(std::move(window), name);
  return not_a_capture(window, name);
}

}  // namespace

Result<std::unique_ptr<Source>> open_file(const std::string& path, Access access, int stop) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "standard input" : path;
  Fd fd(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY), !standard_input);
  struct stat status;
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) {
    const int error = errno;
    return Error{fmt::format("cannot open {}: {}; check the path and its permissions", name, reason(error))};
  }
  if (S_ISDIR(status.st_mode)) return Error{fmt::format("cannot open {}: it is a directory; name a file in it", name)};

  std::optional<std::uint64_t> total;
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    total = static_cast<std::uint64_t>(status.st_size);
    const off_t at = ::lseek(fd.get(), 0, SEEK_CUR);  // a shell may have read the start of standard input
    if ((access == Access::mapped || access == Access::growing) && at >= 0 && at < status.st_size) {
      std::optional<Window> window =
          Window::map(fd.get(), static_cast<std::uint64_t>(at), *total, access == Access::growing, stop);
      if (window) return open_window(std::move(*window), name);
    }
    ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  const bool follows = (access == Access::followed || access == Access::growing) && S_ISREG(status.st_mode);
  return open_window(Window(std::make_unique<FdStream>(std::move(fd), total, follows, stop)), name);
}

Result<std::unique_ptr<Source>> open_memory(std::span<const std::uint8_t> bytes, std::size_t piece,
                                            const std::string& name) {
  if (piece == 0) return open_window(Window(bytes), name);
  return open_window(Window(std::make_unique<MemoryStream>(bytes, piece), false, 4096), name);
}

}  // namespace rdmascope::capture
