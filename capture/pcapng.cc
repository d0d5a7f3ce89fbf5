// pcapng files: a chain of blocks, each with its type, its length at both ends and options. draft-ietf-opsawg-pcapng.
// A file holds one or more sections, one after the other; each has its own byte order and numbers its interfaces from
// 0.
//
// The chain itself must be right: a block with an impossible length ends the reading with an error. What is wrong
// inside a block costs only that block; it is counted in Notes::skipped.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "capture/bytes.h"
#include "capture/pcapng_options.h"
#include "capture/readers.h"

namespace rdmascope::capture {

namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

namespace block {
constexpr std::uint32_t section = 0x0a0d0d0a, interface = 1, packet = 2, simple_packet = 3, statistics = 5,
                        enhanced_packet = 6;
}

constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
constexpr std::size_t smallest_block = 12;  // type, length, length

// Keeps memory bounded, whatever the file.
constexpr std::size_t most_interfaces = 16384, most_block_types = 256, most_text = 4u << 20;

// Converts time stamps of one interface to nanoseconds: if_tsresol says how long a unit is, if_tsoffset where 0 is.
class TimeScale {
 public:
  TimeScale() = default;
  TimeScale(std::uint8_t resolution, std::int64_t offset_seconds) : offset_ns_(Int128{offset_seconds} * 1000000000) {
    const unsigned exponent = resolution & 127;
    multiply_ = 1000000000;
    if (resolution & 128)
      shift_ = exponent;
    else if (exponent <= 9)
      multiply_ = power_of_ten(9 - exponent);
    else if (exponent <= 28)
      multiply_ = 1, divide_ = power_of_ten(exponent - 9);
    else
      multiply_ = 0;  // 2^64 of these units are less than a nanosecond
  }

  std::int64_t nanoseconds(std::uint64_t units) const {
    Uint128 ns = Uint128{units} * multiply_;
    if (shift_ > 0) ns >>= shift_;
    if (divide_ > 1) ns /= divide_;
    const Int128 sum = static_cast<Int128>(ns) + offset_ns_;  // below 2^95 + 2^94
    if (sum > std::numeric_limits<std::int64_t>::max()) return std::numeric_limits<std::int64_t>::max();
    if (sum < std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(sum);
  }

  // Units per second, at most 2^64-1.
  static std::uint64_t rate(std::uint8_t resolution) {
    const unsigned exponent = resolution & 127;
    if (resolution & 128) return exponent < 64 ? std::uint64_t{1} << exponent : ~std::uint64_t{0};
    return exponent < 20 ? power_of_ten(exponent) : ~std::uint64_t{0};
  }

 private:
  static std::uint64_t power_of_ten(unsigned exponent) {
    std::uint64_t power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
  }

  std::uint64_t multiply_ = 1000, divide_ = 1;
  unsigned shift_ = 0;
  Int128 offset_ns_ = 0;
};

std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) { return a + b < a ? ~std::uint64_t{0} : a + b; }

// What reading needs of an interface, beside what Interface tells the user.
struct InterfaceState {
  TimeScale time;
  std::uint32_t snap_length = 0;
  std::uint16_t link_type = 0;
  bool packets_state_drops = false;
  std::uint64_t packet_drops = 0;
  std::optional<std::uint64_t> statistics_drops;  // of the last statistics block
};

class PcapngSource final : public Source {
 public:
  PcapngSource(Window window, std::string name) : window_(std::move(window)), name_(std::move(name)) {}

  Result<std::size_t> read(std::span<Frame> out) override {
    std::size_t n = 0;
    while (n < out.size() && !failed_) {
      const std::optional<std::size_t> length = whole_block();
      if (!length) {
        if (failed_ || n > 0) break;
        const Result<bool> more = fill_block();
        if (!more)
          failed_ = Error{more.error()};
        else if (!*more)
          break;
        continue;
      }
      if (take(window_.data(), *length, out[n])) {
        ++n;
        ++packets_;
      }
      if (!failed_) window_.skip(*length);
    }
    if (n == 0 && failed_) return Error{*failed_};
    return n;
  }

  // The first section header must be right for the file to be opened at all. Interfaces described right behind it are
  // known before the first read(), as far as that needs no waiting.
  std::optional<Error> open() {
    while (!failed_) {
      const std::optional<std::size_t> length = whole_block();
      if (length && (sections_ == 0 || u32(window_.data()) == block::interface)) {
        Frame none;
        take(window_.data(), *length, none);
        if (!failed_) window_.skip(*length);
      } else if (sections_ == 0 && !failed_) {
        if (const Result<bool> more = fill_block(); !more) failed_ = Error{more.error()};
      } else {
        break;
      }
    }
    return failed_;
  }

