// One queue pair of the model: what requester and responder share. Time comes from outside, with every call.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "check/psn.h"
#include "dissect/headers.h"
#include "replay/dut.h"
#include "replay/model_frame.h"
#include "replay/mutant.h"

namespace rdmascope::replay {

using check::psn_add;
using check::psn_diff;
using check::psn_mask;

// A packet that has passed everything that is dropped without a word: ICRC, version, P_Key, queue pair, address.
struct InPacket {
  const dissect::Packet& packet;
  const dissect::Opcode& opcode;
  std::uint8_t operation;  // low five bits of the opcode
  bool ack_request;
  std::uint32_t psn;
  std::span<const std::uint8_t> payload;
};

// Low five bits of opcodes (dissect/opcodes.h) that the model tells apart.
namespace operation {
inline constexpr std::uint8_t send_first = 0x00, send_middle = 0x01, send_last = 0x02, send_last_immediate = 0x03,
                              send_only = 0x04, send_only_immediate = 0x05, write_first = 0x06, write_middle = 0x07,
                              write_last = 0x08, write_last_immediate = 0x09, write_only = 0x0a,
                              write_only_immediate = 0x0b, read_request = 0x0c, read_response_first = 0x0d,
                              read_response_middle = 0x0e, read_response_last = 0x0f, read_response_only = 0x10,
                              acknowledge = 0x11, atomic_acknowledge = 0x12, compare_swap = 0x13, fetch_add = 0x14,
                              send_last_invalidate = 0x16, send_only_invalidate = 0x17, flush = 0x1c,
                              atomic_write = 0x1d;
}  // namespace operation

inline constexpr std::uint8_t nak_sequence = 0x60, nak_invalid_request = 0x61, nak_access = 0x62,
                              nak_operational = 0x63, syndrome_rnr = 0x20;

struct QueuePair {
  ChannelOptions options;
  Channel channel;
  Path path;  // to the tester
  Mutant mutant = 0;
  bool atomics = true, invalidate = true, flush = true, atomic_write = true;
  std::uint32_t port_mtu = 4096;
  std::vector<std::uint8_t> local, remote;
  bool remote_key_valid = true;
  QpState state = QpState::ready;
  std::int64_t now_ns = 0;
  std::deque<Completion> completions;
  std::function<void(const OutPacket&)> emit;
  std::function<void()> fail;  // to the error state, with all that is posted

  template <dissect::Name name>
  bool is() const {
    return mutant == replay::mutant<name>();
  }
  std::uint8_t opcode(std::uint8_t operation) const {
    constexpr std::uint8_t classes[] = {0x00, 0x20, 0x60};
    return static_cast<std::uint8_t>(classes[static_cast<std::size_t>(options.service)] | operation);
  }
  // PSNs a message takes: one per packet of its data, at least one.
  std::uint32_t psns_of(std::uint32_t length) const {
    return length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{length} + options.pmtu - 1) / options.pmtu);
  }
  void complete(Completion completion) {
    completion.time_ns = now_ns;
    completions.push_back(std::move(completion));
  }
};

// Memory is that of a little-endian machine, whatever this one is.
inline std::uint64_t load_host(const std::uint8_t* p) {
  std::uint64_t v = 0;
  for (unsigned i = 8; i-- > 0;) v = v << 8 | p[i];
  return v;
}
inline void store_host(std::uint8_t* p, std::uint64_t v) {
  for (unsigned i = 0; i < 8; ++i) p[i] = static_cast<std::uint8_t>(v >> 8 * i);
}
constexpr std::uint64_t turned_around(std::uint64_t v) {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < 8; ++i) out = out << 8 | (v >> 8 * i & 0xff);
  return out;
}

}  // namespace rdmascope::replay
