#include "dissect/filter_literal.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "dissect/field_index.h"

namespace rdmascope::dissect::filter {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

// Typing errors between two names, case aside.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t substitute = diagonal + (lower(a[i - 1]) != lower(b[k - 1]));
      diagonal = row[k];
      row[k] = std::min({substitute, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row[b.size()];
}

// The name that begins like `text`, else the one fewest typing errors away, else nothing.
std::string_view nearest_name(std::span<const ValueName> names, std::string_view text) {
  if (text.empty() || text.size() > 100) return {};
  for (const ValueName& n : names)
    if (equal_in_any_case(n.name.substr(0, text.size()), text)) return n.name;
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, text.size() / 2) + 1;
  for (const ValueName& n : names) {
    const std::size_t d = distance(text, n.name);
    if (!n.name.empty() && d < best_distance) best_distance = d, best = n.name;
  }
  return best;
}

// 17, 0x11, 021, 0b10001. Nothing when it is no number; the second member: it has more than 64 bits.
std::optional<std::pair<std::uint64_t, bool>> parse_number(std::string_view word) {
  int base = 10;
  if (word.size() > 1 && word[0] == '0') {
    const char mark = lower(word[1]);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    word.remove_prefix(base == 8 ? 1 : 2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (word.empty() || end != word.data() + word.size()) return std::nullopt;
  return std::pair{value, error == std::errc::result_out_of_range};
}

// Seconds with up to nine decimals.
std::optional<std::int64_t> parse_seconds(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  const std::size_t dot = std::min(word.find('.'), word.size());
  std::string_view decimals = word.substr(std::min(dot + 1, word.size()));
  const auto all_digits = [](std::string_view s) { return std::all_of(s.begin(), s.end(), is_digit); };
  if (dot == 0 || dot > 10 || !all_digits(word.substr(0, dot)) || !all_digits(decimals)) return std::nullopt;
  std::int64_t seconds = 0, nanoseconds = 0;
  std::from_chars(word.data(), word.data() + dot, seconds);
  for (std::size_t i = 0; i < 9; ++i) nanoseconds = nanoseconds * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
  if (seconds > 9223372035) return std::nullopt;
  const std::int64_t result = seconds * 1000000000 + nanoseconds;
  return negative ? -result : result;
}

// 7a, aa:bb:cc, aa-bb-cc, aa.bb.cc, aabb.ccdd, aabbcc, 0xff.
std::optional<std::string> parse_bytes(std::string_view word) {
  if (word.size() > 2 && word[0] == '0' && lower(word[1]) == 'x') {
    word.remove_prefix(2);
    if (word.size() > 2) return std::nullopt;  // would need a byte order
  }
  const std::size_t first_mark = word.find_first_of(":.-");
  const char mark = first_mark == std::string_view::npos ? '\0' : word[first_mark];
  std::string out;
  while (true) {
    const std::size_t size = mark ? std::min(word.find(mark), word.size()) : word.size();
    const std::string_view group = word.substr(0, size);
    for (char c : group)
      if (hex_value(c) < 0) return std::nullopt;
    if (group.empty() || (group.size() > 1 && group.size() % 2 != 0)) return std::nullopt;
    if (mark && group.size() > 4) return std::nullopt;
    if (group.size() == 1) out += static_cast<char>(hex_value(group[0]));
    for (std::size_t i = 0; i + 1 < group.size(); i += 2)
      out += static_cast<char>(hex_value(group[i]) << 4 | hex_value(group[i + 1]));
    if (size == word.size()) return out;
    word.remove_prefix(size + 1);
  }
}

// An address and the number of bits that count.
struct Address {
  std::string bytes;
  std::size_t bits;
};

std::optional<Address> parse_address(std::string_view word, Type type) {
  const int family = type == Type::ipv4 ? AF_INET : AF_INET6;
  const std::size_t size = type == Type::ipv4 ? 4 : 16;
  const std::size_t slash = std::min(word.find('/'), word.size());
  char buffer[64] = {};
  unsigned char bytes[16];
  if (slash >= sizeof buffer) return std::nullopt;
  std::memcpy(buffer, word.data(), slash);
  if (inet_pton(family, buffer, bytes) != 1) return std::nullopt;
  Address out{{reinterpret_cast<const char*>(bytes), size}, size * 8};
  if (slash < word.size()) {
    const std::string_view prefix = word.substr(slash + 1);
    const auto [end, error] = std::from_chars(prefix.data(), prefix.data() + prefix.size(), out.bits);
    if (prefix.empty() || error != std::errc() || end != prefix.data() + prefix.size() || out.bits > size * 8)
      return std::nullopt;
  }
  return out;
}

BytesRange range_of(const Address& address) {
  BytesRange r{address.bytes, address.bytes};
  for (std::size_t bit = address.bits; bit < address.bytes.size() * 8; ++bit) {
    const char in_byte = static_cast<char>(0x80 >> bit % 8);
    r.low[bit / 8] = static_cast<char>(r.low[bit / 8] & ~in_byte);
    r.high[bit / 8] = static_cast<char>(r.high[bit / 8] | in_byte);
  }
  return r;
}

void put_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  }
}

// A word that was meant to be a field: "infiniband.bth.pns".
bool looks_like_field(std::string_view word) {
  return !word.empty() && is_letter(word[0]) && word.find('.') != std::string_view::npos &&
         word.find_first_of(":/") == std::string_view::npos;
}

[[noreturn]] void fail(const Literal& literal, const std::string& message) { throw Failure(message, literal.at); }

[[noreturn]] void fail_type(const Literal& literal, const Operand& operand, std::string_view example) {
  if (literal.form == Literal::Form::word && looks_like_field(literal.text)) fail(literal, no_field(literal.text));
  if (literal.form != Literal::Form::word)
    fail(literal,
         fmt::format("{} is {}{}, what stands in quotes is text", operand.name, describe(operand.type), example));
  fail(literal,
       fmt::format("{} is {}{}, {} is not", operand.name, describe(operand.type), example, quoted(literal.text)));
}

std::vector<NumberRange> values_named(const Operand& operand, std::string_view text) {
  std::vector<NumberRange> out;
  for (const ValueName& n : operand.names)
    if (equal_in_any_case(n.name, text)) out.push_back({n.value, n.value});
  return out;
}

std::uint64_t number_or_fail(const Literal& literal, const Operand& operand) {
  if (literal.form == Literal::Form::character) return static_cast<unsigned char>(unquote(literal)[0]);
  if (literal.form != Literal::Form::word) fail_type(literal, operand, "");
  const auto number = parse_number(literal.text);
  if (!number) {
    if (literal.text.starts_with('-') && parse_number(literal.text.substr(1)))
      fail(literal, fmt::format("{} is never negative", operand.name));
    fail_type(literal, operand, "");
  }
  if (number->second || (number->first > operand.limit && operand.type != Type::flag))
    fail(literal, fmt::format("{} is too large for {}: its largest value is {}", quoted(literal.text), operand.name,
                              operand.limit));
  return number->first;
}

std::vector<NumberRange> parse_numbers(const Literal& literal, const Operand& operand) {
  const bool quotes = literal.form == Literal::Form::string || literal.form == Literal::Form::raw_string;
  const std::string text = quotes ? unquote(literal) : std::string(literal.text);
  if (operand.type == Type::time) {
    const auto time = quotes ? std::nullopt : parse_seconds(text);
    if (!time) fail_type(literal, operand, " (as in 0.0015)");
    const std::uint64_t turned = static_cast<std::uint64_t>(*time) ^ time_turn;
    return {{turned, turned}};
  }
  if (operand.type == Type::flag && !quotes) {
    if (equal_in_any_case(text, "true")) return {{1, 1}};
    if (equal_in_any_case(text, "false")) return {{0, 0}};
  }
  const bool a_number = !quotes && (literal.form == Literal::Form::character || parse_number(text));
  if (!operand.names.empty() && !a_number) {
    std::vector<NumberRange> named = values_named(operand, text);
    if (!named.empty()) return named;
    if (!quotes && looks_like_field(text)) fail(literal, no_field(text));
    if (quotes || (!text.empty() && (is_letter(text[0]) || text[0] == '_'))) {
      const std::string_view near = nearest_name(operand.names, text);
      fail(literal, fmt::format("{} has no value named {}; {}", operand.name, quoted(text),
                                near.empty() ? fmt::format("its names are like {}", quoted(operand.names[0].name))
                                             : fmt::format("did you mean {}?", quoted(near))));
    }
  }
  const std::uint64_t number = number_or_fail(literal, operand);
  if (operand.type == Type::flag) return {{number != 0, number != 0}};
  return {{number, number}};
}

std::string bytes_or_fail(const Literal& literal, const Operand& operand) {
  switch (literal.form) {
    case Literal::Form::word:
      break;
    case Literal::Form::string:
    case Literal::Form::raw_string:
    case Literal::Form::character:
      return unquote(literal);
  }
  const auto bytes = parse_bytes(literal.text);
  if (bytes) return *bytes;
  if (literal.text.starts_with("0x") && parse_number(literal.text))
    fail(literal, fmt::format("{} has no byte order; write bytes as in 12:b7", quoted(literal.text)));
  fail_type(literal, operand, " (as in 12:b7 or \"text\")");
}

BytesRange parse_bytes_range(const Literal& literal, const Operand& operand) {
  const bool word = literal.form == Literal::Form::word;
  switch (operand.type) {
    case Type::mac: {
      const auto bytes = word ? parse_bytes(literal.text) : std::nullopt;
      if (!bytes || bytes->size() != 6) fail_type(literal, operand, " (as in 02:00:00:00:00:01)");
      return {*bytes, *bytes};
    }
    case Type::ipv4:
    case Type::ipv6: {
      const auto address = word ? parse_address(literal.text, operand.type) : std::nullopt;
      if (!address)
        fail_type(literal, operand,
                  operand.type == Type::ipv4 ? " (as in 10.0.0.1 or 10.0.0.0/8)" : " (as in fe80::1 or fe80::/10)");
      return range_of(*address);
    }
    case Type::text: {
      const std::string text = word ? std::string(literal.text) : unquote(literal);
      return {text, text};
    }
    default: {
      const std::string bytes = bytes_or_fail(literal, operand);
      return {bytes, bytes};
    }
  }
}

}  // namespace

