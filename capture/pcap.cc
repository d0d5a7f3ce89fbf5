// pcap files: a 24-byte header, then records of a 16-byte header and the captured bytes. draft-ietf-opsawg-pcap, and
// the habits of libpcap where old files differ from it.
#include <array>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "capture/bytes.h"
#include "capture/readers.h"

namespace rdmascope::capture {

namespace {

constexpr std::size_t file_header_bytes = 24;

struct Variant {
  std::uint32_t magic;
  std::uint32_t fraction_ns;  // what the second half of a time stamp counts
  std::size_t header_bytes;   // of a record
};
constexpr Variant variants[] = {
    {0xa1b2c3d4, 1000, 16},
    {0xa1b23c4d, 1, 16},
    {0xa1b2cd34, 1000, 24},  // "modified" of Linux 2.2 times: interface index, protocol and packet type follow
};

struct Start {
  const Variant* variant;
  bool big_endian;
};

std::optional<Start> start_of(const Window& window) {
  if (window.size() < 4) return std::nullopt;
  for (const bool big_endian : {false, true})
    for (const Variant& v : variants)
      if (load32(window.data(), big_endian) == v.magic) return Start{&v, big_endian};
  return std::nullopt;
}

// Which of the two lengths of a record comes first.
enum class Lengths : std::uint8_t { captured_first, wire_first, smaller_is_captured };

class PcapSource final : public Source {
 public:
  PcapSource(Window window, std::string name, Start start, Lengths lengths, Interface interface)
      : window_(std::move(window)),
        name_(std::move(name)),
        variant_(*start.variant),
        big_endian_(start.big_endian),
        lengths_(lengths),
        interfaces_{std::move(interface)} {}

  Result<std::size_t> read(std::span<Frame> out) override {
    while (!failed_ && !out.empty()) {
      const std::size_t frames = big_endian_ ? take<true>(out) : take<false>(out);
      packets_ += frames;
      if (frames > 0) return frames;
      const Result<bool> more = fill_record();
      if (!more)
        failed_ = Error{more.error()};
      else if (!*more)
        break;
    }
    if (failed_) return Error{*failed_};
    return std::size_t{0};
  }

  const std::vector<Interface>& interfaces() const override { return interfaces_; }
  std::optional<std::uint64_t> dropped() const override { return std::nullopt; }
  const Notes* notes() const override { return &notes_; }
  Progress progress() const override { return window_.progress(); }
  bool frames_stay() const override { return !window_.is_stream(); }
  bool was_cut() const override { return window_.was_cut(); }
  bool give_memory(Memory& memory, std::size_t frame_bytes) override { return window_.hand_over(memory, frame_bytes); }

 private:
  // The whole records that are in the window.
  template <bool big_endian>
  std::size_t take(std::span<Frame> out) {
    const std::uint8_t* p = window_.data();
    const std::uint8_t* const end = p + window_.size();
    const std::size_t header_bytes = variant_.header_bytes;
    const std::uint16_t link_type = interfaces_[0].link_type;
    std::size_t n = 0;
    while (n < out.size() && static_cast<std::size_t>(end - p) >= header_bytes) {
      const auto [captured, wire] = lengths<big_endian>(p);
      if (static_cast<std::size_t>(end - p) - header_bytes < captured) break;
      window_.prefetch(p, header_bytes + captured);
      Frame& frame = out[n++];
      frame.bytes = {p + header_bytes, captured};
      frame.time_ns = std::int64_t{load32(p, big_endian)} * 1000000000 +
                      std::int64_t{load32(p + 4, big_endian)} * variant_.fraction_ns;
      frame.wire_bytes = wire;
      frame.interface_id = 0;
      frame.link_type = link_type;
      frame.has_time = true;
      frame.big_endian_options = false;
      frame.options = {};
      p += header_bytes + captured;
    }
    window_.skip(static_cast<std::size_t>(p - window_.data()));
    return n;
  }