  const std::vector<Interface>& interfaces() const override { return interfaces_; }

  std::optional<std::uint64_t> dropped() const override {
    std::optional<std::uint64_t> sum;
    for (const InterfaceState& i : states_) {
      if (!i.packets_state_drops && !i.statistics_drops) continue;
      // Packets and statistics count the same losses, so a file with both does not mean their sum.
      sum = add_saturated(sum.value_or(0), std::max(i.packet_drops, i.statistics_drops.value_or(0)));
    }
    return sum;
  }

  const Notes* notes() const override { return &notes_; }
  Progress progress() const override { return window_.progress(); }
  bool frames_stay() const override { return !window_.is_stream(); }
  bool was_cut() const override { return window_.was_cut(); }
  bool give_memory(Memory& memory, std::size_t frame_bytes) override { return window_.hand_over(memory, frame_bytes); }

 private:
  std::uint32_t u32(const std::uint8_t* p) const { return load32(p, big_endian_); }
  std::uint16_t u16(const std::uint8_t* p) const { return load16(p, big_endian_); }

  // Length of the block at the front, if all of it is in the window and both its lengths agree. Sets failed_ if the
  // chain is broken here.
  std::optional<std::size_t> whole_block() {
    if (window_.size() < smallest_block) return std::nullopt;
    const std::uint8_t* const p = window_.data();
    if (load32(p, big_endian_) == block::section && !byte_order(p)) return std::nullopt;
    const std::size_t length = u32(p + 4);
    if (length < smallest_block || length % 4 != 0) {
      fail(fmt::format("{} has the length {}; the file is damaged here", block_text(), length));
      return std::nullopt;
    }
    if (length > window_.size()) return std::nullopt;
    if (const std::uint32_t again = u32(p + length - 4); again != length) {
      fail(fmt::format("{} has the length {} in front and {} behind; the file is damaged here", block_text(), length,
                       again));
      return std::nullopt;
    }
    return length;
  }

  bool byte_order(const std::uint8_t* section) {
    if (load32(section + 8, false) == byte_order_magic)
      big_endian_ = false;
    else if (load32(section + 8, true) == byte_order_magic)
      big_endian_ = true;
    else
      fail(fmt::format("{} starts a section without the byte-order mark 1a2b3c4d", block_text()));
    return !failed_;
  }

  // The next block is not whole in the window: waits for it. False: the file ends here, as it should.
  Result<bool> fill_block() {
    Result<bool> more = window_.fill(smallest_block);
    if (!more) return unreadable(more.error());
    if (!*more) {
      if (window_.size() == 0) return false;
      return cut_short(name_, window_, fmt::format("{} has at least {} bytes", block_text(), smallest_block),
                       window_.size(), packets_);
    }
    if (load32(window_.data(), big_endian_) == block::section && !byte_order(window_.data())) return Error{*failed_};
    const std::uint32_t length = u32(window_.data() + 4);
    const std::string claim = fmt::format("{} claims {} bytes", block_text(), length);
    if (window_.is_stream() && length > Window::largest_piece)
      return unreadable(fmt::format("{}; the most is {} MiB", claim, Window::largest_piece >> 20));
    more = window_.fill(length);
    if (!more) return unreadable(more.error());
    if (!*more) return cut_short(name_, window_, claim, window_.size(), packets_);
    return true;
  }

  std::string block_text() const {
    const std::string at = byte_text(window_, window_.position());
    if (window_.size() < 4) return fmt::format("the block at {}", at);
    return fmt::format("the block of type 0x{:x} at {}", u32(window_.data()), at);
  }

  Error unreadable(const std::string& why) const {
    return {fmt::format("cannot read {}: {}{}", name_, why, packets_before(packets_))};
  }
  void fail(const std::string& why) { failed_ = unreadable(why); }

  void skipped(std::string_view why) {
    const auto same = [why](const Notes::Skipped& s) { return s.why == why; };
    const auto found = std::find_if(notes_.skipped.begin(), notes_.skipped.end(), same);
    if (found == notes_.skipped.end())
      notes_.skipped.push_back({std::string(why), window_.position(), 1});
    else
      ++found->count;
  }

  // True: `frame` was filled. The block is whole, and its lengths are right.
  bool take(const std::uint8_t* p, std::size_t length, Frame& frame) {
    const std::span<const std::uint8_t> body(p + 8, length - smallest_block);
    switch (u32(p)) {
      case block::enhanced_packet:
        window_.prefetch(p, length);
        return take_enhanced_packet(body, frame);
      case block::simple_packet:
        return take_simple_packet(body, frame);
      case block::packet:
        return take_packet(body, frame);
      case block::section:
        take_section(body);
        return false;
      case block::interface:
        take_interface(body);
        return false;
      case block::statistics:
        take_statistics(body);
        return false;
      default:
        count_block(u32(p));
        return false;
    }
  }

