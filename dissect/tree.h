// The whole packet for people: every layer, every field down to the bit, events in words; and a hex dump.
#pragma once

#include <string_view>

#include "dissect/packet.h"
#include "dissect/text.h"

namespace rdmascope::dissect {

// Indented lines. `time` is the frame's time as the reader wants it.
void put_tree(Text& out, const Packet& packet, std::string_view time);

// "0000  02 00 ...  ascii" lines.
void put_hex_dump(Text& out, std::span<const std::uint8_t> bytes);

}  // namespace rdmascope::dissect
