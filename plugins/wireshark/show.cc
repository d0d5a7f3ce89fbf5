#include "plugins/wireshark/show.h"

#include <algorithm>

#include "dissect/headers.h"
#include "dissect/summary.h"
#include "dissect/text.h"
#include "plugins/wireshark/fields.h"

namespace rdmascope::wireshark {
namespace {

using namespace dissect;

Text& buffer() {
  static Text text;
  return text;
}

const char* ended(Text& text) {
  text.put('\0');
  return text.view().data();
}

// Where a value lies in the frame; 0 bytes at the layer's place for what is computed.
struct Place {
  int at, bytes;
};

Place place_of(const Layer& layer, const Field& f, unsigned n, const Value& value) {
  if (f.kind == Field::Kind::generated || !layer.in_frame())
    return {layer.in_frame() ? static_cast<int>(layer.at) : 0, 0};
  const unsigned bit = f.at + n * f.stride;
  const int at = static_cast<int>(layer.at + bit / 8);
  if (value.kind == Value::Kind::bytes) return {at, static_cast<int>(value.bytes.size())};
  return {at, static_cast<int>((bit % 8 + f.width + 7) / 8)};
}

// What Wireshark wants for a field with a mask: all bytes that hold a bit of it, as a number.
std::uint64_t container(const std::uint8_t* p, int bytes) {
  std::uint64_t v = 0;
  for (int i = 0; i < bytes; ++i) v = v << 8 | p[i];
  return v;
}

proto_item* add_number(proto_tree* tree, int hf, tvbuff_t* tvb, Place where, const Packet& packet, const Layer& layer,
                       const Field& f, std::uint64_t value) {
  const header_field_info* const known = proto_registrar_get_nth(static_cast<guint>(hf));
  if (known->bitmask != 0) value = container(packet.data(layer) + f.at / 8, where.bytes);
  switch (known->type) {
    case FT_BOOLEAN:
      return proto_tree_add_boolean(tree, hf, tvb, where.at, where.bytes, static_cast<std::uint32_t>(value));
    case FT_UINT40:
    case FT_UINT48:
    case FT_UINT56:
    case FT_UINT64:
      return proto_tree_add_uint64(tree, hf, tvb, where.at, where.bytes, value);
    default:
      return proto_tree_add_uint(tree, hf, tvb, where.at, where.bytes, static_cast<std::uint32_t>(value));
  }
}

proto_item* add_bytes(proto_tree* tree, int hf, tvbuff_t* tvb, Place where, const Field& f, const std::uint8_t* bytes,
                      std::size_t size) {
  switch (f.show) {
    case Show::mac:
      return proto_tree_add_ether(tree, hf, tvb, where.at, where.bytes, bytes);
    case Show::ipv4: {
      std::uint32_t address;
      std::memcpy(&address, bytes, sizeof address);  // Wireshark keeps the order of the wire
      return proto_tree_add_ipv4(tree, hf, tvb, where.at, where.bytes, address);
    }
    case Show::ipv6: {
      ws_in6_addr address;
      std::memcpy(&address, bytes, sizeof address);
      return proto_tree_add_ipv6(tree, hf, tvb, where.at, where.bytes, &address);
    }
    default:
      return proto_tree_add_bytes_with_length(tree, hf, tvb, where.at, where.bytes, bytes, static_cast<int>(size));
  }
}

// False: there is no such value.
bool show_value(proto_tree* tree, tvbuff_t* tvb, const Packet& packet, const Layer& layer, const Field& f, unsigned n,
                int hf) {
  Value value;
  if (!read(packet, layer, f, n, value)) return false;
  const Place where = place_of(layer, f, n, value);
  proto_item* item = nullptr;
  switch (value.kind) {
    case Value::Kind::number:
      item = add_number(tree, hf, tvb, where, packet, layer, f, value.number);
      break;
    case Value::Kind::bytes:
      item = add_bytes(tree, hf, tvb, where, f, value.bytes.data(), value.bytes.size());
      break;
    case Value::Kind::text:
      item = proto_tree_add_string(tree, hf, tvb, where.at, where.bytes, printable_text(value.text));
      break;
  }
  if (f.kind == Field::Kind::generated) proto_item_set_generated(item);
  return true;
}

void show_row(proto_tree* tree, tvbuff_t* tvb, const Packet& packet, const Layer& layer, const Field& f, int hf) {
  for (unsigned n = 0; show_value(tree, tvb, packet, layer, f, n, hf) && f.many; ++n) {
  }
}

// The two rows that Wireshark has its own way to show: the number, and whether it is right.
void show_crc(proto_tree* tree, packet_info* pinfo, tvbuff_t* tvb, const Layer& layer, const Crc& crc,
              const Registered& numbers, int bytes) {
  const int number = numbers.hf[0], status = numbers.hf[1];
  const unsigned flags =
      crc.status == CrcStatus::bad || crc.status == CrcStatus::good ? PROTO_CHECKSUM_VERIFY : PROTO_CHECKSUM_NO_FLAGS;
  if (static_cast<int>(layer.bytes) >= bytes)
    proto_tree_add_checksum(tree, tvb, layer.at, number, status, nullptr, pinfo, crc.expected, ENC_BIG_ENDIAN, flags);
  else
    proto_item_set_generated(
        proto_tree_add_uint(tree, status, tvb, static_cast<int>(layer.at), 0, static_cast<std::uint32_t>(crc.status)));
}

}  // namespace

const char* printable_text(std::string_view text) {
  buffer().clear();
  buffer().printable(text);
  return ended(buffer());
}

const char* heading_text(const Packet& packet, const Layer& layer) {
  buffer().clear();
  put_heading(buffer(), packet, layer);
  return ended(buffer());
}

const char* protocol_text(const Packet& packet) { return printable_text(protocol(packet)); }

const char* info_text(const Packet& packet) {
  buffer().clear();
  put_info(buffer(), packet);
  return ended(buffer());
}

void show_row(proto_tree* tree, tvbuff_t* tvb, const Packet& packet, const Layer& layer, const Field& field) {
  const Registered* const numbers = registered(*layer.header);
  if (numbers) show_row(tree, tvb, packet, layer, field, numbers->hf[&field - layer.header->fields.data()]);
}

void show_value(proto_tree* tree, tvbuff_t* tvb, const Packet& packet, const Layer& layer, const Field& field,
                unsigned n) {
  const Registered* const numbers = registered(*layer.header);
  if (numbers) show_value(tree, tvb, packet, layer, field, n, numbers->hf[&field - layer.header->fields.data()]);
}

void show_rows(proto_tree* tree, packet_info* pinfo, tvbuff_t* tvb, const Packet& packet, const Layer& layer) {
  const Registered* const numbers = registered(*layer.header);
  if (!numbers) return;
  const bool is_icrc = layer.header == &header<Icrc>, is_vcrc = layer.header == &header<Vcrc>;
  if (is_icrc || is_vcrc)
    show_crc(tree, pinfo, tvb, layer, is_icrc ? packet.icrc() : packet.vcrc(), *numbers, layer.header->bytes);
  for (std::size_t i = is_icrc || is_vcrc ? 2 : 0; i < layer.header->fields.size(); ++i)
    show_row(tree, tvb, packet, layer, layer.header->fields[i], numbers->hf[i]);
}

void show_layer(proto_tree* tree, packet_info* pinfo, tvbuff_t* tvb, const Packet& packet, const Layer& layer) {
  const Registered* const numbers = registered(*layer.header);
  if (!numbers) return;
  const int at = layer.in_frame() ? static_cast<int>(layer.at) : 0;
  const int bytes = layer.in_frame() ? static_cast<int>(layer.bytes) : 0;
  proto_tree* const below =
      proto_tree_add_subtree(tree, tvb, at, bytes, numbers->ett, nullptr, heading_text(packet, layer));
  show_rows(below, pinfo, tvb, packet, layer);
}

}  // namespace rdmascope::wireshark