  void count_block(std::uint32_t type) {
    const auto found = notes_.other_blocks.find(type);
    if (found != notes_.other_blocks.end())
      ++found->second;
    else if (notes_.other_blocks.size() < most_block_types)
      notes_.other_blocks.emplace(type, 1);
    else
      skipped("block of yet another unknown type");
  }

  // Interface id, time high, time low, captured, wire; data; options.
  bool take_enhanced_packet(std::span<const std::uint8_t> body, Frame& frame) {
    if (body.size() < 20) return skipped("packet block too short for its own fields"), false;
    const std::uint8_t* const p = body.data();
    if (!timed_packet(body, u32(p), u32(p + 12), frame)) return false;
    if (frame.options.size() >= 12) {
      InterfaceState& state = states_[frame.interface_id];
      for_each_option(frame.options, big_endian_, [&](std::uint16_t code, std::span<const std::uint8_t> value) {
        if (code == option::epb_dropcount && value.size() == 8) count_drops(state, load64(value.data(), big_endian_));
      });
    }
    return true;
  }

  // The obsolete form: interface id and drops have 16 bits each.
  bool take_packet(std::span<const std::uint8_t> body, Frame& frame) {
    if (body.size() < 20) return skipped("packet block too short for its own fields"), false;
    const std::uint8_t* const p = body.data();
    if (!timed_packet(body, u16(p), u32(p + 12), frame)) return false;
    const std::uint16_t drops = u16(p + 2);
    if (drops != 0xffff) count_drops(states_[frame.interface_id], drops);  // 0xffff: not known
    return true;
  }

  bool timed_packet(std::span<const std::uint8_t> body, std::uint32_t interface_in_section, std::uint32_t captured,
                    Frame& frame) {
    const std::uint8_t* const p = body.data();
    if (interface_in_section >= states_.size() - first_interface_)
      return skipped("packet block names an interface that is not described"), false;
    if (captured > body.size() - 20) return skipped("packet block claims more captured bytes than it has"), false;
    const std::size_t id = first_interface_ + interface_in_section;
    const InterfaceState& state = states_[id];
    const std::size_t options_at = 20 + ((std::size_t{captured} + 3) & ~std::size_t{3});
    frame.bytes = {p + 20, captured};
    frame.time_ns = state.time.nanoseconds(std::uint64_t{u32(p + 4)} << 32 | u32(p + 8));
    frame.wire_bytes = u32(p + 16);
    frame.interface_id = static_cast<std::uint32_t>(id);
    frame.link_type = state.link_type;
    frame.has_time = true;
    frame.big_endian_options = big_endian_;
    frame.options = {p + options_at, body.size() - options_at};  // both are multiples of 4
    return true;
  }

  // Wire length, data. Belongs to the first interface of the section, whose snap length tells how much there is.
  bool take_simple_packet(std::span<const std::uint8_t> body, Frame& frame) {
    if (body.size() < 4) return skipped("packet block too short for its own fields"), false;
    if (states_.size() == first_interface_)
      return skipped("packet block names an interface that is not described"), false;
    const InterfaceState& state = states_[first_interface_];
    const std::uint32_t wire = u32(body.data());
    std::uint32_t captured = wire;
    if (state.snap_length > 0) captured = std::min(captured, state.snap_length);
    if (captured > body.size() - 4) return skipped("packet block claims more captured bytes than it has"), false;
    frame.bytes = {body.data() + 4, captured};
    frame.time_ns = 0;
    frame.wire_bytes = wire;
    frame.interface_id = static_cast<std::uint32_t>(first_interface_);
    frame.link_type = state.link_type;
    frame.has_time = false;
    frame.big_endian_options = big_endian_;
    frame.options = {};
    return true;
  }

  static void count_drops(InterfaceState& state, std::uint64_t packets) {
    state.packets_state_drops = true;
    state.packet_drops = add_saturated(state.packet_drops, packets);
  }

  // Byte-order mark, version, section length (not needed, often wrong); options.
  void take_section(std::span<const std::uint8_t> body) {
    if (body.size() < 16) return fail(fmt::format("{} is too short for a section header", block_text()));
    const std::uint16_t major = u16(body.data() + 4), minor = u16(body.data() + 6);
    if (major != 1 || (minor != 0 && minor != 2))  // 1.2 was written by some and means the same
      return fail(fmt::format("pcapng version {}.{} in {}; known is 1.0", major, minor, block_text()));
    ++sections_;
    first_interface_ = states_.size();
    options(body.subspan(16), fmt::format("section {}", sections_),
            [&](std::uint16_t code, std::span<const std::uint8_t> value) {
              std::string* const to = code == option::shb_hardware      ? &notes_.hardware
                                      : code == option::shb_os          ? &notes_.os
                                      : code == option::shb_application ? &notes_.application
                                                                        : nullptr;
              if (to && to->empty()) *to = text(value);
            });
  }

