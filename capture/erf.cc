// Raw ERF files (Endace; ibdump writes them too): records one after the other, without a file header. Each is a frame
// of LINKTYPE_ERF. Record: time (8 bytes, little-endian, 32.32 seconds), type, flags, then big-endian record length,
// loss counter, wire length.
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "capture/bytes.h"
#include "capture/readers.h"

namespace rdmascope::capture {

namespace {

constexpr std::size_t header_bytes = 16;
constexpr std::uint16_t link_type_erf = 197;
constexpr unsigned type_ethernet = 2, type_padding = 48;

unsigned type_of(const std::uint8_t* record) { return record[8] & 0x7f; }
std::size_t length_of(const std::uint8_t* record) { return load16(record + 10, true); }

class ErfSource final : public Source {
 public:
  ErfSource(Window window, std::string name) : window_(std::move(window)), name_(std::move(name)) {
    Interface interface;
    interface.link_type = link_type_erf;
    interface.units_per_second = std::uint64_t{1} << 32;
    interfaces_.push_back(std::move(interface));
  }

  Result<std::size_t> read(std::span<Frame> out) override {
    std::size_t n = 0;
    while (n < out.size() && !failed_) {
      const std::uint8_t* const p = window_.data();
      if (window_.size() < header_bytes || window_.size() < length_of(p)) {
        if (n > 0) break;
        const Result<bool> more = fill_record();
        if (!more)
          failed_ = Error{more.error()};
        else if (!*more)
          break;
        continue;
      }
      const std::size_t length = length_of(p);
      if (length < header_bytes) {
        failed_ = unreadable(fmt::format("{} has the length {}; the file is damaged here", record_text(), length));
        break;
      }
      if (type_of(p) != type_padding) {
        window_.prefetch(p, length);
        take(p, length, out[n++]);
        ++packets_;
      }
      window_.skip(length);
    }
    if (n == 0 && failed_) return Error{*failed_};
    return n;
  }

  const std::vector<Interface>& interfaces() const override { return interfaces_; }
  // The loss counter is no statement: some record types have other things there, ibdump always writes 0.
  std::optional<std::uint64_t> dropped() const override { return std::nullopt; }
  const Notes* notes() const override { return &notes_; }
  Progress progress() const override { return window_.progress(); }
  bool frames_stay() const override { return !window_.is_stream(); }
  bool was_cut() const override { return window_.was_cut(); }
  bool give_memory(Memory& memory, std::size_t frame_bytes) override { return window_.hand_over(memory, frame_bytes); }

 private:
  static void take(const std::uint8_t* p, std::size_t length, Frame& frame) {
    std::size_t headers = header_bytes;
    for (bool more = (p[8] & 0x80) != 0; more && headers + 8 <= length; headers += 8) more = (p[headers] & 0x80) != 0;
    if (type_of(p) == type_ethernet) headers += 2;  // offset and padding in front of the Ethernet header
    const std::uint64_t time = load64(p, false);
    frame.bytes = {p, length};
    frame.time_ns = static_cast<std::int64_t>((time >> 32) * 1000000000 + (((time & 0xffffffff) * 1000000000 + 0x80000000) >> 32));
    frame.wire_bytes = static_cast<std::uint32_t>(headers + load16(p + 14, true));
    frame.interface_id = 0;
    frame.link_type = link_type_erf;
    frame.has_time = true;
    frame.big_endian_options = false;
    frame.options = {};
  }

  Result<bool> fill_record() {
    Result<bool> more = window_.fill(header_bytes);
    if (!more) return unreadable(more.error());
    if (!*more) {
      if (window_.size() == 0) return false;
      return cut_short(name_, window_, fmt::format("{} has a header of {} bytes", record_text(), header_bytes),
                       window_.size(), packets_);
    }
    const std::size_t length = length_of(window_.data());
    more = window_.fill(length);
    if (!more) return unreadable(more.error());
    if (!*more)
      return cut_short(name_, window_, fmt::format("{} claims {} bytes", record_text(), length), window_.size(),
                       packets_);
    return true;
  }

  std::string record_text() const {
    return fmt::format("record {} at {}", packets_ + 1, byte_text(window_, window_.position()));
  }
  Error unreadable(const std::string& why) const {
    return {fmt::format("cannot read {}: {}{}", name_, why, packets_before(packets_))};
  }

  Window window_;
  std::string name_;
  std::vector<Interface> interfaces_;
  Notes notes_;
  std::uint64_t packets_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

// Some records in a row with a known type, a possible length and times within one year of the first, and not fewer than
// three, except when the file ends exactly there.
bool is_erf(Window& window) {
  constexpr std::int64_t year_s = 366 * 24 * 3600;
  std::size_t at = 0;
  std::int64_t first_s = 0;
  for (int records = 0; records < 4; ++records) {
    const Result<bool> header = window.fill(at + header_bytes);
    if (!header) return false;
    if (!*header) return records >= 3 || (records > 0 && window.size() == at);
    const std::uint8_t* const p = window.data() + at;
    const std::int64_t s = load32(p + 4, false);
    if (records == 0) first_s = s;
    if (type_of(p) == 0 || type_of(p) > type_padding || length_of(p) < header_bytes) return false;
    if (s - first_s > year_s || first_s - s > year_s) return false;
    at += length_of(p);
    const Result<bool> whole = window.fill(at);
    if (!whole || !*whole) return records >= 3;
  }
  return true;
}

Result<std::unique_ptr<Source>> read_erf(Window window, std::string name) {
  return std::unique_ptr<Source>(std::make_unique<ErfSource>(std::move(window), std::move(name)));
}

}  // namespace rdmascope::capture
