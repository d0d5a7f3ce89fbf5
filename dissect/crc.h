// Invariant and variant CRC of InfiniBand packets: the two trailing fields, and how they are computed.
// ib-wire.md section 5. Both stand on the wire least significant byte first; the fields read them big-endian, as the
// specification prints them and as Wireshark shows them.
#pragma once

#include <cstdint>
#include <span>

#include "dissect/packet.h"

namespace rdmascope::dissect {

// Fields of the Icrc layer that come from the packet's verdict.
bool icrc_status(const Packet&, const Layer&, unsigned n, Value&);
bool icrc_expected(const Packet&, const Layer&, unsigned n, Value&);
bool icrc_reason(const Packet&, const Layer&, unsigned n, Value&);
bool vcrc_status(const Packet&, const Layer&, unsigned n, Value&);
bool vcrc_expected(const Packet&, const Layer&, unsigned n, Value&);
bool vcrc_reason(const Packet&, const Layer&, unsigned n, Value&);

// The layer is there with 0 bytes when the capture was cut before the CRC: its verdict then is "Unverified".
struct Icrc {
  static constexpr std::string_view name = "infiniband.invariant", title = "Invariant CRC";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields =
      layout(bytes, {
                        {"crc", 32, Show::hex, "Invariant CRC"},
                        generated("crc.status", Show::named, "Invariant CRC status", icrc_status, crc_statuses),
                        generated("crc.expected", Show::hex, "Invariant CRC expected", icrc_expected),
                        generated("crc.reason", Show::text, "Invariant CRC not verified because", icrc_reason),
                    });
};

struct Vcrc {
  static constexpr std::string_view name = "infiniband.variant", title = "Variant CRC";
  static constexpr std::uint32_t bytes = 2;
  static constexpr auto fields =
      layout(bytes, {
                        {"crc", 16, Show::hex, "Variant CRC"},
                        generated("crc.status", Show::named, "Variant CRC status", vcrc_status, crc_statuses),
                        generated("crc.expected", Show::hex, "Variant CRC expected", vcrc_expected),
                        generated("crc.reason", Show::text, "Variant CRC not verified because", vcrc_reason),
                    });
};

// The ICRC of a packet, as a number read big-endian from the wire. `covered` starts at the LRH, GRH or IP header and
// ends before the ICRC; `bth` is the offset of BTH in it. The masked header is copied once, payload bytes are read in
// place. `covered` must hold BTH; at most 256 bytes may stand before the end of BTH, else 0 and false.
bool compute_icrc(Envelope envelope, std::span<const std::uint8_t> covered, std::size_t bth, std::uint32_t& icrc);

// The VCRC over all bytes from LRH through ICRC, as a number read big-endian from the wire.
std::uint16_t compute_vcrc(std::span<const std::uint8_t> covered);

}  // namespace rdmascope::dissect
