#include "dissect/tree.h"

#include <algorithm>

#include "dissect/headers.h"
#include "dissect/summary.h"

namespace rdmascope::dissect {
namespace {

constexpr std::size_t bytes_shown = 32;  // of a payload; the hex dump has all

// "0001 .... " : the bits of a field in their byte or bytes, dots for the others. Only for fields that share bytes.
void put_bits(Text& out, const Field& f, std::uint64_t raw) {
  if (f.width == 0 || f.little_endian || (f.at % 8 == 0 && f.width % 8 == 0)) return;
  const unsigned first = f.at % 8, count = (first + f.width + 7) / 8 * 8;
  for (unsigned bit = 0; bit < count; ++bit) {
    if (bit > 0 && bit % 4 == 0) out.put(' ');
    const bool inside = bit >= first && bit < first + f.width;
    out.put(!inside ? '.' : (raw >> (first + f.width - 1 - bit) & 1) ? '1' : '0');
  }
  out.put(" = ");
}

// Remembers what the next line is about, if somebody wants to know.
struct Lines {
  Text& out;
  std::vector<TreeLine>* list;
  void begin(const Layer& layer, const Field* field = nullptr, unsigned first = 0, unsigned count = 0) const {
    if (list) list->push_back({out.size(), &layer, field, first, count, false});
  }
};

// An array: lines of several values, each with the index of its first one. "P_Key[8..15]: 0x0000 0x0000 ..."
void put_array(const Lines& lines, const Packet& packet, const Layer& layer, const Field& f) {
  Text& out = lines.out;
  const unsigned per_line = f.width <= 8 ? 16 : f.width <= 32 ? 8 : f.width <= 64 ? 4 : 1;
  Value value;
  unsigned end = 0;
  while (end < f.count && read(packet, layer, f, end, value)) ++end;
  for (unsigned n = 0; n < end; ++n) {
    if (n % per_line == 0) {
      lines.begin(layer, &f, n, std::min(n + per_line, end) - n);
      out.spaces(4);
      out.put(f.title);
      out.put('[');
      out.dec(n);
      if (per_line > 1 && n + 1 < end) {
        out.put("..");
        out.dec(std::min(n + per_line, end) - 1);
      }
      out.put("]:");
    }
    out.put(' ');
    read(packet, layer, f, n, value);
    put_value(out, f, value);
    if (n % per_line == per_line - 1 || n + 1 == end) out.put('\n');
  }
}

void put_field(const Lines& lines, const Packet& packet, const Layer& layer, const Field& f) {
  if (f.count > 1) return put_array(lines, packet, layer, f);
  Text& out = lines.out;
  Value value;
  for (unsigned n = 0; read(packet, layer, f, n, value); ++n) {
    lines.begin(layer, &f, n, 1);
    out.spaces(4);
    if (f.kind == Field::Kind::generated) out.put('[');
    if (f.is_number() && f.width > 0) put_bits(out, f, load(packet.data(layer), f));
    out.put(f.title);
    out.put(": ");
    if (value.kind == Value::Kind::bytes && f.show == Show::bytes) {
      const std::size_t shown = std::min(value.bytes.size(), bytes_shown);
      out.hex_bytes(value.bytes.first(shown));
      if (shown < value.bytes.size()) out.put("...");
      out.put(" (");
      out.dec(value.bytes.size());
      out.put(" bytes)");
    } else {
      put_value(out, f, value);
    }
    if (!f.unit.empty()) {
      out.put(' ');
      out.put(f.unit);
    }
    if (!f.names.empty() && f.show != Show::named) {
      const std::string_view known = name_of(f.names, value.number);
      if (!known.empty()) {
        out.put(" (");
        out.put(known);
        out.put(')');
      }
    }
    if (f.kind == Field::Kind::generated) out.put(']');
    out.put('\n');
    if (!f.many) break;
  }
}

// Rows of one finding stand on one line: "[violation Q-02, title: what is wrong]".
bool is_about_finding(const Layer& layer, const Field& f) {
  return layer.header == &header<Analysis> && f.name.starts_with("finding");
}
void put_notes(const Lines& lines, const Packet& packet, const Layer& layer) {
  Text& out = lines.out;
  for (const Note& note : packet.annotations->notes) {
    lines.begin(layer);
    out.spaces(4);
    out.put('[');
    out.put(name_of(note_kinds, note.kind));
    out.put(' ');
    out.put(note.rule);
    out.put(", ");
    out.put(note.title);
    if (note.text != note.title) {
      out.put(": ");
      out.printable(note.text);
    }
    out.put("]\n");
  }
}

// "Base Transport Header: RC RDMA Read Request, QP 0x000011, PSN 5 (12 bytes at 42)"
void put_heading(Text& out, const Packet& packet, const Layer& layer, std::string_view time) {
  if (layer.header == &header<Frame>) {
    out.put("Frame ");
    out.dec(packet.frame.number);
    out.put(": ");
    out.dec(wire_length(packet));
    out.put(" bytes on the wire, ");
    out.dec(captured_length(packet));
    out.put(" captured");
    if (packet.frame.has_time) {
      out.put(", ");
      out.put(time);
    }
    out.put('\n');
    return;
  }
  put_heading(out, packet, layer);
  if (layer.bytes > 0) {
    out.put(" (");
    out.dec(layer.bytes);
    out.put(layer.in_frame() ? " bytes at " : " bytes, begun in the segment before)");
    if (layer.in_frame()) {
      out.dec(layer.at);
      out.put(')');
    }
  }
  out.put('\n');
}

}  // namespace

void put_tree(Text& out, const Packet& packet, std::string_view time, std::vector<TreeLine>* list) {
  const Lines lines{out, list};
  for (const Layer& layer : packet.layers()) {
    lines.begin(layer);
    if (list) list->back().heading = true;
    put_heading(out, packet, layer, time);
    if (layer.header == &header<Events>) {  // each on one line instead of its three fields
      for (unsigned n = 0; n < packet.events().size(); ++n) {
        lines.begin(layer);
        out.spaces(4);
        put_event(out, packet, n, Place::shown);
        out.put('\n');
      }
      continue;
    }
    for (const Field& f : layer.header->fields)
      if (!is_about_finding(layer, f)) put_field(lines, packet, layer, f);
    if (layer.header == &header<Analysis>) put_notes(lines, packet, layer);
  }
}

void put_hex_dump(Text& out, std::span<const std::uint8_t> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    out.hex(at, 4);
    out.put("  ");
    const std::span<const std::uint8_t> line = bytes.subspan(at, std::min<std::size_t>(16, bytes.size() - at));
    for (std::size_t i = 0; i < 16; ++i) {
      if (i < line.size())
        out.hex(line[i], 2);
      else
        out.put("  ");
      out.put(i == 7 ? "  " : " ");
    }
    out.put(' ');
    for (std::uint8_t b : line) out.put(b >= 0x20 && b < 0x7f ? static_cast<char>(b) : '.');
    out.put('\n');
  }
}

}  // namespace rdmascope::dissect
