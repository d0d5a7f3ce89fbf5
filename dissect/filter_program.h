// What a filter is compiled to (filter_compile.cc) and what runs (filter_run.cc).
//
// A program is a list of tests; each knows where to go on when it is true and when it is false. And, or, xor and not
// are nothing but these jumps, so running is one loop that stops as soon as the answer is known.
//
// Every comparison with constants becomes a set of ranges: == 5 is [5,5], < 5 is outside [5,...], a prefix or the
// values of one name are ranges, too. What is compared are 64-bit numbers wherever the field allows it (also MAC and
// IPv4 addresses), otherwise byte strings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/field.h"
#include "dissect/packet.h"

namespace re2 {
class RE2;
}

namespace rdmascope::dissect::filter {

enum class Type : std::uint8_t { number, flag, time, mac, ipv4, ipv6, bytes, text };

constexpr bool is_numeric(Type t) { return t <= Type::time; }

// Times are signed; turned by this they compare like unsigned numbers.
inline constexpr std::uint64_t time_turn = 1ULL << 63;

// A field, or a header, with what loading a number needs.
struct Source {
  const Header* header = nullptr;
  const Field* field = nullptr;  // nullptr: the bytes of the header
  bool direct = false;           // a number in the header: one load, one shift, one mask
  std::uint8_t shift = 0;        // from a big-endian 64-bit load at `byte`
  std::uint8_t scale = 1;
  std::uint16_t byte = 0, needed = 0;  // the layer must have `needed` bytes
  std::uint64_t mask = 0;
};

// field[from:count], field[from-last], field[from:]; negative positions count from the end.
struct Slice {
  enum class End : std::uint8_t { count, last, end } kind = End::end;
  std::int32_t from = 0, to = 0;
};

struct Operand {
  enum class Kind : std::uint8_t { fields, span, len, count, lower, upper, string, max, min };

  Kind kind = Kind::fields;
  Type type = Type::number;
  bool masked = false;
  std::uint64_t mask = ~0ULL;      // numbers
  std::uint64_t layers = ~0ULL;    // bit n: take the layer that is number n of its header
  std::vector<Source> sources;     // fields
  std::string prefix;              // span: "infiniband.", the bytes from the first to the last of these headers
  std::vector<Operand> arguments;  // functions
  std::vector<Slice> slices;       // joined
  std::string byte_mask;           // of the same length as the value, or there is no value
  std::string name;                // as written, for messages
  std::uint64_t limit = ~0ULL;     // largest number
  std::span<const ValueName> names{};
};

struct NumberRange {
  std::uint64_t low = 0, high = ~0ULL;
};

// Order of byte strings: texts as in a dictionary; bytes by length first, as Wireshark has it.
inline bool before(bool by_length, std::string_view a, std::string_view b) {
  return by_length && a.size() != b.size() ? a.size() < b.size() : a < b;
}

struct BytesRange {
  std::string low, high;
  bool endless = false;  // no upper end
};

// Sorted ranges that do not touch; never empty. The first stands apart: most sets have one.
class NumberSet {
 public:
  NumberSet() = default;
  explicit NumberSet(std::vector<NumberRange> ranges);

  bool holds(std::uint64_t v) const { return v - low_ <= span_ || (!more_.empty() && find(v)); }

 private:
  bool find(std::uint64_t v) const {
    const auto after = std::upper_bound(more_.begin(), more_.end(), v,
                                        [](std::uint64_t x, const NumberRange& r) { return x < r.low; });
    return after != more_.begin() && v <= std::prev(after)->high;
  }

  std::uint64_t low_ = 0, span_ = 0;
  std::vector<NumberRange> more_;
};

enum class Relation : std::uint8_t { equal, greater, less, greater_equal, less_equal, contains };

struct Test {
  enum class Kind : std::uint8_t {
    exists,
    numbers,   // left in a set of numbers
    bytes,     // left in a set of byte strings
    contains,  // left contains needle
    matches,   // left matches regex
    pair,      // left and right
  };

  Kind kind = Kind::exists;
  bool all = false;     // all values must fit, otherwise any
  bool invert = false;  // fits when it is not so
  bool plain = false;   // left is nothing but number fields
  Relation relation = Relation::equal;
  NumberSet numbers;
  Operand left, right;

  bool by_length() const { return left.type == Type::bytes; }
  std::vector<BytesRange> bytes;
  std::string needle;
  std::shared_ptr<const re2::RE2> regex;
};

struct Step {
  std::uint32_t test;
  std::int32_t next[2];  // when false, when true
};

inline constexpr std::int32_t accept = -1, reject = -2;

struct Program {
  std::vector<Test> tests;
  std::vector<Step> steps;
  std::int32_t entry = accept;
  bool uses_annotations = false;
};

}  // namespace rdmascope::dissect::filter
