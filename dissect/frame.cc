#include "dissect/frame.h"

#include <charconv>
#include <cstring>
#include <initializer_list>

#include "dissect/erf.h"
#include "dissect/packet.h"

namespace rdmascope::dissect {
namespace {

bool number(unsigned n, std::uint64_t value, Value& out) {
  if (n > 0) return false;
  out.kind = Value::Kind::number;
  out.number = value;
  return true;
}

void append(Value& out, std::size_t& length, std::string_view text) {
  const std::size_t room = out.scratch.size() - length;
  const std::size_t count = text.size() < room ? text.size() : room;
  std::memcpy(out.scratch.data() + length, text.data(), count);
  length += count;
  out.kind = Value::Kind::text;
  out.text = {out.scratch.data(), length};
}

}  // namespace

std::string_view name(Problem problem) {
  constexpr std::string_view names[] = {"truncated",      "cut",      "bad_length", "bad_value",
                                        "unknown_opcode", "fragment", "too_deep"};
  return names[static_cast<std::size_t>(problem)];
}

std::uint64_t wire_length(const Packet& p) {
  const std::span<const Layer> layers = p.layers();
  const bool erf = layers.size() > 1 && layers[1].header == &header<Erf>;
  return erf ? View<Erf>(p.data(layers[1])).get<"wlen">() : p.frame.wire_bytes;
}

std::uint64_t captured_length(const Packet& p) {
  const std::span<const Layer> layers = p.layers();
  std::uint64_t record = 0;
  for (std::size_t i = 1; i < layers.size(); ++i) {
    if (layers[i].header != &header<Erf> && layers[i].header != &header<ErfEthernet>) break;
    record += layers[i].bytes;
  }
  return p.bytes.size() - record;
}

bool frame_number(const Packet& p, const Layer&, unsigned n, Value& out) { return number(n, p.frame.number, out); }
bool frame_time_epoch(const Packet& p, const Layer&, unsigned n, Value& out) {
  return p.frame.has_time && number(n, static_cast<std::uint64_t>(p.frame.time_ns), out);
}
bool frame_time_relative(const Packet& p, const Layer&, unsigned n, Value& out) {
  return p.frame.has_time && number(n, static_cast<std::uint64_t>(p.frame.time_relative_ns), out);
}
bool frame_time_delta(const Packet& p, const Layer&, unsigned n, Value& out) {
  return p.frame.has_time && number(n, static_cast<std::uint64_t>(p.frame.time_delta_ns), out);
}
bool frame_len(const Packet& p, const Layer&, unsigned n, Value& out) { return number(n, wire_length(p), out); }
bool frame_cap_len(const Packet& p, const Layer&, unsigned n, Value& out) { return number(n, captured_length(p), out); }
bool frame_interface_id(const Packet& p, const Layer&, unsigned n, Value& out) {
  return p.frame.interface_id && number(n, *p.frame.interface_id, out);
}
bool frame_link_type(const Packet& p, const Layer&, unsigned n, Value& out) {
  return p.frame.link_type && number(n, *p.frame.link_type, out);
}

// Value n is comment n: option 1 of the packet block. Options that do not fit end the list.
bool frame_comment(const Packet& p, const Layer&, unsigned n, Value& out) {
  std::span<const std::uint8_t> left = p.frame.options;
  const auto u16 = [&p](const std::uint8_t* b) {
    return p.frame.big_endian_options ? b[0] << 8 | b[1] : b[1] << 8 | b[0];
  };
  while (left.size() >= 4) {
    const int code = u16(left.data());
    const std::size_t length = static_cast<std::size_t>(u16(left.data() + 2));
    if (code == 0 || length > left.size() - 4) return false;
    if (code == 1 && n-- == 0) {
      out.kind = Value::Kind::text;
      out.text = {reinterpret_cast<const char*>(left.data() + 4), length};
      return true;
    }
    const std::size_t step = 4 + (length + 3) / 4 * 4;
    if (step > left.size()) return false;
    left = left.subspan(step);
  }
  return false;
}

bool frame_protocols(const Packet& p, const Layer&, unsigned n, Value& out) {
  if (n > 0) return false;
  std::size_t length = 0;
  for (const Layer& layer : p.layers()) {
    if (layer.header == &header<Frame> || layer.header == &header<Events> || layer.header->annotation) continue;
    if (length > 0) append(out, length, ":");
    append(out, length, layer.header->name);
  }
  return length > 0;
}

bool event_name(const Packet& p, const Layer&, unsigned n, Value& out) {
  if (n >= p.events().size()) return false;
  const Event& event = p.events()[n];
  std::size_t length = 0;
  append(out, length, event.where->name);
  append(out, length, ".");
  append(out, length, name(event.problem));
  return true;
}

bool event_byte(const Packet& p, const Layer&, unsigned n, Value& out) {
  if (n >= p.events().size()) return false;
  return number(0, p.events()[n].byte, out);
}

// One sentence a reader needs no code for.
bool event_text(const Packet& p, const Layer&, unsigned n, Value& out) {
  if (n >= p.events().size()) return false;
  const Event& e = p.events()[n];
  const auto digits = [](std::uint64_t value, char* buffer) {
    return std::string_view(buffer, static_cast<std::size_t>(std::to_chars(buffer, buffer + 20, value).ptr - buffer));
  };
  char a[20], b[20];
  const std::string_view expected = digits(e.expected, a), actual = digits(e.actual, b);
  std::size_t length = 0;
  const auto say = [&out, &length](std::initializer_list<std::string_view> parts) {
    for (std::string_view part : parts) append(out, length, part);
  };
  switch (e.problem) {
    case Problem::truncated:
      say({"needs ", expected, " bytes, ", actual, " are left"});
      break;
    case Problem::cut:
      say({"the capture kept ", actual, " of ", expected, " bytes"});
      break;
    case Problem::bad_length:
      say({"says ", actual, " bytes, there are ", expected});
      break;
    case Problem::bad_value:
      say({"is ", actual, ", must be ", expected});
      break;
    case Problem::unknown_opcode:
      say({"opcode ", actual, " is not defined"});
      break;
    case Problem::fragment:
      say({"a fragment; not decoded further"});
      break;
    case Problem::too_deep:
      say({"more layers than are decoded"});
      break;
  }
  return true;
}

}  // namespace rdmascope::dissect
