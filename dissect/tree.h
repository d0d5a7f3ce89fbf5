// The whole packet for people: every layer, every field down to the bit, events in words; and a hex dump.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "dissect/packet.h"
#include "dissect/text.h"

namespace rdmascope::dissect {

// A line of the tree: where it begins in the text, and what it is about.
struct TreeLine {
  std::size_t at;
  const Layer* layer;
  const Field* field;  // nullptr: the heading of a layer, an event or a finding
  unsigned first, count;  // values of the field on this line
  bool heading;
};

// Indented lines. `time` is the frame's time as the reader wants it. `lines` tells which line is what, for those who
// show more than text.
void put_tree(Text& out, const Packet& packet, std::string_view time, std::vector<TreeLine>* lines = nullptr);

// "0000  02 00 ...  ascii" lines.
void put_hex_dump(Text& out, std::span<const std::uint8_t> bytes);

}  // namespace rdmascope::dissect
