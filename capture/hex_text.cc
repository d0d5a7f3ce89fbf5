// The difficult part of a hex dump is where the bytes of a line end, because an ASCII column may itself read as hex. In
// this order: the text that spells exactly the bytes before it is the ASCII column; the next offset says how many bytes
// there are; the column where the hex of an earlier line ended. What none of these explains is an error.
#include "capture/hex_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "capture/cqe_log.h"
#include "capture/mad_log.h"

namespace rdmascope::capture {
namespace {

using std::size_t;
using std::string_view;

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
constexpr bool is_hex(char c) { return hex_value(c) >= 0; }

string_view left_trimmed(string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  return s;
}
string_view trimmed(string_view s) {
  s = left_trimmed(s);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

template <class Test>
size_t run(string_view s, Test test) {
  size_t n = 0;
  while (n < s.size() && test(s[n])) ++n;
  return n;
}

bool is_comment(string_view line) {
  const string_view s = left_trimmed(line);
  return s.starts_with('#') || s.starts_with("//");
}

// The word at `at` for a message: short, and with nothing a terminal would act on.
std::string quoted(string_view line, size_t at) {
  std::string out = "\"";
  size_t shown = 0;
  for (size_t i = at; i < line.size() && !is_space(line[i]); ++i) {
    if (++shown > 20) {
      out += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte < 0x20 || byte >= 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += line[i];
  }
  return out + '"';
}

// ---- Lines of a dump ----

struct OffsetLine {
  string_view digits;
  string_view rest;                    // after the offset and its colon
  size_t digits_at = 0, rest_at = 0;   // in the line
  bool colon = false, prefix = false;  // "0010:", "0x0010"
};

// A first word that can be an offset. Without a colon it can also be hex like the rest; the caller decides by the
// value.
std::optional<OffsetLine> offset_line(string_view line) {
  OffsetLine o;
  size_t at = run(line, is_space);
  if (line.substr(at).starts_with("0x")) {
    o.prefix = true;
    at += 2;
  }
  const size_t count = run(line.substr(at), is_hex);
  if (count < 3 || count > 16) return std::nullopt;
  o.digits_at = at;
  o.digits = line.substr(at, count);
  at += count;
  if (at < line.size() && line[at] == ':') {
    o.colon = true;
    ++at;
  }
  if (at < line.size() && !is_space(line[at])) return std::nullopt;
  if (!o.colon && count < 4) return std::nullopt;
  o.rest = line.substr(at);
  o.rest_at = at;
  return o;
}

// Saturates: an offset that large is out of range anyway.
size_t offset_value(string_view digits, unsigned radix) {
  size_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<unsigned>(hex_value(c));
    if (digit >= radix) return SIZE_MAX;
    value = value * radix + digit;
    if (value > (size_t{1} << 40)) return SIZE_MAX;
  }
  return value;
}

bool first_word_is_byte(string_view rest) {
  rest = left_trimmed(rest);
  return rest.size() >= 2 && is_hex(rest[0]) && is_hex(rest[1]) && (rest.size() == 2 || is_space(rest[2]));
}

// "0000000 c3d4 a1b2": hexdump and od -x print 16-bit words in the byte order of the machine, which no reader can know.
bool looks_like_words(const OffsetLine& o) {
  if (o.colon || o.prefix || o.digits.size() == 4 || offset_value(o.digits, 16) != 0) return false;
  size_t words = 0;
  for (string_view rest = left_trimmed(o.rest); !rest.empty(); rest = left_trimmed(rest)) {
    const size_t count = run(rest, is_hex);
    if (count != 4 || (rest.size() > 4 && !is_space(rest[4]))) return false;
    rest.remove_prefix(4);
    ++words;
  }
  return words >= 2;
}

// The hex of one dump line: bytes, and for each the end of its text. Reading stops at the first word that is not an
// even number of hex digits.
struct Row {
  std::vector<std::uint8_t> bytes;
  std::vector<size_t> ends;       // in OffsetLine::rest
  std::vector<bool> closes_word;  // whether the byte is the last of its word
  size_t stop = 0;                // first character not read
  bool whole = false;             // everything was hex

  void scan(string_view rest) {
    bytes.clear();
    ends.clear();
    closes_word.clear();
    size_t at = 0;
    while (true) {
      at += run(rest.substr(at), is_space);
      stop = at;
      whole = at == rest.size();
      if (whole) return;
      const size_t count = run(rest.substr(at), is_hex);
      const bool ends_here = at + count == rest.size() || is_space(rest[at + count]);
      if (count == 0 || count % 2 != 0 || !ends_here) return;
      for (size_t i = 0; i < count; i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(hex_value(rest[at + i]) * 16 + hex_value(rest[at + i + 1])));
        ends.push_back(at + i + 2);
        closes_word.push_back(i + 2 == count);
      }
      at += count;
    }
  }
};

// Whether `column` is what the tools print for these bytes: the character if printable, else a dot or some non-ASCII
// sign. A space may be a dot too. Spaces at both ends may have got lost; a gap after eight characters is allowed.
bool spells(string_view column, std::span<const std::uint8_t> bytes) {
  size_t i = 0;
  bool gap = false;
  for (size_t at = 0; at < column.size(); ++at) {
    const char c = column[at];
    if (i == 8 && !gap && c == ' ' && i < bytes.size() && bytes[i] != ' ') {
      gap = true;
      continue;
    }
    if (i == bytes.size()) return false;
    const std::uint8_t byte = bytes[i++];
    const bool printable = byte > ' ' && byte < 0x7f;
    if (!is_ascii(c)) {
      if (printable) return false;
      while (at + 1 < column.size() && (static_cast<unsigned char>(column[at + 1]) & 0xc0) == 0x80) ++at;
    } else if (printable || c != '.') {
      if (static_cast<std::uint8_t>(c) != byte) return false;
    }
  }
  while (i < bytes.size() && bytes[i] == ' ') ++i;
  return i == bytes.size();
}

bool is_ascii_column(string_view column, std::span<const std::uint8_t> bytes) {
  if (column.empty()) return false;
  size_t spaces = 0;
  while (spaces < bytes.size() && bytes[spaces] == ' ') ++spaces;
  if (spells(column, bytes) || (spaces > 0 && spells(column, bytes.subspan(spaces)))) return true;
  // hexdump -C |frames| it, od's "z" >does too<.
  const char first = column.front(), last = column.back();
  if (column.size() < 2 || !((first == '|' && last == '|') || (first == '>' && last == '<'))) return false;
  return spells(column.substr(1, column.size() - 2), bytes);
}

// ---- Lines between dumps ----

// "21:25:43.370517", "2022-04-26 10:49:50.668829" or "1650970190.668829" at the start of a tcpdump summary line, after
// a packet number if there is one. nullopt: no such line.
struct Summary {
  std::optional<std::int64_t> time_ns;
};

std::optional<std::uint64_t> take_number(string_view& s, size_t min_digits, size_t max_digits) {
  const size_t count = run(s, is_digit);
  if (count < min_digits || count > max_digits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : s.substr(0, count)) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  s.remove_prefix(count);
  return value;
}
bool take(string_view& s, char c) {
  if (!s.starts_with(c)) return false;
  s.remove_prefix(1);
  return true;
}

// ".668829": the nanoseconds of 1 to 9 digits.
std::optional<std::uint64_t> take_fraction(string_view& s) {
  if (!take(s, '.')) return std::nullopt;
  const size_t count = run(s, is_digit);
  std::optional<std::uint64_t> value = take_number(s, 1, 9);
  if (value)
    for (size_t i = count; i < 9; ++i) *value *= 10;
  return value;
}

std::optional<Summary> summary_at(string_view s) {
  constexpr std::uint64_t billion = 1000000000;
  std::uint64_t seconds = 0;
  if (s.size() > 11 && s[4] == '-' && s[7] == '-' && s[10] == ' ') {
    const auto year = take_number(s, 4, 4);
    if (!year || !take(s, '-')) return std::nullopt;
    const auto month = take_number(s, 2, 2);
    if (!month || !take(s, '-')) return std::nullopt;
    const auto day = take_number(s, 2, 2);
    if (!day || !take(s, ' ')) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok() || *year < 1970 || *year > 2261) return std::nullopt;
    seconds = static_cast<std::uint64_t>(std::chrono::sys_days(date).time_since_epoch().count()) * 86400;
  }
  const size_t digits = run(s, is_digit);
  if (digits == 2) {
    const auto hours = take_number(s, 2, 2);
    if (!hours || !take(s, ':')) return std::nullopt;
    const auto minutes = take_number(s, 2, 2);
    if (!minutes || !take(s, ':')) return std::nullopt;
    const auto whole = take_number(s, 2, 2);
    if (!whole) return std::nullopt;
    seconds += *hours * 3600 + *minutes * 60 + *whole;
  } else if (seconds == 0 && digits >= 9 && digits <= 10) {
    seconds = *take_number(s, 9, 10);
    if (seconds > 9223372035) return std::nullopt;
  } else {
    return std::nullopt;
  }
  const auto fraction = take_fraction(s);
  if (!fraction || (!s.empty() && !is_space(s.front()))) return std::nullopt;
  return Summary{static_cast<std::int64_t>(seconds * billion + *fraction)};
}

std::optional<Summary> tcpdump_summary(string_view line) {
  string_view s = left_trimmed(line);
  if (const auto plain = summary_at(s)) return plain;
  if (!take_number(s, 1, 10) || s.empty() || !is_space(s.front())) return std::nullopt;  // tcpdump -#
  return summary_at(left_trimmed(s));
}

// "    1   0.000000 192.168.70.6 → ...": its time is relative to a packet that may not be here.
bool is_tshark_summary(string_view line) {
  string_view s = left_trimmed(line);
  if (!take_number(s, 1, 10) || s.empty() || !is_space(s.front())) return false;
  s = left_trimmed(s);
  return take_number(s, 1, 10) && take_fraction(s) && !s.empty() && is_space(s.front());
}

// "Frame (62 bytes):", "Reassembled data (3072 bytes):": tshark -x, when a frame has more than one piece of data.
bool is_data_title(string_view line) {
  const string_view s = trimmed(line);
  return (s.ends_with(" bytes):") || s.ends_with(" byte):")) && s.find('(') != string_view::npos;
}

// What the tools print around dumps when both streams were copied from the terminal, and the kernel's title line.
bool is_chatter(string_view line) {
  string_view s = trimmed(line);
  for (const string_view start :
       {"reading from file ", "listening on ", "tcpdump: ", "dropped privs ", "Running as user ", "Capturing on "})
    if (s.starts_with(start)) return true;
  if (s.find("dump error cqe") != string_view::npos) return true;
  if (!take_number(s, 1, 10)) return false;
  return s.starts_with(" packet") &&
         (s.find("captured") != string_view::npos || s.find("received") != string_view::npos ||
          s.find("dropped") != string_view::npos);
}

// "[12345.678901] ": the kernel's time before each line. Returns how long it is.
size_t kernel_prefix(string_view line) {
  string_view s = left_trimmed(line);
  if (!take(s, '[')) return 0;
  s = left_trimmed(s);
  if (!take_number(s, 1, 10) || !take_fraction(s) || !take(s, ']')) return 0;
  return line.size() - s.size();
}

// Whether bytes start with an IP header rather than with a link header. Both readings can be possible; lengths and the
// checksum decide.
bool starts_with_ip(std::span<const std::uint8_t> b) {
  const auto be16 = [&](size_t at) { return static_cast<unsigned>(b[at] << 8 | b[at + 1]); };
  if (b.size() < 20) return false;
  const unsigned version = b[0] >> 4, header_bytes = (b[0] & 15u) * 4;
  if (version == 4 && header_bytes >= 20 && header_bytes <= b.size()) {
    unsigned sum = 0;
    for (size_t at = 0; at < header_bytes; at += 2) sum += be16(at);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    if (sum == 0xffff || be16(2) == b.size()) return true;
  }
  if (version == 6 && be16(4) + 40u == b.size()) return true;
  switch (be16(12)) {
    case 0x0800:
      if (b[14] >> 4 == 4) return false;
      break;
    case 0x86dd:
      if (b[14] >> 4 == 6) return false;
      break;
    case 0x0806:
    case 0x8100:
    case 0x88a8:
    case 0x8915:
      return false;
  }
  return (version == 4 && header_bytes >= 20) || version == 6;
}

// ---- The reader ----

class Reader {
 public:
  explicit Reader(string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // byte order mark
  }

