#include "capture/mad_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace rdmascope::capture {
namespace {

using std::size_t;
using std::string_view;
using Bytes = std::vector<std::uint8_t>;

constexpr size_t mad_bytes = 256;
constexpr size_t ibsim_envelope = 32, umad_envelope = 64, old_umad_envelope = 56;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

string_view trimmed(string_view s) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

// Appends the bytes of hex digits; false: they are none, or half a byte is left.
bool append_hex(string_view digits, Bytes& out) {
  if (digits.empty() || digits.size() % 2 != 0) return false;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_value(digits[i]), low = hex_value(digits[i + 1]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return true;
}

// write(4, "\x01\x81...", 288) = 288: the string of a system call, when all of it is escaped (strace -xx).
bool strace_bytes(string_view line, Bytes& out) {
  const size_t call = line.find('('), quote = line.find("\"\\x");
  if (call == string_view::npos || quote == string_view::npos || call > quote) return false;
  size_t at = quote + 1;
  while (line.substr(at).starts_with("\\x") && append_hex(line.substr(at + 2, 2), out)) at += 4;
  return line.substr(at).starts_with('"');
}

// "in 4 0181...", "out 5 0181...": a direction, a file descriptor, the bytes.
bool trace_bytes(string_view line, Bytes& out) {
  if (!line.starts_with("in ") && !line.starts_with("out ")) return false;
  line = trimmed(line.substr(line.find(' ')));
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && digits < line.size() && line[digits] == ' ' && append_hex(trimmed(line.substr(digits)), out);
}

// "0181 0101 0000 0001 0000 0000 07a3 c3a1": a line of the buffer that libibmad prints.
bool buffer_bytes(string_view line, Bytes& out) {
  Bytes found;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    if (end != 4 || !append_hex(line.substr(0, end), found)) return false;
    line = trimmed(line.substr(end));
  }
  if (found.empty() || found.size() > 16) return false;
  out.insert(out.end(), found.begin(), found.end());
  return true;
}

// Takes the envelope off. False: these bytes are no datagram.
bool is_mad(Bytes& bytes) {
  if (bytes.size() < mad_bytes) return false;
  const size_t envelope = bytes.size() - mad_bytes;
  if (envelope != 0 && envelope != ibsim_envelope && envelope != umad_envelope && envelope != old_umad_envelope)
    return false;
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(envelope));
  return true;
}

}  // namespace

std::optional<Result<std::vector<HexPacket>>> read_mad_log(string_view text) {
  std::vector<HexPacket> mads;
  const auto add = [&mads](Bytes bytes, size_t line) {
    if (!is_mad(bytes)) return;
    HexPacket packet;
    packet.bytes = std::move(bytes);
    packet.line = line;
    packet.start_hint = "infiniband.mad";
    mads.push_back(std::move(packet));
  };
  Bytes buffer;  // of libibmad, in work
  size_t buffer_line = 0, number = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (inside && buffer_bytes(line, buffer)) {
      if (buffer_line == 0) buffer_line = number;
      continue;
    }
    if (inside) add(std::move(buffer), buffer_line);
    buffer.clear();
    buffer_line = 0;
    inside = line == "send buf" || line == "rcv buf";
    Bytes bytes;
    if (strace_bytes(line, bytes) || (bytes.clear(), trace_bytes(line, bytes))) add(std::move(bytes), number);
  }
  if (inside) add(std::move(buffer), buffer_line);
  if (mads.empty()) return std::nullopt;
  constexpr size_t most = max_hex_total_bytes / mad_bytes;
  if (mads.size() > most)
    return Error{fmt::format("line {}: more than {} datagrams; give a part of the text", mads[most].line, most)};
  return mads;
}

}  // namespace rdmascope::capture
