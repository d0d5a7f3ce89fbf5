// Text of values: an append-only character buffer, and how each kind of field is written. All writers (summary, tree,
// JSON, columns) append to one Text that its owner empties now and then, so writing a packet allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "dissect/field.h"
#include "dissect/packet.h"

namespace rdmascope::dissect {

class Text {
 public:
  std::string_view view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void truncate(std::size_t size) { size_ = size < size_ ? size : size_; }

  void put(char c) { *room(1) = c, ++size_; }
  void put(std::string_view s) {
    copy(room(s.size()), s.data(), s.size());
    size_ += s.size();
  }
  // Moves what stands from `start` on to the right, so that it is at least `width` wide.
  void align_right(std::size_t start, std::size_t width) {
    const std::size_t length = size_ - start;
    if (length >= width) return;
    spaces(width - length);
    char* const p = data_.get() + start;
    if (width <= piece) {  // columns are short; see copy()
      char text[piece];
      std::memcpy(text, p, piece);
      std::memset(p, ' ', piece);
      std::memcpy(p + width - length, text, piece);
    } else {
      std::memmove(p + width - length, p, length);
      std::memset(p, ' ', width - length);
    }
  }
  void spaces(std::size_t count) {
    char* const p = room(count + 2 * piece);
    if (count <= piece)
      std::memset(p, ' ', piece);
    else
      std::memset(p, ' ', count);
    size_ += count;
  }
  void dec(std::uint64_t value);
  void dec(std::uint64_t value, std::size_t min_digits);                                 // leading zeros
  void dec_right(std::uint64_t value, std::size_t width);                                // leading blanks
  void hex(std::uint64_t value, std::size_t digits);                                     // no prefix, leading zeros
  void hex_bytes(std::span<const std::uint8_t> bytes);                                   // "0a0b"
  void seconds(std::int64_t nanoseconds, unsigned decimals = 9, std::size_t width = 0);  // leading blanks up to width
  void mac(const std::uint8_t* bytes);
  void ipv4(const std::uint8_t* bytes);
  void ipv6(const std::uint8_t* bytes);
  // Inside a JSON string: quotes, control characters and bytes that are no UTF-8 are escaped.
  void json_escaped(std::string_view s);
  // For a terminal: control characters and bytes that are no UTF-8 become "\x1b".
  void printable(std::string_view s);

 private:
  char* room(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_.get() + size_;
  }
  void grow(std::size_t count);

  static constexpr std::size_t piece = 16;  // copied or filled whole where that is faster than counting
  // memcpy without a call for the short words that lines are made of: two pieces that may overlap.
  static void copy(char* to, const char* from, std::size_t count) {
    if (__builtin_constant_p(count) || count > piece) {
      std::memcpy(to, from, count);
    } else if (count >= 8) {
      std::memcpy(to, from, 8);
      std::memcpy(to + count - 8, from + count - 8, 8);
    } else if (count >= 4) {
      std::memcpy(to, from, 4);
      std::memcpy(to + count - 4, from + count - 4, 4);
    } else if (count >= 2) {
      std::memcpy(to, from, 2);
      std::memcpy(to + count - 2, from + count - 2, 2);
    } else if (count == 1) {
      *to = *from;
    }
  }

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

// The value as `-T fields` and the tree show it: 0x00ff, 17, 10.0.0.1, aa:bb:..., a time in seconds.
void put_value(Text& out, const Field& field, const Value& value);

// "RC RDMA Read Request" for 0x0c, "Unknown opcode 0x1f".
std::string_view opcode_title(std::uint8_t opcode);

}  // namespace rdmascope::dissect
