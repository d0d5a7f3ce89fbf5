#include "dissect/text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
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

// Writes the digits of `value` so that they end before `end`; gives their start.
char* put_digits(char* end, std::uint64_t value) {
  while (value >= 100) {
    end -= 2;
    std::memcpy(end, &digit_pairs[value % 100 * 2], 2);
    value /= 100;
  }
  if (value >= 10) {
    end -= 2;
    std::memcpy(end, &digit_pairs[value * 2], 2);
  } else {
    *--end = static_cast<char>('0' + value);
  }
  return end;
}

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
  if (value < 10) {
    put(static_cast<char>('0' + value));
    return;
  }
  char digits[20];
  const char* const start = put_digits(digits + sizeof digits, value);
  put({start, static_cast<std::size_t>(digits + sizeof digits - start)});
}

void Text::dec(std::uint64_t value, std::size_t min_digits) {
  char digits[20];
  const char* const start = put_digits(digits + sizeof digits, value);
  const std::size_t count = static_cast<std::size_t>(digits + sizeof digits - start);
  for (std::size_t i = count; i < min_digits; ++i) put('0');
  put({start, count});
}

void Text::hex(std::uint64_t value, std::size_t digits) {
  char* p = room(digits);
  for (std::size_t i = digits; i-- > 0; value >>= 4) p[i] = hex_digits[value & 15];
  size_ += digits;
}

void Text::hex_bytes(std::span<const std::uint8_t> bytes) {
  char* p = room(bytes.size() * 2);
  for (std::uint8_t b : bytes) {
    std::memcpy(p, &byte_pairs[b * 2u], 2);
    p += 2;
  }
  size_ += bytes.size() * 2;
}

void Text::seconds(std::int64_t nanoseconds, unsigned decimals) {
  std::uint64_t n = static_cast<std::uint64_t>(nanoseconds);
  if (nanoseconds < 0) {
    put('-');
    n = 0 - n;
  }
  constexpr std::uint64_t second = 1000000000;
  dec(n / second);
  if (decimals == 0) return;
  // Nine digits behind a leading 1, of which the wanted ones are kept.
  char digits[20];
  const char* const start = put_digits(digits + sizeof digits, second + n % second);
  put('.');
  put({start + 1, decimals});
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
  char* const start = room(15);
  char* p = start;
  for (unsigned i = 0; i < 4; ++i) {
    if (i > 0) *p++ = '.';
    const unsigned b = bytes[i];
    if (b >= 100) *p++ = static_cast<char>('0' + b / 100);
    if (b >= 10) *p++ = static_cast<char>('0' + b / 10 % 10);
    *p++ = static_cast<char>('0' + b % 10);
  }
  size_ += static_cast<std::size_t>(p - start);
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

std::string_view opcode_title(std::uint8_t opcode) {
  static const std::array<std::string, 256> titles = make_titles();
  return titles[opcode];
}

}  // namespace rdmascope::dissect
