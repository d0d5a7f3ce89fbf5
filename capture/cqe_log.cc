// A line of a log has a beginning nobody can know (time, host, process), so the bytes are read from its end: the last
// 16 bytes, or the last words of 32 bits, which are printed so that digits stand in the order of memory.
#include "capture/cqe_log.h"

#include <algorithm>
#include <array>

namespace rdmascope::capture {
namespace {

using std::size_t;
using std::string_view;

constexpr size_t mlx4_bytes = 32, mlx5_bytes = 64, line_bytes = 16;
constexpr size_t most_lines_between = 64;  // of others, while an entry is printed

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_hex(string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return hex_value(c) >= 0; });
}

// Takes the last word off the line.
string_view take_last_word(string_view& line) {
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  size_t begin = line.size();
  while (begin > 0 && !is_space(line[begin - 1])) --begin;
  const string_view word = line.substr(begin);
  line = line.substr(0, begin);
  return word;
}

// The last `count` bytes of a line, in words of equal size: 2 digits or 8.
bool take_bytes(string_view line, size_t count, std::vector<std::uint8_t>& out) {
  if (const size_t ascii = line.find('|'); ascii != string_view::npos) line = line.substr(0, ascii);  // column of text
  std::array<std::uint8_t, mlx4_bytes> bytes;
  size_t left = count, digits = 0;
  while (left > 0) {
    const string_view word = take_last_word(line);
    if (digits == 0) digits = word.size();
    if ((digits != 2 && digits != 8) || word.size() != digits || !is_hex(word)) return false;
    left -= digits / 2;
    for (size_t i = 0; i < digits / 2; ++i)
      bytes[left + i] = static_cast<std::uint8_t>(hex_value(word[i * 2]) * 16 + hex_value(word[i * 2 + 1]));
  }
  out.insert(out.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
  return true;
}

bool announces_mlx5(string_view line) {
  for (const string_view words : {"dump error cqe", "got completion with error", "Error CQ", "error CQE"})
    if (line.find(words) != string_view::npos) return true;
  return false;
}

}  // namespace

std::optional<std::vector<HexPacket>> read_cqe_log(string_view text) {
  std::vector<HexPacket> entries;
  HexPacket entry;
  std::vector<std::uint8_t> unused;
  bool inside = false;
  size_t between = 0, number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find("CQE contents") != string_view::npos) {
      HexPacket mlx4;
      mlx4.line = number;
      mlx4.start_hint = "cqe:mlx4";
      if (inside && !entry.bytes.empty()) return std::nullopt;
      inside = false;
      if (!take_bytes(line, mlx4_bytes, mlx4.bytes)) return std::nullopt;
      entries.push_back(std::move(mlx4));
    } else if (announces_mlx5(line)) {
      if (inside && !entry.bytes.empty()) return std::nullopt;  // the one before lacks bytes
      entry = {};
      inside = true;
      between = 0;
    } else if (inside && take_bytes(line, line_bytes, entry.bytes)) {
      if (entry.line == 0) entry.line = number;
      if (entry.bytes.size() < mlx5_bytes) continue;
      entry.start_hint = "cqe:mlx5";
      entries.push_back(std::move(entry));
      entry = {};
      inside = false;
    } else if (unused.clear(); !inside && take_bytes(line, line_bytes, unused)) {
      return std::nullopt;
    } else if (inside && ++between > most_lines_between) {
      return std::nullopt;
    }
    if (entries.size() > max_hex_packets) return std::nullopt;
  }
  if (entries.empty() || (inside && !entry.bytes.empty())) return std::nullopt;
  return entries;
}

}  // namespace rdmascope::capture
