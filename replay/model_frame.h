// Frames of the model: one packet by values, written with the header tables. Separate from the packet builder of the
// scripts, so that a slip in one is not hidden by the same slip in the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/build.h"

namespace rdmascope::replay {

// Which extension headers there are follows from the opcode; their values are read only then.
struct OutPacket {
  std::uint8_t opcode = 0;
  std::uint32_t psn = 0;
  bool solicited = false, ack_request = false;
  std::uint64_t va = 0;                         // RETH, AtomicETH
  std::uint32_t r_key = 0, dma_length = 0;      // RETH, AtomicETH
  std::uint64_t swap_or_add = 0, compare = 0;   // AtomicETH
  std::uint8_t syndrome = 0;                    // AETH
  std::uint32_t msn = 0;                        // AETH
  std::uint64_t original = 0;                   // AtomicAckETH
  std::uint32_t immediate = 0;                  // ImmDt
  std::uint32_t invalidate = 0;                 // IETH
  std::uint32_t q_key = 0, source_qpn = 0;      // DETH
  std::uint8_t placement = 0, selectivity = 0;  // FETH
  std::span<const std::uint8_t> payload;

  // Only mutants touch these.
  std::optional<std::uint16_t> extensions;  // instead of the opcode's
  std::optional<std::uint8_t> pad_count;    // in BTH; the pad itself stays right
  std::uint8_t tver = 0, reserved7 = 0, pad_byte = 0;
  std::uint32_t icrc_xor = 0;
};

std::vector<std::uint8_t> write_frame(const OutPacket& packet, const Path& path, std::uint16_t ip_id);

}  // namespace rdmascope::replay
