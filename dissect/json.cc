#include "dissect/json.h"

#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

void put_json_value(Text& out, const Field& f, const Value& value) {
  switch (f.show) {
    case Show::flag:
      out.put(value.number ? std::string_view("true") : std::string_view("false"));
      return;
    case Show::dec:
    case Show::hex:
    case Show::reserved:
      if (f.width > 53) break;
      out.dec(value.number);
      return;
    case Show::text:
      out.put('"');
      out.json_escaped(value.text);
      out.put('"');
      return;
    default:
      break;
  }
  out.put('"');
  put_value(out, f, value);
  out.put('"');
}

void put_key(Text& out, std::string_view name) {
  out.put('"');
  out.put(name);
  out.put("\":");
}

}  // namespace

void put_json(Text& out, const Packet& packet, const JsonOptions& options) {
  out.put('{');
  const std::span<const Layer> layers = packet.layers();
  Value value;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const Header& h = *layer.header;
    const bool goes_on = h.annotation && i > 0 && layers[i - 1].header->name == h.name;  // events and analysis
    if (goes_on) {
      out.truncate(out.size() - 1);  // the brace
    } else {
      if (i > 0) out.put(',');
      out.put('"');
      out.put(h.name);
      unsigned same = 1;
      for (std::size_t k = 0; k < i; ++k) same += layers[k].header == &h;
      if (same > 1) {
        out.put('#');
        out.dec(same);
      }
      out.put("\":{");
    }
    const std::size_t start = goes_on ? 0 : out.size();
    for (const Field& f : h.fields) {
      const bool unstructured = f.kind == Field::Kind::rest && h.bytes == 0;
      if (unstructured) {
        if (out.size() > start) out.put(',');
        put_key(out, "length");
        out.dec(layer.bytes);
        if (!options.bytes) continue;
      }
      if (!read(packet, layer, f, 0, value)) continue;
      if (out.size() > start) out.put(',');
      put_key(out, f.name);
      if (f.many) {
        out.put('[');
        unsigned n = 0;
        do {
          if (n > 0) out.put(',');
          put_json_value(out, f, value);
        } while (read(packet, layer, f, ++n, value));
        out.put(']');
        continue;
      }
      put_json_value(out, f, value);
      if (f.names.empty() || f.show == Show::named) continue;
      const std::string_view known = name_of(f.names, value.number);
      if (known.empty()) continue;
      out.put(",\"");
      out.put(f.name);
      out.put("_name\":\"");
      out.put(known);
      out.put('"');
    }
    out.put('}');
  }
  out.put('}');
}

}  // namespace rdmascope::dissect
