// A protocol header is one table of fields, in wire order. Everything that names, shows, filters, registers, checks or
// builds a field reads these rows; a field is described nowhere else.
//
// Bit 0 is the most significant bit of byte 0. Rows that carry bits tile the header: layout() computes their offsets
// while compiling and stops the build on a gap, a wrong total or a doubled name. Three kinds of row do not tile:
//   view       the same bits as the rows that follow it, seen as one number (AETH syndrome) or under a condition
//   rest       the bytes of the layer after its fixed part (options, payload)
//   generated  computed from the whole packet (CRC verdict, frame number); it has no bits of its own
//
// A row may be an array: 32 P_Keys of 16 bits, 16 nibbles. Rows of one array that follow each other make up its
// elements: 32 times 4 bits of VL, then 8 of weight.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace rdmascope::dissect {

class Packet;
struct Layer;
struct Header;
struct Value;

struct ValueName {
  std::uint64_t value;
  std::string_view name;
};

// How a field is shown. Sets its type in filters and JSON, too: dec, hex and reserved are numbers, flag is a truth
// value.
enum class Show : std::uint8_t {
  dec,
  hex,
  named,     // a number shown by its name ("Good"); filters take both
  flag,      // one bit
  reserved,  // hex; senders write 0
  mac,       // 6 bytes
  ipv4,      // 4 bytes
  ipv6,      // 16 bytes, also GIDs
  bytes,     // any number of bytes, as hex
  text,      // characters (generated rows, names inside a packet)
  time,      // generated: nanoseconds, shown as seconds
};

struct Field {
  enum class Kind : std::uint8_t { wire, view, rest, generated };
  using Condition = bool (*)(const std::uint8_t* header);
  // Writes value number `n` (0, 1, ...) of a generated field and says whether there is one.
  using Compute = bool (*)(const Packet&, const Layer&, unsigned n, Value&);

  std::string_view name;    // without the header's name: "psn" of infiniband.bth
  std::uint16_t width = 0;  // bits; 0: rest or generated
  Show show = Show::dec;
  std::string_view title;
  std::span<const ValueName> names{};

  Kind kind = Kind::wire;
  bool little_endian = false;        // whole bytes, least significant first (ERF time stamp)
  bool many = false;                 // may have several values; JSON shows an array
  std::uint8_t scale = 1;            // shown value = wire value * scale (ip.hdr_len counts 4-byte words, shows bytes)
  std::uint16_t at = 0;              // first bit; set by layout()
  std::uint16_t count = 1;           // values: those of an array
  std::uint16_t stride = 0;          // bits from one value of an array to the next
  std::uint8_t component_count = 1;  // as which it counts in a component mask (components.h)
  std::string_view alias{};  // second name, shared by several fields: "addr" of ip.src and ip.dst; see shared_name()
  std::string_view unit{};   // "bytes", "ms"; shown behind the number
  Condition when = nullptr;  // the field is there only if this holds
  Compute compute = nullptr;

  constexpr Field also(std::string_view shared_name) const {
    Field f = *this;
    f.alias = shared_name;
    return f;
  }
  constexpr Field times(std::uint8_t factor) const {
    Field f = *this;
    f.scale = factor;
    return f;
  }
  constexpr Field in(std::string_view unit_name) const {
    Field f = *this;
    f.unit = unit_name;
    return f;
  }
  constexpr Field only_if(Condition condition) const {
    Field f = *this;
    f.when = condition;
    return f;
  }
  constexpr Field repeated() const {
    Field f = *this;
    f.many = true;
    return f;
  }
  // `values` of these, one each `every` bits; 0: one behind the other.
  constexpr Field array(std::uint16_t values, std::uint16_t every = 0) const {
    Field f = *this;
    f.many = true;
    f.count = values;
    f.stride = every > 0 ? every : width;
    return f;
  }
  constexpr Field components(std::uint8_t number) const {
    Field f = *this;
    f.component_count = number;
    return f;
  }
  constexpr Field little() const {
    Field f = *this;
    f.little_endian = true;
    return f;
  }

