// Packets from values by name, with the same tables that dissect them. What is not set is filled in: headers by opcode,
// lengths, pad, addresses, checksums, ICRC, VCRC. What is set goes out as set, however wrong.
//
//   Draft draft(0x0d);                                  // RC_RDMA_READ_RESPONSE_FIRST: BTH, AETH
//   draft.set("bth.psn", 5); draft.set("aeth.msn", 1);  // "infiniband." may be left out
//   draft.payload = data;
//   Result<std::vector<std::uint8_t>> frame = draft.build(path);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dissect/field.h"
#include "dissect/packet.h"
#include "replay/wire.h"

namespace rdmascope::replay {

bool is_ipv4(const IpAddress& address);
// Of a header whose checksum bytes are zero. RFC 1071.
std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes);

// What stands around a transport packet, and what it is filled with where a draft says nothing.
enum class Wrap : std::uint8_t {
  roce_v2,     // IPv4 or IPv6, as the addresses are, and UDP
  roce_v1,     // GRH behind Ethernet
  infiniband,  // LRH, no GRH, VCRC at the end
};

struct Path {
  Wrap wrap = Wrap::roce_v2;
  std::uint16_t link_type = 101;  // of the wire: 101 starts with IP, 1 with Ethernet, 247 with LRH
  IpAddress source{}, destination{};
  MacAddress source_mac{}, destination_mac{};
  std::optional<std::uint16_t> vlan;  // id
  std::uint16_t source_port = 0xc000;
  std::uint16_t source_lid = 0, destination_lid = 0;
  std::uint32_t destination_qpn = 0;
  std::uint16_t p_key = 0xffff;
};

class Draft {
 public:
  explicit Draft(std::uint8_t opcode);
  // A captured packet once more: every header from BTH on, payload and pad; what stands before BTH is made anew. It
  // must have a BTH.
  explicit Draft(const dissect::Packet& packet);

  // Field names as in filters: "infiniband.bth.psn", or short "bth.psn"; "ip.ttl", "udp.dstport",
  // "infiniband.invariant.crc". A field of a header that the opcode does not call for adds the header where it
  // belongs. Errors: no such field, or a value wider than the field.
  Result<void> set(std::string_view field, std::uint64_t value);
  Result<void> set(std::string_view field, std::span<const std::uint8_t> bytes);
  bool is_set(std::string_view field) const;

  // Headers behind BTH by name ("aeth", "reth", ...), none missing and none more, instead of what the opcode calls for.
  Result<void> headers(std::span<const std::string_view> names);

  std::vector<std::uint8_t> payload;
  std::optional<std::vector<std::uint8_t>> pad;  // not set: as many zeros as make a multiple of four
  std::uint32_t icrc_xor = 0;                    // the right ICRC with these bits flipped, as the field shows it
  std::uint32_t cut_bytes = 0;                   // taken off the end of the frame; lengths in headers stay

  std::uint8_t opcode() const { return opcode_; }
  Result<std::vector<std::uint8_t>> build(const Path& path) const;

 private:
  struct Setting {
    const dissect::Header* header;
    const dissect::Field* field;
    std::uint64_t number;
    std::vector<std::uint8_t> bytes;
  };
  std::uint8_t opcode_;
  std::vector<Setting> settings_;
  std::optional<std::vector<const dissect::Header*>> extensions_;
};

// The opcode of a name ("RC_RDMA_READ_REQUEST", any case, or short as in the specification: "RC_READ_REQUEST").
std::optional<std::uint8_t> opcode_by_name(std::string_view name);

}  // namespace rdmascope::replay