std::string_view describe(Type type) {
  constexpr std::string_view words[] = {"a number",        "true or false",   "a time in seconds", "a MAC address",
                                        "an IPv4 address", "an IPv6 address", "a string of bytes", "a text"};
  return words[static_cast<std::size_t>(type)];
}

std::string quoted(std::string_view text) {
  constexpr std::size_t room = 60;
  std::string out = "\"";
  for (char c : text.substr(0, room)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (text.size() > room) {
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0x80)) out.pop_back();  // no half character
    out += "...";
  }
  return out + '"';
}

std::string no_field(std::string_view name) {
  const std::string near = nearest_field_name(name);
  return fmt::format("no field {}{}", quoted(name),
                     near.empty() ? "" : fmt::format("; did you mean {}?", quoted(near)));
}

bool names_value(const Operand& operand, std::string_view text) { return !values_named(operand, text).empty(); }

std::string unquote(const Literal& literal) {
  std::string_view s = literal.text;
  if (literal.form == Literal::Form::word) return std::string(s);
  const std::size_t opening = literal.form == Literal::Form::raw_string ? 2 : 1;
  s = s.substr(opening, s.size() - opening - 1);
  if (literal.form == Literal::Form::raw_string) return std::string(s);
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      out += s[i];
      continue;
    }
    const std::size_t escape = i++;
    const auto digits = [&](std::size_t max, int base) {
      std::uint32_t value = 0;
      std::size_t count = 0;
      for (; count < max && i < s.size() && hex_value(s[i]) >= 0 && hex_value(s[i]) < base; ++i, ++count)
        value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(hex_value(s[i]));
      --i;
      return std::pair{value, count};
    };
    const auto bad = [&](std::string_view why) { throw Failure(std::string(why), literal.at + opening + escape); };
    constexpr std::string_view letters = "abfnrtv'\"\\", meanings = "\a\b\f\n\r\t\v'\"\\";
    const std::size_t known = letters.find(s[i]);
    if (known != std::string_view::npos) {
      out += meanings[known];
    } else if (s[i] >= '0' && s[i] <= '7') {
      const auto [value, count] = digits(3, 8);
      if (value > 255) bad("an octal escape ends at \\377");
      out += static_cast<char>(value);
    } else if (s[i] == 'x') {
      ++i;
      const auto [value, count] = digits(2, 16);
      if (count == 0) bad("\\x needs one or two hex digits");
      out += static_cast<char>(value);
    } else if (s[i] == 'u' || s[i] == 'U') {
      const std::size_t wanted = s[i] == 'u' ? 4 : 8;
      ++i;
      const auto [value, count] = digits(wanted, 16);
      if (count != wanted) bad(wanted == 4 ? "\\u needs four hex digits" : "\\U needs eight hex digits");
      if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) bad("there is no such Unicode character");
      put_utf8(out, value);
    } else {
      bad(fmt::format("{} is not an escape; double the backslash or write r\"...\"", quoted(s.substr(escape, 2))));
    }
  }
  if (literal.form == Literal::Form::character && out.size() != 1)
    throw Failure("single quotes hold one character; use double quotes for text", literal.at);
  return out;
}

Constant parse_constant(const Literal& literal, const Operand& operand) {
  Constant out;
  if (is_numeric(operand.type))
    out.numbers = parse_numbers(literal, operand);
  else
    out.bytes = {parse_bytes_range(literal, operand)};
  return out;
}

std::uint64_t parse_mask(const Literal& literal, const Operand& operand) { return number_or_fail(literal, operand); }

std::string parse_byte_mask(const Literal& literal, const Operand& operand) {
  BytesRange range = parse_bytes_range(literal, operand);
  if (range.low != range.high) fail(literal, "a mask is not a prefix");
  return range.low;
}

}  // namespace rdmascope::dissect::filter
