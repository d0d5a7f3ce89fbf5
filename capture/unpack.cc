#include "capture/unpack.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "capture/bytes.h"

namespace rdmascope::capture {

namespace {

// What one call of a codec did. An error is said after the bytes made before it are used.
struct Step {
  std::size_t used = 0, made = 0;
  std::string error;
};

class Gunzip {
 public:
  static constexpr const char* format = "gzip";

  explicit Gunzip(const std::string&) {
    if (::inflateInit2(&zlib_, 15 + 16) != Z_OK) throw std::bad_alloc();  // 15: window, 16: with gzip header
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() { ::inflateEnd(&zlib_); }

  Step step(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
    if (between_members_) {
      if (padding_ || in[0] == 0) {  // some media fill up their last block with zeros
        padding_ = true;
        return {in.size(), 0, {}};
      }
      if (in[0] != 0x1f) return {0, 0, "something else follows its end"};
      ::inflateReset(&zlib_);
      between_members_ = false;
    }
    const uInt bytes = static_cast<uInt>(std::min<std::size_t>(in.size(), 1u << 30));
    const uInt room = static_cast<uInt>(std::min<std::size_t>(out.size(), 1u << 30));
    zlib_.next_in = const_cast<Bytef*>(in.data());
    zlib_.avail_in = bytes;
    zlib_.next_out = out.data();
    zlib_.avail_out = room;
    const int result = ::inflate(&zlib_, Z_NO_FLUSH);
    Step done{bytes - zlib_.avail_in, room - zlib_.avail_out, {}};
    if (result == Z_STREAM_END)
      between_members_ = true;
    else if (result == Z_MEM_ERROR)
      throw std::bad_alloc();
    else if (result != Z_OK && result != Z_BUF_ERROR)  // the latter: nothing to do without more input
      done.error = zlib_.msg ? zlib_.msg : "damaged";
    return done;
  }
  bool in_the_middle() const { return !between_members_; }

 private:
  z_stream zlib_{};
  bool between_members_ = false, padding_ = false;
};

class Unzstd {
 public:
  static constexpr const char* format = "zstd";
  // The window size is a number in the file, and the decoder allocates it. 16 MiB serve all levels up to 19.
  static constexpr int largest_window_log = 24;

  explicit Unzstd(std::string name) : name_(std::move(name)), zstd_(::ZSTD_createDStream()) {
    if (!zstd_) throw std::bad_alloc();
    ::ZSTD_DCtx_setParameter(zstd_.get(), ZSTD_d_windowLogMax, largest_window_log);
  }

  Step step(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t result = ::ZSTD_decompressStream(zstd_.get(), &to, &from);
    Step done{from.pos, to.pos, {}};
    if (!::ZSTD_isError(result))
      in_frame_ = result != 0;
    else if (::ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
      done.error = fmt::format(
          "a window of more than {} MiB, from zstd --long or --ultra; unpack it first: "
          "zstd -d --long=31 {}",
          (1u << largest_window_log) >> 20, name_);
    else
      done.error = ::ZSTD_getErrorName(result);
    return done;
  }
  bool in_the_middle() const { return in_frame_; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* p) const { ::ZSTD_freeDStream(p); }
  };
  std::string name_;
  std::unique_ptr<ZSTD_DStream, Free> zstd_;
  bool in_frame_ = true;
};

template <class Codec>
class Unpacked final : public ByteStream {
 public:
  Unpacked(Window packed, const std::string& name) : packed_(std::move(packed)), codec_(name) {}

  Result<std::size_t> read(std::span<std::uint8_t> to) override {
    while (!failed_) {
      // Output that was filled up last time means that there may be more without more input.
      if (packed_.size() == 0 && !output_was_full_) {
        const Result<bool> more = packed_.fill(1);
        if (!more)
          failed_ = Error{more.error()};
        else if (!*more && codec_.in_the_middle())
          failed_ = Error{
              fmt::format("the {} data end in the middle, at byte {} of the file", Codec::format, packed_.position())};
        else if (!*more)
          return std::size_t{0};
        continue;
      }
      const Step done = codec_.step({packed_.data(), packed_.size()}, to);
      packed_.skip(done.used);
      output_was_full_ = done.made == to.size();
      if (!done.error.empty())
        failed_ = Error{fmt::format("the {} data cannot be unpacked near byte {} of the file ({})", Codec::format,
                                    packed_.position(), done.error)};
      if (done.made > 0) return done.made;
    }
    return Error{*failed_};
  }

  Progress progress() const override { return packed_.progress(); }

 private:
  Window packed_;
  Codec codec_;
  bool output_was_full_ = false;
  std::optional<Error> failed_;
};

}  // namespace

Packing packing_of(const Window& window) {
  const std::uint8_t* const p = window.data();
  if (window.size() >= 2 && p[0] == 0x1f && p[1] == 0x8b) return Packing::gzip;
  if (window.size() < 4) return Packing::none;
  const std::uint32_t magic = load32(p, false);
  // The second one is a skippable frame, which parallel zstd writes first.
  if (magic == 0xfd2fb528 || (magic & 0xfffffff0) == 0x184d2a50) return Packing::zstd;
  return Packing::none;
}

std::unique_ptr<ByteStream> unpack(Window packed, Packing packing, const std::string& name) {
  if (packing == Packing::gzip) return std::make_unique<Unpacked<Gunzip>>(std::move(packed), name);
  return std::make_unique<Unpacked<Unzstd>>(std::move(packed), name);
}

}  // namespace rdmascope::capture
