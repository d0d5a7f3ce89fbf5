// A dissected packet: a fixed array of layers over bytes that stay where they are, plus the events and CRC facts found
// on the way. No heap and no text; those are made when somebody asks (text.h, json.h, filter.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "dissect/field.h"

namespace rdmascope::dissect {

// What the capture says of the frame; the walker takes it as given.
struct FrameInfo {
  std::uint64_t number = 0;           // from 1
  std::int64_t time_ns = 0;           // since 1970-01-01 UTC
  std::int64_t time_relative_ns = 0;  // since the first frame
  std::int64_t time_delta_ns = 0;     // since the previous frame
  std::uint32_t wire_bytes = 0;       // on the wire, before snapping
  std::optional<std::uint32_t> interface_id;
  std::optional<std::uint16_t> link_type;  // LINKTYPE_ number
  std::optional<std::uint8_t> fcs_bytes;   // Ethernet FCS at the end, when the capture states it
  bool has_time = true;
  bool big_endian_options = false;
  std::span<const std::uint8_t> options;  // raw pcapng options (comments)
};

struct Layer {
  const Header* header;
  std::uint32_t at;     // first byte in the frame, or in the joined bytes, counted from `joined`
  std::uint32_t bytes;  // fixed part and whatever belongs to the layer after it (options)

  static constexpr std::uint32_t joined = 1u << 31;
  bool in_frame() const { return at < joined; }
};

// What does not fit. Bytes from outside never throw: they leave one of these.
enum class Problem : std::uint8_t {
  truncated,       // the bytes end inside this header
  cut,             // the capture kept less than the wire had (snap length)
  bad_length,      // two lengths contradict each other
  bad_value,       // a value that makes the rest unreadable
  unknown_opcode,  // not defined for its transport class
  fragment,        // an IP fragment; not decoded further
  too_deep,        // more layers than the packet holds
};
std::string_view name(Problem problem);

struct Event {
  Problem problem;
  const Header* where;
  std::uint32_t byte;      // where in the frame
  std::uint64_t expected;  // lengths in bytes, or the value; 0 and 0 when they would say nothing
  std::uint64_t actual;
};

// Numbers as in Wireshark's checksum fields.
enum class CrcStatus : std::uint8_t { bad, good, unverified, absent };
inline constexpr ValueName crc_statuses[] = {{0, "Bad"}, {1, "Good"}, {2, "Unverified"}, {3, "Not present"}};

// Which bytes the invariant CRC covers and how their header is masked (reference ib-wire.md 5.2).
enum class Envelope : std::uint8_t { none, ib_local, ib_global, roce_v1, roce_v2_ipv4, roce_v2_ipv6 };

struct Crc {
  CrcStatus status = CrcStatus::absent;
  bool pending = false;  // to be computed on first use
  Envelope envelope = Envelope::none;
  std::uint32_t from = 0;      // first covered byte: LRH, GRH or IP header
  std::uint32_t bth = 0;       // first byte of BTH
  std::uint32_t at = 0;        // first byte of the CRC; coverage ends before it
  std::uint32_t expected = 0;  // as a number read big-endian from the wire, like the field
  std::string_view reason;     // why unverified
};

struct Value {
  enum class Kind : std::uint8_t { number, bytes, text };
  Kind kind = Kind::number;
  std::uint64_t number = 0;             // times are two's complement nanoseconds
  std::span<const std::uint8_t> bytes;  // into the frame
  std::string_view text;                // static, into the frame, or into scratch
  std::array<char, 640> scratch;

  Value() {}
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
};

struct Annotations;

class Packet {
 public:
  static constexpr std::size_t max_layers = 48, max_events = 8;
  static constexpr std::size_t max_annotations = 6;  // layers beyond max_layers

  std::span<const std::uint8_t> bytes;
  FrameInfo frame;
  const Annotations* annotations = nullptr;  // what other packets say about it (annotations.h)
  std::span<const std::uint8_t> joined;      // a record of which an earlier packet holds the first bytes

