// A dissected packet as items of Wireshark's tree. Wireshark may leave any of these calls by a jump that runs no
// destructor, so nothing in show.cc owns anything: text goes to a buffer that outlives the call.
#pragma once

#include "dissect/packet.h"
#include "plugins/wireshark/compat.h"

namespace rdmascope::wireshark {

// The layer with a subtree and all its rows. `tvb` holds the bytes that were walked.
void show_layer(proto_tree* tree, packet_info* pinfo, tvbuff_t* tvb, const dissect::Packet& packet,
                const dissect::Layer& layer);
// Its rows alone, below `tree`.
void show_rows(proto_tree* tree, packet_info* pinfo, tvbuff_t* tvb, const dissect::Packet& packet,
               const dissect::Layer& layer);
// One of them.
void show_row(proto_tree* tree, tvbuff_t* tvb, const dissect::Packet& packet, const dissect::Layer& layer,
              const dissect::Field& field);
// Value `n` of one.
void show_value(proto_tree* tree, tvbuff_t* tvb, const dissect::Packet& packet, const dissect::Layer& layer,
                const dissect::Field& field, unsigned n);

// The packet's line in the list: protocol and what it says. Valid until the next call.
const char* protocol_text(const dissect::Packet& packet);
const char* info_text(const dissect::Packet& packet);
// The title of a layer and what it says in short.
const char* heading_text(const dissect::Packet& packet, const dissect::Layer& layer);
// Ends with a zero; control characters and bytes that are no UTF-8 are escaped.
const char* printable_text(std::string_view text);

}  // namespace rdmascope::wireshark
