// One line per packet: who to whom, which protocol, and what it says in the words of the field.
#pragma once

#include <cstdint>

#include "dissect/packet.h"
#include "dissect/text.h"

namespace rdmascope::dissect {

// What kind of packet it is to a reader; front ends choose colours by it.
enum class Tone : std::uint8_t { plain, acknowledge, nak, rnr, congestion, management, bad_crc, malformed, other };

// The layer with the innermost addresses that are known: IP, GID or LID, else MAC; nullptr: there is none, and nothing
// is written.
const Layer* address_layer(const Packet& packet);
void put_source(Text& out, const Packet& packet, const Layer* addresses);
void put_destination(Text& out, const Packet& packet, const Layer* addresses);

std::string_view protocol(const Packet& packet);
void put_info(Text& out, const Packet& packet);

// The essence of one header for its heading, in the words of put_info: "RC RDMA Read Request, QP 0x000011, PSN 5".
// Nothing is written where the fields say it all.
void put_essence(Text& out, const Packet& packet, const Layer& layer);
// Its title, and behind a colon the same, if there is any: "Base Transport Header: RC Send Only, QP 0x000011".
void put_heading(Text& out, const Packet& packet, const Layer& layer);

// Event n: "infiniband.bth.truncated at byte 42: needs 12 bytes, 11 are left".
enum class Place : bool { left_out, shown };
void put_event(Text& out, const Packet& packet, unsigned n, Place place);

Tone tone(const Packet& packet);

}  // namespace rdmascope::dissect
