// Any bytes as a frame of any link type -> walk -> every field of every layer as JSON, tree and summary text.
// Input: link type (2 bytes), flags, wire length beyond the captured one, then the frame.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dissect/json.h"
#include "dissect/summary.h"
#include "dissect/tree.h"
#include "dissect/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmascope::dissect;
  if (size < 4) return 0;
  static Packet packet;
  static Text text;
  WalkOptions options;
  const std::uint8_t flags = data[2];
  options.add_roce_port(4792);
  options.decode_as(2000, find_start("cdi"));
  if (flags & 1) options.start = &all_starts()[(flags >> 1) % all_starts().size()];
  if (flags & 64) options.rd_is_dc = true;
  if (flags & 128) options.bth_ip_protocol = 254;
  packet.frame = {};
  packet.frame.number = 1;
  packet.frame.link_type = static_cast<std::uint16_t>(data[0] << 8 | data[1]);
  if (data[3] == 255) packet.frame.fcs_bytes = 4;
  const std::span<const std::uint8_t> frame(data + 4, size - 4);
  packet.frame.wire_bytes = data[3] == 254 ? 0xffffffff : static_cast<std::uint32_t>(frame.size() + data[3] % 16);
  if (data[3] == 253) packet.frame.options = frame;
  walk(packet, frame, options);

  for (const Layer& layer : packet.layers())
    if (layer.at > frame.size() || layer.bytes > frame.size() - layer.at) std::abort();
  text.clear();
  put_json(text, packet, {true});
  put_tree(text, packet, "0");
  put_source(text, packet, address_layer(packet));
  put_destination(text, packet, address_layer(packet));
  put_info(text, packet);
  put_hex_dump(text, frame);
  static_cast<void>(tone(packet));
  static_cast<void>(protocol(packet));
  return 0;
}