  constexpr bool is_number() const {
    return kind == Kind::generated ? show <= Show::reserved || show == Show::time
                                   : kind != Kind::rest && width > 0 && width <= 64 && show <= Show::reserved;
  }
  constexpr std::uint64_t mask() const { return width >= 64 ? ~0ULL : (1ULL << width) - 1; }
};

constexpr Field view(std::string_view name, std::uint16_t width, Show show, std::string_view title,
                     std::span<const ValueName> names = {}) {
  Field f{name, width, show, title, names};
  f.kind = Field::Kind::view;
  return f;
}

constexpr Field rest(std::string_view name, Show show, std::string_view title) {
  Field f{name, 0, show, title};
  f.kind = Field::Kind::rest;
  return f;
}

// The rest is whole values of `width` bits each, as many as there are.
constexpr Field rest_array(std::string_view name, std::uint16_t width, Show show, std::string_view title) {
  Field f = rest(name, show, title);
  f.width = width;
  return f.array(UINT16_MAX);
}

constexpr Field generated(std::string_view name, Show show, std::string_view title, Field::Compute compute,
                          std::span<const ValueName> names = {}) {
  Field f{name, 0, show, title, names};
  f.kind = Field::Kind::generated;
  f.compute = compute;
  return f;
}

// Computes the offsets. Fails to compile when the widths do not add up to `bytes`, a name is doubled, a number is wider
// than 64 bits or spans more than 8 bytes, an address does not start on a byte, or rows do not fill the elements of
// their array.
template <std::size_t N>
consteval std::array<Field, N> layout(std::size_t bytes, const Field (&rows)[N]) {
  std::array<Field, N> out{};
  std::size_t bit = 0;       // of the next row
  std::size_t in_array = 0;  // bits of the array's element that rows have taken; 0: outside of one
  const Field* array = nullptr;
  for (std::size_t i = 0; i < N; ++i) {
    Field f = rows[i];
    for (std::size_t k = 0; k < i; ++k)
      if (rows[k].name == f.name) throw "two rows with one name";
    f.at = static_cast<std::uint16_t>(f.kind == Field::Kind::rest ? bytes * 8 : bit);
    if (f.kind == Field::Kind::wire || f.kind == Field::Kind::view) {
      if (f.width == 0) throw "a row without width";
      if (in_array > 0 && (f.count != array->count || f.stride != array->stride)) throw "an element that is not full";
      if (f.stride > 0 && in_array + f.width > f.stride) throw "an element with too many bits";
      if (bit + f.width > bytes * 8) throw "rows are wider than the header";
      const bool whole_bytes = bit % 8 == 0 && f.width % 8 == 0 && f.stride % 8 == 0;
      if ((f.show > Show::reserved || f.little_endian) && !whole_bytes) throw "this row needs whole bytes";
      if (f.show <= Show::reserved && f.width > 64) throw "number wider than 64 bits";
      for (std::size_t n = 0; n < f.count && f.show <= Show::reserved; ++n)
        if ((bit + n * f.stride) % 8 + f.width > 64) throw "number spans more than 8 bytes";
      if (f.show == Show::flag && f.width != 1) throw "a flag is one bit";
    }
    if (f.kind == Field::Kind::wire) {
      bit += f.width;
      if (f.stride > 0) {
        in_array += f.width;
        array = &rows[i];
        if (in_array == f.stride) {
          bit += f.stride * (f.count - 1u);
          in_array = 0;
        }
      }
    }
    out[i] = f;
  }
  if (in_array > 0) throw "an element that is not full";
  if (bit != bytes * 8) throw "rows do not fill the header";
  return out;
}

// What the layouts of long tables are put together from: lists of rows, one after the other.
template <std::size_t N>
struct Rows {
  Field row[N];
};
template <std::size_t... N>
consteval auto layout_of(std::size_t bytes, const Field (&... parts)[N]) {
  Rows<(N + ...)> all{};
  Field* to = all.row;
  ((to = std::copy_n(parts, N, to)), ...);
  return layout(bytes, all.row);
}