  Result<std::vector<HexPacket>> read() {
    string_view line;
    while (error_.empty() && next(position_, line)) {
      ++number_;
      one_line(line);
    }
    if (error_.empty()) close();
    if (!error_.empty()) return Error{std::move(error_)};
    if (packets_.empty()) return Error{"no packet in the text: expected hex digits or a hex dump"};
    return std::move(packets_);
  }

 private:
  enum class Form : std::uint8_t { none, bare, dump };

  bool next(size_t& position, string_view& line) const {
    if (position >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', position), text_.size());
    line = text_.substr(position, end - position);
    position = end + 1;
    return true;
  }

  void fail(size_t at, std::string_view what) {
    if (error_.empty()) error_ = fmt::format("line {}, column {}: {}", number_, at + 1, what);
  }

  void one_line(string_view line) {
    if (trimmed(line).empty() || left_trimmed(line).starts_with("```")) return empty_line();
    if (is_comment(line)) return;
    const size_t prefix = kernel_prefix(line);
    const string_view text = line.substr(prefix);
    column_ = prefix;
    if (trimmed(text).empty()) return empty_line();
    if (trimmed(text) == "*") return repetition();
    const std::optional<OffsetLine> offset = offset_line(text);
    if (offset && takes_offset(*offset)) return dump_line(*offset);
    if (error_.empty()) other_line(text);  // takes_offset can find a dump nobody can read
  }

  void other_line(string_view line) {
    if (const auto summary = tcpdump_summary(line)) {
      close();
      time_ns_ = summary->time_ns;
      return;
    }
    if (is_data_title(line)) {
      close();
      skip_ = !left_trimmed(line).starts_with("Frame");
      return;
    }
    if (is_tshark_summary(line) || is_chatter(line)) return close();
    if (bare_line(line)) return add_bare(line);
    // Not hex: fine as long as tcpdump goes on to dump the packet it speaks of (-t, -v).
    if (!left_trimmed(line).starts_with("0x") && tcpdump_dump_follows()) {
      error_.clear();
      close();
    }
  }

  // After an empty line a dump may go on with the next offset (text copied with doubled line ends), but nothing else
  // may.
  void empty_line() {
    gap_ = true;
    if (form_ == Form::bare) close();
  }

  // ---- Packets ----

  void close() {
    if (form_ != Form::none && !bytes_.empty() && !skip_) {
      if (packets_.size() == max_hex_packets) return fail(column_, "too many packets in one text; split the input");
      HexPacket packet;
      packet.bytes.assign(bytes_.begin(), bytes_.end());
      packet.line = first_line_;
      packet.time_ns = time_ns_;
      packet.without_link_header_hint = tcpdump_ && starts_with_ip(bytes_);
      packets_.push_back(std::move(packet));
    }
    if (form_ != Form::none && !bytes_.empty()) {
      time_ns_.reset();
      skip_ = false;
    }
    bytes_.clear();
    row_bytes_.clear();
    form_ = Form::none;
    gap_ = ended_ = tcpdump_ = false;
    radix_ = 16;
    hex_end_.reset();
  }

  bool append(std::span<const std::uint8_t> bytes, size_t at) {
    if (bytes_.size() + bytes.size() > max_hex_packet_bytes) {
      fail(at, "the packet is longer than 256 KiB");
      return false;
    }
    total_ += bytes.size();
    if (total_ > max_hex_total_bytes) {
      fail(at, "more than 16 MiB of packet bytes in one text; split the input");
      return false;
    }
    if (bytes_.empty()) first_line_ = number_;
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return true;
  }

  // ---- Dumps ----

  // Whether the first word of the line is an offset. Hex like the rest, as in "0200 00 00", is none.
  bool takes_offset(const OffsetLine& o) {
    if (form_ == Form::bare && !o.colon) return false;
    if (looks_like_words(o)) {
      fail(
          column_ + o.digits_at,
          "these are 16-bit words in the byte order of the machine that printed them; use hexdump -C or od -A x -t x1");
      return false;
    }
    if (o.colon) return true;
    const bool has_byte = first_word_is_byte(o.rest);
    if (form_ == Form::dump && !gap_) return has_byte || trimmed(o.rest).empty();
    const size_t value = offset_value(o.digits, 16);
    if (form_ == Form::dump && value != 0) return has_byte || trimmed(o.rest).empty();
    if (!has_byte) return false;
    if (value == 0) return true;
    // A dump without its beginning, if the next line goes on from here.
    row_.scan(o.rest);
    string_view line;
    size_t position = position_;
    if (!next(position, line)) return false;
    const auto following = offset_line(line);
    return following && value != SIZE_MAX && offset_value(following->digits, 16) - value - 1 < row_.bytes.size();
  }

  void dump_line(const OffsetLine& o) {
    if (form_ == Form::bare) close();
    if (offset_value(o.digits, 16) == 0 && form_ == Form::dump && !bytes_.empty()) close();
    if (form_ == Form::none) {
      form_ = Form::dump;
      radix_ = find_radix(o);
      tcpdump_ = o.prefix;
    }
    const size_t at = column_ + o.digits_at, value = offset_value(o.digits, radix_);
    if (value != bytes_.size() || ended_) {
      if (bytes_.empty())
        return fail(at, fmt::format("the dump starts at offset {}; its beginning is missing", quoted(o.digits, 0)));
      return fail(at, fmt::format("the offset is {} but the lines before it hold {} bytes (hex {:04x})",
                                  quoted(o.digits, 0), bytes_.size(), bytes_.size()));
    }
    gap_ = false;
    if (trimmed(o.rest).empty()) {  // od and hexdump end with a line that is only an offset
      ended_ = true;
      return;
    }
    row_.scan(o.rest);
    const std::optional<size_t> count = count_bytes(o, value);
    if (!count) return;
    row_.bytes.resize(*count);
    if (!append(row_.bytes, at)) return;
    std::swap(row_bytes_, row_.bytes);
    if (*count < row_.ends.size() || !row_.whole) hex_end_ = std::max(hex_end_.value_or(0), row_.ends[*count - 1]);
  }

  // How many bytes of row_ are bytes, and not the ASCII column.
  std::optional<size_t> count_bytes(const OffsetLine& o, size_t offset) {
    constexpr size_t widest_ascii = 256;
    const size_t read = row_.bytes.size();
    size_t by_offset = 0;
    if (const auto following = next_offset();
        following && *following > offset && *following - offset <= read && row_.closes_word[*following - offset - 1])
      by_offset = *following - offset;

    size_t by_text = 0;
    for (size_t n = 1; n <= std::min(read, widest_ascii); ++n) {
      if (!row_.closes_word[n - 1]) continue;
      if (!is_ascii_column(trimmed(o.rest.substr(row_.ends[n - 1])), std::span(row_.bytes).first(n))) continue;
      if (by_text == 0 || n == by_offset) by_text = n;
    }
    if (by_text > 0) return by_text;
    if (by_offset > 0) return by_offset;

    const size_t by_column = static_cast<size_t>(
        std::upper_bound(row_.ends.begin(), row_.ends.end(), hex_end_.value_or(0)) - row_.ends.begin());
    if (hex_end_ && by_column > 0 && (row_.whole || row_.stop > *hex_end_)) return by_column;
    if (row_.whole) return read;
    fail(column_ + o.rest_at + row_.stop,
         fmt::format("{} is neither a byte in hex nor the text of the bytes before it", quoted(o.rest, row_.stop)));
    return std::nullopt;
  }

  // The offset of the next line that has one; "*" in between says nothing of this line.
  std::optional<size_t> next_offset() const {
    size_t position = position_;
    string_view line;
    while (next(position, line)) {
      line.remove_prefix(kernel_prefix(line));
      if (trimmed(line).empty() || is_comment(line)) continue;
      const auto following = offset_line(line);
      if (!following) return std::nullopt;
      return offset_value(following->digits, radix_);
    }
    return std::nullopt;
  }

  // od and hexdump print "*" for lines equal to the one before it, up to the next offset.
  void repetition() {
    if (form_ != Form::dump || row_bytes_.empty() || gap_ || ended_)
      return fail(column_, "\"*\" repeats the dump line before it, but there is none");
    const auto until = next_offset();
    if (!until || *until < bytes_.size())
      return fail(column_, "\"*\" repeats the line before it, but no offset follows to say how often");
    if (*until > max_hex_packet_bytes) return fail(column_, "\"*\" makes the packet longer than 256 KiB");
    std::vector<std::uint8_t> repeated(*until - bytes_.size());
    for (size_t i = 0; i < repeated.size(); ++i) repeated[i] = row_bytes_[i % row_bytes_.size()];
    append(repeated, column_);
  }

  // od without -A x counts in octal, with -A d in decimal, always in seven digits. The base under which the offsets
  // agree with the bytes between them is the right one.
  unsigned find_radix(const OffsetLine& first) {
    if (first.colon || first.prefix || first.digits.size() != 7) return 16;
    constexpr std::array<unsigned, 3> bases = {8, 10, 16};
    std::array<size_t, 3> agreeing{}, before{};
    row_.scan(first.rest);
    size_t width = row_.bytes.size();
    bool repeated = false;
    size_t position = position_;
    for (string_view line; next(position, line);) {
      if (trimmed(line) == "*") {
        repeated = true;
        continue;
      }
      if (is_comment(line)) continue;
      const auto o = offset_line(line);
      if (!o || offset_value(o->digits, 16) == 0) break;
      for (size_t i = 0; i < bases.size(); ++i) {
        const size_t value = offset_value(o->digits, bases[i]);
        if (value == SIZE_MAX || value <= before[i]) continue;
        const size_t between = value - before[i];
        if (between == width || (repeated && width > 0 && between % width == 0)) ++agreeing[i];
        before[i] = value;
      }
      repeated = false;
      row_.scan(o->rest);
      width = row_.bytes.size();
    }
    const auto best = std::max_element(agreeing.begin(), agreeing.end());
    return bases[static_cast<size_t>(best - agreeing.begin())];
  }

  bool tcpdump_dump_follows() const {
    constexpr int most_lines = 64;  // of text that belongs to one packet
    size_t position = position_;
    string_view line;
    for (int i = 0; i < most_lines && next(position, line); ++i) {
      const auto o = offset_line(line);
      if (o && o->prefix && o->colon) return offset_value(o->digits, 16) == 0;
      if (o && o->colon) return false;
    }
    return false;
  }

  // ---- Bare hex ----

  // Reads a line of hex in any spelling into bare_. False leaves an error behind.
  bool bare_line(string_view line) {
    bare_.clear();
    declaration_ = false;
    size_t at = run(line, is_space);
    bool escaped = false;
    // "unsigned char name[] = {" and "unsigned int name_len = 20;", as xxd -i prints them.
    if (at < line.size() && is_letter(line[at])) {
      if (const size_t equals = line.find('='); equals != string_view::npos) {
        if (line.substr(0, equals).find("_len ") != string_view::npos) return true;
        at = equals + 1;
        declaration_ = true;
      } else if (line[at] == 'b' && at + 1 < line.size() && (line[at + 1] == '\'' || line[at + 1] == '"')) {
        ++at;
      }
    }
    while (at < line.size()) {
      const char c = line[at];
      const string_view rest = line.substr(at);
      if (c == '#' || rest.starts_with("//")) break;
      if (is_space(c) || string_view(",;:-{}()[]\"'").find(c) != string_view::npos) {
        ++at;
        continue;
      }
      if (c == '\\' && (trimmed(rest) == "\\")) break;  // the string goes on in the next line
      if (rest.starts_with("\\x")) {
        escaped = true;
        if (run(rest.substr(2), is_hex) < 2) return fail_word(line, at, "is not a byte in the form \\xHH");
        bare_.push_back(static_cast<std::uint8_t>(hex_value(rest[2]) * 16 + hex_value(rest[3])));
        at += 4;
        continue;
      }
      const bool prefix = rest.starts_with("0x") || rest.starts_with("0X");
      const string_view digits = rest.substr(prefix ? 2 : 0);
      const size_t count = run(digits, is_hex);
      if (count == 0) return fail_word(line, at, "is not hexadecimal");
      if (escaped) return fail_word(line, at, "is not a byte in the form \\xHH");
      if (prefix && count == 1) {
        bare_.push_back(static_cast<std::uint8_t>(hex_value(digits[0])));
      } else {
        if (count % 2 != 0) {
          const char after = count < digits.size() ? digits[count] : ' ';
          if (is_letter(after)) return fail_word(line, at, "is not hexadecimal");
          return fail_word(line, at, fmt::format("has an odd number of hex digits, {}", count));
        }
        for (size_t i = 0; i < count; i += 2)
          bare_.push_back(static_cast<std::uint8_t>(hex_value(digits[i]) * 16 + hex_value(digits[i + 1])));
      }
      at += count + (prefix ? 2 : 0);
    }
    return true;
  }

  bool fail_word(string_view line, size_t at, string_view what) {
    fail(column_ + at, fmt::format("{} {}", quoted(line, at), what));
    return false;
  }

  void add_bare(string_view line) {
    if (declaration_) close();
    if (bare_.empty()) return;
    if (form_ == Form::dump && !gap_)
      return fail(column_ + run(line, is_space),
                  fmt::format("{} stands where the offset of a dump line is expected", quoted(left_trimmed(line), 0)));
    if (form_ == Form::dump) close();
    form_ = Form::bare;
    append(bare_, column_);
  }

  string_view text_;
  size_t position_ = 0, number_ = 0;  // of the next line, of this line
  size_t column_ = 0;                 // where this line's text starts, after a kernel time
  std::string error_;
  std::vector<HexPacket> packets_;
  size_t total_ = 0;

  // The packet being read.
  Form form_ = Form::none;
  std::vector<std::uint8_t> bytes_;
  size_t first_line_ = 0;
  std::optional<std::int64_t> time_ns_;
  bool skip_ = false;     // reassembled data, not a frame
  bool gap_ = false;      // an empty line since its last byte
  bool ended_ = false;    // its final offset was read
  bool tcpdump_ = false;  // "0x0000:"
  unsigned radix_ = 16;
  std::vector<std::uint8_t> row_bytes_;  // of its last dump line
  std::optional<size_t> hex_end_;        // where hex ends and ASCII follows

  Row row_;                         // scratch
  std::vector<std::uint8_t> bare_;  // scratch
  bool declaration_ = false;        // of bare_: "name[] = {", the start of an array
};

}  // namespace

Result<std::vector<HexPacket>> read_hex_text(string_view text) {
  if (auto entries = read_cqe_log(text)) return std::move(*entries);
  if (auto mads = read_mad_log(text)) return std::move(*mads);
  return Reader(text).read();
}

}  // namespace rdmascope::capture