  void reset(std::span<const std::uint8_t> frame_bytes) {
    bytes = frame_bytes;
    annotations = nullptr;
    joined = {};
    layer_count_ = event_count_ = annotation_count_ = 0;
    icrc_.status = vcrc_.status = CrcStatus::absent;
    icrc_.pending = vcrc_.pending = false;
    payload_bytes = pad_bytes = 0;
    bth_layer = -1;
  }

  std::span<const Layer> layers() const { return {layers_.data(), layer_count_}; }
  std::span<const Event> events() const { return {events_.data(), event_count_}; }

  // The first layer of that kind.
  const Layer* find(const Header& header) const {
    for (const Layer& layer : layers())
      if (layer.header == &header) return &layer;
    return nullptr;
  }
  template <class H>
  std::optional<View<H>> find() const {
    const Layer* layer = find(header<H>);
    if (!layer) return std::nullopt;
    return View<H>(data(*layer));
  }
  const std::uint8_t* data(const Layer& layer) const {
    return layer.in_frame() ? bytes.data() + layer.at : joined.data() + (layer.at - Layer::joined);
  }

  // False when the packet is full; the walker then stops with a too_deep event.
  bool add(const Header& header, std::uint32_t at, std::uint32_t length) {
    if (layer_count_ >= max_layers) return false;
    layers_[layer_count_++] = {&header, at, length};
    return true;
  }
  // Room for these is kept: a packet that is full can be annotated, too.
  void add_annotation(const Header& header, std::uint32_t at = 0, std::uint32_t length = 0) {
    if (annotation_count_ == max_annotations) return;
    layers_[layer_count_++] = {&header, at, length};
    ++annotation_count_;
  }
  void drop_annotations() {
    layer_count_ -= std::exchange(annotation_count_, 0);
    annotations = nullptr;
    joined = {};
  }
  // The last layer takes `more` bytes in (options).
  void extend_last(std::uint32_t more) { layers_[layer_count_ - 1].bytes += more; }
  void add(const Event& event) {
    if (event_count_ < max_events) events_[event_count_++] = event;
  }

  // The invariant and variant CRC with their verdicts; computed on the first call (crc.h).
  const Crc& icrc() const;
  const Crc& vcrc() const;
  void set_icrc(const Crc& crc) { icrc_ = crc; }
  void set_vcrc(const Crc& crc) { vcrc_ = crc; }

  // InfiniBand transport, when bth_layer >= 0: payload without pad, as the headers and opcode say.
  int bth_layer = -1;
  std::uint32_t payload_bytes = 0, pad_bytes = 0;

 private:
  std::array<Layer, max_layers + max_annotations> layers_;
  std::array<Event, max_events> events_;
  std::size_t layer_count_ = 0, event_count_ = 0, annotation_count_ = 0;
  mutable Crc icrc_, vcrc_;
};

// Reads value number `n` of a field. Rows with bits have one value, arrays and generated rows may have several. False
// when there is none: the condition does not hold, the rest is empty, n is too large. Numbers come out scaled.
inline bool read(const Packet& packet, const Layer& layer, const Field& f, unsigned n, Value& out) {
  if (f.kind == Field::Kind::generated) return f.compute(packet, layer, n, out);
  const std::uint8_t* p = packet.data(layer);
  if (n >= f.count || (f.when && !f.when(p))) return false;
  const std::uint32_t at = f.at + n * f.stride;
  if (f.kind == Field::Kind::rest && f.width == 0) {
    if (layer.bytes <= at / 8) return false;
    out.kind = Value::Kind::bytes;
    out.bytes = {p + at / 8, layer.bytes - at / 8};
    return true;
  }
  if (layer.bytes * 8 < at + f.width) return false;  // a CRC the capture does not hold
  if (f.show == Show::text) {                        // up to the first zero
    const std::string_view all(reinterpret_cast<const char*>(p + at / 8), f.width / 8u);
    out.kind = Value::Kind::text;
    out.text = all.substr(0, all.find('\0'));
    return true;
  }
  if (f.show > Show::reserved) {
    out.kind = Value::Kind::bytes;
    out.bytes = {p + at / 8, f.width / 8u};
    return true;
  }
  out.kind = Value::Kind::number;
  out.number = load(p, f, n) * f.scale;
  return true;
}

}  // namespace rdmascope::dissect