// The number in the field's bits, before scaling: value `n` of an array. `header` must hold the header's fixed part.
constexpr std::uint64_t load(const std::uint8_t* header, const Field& f, unsigned n = 0) {
  const unsigned at = f.at + n * f.stride;
  const std::uint8_t* p = header + at / 8;
  const unsigned offset = at % 8;
  const unsigned count = (offset + f.width + 7) / 8;
  std::uint64_t v = 0;
  if (f.little_endian)
    for (unsigned i = count; i-- > 0;) v = v << 8 | p[i];
  else
    for (unsigned i = 0; i < count; ++i) v = v << 8 | p[i];
  return (v >> (count * 8 - offset - f.width)) & f.mask();
}

// Writes the field's bits and leaves all others. The inverse of load().
constexpr void store(std::uint8_t* header, const Field& f, std::uint64_t value, unsigned n = 0) {
  const unsigned at = f.at + n * f.stride;
  std::uint8_t* p = header + at / 8;
  const unsigned offset = at % 8;
  const unsigned count = (offset + f.width + 7) / 8;
  const unsigned shift = count * 8 - offset - f.width;
  const std::uint64_t mask = f.mask() << shift;
  value = (value << shift) & mask;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned down = f.little_endian ? i * 8 : (count - 1 - i) * 8;
    p[i] = static_cast<std::uint8_t>((p[i] & ~(mask >> down)) | (value >> down & 0xff));
  }
}

// The name of a value, or an empty view.
constexpr std::string_view name_of(std::span<const ValueName> names, std::uint64_t value) {
  if (value < names.size() && names[value].value == value) return names[value].name;  // dense tables
  for (const ValueName& n : names)
    if (n.value == value) return n.name;
  return {};
}

// What the run-time world knows of a header type.
struct Header {
  std::string_view name;      // "infiniband.bth"
  std::string_view title;     // "Base transport header"
  std::string_view protocol;  // for the Protocol column when this is the last layer that says so; may be empty
  std::uint16_t bytes;        // fixed part
  std::span<const Field> fields;
  bool annotation;          // known only when the connections were followed (annotations.h)
  std::string_view shared;  // its fields are also known under this name; may be empty
};

template <class H>
constexpr std::string_view protocol_of() {
  if constexpr (requires { H::protocol; })
    return H::protocol;
  else
    return {};
}

template <class H>
constexpr bool annotation_of() {
  if constexpr (requires { H::annotation; })
    return H::annotation;
  else
    return false;
}

template <class H>
constexpr std::string_view shared_of() {
  if constexpr (requires { H::shared; })
    return H::shared;
  else
    return {};
}

template <class H>
inline constexpr Header header{H::name,   H::title,           protocol_of<H>(), H::bytes,
                               H::fields, annotation_of<H>(), shared_of<H>()};

// A string as a template argument: field<Bth, "psn">().
template <std::size_t N>
struct Name {
  char text[N];
  consteval Name(const char (&s)[N]) { std::copy_n(s, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

template <class H, Name name>
consteval Field field() {
  for (const Field& f : H::fields)
    if (f.name == name.view()) return f;
  throw "no such field";
}

// Writes a field by name, resolved while compiling: a number (value `n` of an array), or as many bytes as the field
// has.
template <class H, Name name>
constexpr void put(std::uint8_t* header, std::uint64_t value, unsigned n = 0) {
  constexpr Field f = field<H, name>();
  store(header, f, value, n);
}
template <class H, Name name>
void put(std::uint8_t* header, std::span<const std::uint8_t> bytes) {
  constexpr Field f = field<H, name>();
  static_assert(f.at % 8 == 0 && f.width % 8 == 0);
  std::memcpy(header + f.at / 8, bytes.data(), f.width / 8);
}

// A header in a packet whose fixed part is known to be there: reads by name, resolved while compiling.
template <class H>
class View {
 public:
  explicit View(const std::uint8_t* bytes) : bytes_(bytes) {}

  template <Name name>
  std::uint64_t get(unsigned n = 0) const {  // value `n` of an array
    constexpr Field f = field<H, name>();
    static_assert(f.width > 0 && f.width <= 64, "not a number");
    return load(bytes_, f, n);
  }

  const std::uint8_t* bytes() const { return bytes_; }

 private:
  const std::uint8_t* bytes_;
};

}  // namespace rdmascope::dissect
