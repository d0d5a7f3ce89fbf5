#include "dissect/text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "dissect/opcodes.h"

namespace rdmascope::dissect {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

// Two digits for every byte: the inner loop of hex dumps and addresses.
constexpr auto byte_pairs = [] {
  std::array<char, 512> t{};
  for (unsigned i = 0; i < 256; ++i) {
    t[i * 2] = hex_digits[i >> 4];
    t[i * 2 + 1] = hex_digits[i & 15];
  }
  return t;
}();

// "00" to "99": decimal numbers are written two digits a step.
constexpr auto digit_pairs = [] {
  std::array<char, 200> t{};
  for (unsigned i = 0; i < 100; ++i) {
    t[i * 2] = static_cast<char>('0' + i / 10);
    t[i * 2 + 1] = static_cast<char>('0' + i % 10);
  }
  return t;
}();

// Decimal digits of a number: log10 of 2 is about 1233 / 4096, so the guess is right or one too small.
constexpr auto powers_of_10 = [] {
  std::array<std::uint64_t, 20> t{1};
  for (unsigned i = 1; i < 20; ++i) t[i] = t[i - 1] * 10;
  return t;
}();
std::size_t count_digits(std::uint64_t value) {
  const unsigned guess = static_cast<unsigned>(std::bit_width(value | 1)) * 1233 >> 12;
  return guess + ((value | 1) >= powers_of_10[guess]);
}

// Writes the last `count` digits of `value`.
void put_digits(char* to, std::uint64_t value, std::size_t count) {
  for (; count >= 4; count -= 4) {  // two pairs a step: half as many divisions wait for each other
    const unsigned four = static_cast<unsigned>(value % 10000);
    value /= 10000;
    std::memcpy(to + count - 4, &digit_pairs[four / 100 * 2], 2);
    std::memcpy(to + count - 2, &digit_pairs[four % 100 * 2], 2);
  }
  for (; count >= 2; count -= 2) {
    std::memcpy(to + count - 2, &digit_pairs[value % 100 * 2], 2);
    value /= 100;
  }
  if (count == 1) *to = static_cast<char>('0' + value % 10);
}

// "0." to "255.": the numbers of an IPv4 address.
struct Octet {
  char text[4];
  std::uint8_t length;  // with the dot
};
constexpr auto octets = [] {
  std::array<Octet, 256> t{};
  for (unsigned i = 0; i < 256; ++i) {
    Octet& o = t[i];
    if (i >= 100) o.text[o.length++] = static_cast<char>('0' + i / 100);
    if (i >= 10) o.text[o.length++] = static_cast<char>('0' + i / 10 % 10);
    o.text[o.length++] = static_cast<char>('0' + i % 10);
    o.text[o.length++] = '.';
  }
  return t;
}();

// Length of the UTF-8 sequence at s[at], or 0 when there is none.
std::size_t utf8_length(std::string_view s, std::size_t at) {
  const auto byte = [s](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = byte(at);
  const std::size_t length = c < 0x80                ? 1
                             : c >= 0xc2 && c < 0xe0 ? 2
                             : c >= 0xe0 && c < 0xf0 ? 3
                             : c >= 0xf0 && c < 0xf5 ? 4
                                                     : 0;
  if (length == 0 || at + length > s.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  if ((c == 0xe0 && byte(at + 1) < 0xa0) || (c == 0xed && byte(at + 1) > 0x9f) || (c == 0xf0 && byte(at + 1) < 0x90) ||
      (c == 0xf4 && byte(at + 1) > 0x8f))
    return 0;
  return length;
}

// Words stay upper case when they are names: RC, RDMA, CNP.
std::array<std::string, 256> make_titles() {
  constexpr std::string_view upper[] = {"RC", "UC", "RD", "UD", "XRC", "RDMA", "CNP"};
  std::array<std::string, 256> titles;
  for (unsigned code = 0; code < 256; ++code) {
    std::string& t = titles[code];
    if (opcodes[code].name.empty()) {
      t = code >= 0xc0 ? "Vendor opcode 0x" : "Unknown opcode 0x";
      t += hex_digits[code >> 4];
      t += hex_digits[code & 15];
      continue;
    }
    std::string_view left = opcodes[code].name;
    while (!left.empty()) {
      const std::size_t end = std::min(left.find('_'), left.size());
      const std::string_view word = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      if (!t.empty()) t += ' ';
      const bool keep = std::find(std::begin(upper), std::end(upper), word) != std::end(upper);
      for (std::size_t i = 0; i < word.size(); ++i)
        t += keep || i == 0 ? word[i] : static_cast<char>(word[i] - 'A' + 'a');
    }
  }
  return titles;
}

const std::array<std::string, 256> titles = make_titles();  // made before main(): no test for each packet

}  // namespace

void Text::grow(std::size_t count) {
  std::size_t capacity = capacity_ ? capacity_ * 2 : 4096;
  while (capacity - size_ < count) capacity *= 2;
  std::unique_ptr<char[]> larger(new char[capacity]);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

void Text::dec(std::uint64_t value) {
  const std::size_t count = count_digits(value);
  put_digits(room(count), value, count);
  size_ += count;
}

void Text::dec(std::uint64_t value, std::size_t min_digits) {
  const std::size_t count = std::max(count_digits(value), min_digits);
  put_digits(room(count), value, count);
  size_ += count;
}

void Text::dec_right(std::uint64_t value, std::size_t width) {
  const std::size_t count = count_digits(value);
  if (count < width) spaces(width - count);
  put_digits(room(count), value, count);
  size_ += count;
}

void Text::hex(std::uint64_t value, std::size_t digits) {
  char* p = room(digits);
  size_ += digits;
  for (; digits >= 2; digits -= 2, value >>= 8) std::memcpy(p + digits - 2, &byte_pairs[(value & 255) * 2], 2);
  if (digits == 1) *p = hex_digits[value & 15];
}

void Text::hex_bytes(std::span<const std::uint8_t> bytes) {
  char* p = room(bytes.size() * 2);
  for (std::uint8_t b : bytes) {
    std::memcpy(p, &byte_pairs[b * 2u], 2);
    p += 2;
  }
  size_ += bytes.size() * 2;
}

void Text::seconds(std::int64_t nanoseconds, unsigned decimals, std::size_t width) {
  constexpr std::uint64_t second = 1000000000;
  const bool negative = nanoseconds < 0;
  const std::uint64_t n =
      negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  const std::size_t count = count_digits(n / second);
  const std::size_t length = negative + count + (decimals > 0 ? 1 + decimals : 0);
  if (length < width) spaces(width - length);
  char* p = room(21 + 10);
  if (negative) *p++ = '-';
  put_digits(p, n / second, count);
  p += count;
  *p = '.';
  put_digits(p + 1, n % second, 9);
  size_ += length;
}

void Text::mac(const std::uint8_t* bytes) {
  char* p = room(17);
  for (unsigned i = 0; i < 6; ++i) {
    if (i > 0) *p++ = ':';
    std::memcpy(p, &byte_pairs[bytes[i] * 2u], 2);
    p += 2;
  }
  size_ += 17;
}

void Text::ipv4(const std::uint8_t* bytes) {
  char* const start = room(16);
  char* p = start;
  for (unsigned i = 0; i < 4; ++i) {
    const Octet& octet = octets[bytes[i]];
    std::memcpy(p, octet.text, 4);
    p += octet.length;
  }
  size_ += static_cast<std::size_t>(p - start) - 1;  // without the last dot
}

void Text::ipv6(const std::uint8_t* bytes) {
  char* p = room(INET6_ADDRSTRLEN);
  if (inet_ntop(AF_INET6, bytes, p, INET6_ADDRSTRLEN)) size_ += std::strlen(p);
}

void Text::json_escaped(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const char c = s[i];
    const std::size_t length = utf8_length(s, i);
    if (length == 0) {
      put("\\ufffd");
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      put('\\');
      put(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      put("\\u00");
      hex(static_cast<unsigned char>(c), 2);
    } else {
      put(s.substr(i, length));
    }
    i += length;
  }
}

void Text::printable(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t length = utf8_length(s, i);
    const unsigned char c = static_cast<unsigned char>(s[i]);
    if (length == 0 || c < 0x20 || c == 0x7f || (c == 0xc2 && static_cast<unsigned char>(s[i + 1]) < 0xa0)) {
      put("\\x");
      hex(c, 2);
      ++i;
    } else {
      put(s.substr(i, length));
      i += length;
    }
  }
}

void put_value(Text& out, const Field& field, const Value& value) {
  switch (field.show) {
    case Show::dec:
    case Show::flag:
      out.dec(value.number);
      break;
    case Show::hex:
    case Show::reserved:
      out.put("0x");
      out.hex(value.number, field.width > 0 ? (field.width + 3u) / 4 : 8);
      break;
    case Show::named:
      if (const std::string_view known = name_of(field.names, value.number); !known.empty())
        out.put(known);
      else
        out.dec(value.number);
      break;
    case Show::mac:
      out.mac(value.bytes.data());
      break;
    case Show::ipv4:
      out.ipv4(value.bytes.data());
      break;
    case Show::ipv6:
      out.ipv6(value.bytes.data());
      break;
    case Show::bytes:
      out.hex_bytes(value.bytes);
      break;
    case Show::text:
      out.printable(value.text);
      break;
    case Show::time:
      out.seconds(static_cast<std::int64_t>(value.number));
      break;
  }
}

std::string_view opcode_title(std::uint8_t opcode) { return titles[opcode]; }

}  // namespace rdmascope::dissect
