// Runs compiled filters. The usual test (a number field against constants) allocates nothing and makes no text.
#include <re2/re2.h>

#include <bit>
#include <cstring>

#include "dissect/filter.h"
#include "dissect/filter_program.h"
#include "dissect/text.h"

namespace rdmascope::dissect {
namespace filter {
namespace {

// One value of an operand: `number` for numeric types, `bytes` for the others.
struct Item {
  std::uint64_t number = 0;
  std::string_view bytes;
};

// Refers to a callable that takes an Item and says whether to stop.
class Visit {
 public:
  template <class F>
  Visit(const F& f) : object_(&f), call_([](const void* o, const Item& i) { return (*static_cast<const F*>(o))(i); }) {}
  bool operator()(const Item& item) const { return call_(object_, item); }

 private:
  const void* object_;
  bool (*call_)(const void*, const Item&);
};

std::string_view characters(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t load_big_endian(const std::uint8_t* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap64(v);
  return v;
}

bool load_direct(const Source& s, const Packet& packet, const Layer& layer, std::uint64_t& out) {
  if (layer.bytes < s.needed) return false;
  const std::uint8_t* p = packet.data(layer);
  if (s.field->when && !s.field->when(p)) return false;
  const std::size_t at = layer.at + s.byte;  // joined bytes are beyond any frame
  const std::uint64_t v = at + 8 <= packet.bytes.size() ? load_big_endian(p + s.byte) >> s.shift & s.mask
                                                        : load(p, *s.field);  // near the end of the frame
  out = v * s.scale;
  return true;
}

bool cut(std::string_view value, const Slice& slice, std::string_view& out) {
  const std::int64_t size = static_cast<std::int64_t>(value.size());
  const std::int64_t from = slice.from < 0 ? size + slice.from : slice.from;
  std::int64_t end = size;
  if (slice.kind == Slice::End::count) end = from + slice.to;
  if (slice.kind == Slice::End::last) end = (slice.to < 0 ? size + slice.to : slice.to) + 1;
  if (from < 0 || from >= end || end > size) return false;
  out = value.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(end - from));
  return true;
}

// Slices and masks a value, then hands it on.
bool pass(const Operand& o, Item item, Visit visit) {
  std::string buffer;
  if (o.slices.size() == 1) {
    if (!cut(item.bytes, o.slices[0], item.bytes)) return false;
  } else if (o.slices.size() > 1) {
    for (const Slice& slice : o.slices) {
      std::string_view part;
      if (!cut(item.bytes, slice, part)) return false;
      buffer += part;
    }
    item.bytes = buffer;
  }
  if (!o.masked) return visit(item);
  if (is_numeric(o.type)) {
    item.number &= o.mask;
    return visit(item);
  }
  if (item.bytes.size() != o.byte_mask.size()) return false;
  std::string result(item.bytes);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<char>(result[i] & o.byte_mask[i]);
  item.bytes = result;
  return visit(item);
}

bool each_of_layer(const Operand& o, const Source& s, const Packet& packet, const Layer& layer, Visit visit) {
  Item item;
  if (!s.field) {
    item.bytes = characters(std::span(packet.data(layer), layer.bytes));
    return pass(o, item, visit);
  }
  if (s.direct && is_numeric(o.type)) return load_direct(s, packet, layer, item.number) && pass(o, item, visit);
  Value value;
  for (unsigned n = 0; read(packet, layer, *s.field, n, value); ++n) {
    if (value.kind == Value::Kind::number) item.number = o.type == Type::time ? value.number ^ time_turn : value.number;
    if (value.kind == Value::Kind::text) item.bytes = value.text;
    if (value.kind == Value::Kind::bytes) {
      item.bytes = characters(value.bytes);
    }
    if (pass(o, item, visit)) return true;
  }
  return false;
}

bool in_span(const Operand& o, const Layer& layer) {
  return layer.header->name.starts_with(o.prefix) && !layer.header->annotation;
}

void put_shown(Text& text, Type type, const Item& item) {
  const std::uint8_t* bytes = reinterpret_cast<const std::uint8_t*>(item.bytes.data());
  switch (type) {
    case Type::number:
      text.dec(item.number);
      break;
    case Type::flag:
      text.put(item.number ? "True" : "False");
      break;
    case Type::time:
      text.seconds(static_cast<std::int64_t>(item.number ^ time_turn));
      break;
    case Type::mac:
      text.mac(bytes);
      break;
    case Type::ipv4:
      text.ipv4(bytes);
      break;
    case Type::ipv6:
      text.ipv6(bytes);
      break;
    case Type::bytes:
      text.hex_bytes({bytes, item.bytes.size()});
      break;
    case Type::text:
      text.put(item.bytes);
      break;
  }
}

// Calls `visit` with every value until it says stop; true: it did.
bool each(const Operand& o, const Packet& packet, Visit visit) {
  switch (o.kind) {
    case Operand::Kind::fields:
      for (const Source& s : o.sources) {
        std::uint64_t occurrence = 1;
        for (const Layer& layer : packet.layers()) {
          if (layer.header != s.header) continue;
          const bool wanted = (o.layers & occurrence) != 0;
          occurrence <<= 1;
          if (wanted && each_of_layer(o, s, packet, layer, visit)) return true;
        }
      }
      return false;
    case Operand::Kind::span: {
      std::size_t from = packet.bytes.size(), end = 0;
      for (const Layer& layer : packet.layers()) {
        if (!in_span(o, layer) || !layer.in_frame()) continue;
        from = std::min<std::size_t>(from, layer.at);
        end = std::max<std::size_t>(end, layer.at + layer.bytes);
      }
      return from < end && pass(o, {0, characters(packet.bytes.subspan(from, end - from))}, visit);
    }
    case Operand::Kind::len:
      return each(o.arguments[0], packet, [&](const Item& item) { return pass(o, {item.bytes.size(), {}}, visit); });
    case Operand::Kind::count: {
      std::uint64_t count = 0;
      each(o.arguments[0], packet, [&](const Item&) { return ++count, false; });
      return count > 0 && pass(o, {count, {}}, visit);
    }
    case Operand::Kind::lower:
    case Operand::Kind::upper:
      return each(o.arguments[0], packet, [&](const Item& item) {
        std::string changed(item.bytes);
        for (char& c : changed) {
          if (o.kind == Operand::Kind::lower && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
          if (o.kind == Operand::Kind::upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        }
        return visit({0, changed});
      });
    case Operand::Kind::string:
      return each(o.arguments[0], packet, [&](const Item& item) {
        Text text;
        put_shown(text, o.arguments[0].type, item);
        return visit({0, text.view()});
      });
    case Operand::Kind::max:
    case Operand::Kind::min: {
      bool seen = false;
      Item best;
      for (const Operand& argument : o.arguments)
        each(argument, packet, [&](const Item& item) {
          const bool larger = is_numeric(o.type) ? item.number > best.number : item.bytes > best.bytes;
          if (!seen || larger == (o.kind == Operand::Kind::max)) best = item;  // bytes stay: addresses, in the frame
          seen = true;
          return false;
        });
      return seen && pass(o, best, visit);
    }
  }
  return false;
}

bool holds(const Test& t, std::string_view v) {
  for (const BytesRange& r : t.bytes)
    if (!before(t.by_length(), v, r.low) && (r.endless || !before(t.by_length(), r.high, v))) return true;
  return false;
}

bool relates(const Test& t, const Item& a, const Item& b) {
  if (t.relation == Relation::contains) return a.bytes.find(b.bytes) != std::string_view::npos;
  const bool numeric = is_numeric(t.left.type);
  const bool less = numeric ? a.number < b.number : before(t.by_length(), a.bytes, b.bytes);
  const bool equal = numeric ? a.number == b.number : a.bytes == b.bytes;
  switch (t.relation) {
    case Relation::equal:
      return equal;
    case Relation::greater:
      return !less && !equal;
    case Relation::less:
      return less;
    case Relation::greater_equal:
      return !less;
    case Relation::less_equal:
      return less || equal;
    case Relation::contains:
      break;
  }
  return false;
}

// Any value fits, or all do and there is one.
template <class Fits>
bool quantified(const Test& t, const Packet& packet, Fits fits) {
  bool seen = false;
  const bool stopped = each(t.left, packet, [&](const Item& item) { return seen = true, fits(item) != t.all; });
  return t.all ? seen && !stopped : stopped;
}

bool exists(const Operand& o, const Packet& packet) {
  if (o.kind == Operand::Kind::span && o.slices.empty()) {
    for (const Layer& layer : packet.layers())
      if (in_span(o, layer)) return true;
    return false;
  }
  return each(o, packet, [](const Item&) { return true; });
}

// The same as quantified() for fields that are loaded directly.
bool plain_numbers(const Test& t, const Packet& packet) {
  bool seen = false;
  for (const Source& s : t.left.sources)
    for (const Layer& layer : packet.layers()) {
      std::uint64_t v;
      if (layer.header != s.header || !load_direct(s, packet, layer, v)) continue;
      const bool fits = t.numbers.holds(v & t.left.mask) != t.invert;
      if (fits != t.all) return fits;
      seen = true;
    }
  return t.all && seen;
}

bool run_test(const Test& t, const Packet& packet) {
  switch (t.kind) {
    case Test::Kind::exists:
      return exists(t.left, packet);
    case Test::Kind::numbers:
      if (t.plain) return plain_numbers(t, packet);
      return quantified(t, packet, [&](const Item& item) { return t.numbers.holds(item.number) != t.invert; });
    case Test::Kind::bytes:
      return quantified(t, packet, [&](const Item& item) { return holds(t, item.bytes) != t.invert; });
    case Test::Kind::contains:
      return quantified(t, packet,
                        [&](const Item& item) { return item.bytes.find(t.needle) != std::string_view::npos; });
    case Test::Kind::matches:
      return quantified(t, packet, [&](const Item& item) {
        return t.regex->Match({item.bytes.data(), item.bytes.size()}, 0, item.bytes.size(), RE2::UNANCHORED, nullptr,
                              0);
      });
    case Test::Kind::pair: {
      bool seen = false, stopped = false;
      each(t.left, packet, [&](const Item& a) {
        return stopped = each(t.right, packet,
                              [&](const Item& b) { return seen = true, (relates(t, a, b) != t.invert) != t.all; });
      });
      return t.all ? seen && !stopped : stopped;
    }
  }
  return false;
}

}  // namespace
}  // namespace filter

bool Filter::uses_annotations() const { return program_ && program_->uses_annotations; }

bool Filter::run(const filter::Program& program, const Packet& packet) {
  std::int32_t at = program.entry;
  while (at >= 0) {
    const filter::Step& step = program.steps[static_cast<std::size_t>(at)];
    at = step.next[filter::run_test(program.tests[step.test], packet)];
  }
  return at == filter::accept;
}

}  // namespace rdmascope::dissect
