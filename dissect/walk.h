// Bytes to layers: reads a frame header by header, each saying which comes next.
//
// Lengths come from the headers (IP, UDP, PktLen, PayLen), never from the captured length: Ethernet pads short frames,
// captures may hold an FCS or be cut. Where headers contradict each other or the capture, an event says so and decoding
// goes on with the tighter bound.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "dissect/packet.h"
#include "dissect/udp.h"

namespace rdmascope::dissect {

struct Walk;
struct Next {
  Next (*step)(Walk&) = nullptr;  // nullptr: done
};

// A header a frame may start with, for link types and `--as`.
struct Start {
  std::string_view name;  // "eth", "ip", "infiniband.lrh", ...
  Next first;
};

// What the user says a UDP port carries.
struct DecodeAs {
  std::uint16_t port = 0;
  const Start* start = nullptr;
};

struct WalkOptions {
  // UDP destination ports that carry RoCEv2. The first roce_port_count are used.
  std::array<std::uint16_t, 16> roce_ports{port_roce_v2};
  std::size_t roce_port_count = 1;
  // What UDP datagrams to or from these ports start with. The first decode_as_count are used.
  std::array<DecodeAs, 16> decode_as_ports{};
  std::size_t decode_as_count = 0;
  // What USER0..USER15 (link types 147 to 162) start with; nullptr: unknown bytes.
  std::array<const Start*, 16> user_links{};
  // Start here whatever the link type says.
  const Start* start = nullptr;
  // Or: read this one header and show what follows as bytes. For headers that are no Start.
  const Header* only = nullptr;
  // IP protocol number that carries BTH directly (old non-standard gear); 0: none.
  std::uint8_t bth_ip_protocol = 0;
  // Opcodes 0x40 to 0x5F are vendor DC instead of RD; what follows BTH is then not decoded.
  bool rd_is_dc = false;

  bool add_roce_port(std::uint16_t port);  // false: list full
  // Also takes the port off those that carry RoCE. False: list full.
  bool decode_as(std::uint16_t port, const Start* start);
  const Start* decoded_as(std::uint16_t port) const {
    for (std::size_t i = 0; i < decode_as_count; ++i)
      if (decode_as_ports[i].port == port) return decode_as_ports[i].start;
    return nullptr;
  }
  bool is_roce_port(std::uint16_t port) const {
    for (std::size_t i = 0; i < roce_port_count; ++i)
      if (roce_ports[i] == port) return true;
    return false;
  }
};

// Fills `packet` anew. `bytes` must stay where they are as long as the packet is used. packet.frame must be set before.
void walk(Packet& packet, std::span<const std::uint8_t> bytes, const WalkOptions& options);

// Starts by name: a header with followers ("eth", "ip", "ipv6", "infiniband.lrh", "infiniband.grh", "infiniband.bth",
// "sll", "erf", ...), or nullptr.
const Start* find_start(std::string_view name);
std::span<const Start> all_starts();

// Name of a LINKTYPE_ number this walker knows ("ETHERNET"), or an empty view; and the number of a name (any case, with
// or without "LINKTYPE_"), or -1.
std::string_view link_type_name(std::uint16_t link_type);
int link_type_by_name(std::string_view name);

}  // namespace rdmascope::dissect
