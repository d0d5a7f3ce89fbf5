// Packets out of pasted text: bare hex in any spelling, tcpdump -x/-xx/-X/-XX, tshark -x and Wireshark's hex dump copy,
// od, xxd, hexdump -C, C arrays, kernel dumps of completion entries (cqe_log.h) and management datagrams in traces
// (mad_log.h). The form is recognised line by line.
//
// What starts a packet: offset 0, an empty line, a tcpdump or tshark summary line. Offsets must be seamless, so a lost
// or damaged line is an error, never a packet with a hole. Lines starting with # or // are comments and separate
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rdmascope::capture {

inline constexpr std::size_t max_hex_packet_bytes = 256 * 1024;
inline constexpr std::size_t max_hex_total_bytes = 16 * 1024 * 1024;
inline constexpr std::size_t max_hex_packets = 256 * 1024;

struct HexPacket {
  std::vector<std::uint8_t> bytes;
  std::size_t line = 0;  // where its first byte stands, from 1

  // From a tcpdump summary line, else nullopt. A date (-tttt) is taken as UTC, since the text does not name its zone; a
  // time of day alone counts from 1970-01-01, so that differences are right.
  std::optional<std::int64_t> time_ns;

  // tcpdump -x and -X leave the link header out and look like -xx and -XX otherwise. True: tcpdump text whose bytes
  // start with an IP header.
  bool without_link_header_hint = false;

  // What the text around says the bytes are, as decode --as takes it ("cqe:mlx5"); in static storage, empty: nothing.
  std::string_view start_hint;
};

// At least one packet, each with at least one byte; or a sentence that names line, column and the characters at fault.
Result<std::vector<HexPacket>> read_hex_text(std::string_view text);

}  // namespace rdmascope::capture