  // Link type, reserved, snap length; options.
  void take_interface(std::span<const std::uint8_t> body) {
    if (body.size() < 8) return fail(fmt::format("{} is too short for an interface description", block_text()));
    if (interfaces_.size() == most_interfaces)
      return fail(fmt::format("it describes more than {} interfaces", most_interfaces));
    Interface interface;
    interface.link_type = link_type_of_file(u16(body.data()));
    interface.snap_length = u32(body.data() + 4);
    std::uint8_t resolution = 6;
    options(body.subspan(8), fmt::format("interface {}", interfaces_.size()),
            [&](std::uint16_t code, std::span<const std::uint8_t> value) {
              if (code == option::if_name) interface.name = text(value);
              if (code == option::if_description) interface.description = text(value);
              if (code == option::if_os) interface.os = text(value);
              // The first byte tells the kind; 0 is text, other kinds are programs.
              if (code == option::if_filter && value.size() > 1 && value[0] == 0)
                interface.filter = text(value.subspan(1));
              if (code == option::if_tsresol && value.size() == 1) resolution = value[0];
              if (code == option::if_fcslen && value.size() == 1) interface.fcs_bytes = value[0];
              if (code == option::if_tsoffset && value.size() == 8)
                interface.offset_seconds = static_cast<std::int64_t>(load64(value.data(), big_endian_));
            });
    interface.units_per_second = TimeScale::rate(resolution);
    InterfaceState state;
    state.time = TimeScale(resolution, interface.offset_seconds);
    state.snap_length = interface.snap_length;
    state.link_type = interface.link_type;
    states_.push_back(state);
    interfaces_.push_back(std::move(interface));
  }

  // Interface id, time; options.
  void take_statistics(std::span<const std::uint8_t> body) {
    if (body.size() < 12) return skipped("statistics block too short for its own fields");
    const std::uint32_t id = u32(body.data());
    if (id >= states_.size() - first_interface_)
      return skipped("statistics block names an interface that is not described");
    std::optional<std::uint64_t> drops;
    options(body.subspan(12), fmt::format("statistics of interface {}", first_interface_ + id),
            [&](std::uint16_t code, std::span<const std::uint8_t> value) {
              if ((code == option::isb_ifdrop || code == option::isb_osdrop) && value.size() == 8)
                drops = add_saturated(drops.value_or(0), load64(value.data(), big_endian_));
            });
    if (drops) states_[first_interface_ + id].statistics_drops = drops;
  }

  template <class Callback>
  void options(std::span<const std::uint8_t> list, const std::string& where, Callback&& callback) {
    const bool whole = for_each_option(list, big_endian_, [&](std::uint16_t code, std::span<const std::uint8_t> value) {
      if (code == option::comment)
        comment(where, value);
      else
        callback(code, value);
    });
    if (!whole) skipped("option longer than its block");
  }

  void comment(const std::string& where, std::span<const std::uint8_t> value) {
    if (take_text(value.size() + where.size() + sizeof(Notes::Comment)))
      notes_.comments.push_back({where, text_of(value)});
    else
      skipped("comment beyond the space for comments");
  }

  std::string text(std::span<const std::uint8_t> value) {
    return take_text(value.size()) ? text_of(value) : std::string();
  }
  // Some writers count the terminating zero.
  static std::string text_of(std::span<const std::uint8_t> value) {
    const std::string_view all(reinterpret_cast<const char*>(value.data()), value.size());
    return std::string(all.substr(0, all.find('\0')));
  }
  bool take_text(std::size_t bytes) {
    if (text_bytes_ + bytes > most_text) return false;
    text_bytes_ += bytes;
    return true;
  }

  Window window_;
  std::string name_;
  bool big_endian_ = false;
  std::uint64_t packets_ = 0, sections_ = 0;
  std::size_t first_interface_ = 0;  // of this section
  std::vector<Interface> interfaces_;
  std::vector<InterfaceState> states_;
  Notes notes_;
  std::size_t text_bytes_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

bool is_pcapng(const Window& window) {
  return window.size() >= 4 && load32(window.data(), false) == block::section;  // reads the same both ways
}

Result<std::unique_ptr<Source>> read_pcapng(Window window, std::string name) {
  std::unique_ptr<PcapngSource> source = std::make_unique<PcapngSource>(std::move(window), std::move(name));
  if (const std::optional<Error> failed = source->open()) return *failed;
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace rdmascope::capture