  template <bool big_endian>
  std::pair<std::uint32_t, std::uint32_t> lengths(const std::uint8_t* record) const {
    const std::uint32_t first = load32(record + 8, big_endian), second = load32(record + 12, big_endian);
    if (lengths_ == Lengths::captured_first) [[likely]]
      return {first, second};
    if (lengths_ == Lengths::wire_first || first > second) return {second, first};
    return {first, second};
  }

  // The next record is not whole in the window: waits for it. False: the file ends here, as it should.
  Result<bool> fill_record() {
    const std::size_t header_bytes = variant_.header_bytes;
    const std::string record = fmt::format("record {} at {}", packets_ + 1, byte_text(window_, window_.position()));
    Result<bool> more = window_.fill(header_bytes);
    if (!more) return unreadable(more.error());
    if (!*more) {
      if (window_.size() == 0) return false;
      return cut_short(name_, window_, fmt::format("{} has a header of {} bytes", record, header_bytes), window_.size(),
                       packets_);
    }
    const std::uint32_t captured = (big_endian_ ? lengths<true>(window_.data()) : lengths<false>(window_.data())).first;
    const std::string claim = fmt::format("{} claims {} bytes", record, captured);
    if (window_.is_stream() && header_bytes + captured > Window::largest_piece)
      return unreadable(fmt::format("{}; the most is {} MiB", claim, Window::largest_piece >> 20));
    more = window_.fill(header_bytes + captured);
    if (!more) return unreadable(more.error());
    if (!*more) return cut_short(name_, window_, claim, window_.size() - header_bytes, packets_);
    return true;
  }

  Error unreadable(const std::string& why) const {
    return {fmt::format("cannot read {}: {}{}", name_, why, packets_before(packets_))};
  }

  Window window_;
  std::string name_;
  Variant variant_;
  bool big_endian_;
  Lengths lengths_;
  std::vector<Interface> interfaces_;
  Notes notes_;
  std::uint64_t packets_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

bool is_pcap(const Window& window) { return start_of(window).has_value(); }

Result<std::unique_ptr<Source>> read_pcap(Window window, std::string name) {
  const std::optional<Start> start = start_of(window);
  const Result<bool> whole = window.fill(file_header_bytes);
  if (!whole) return Error{fmt::format("cannot read {}: {}", name, whole.error())};
  if (!*whole)
    return cut_short(name, window, fmt::format("a pcap header has {} bytes", file_header_bytes), window.size(), 0);

  const std::uint8_t* const p = window.data();
  const std::uint16_t major = load16(p + 4, start->big_endian), minor = load16(p + 6, start->big_endian);
  const std::uint32_t snap_length = load32(p + 16, start->big_endian), network = load32(p + 20, start->big_endian);
  const bool digital_unix = major == 543 && minor == 0;  // wrote 2.3 files under that number
  if (!digital_unix && (major != 2 || minor > 4))
    return Error{fmt::format("cannot read {}: pcap version {}.{}; known are 2.0 to 2.4", name, major, minor)};
  // AIX numbers its interfaces as SNMP does: 6 Ethernet, 9 token ring, 15 FDDI, where pcap has other meanings.
  if (major == 2 && minor == 2 && (network == 6 || network == 9 || network == 15))
    return Error{
        fmt::format("cannot read {}: this is pcap as AIX writes it; convert it first: editcap -F pcapng {} "
                    "OUTPUT",
                    name, name)};

  Lengths lengths = Lengths::captured_first;
  if (digital_unix || minor == 3) lengths = Lengths::smaller_is_captured;  // both orders were written under 2.3
  if (major == 2 && minor < 3) lengths = Lengths::wire_first;

  Interface interface;
  interface.link_type = link_type_of_file(static_cast<std::uint16_t>(network));
  interface.snap_length = snap_length;
  interface.units_per_second = 1000000000 / start->variant->fraction_ns;
  if (network & 0x04000000) interface.fcs_bytes = static_cast<std::uint8_t>((network >> 28) * 2);
  window.skip(file_header_bytes);
  return std::unique_ptr<Source>(
      std::make_unique<PcapSource>(std::move(window), std::move(name), *start, lengths, std::move(interface)));
}

}  // namespace rdmascope::capture
