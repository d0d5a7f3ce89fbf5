// Control messages of AWS CDI made of their fields, and read back as a receiver does. cdi-probe.md sections 2 and 3.6.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/cdi.h"

namespace rdmascope::replay {

// "2.3.5": what a message is encoded with, and what two ends agree on.
struct CdiVersion {
  std::uint8_t version = 0, major = 0, probe = 0;
  auto operator<=>(const CdiVersion&) const = default;
  bool is_v1() const { return version <= 1; }  // its layout
};
inline constexpr CdiVersion cdi_sdk_2_4_1 = {2, 2, 5}, cdi_sdk_head = {2, 3, 5};
// No later SDK takes a message of this one.
inline constexpr CdiVersion cdi_refused = {2, 0, 0};
std::string to_text(const CdiVersion& version);
std::optional<CdiVersion> parse_cdi_version(std::string_view text);
// What a program of version `own` agrees on with `remote`. Section 3.6.
CdiVersion negotiate(const CdiVersion& own, const CdiVersion& remote);

// Where a peer is on EFA, as senders_gid_array has it. Section 2.5.
using CdiAdapter = std::array<std::uint8_t, dissect::cdi_address_bytes>;
CdiAdapter efa_adapter(std::span<const std::uint8_t, 16> gid, std::uint16_t qpn, std::uint32_t qkey);

struct CdiMessage {
  CdiVersion version;
  std::uint32_t command = 0;
  std::string ip;    // senders_ip_str
  std::string name;  // senders_stream_name_str
  CdiAdapter adapter{};
  std::int32_t stream = -1;  // V1
  std::uint16_t port = 0;    // senders_control_dest_port
  std::uint16_t number = 0;  // control_packet_num
  std::uint8_t requires_ack = 0;
  std::uint32_t ack_command = 0;  // of an Ack, in place of requires_ack
  std::uint16_t ack_number = 0;
};
std::vector<std::uint8_t> build(const CdiMessage& message);
// Writes the right checksum into a message that was changed. All bytes of it must be there.
void seal_cdi(std::span<std::uint8_t> message);
std::uint32_t cdi_checksum_at(const std::uint8_t* message);  // first byte of it
std::string_view cdi_command_name(std::uint32_t command);    // "Reset"; empty: unknown

// Why a receiver drops a datagram, in the order in which it looks. Section 2.4.
enum class CdiFault : std::uint8_t { none, too_short, refused_version, bad_checksum, bad_length };
std::string_view text(CdiFault fault);
// Step 5 of section 2.4: a message with an unknown command is not dropped, and its length is not looked at.
CdiFault read_cdi(std::span<const std::uint8_t> datagram, CdiMessage& out);

}  // namespace rdmascope::replay
