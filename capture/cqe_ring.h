// A completion queue's memory as the hardware writes it, read beside the driver that polls it: which slot holds the
// completion that was polled last, and what the hardware says there that verbs do not hand on.
// mlx4: byte 31 holds owner (80), send (40) and opcode (1f); dword 0 holds SD (bit 27) and d2s (26) in the completions
// of a sniffer. mlx5: byte 63 holds opcode (f0) and owner (01).
//
// Reading after polling is safe although polling frees the slots: while the queue has at least as many slots as there
// are receives, a slot is written again only after the buffer of its completion was posted again.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "capture/bytes.h"
#include "capture/verbs.h"

namespace rdmascope::capture {

enum class CqeFormat : std::uint8_t { mlx4 = 1, mlx4_time = 2, mlx5 = 3 };  // the numbers of the record, cqe_record.h

class CqeRing {
 public:
  CqeRing(const verbs::QueueMemory& memory, CqeFormat format) : memory_(memory), format_(format) {
    const bool second_half = format == CqeFormat::mlx5 ? memory.stride == 128 : memory.stride == 64;
    offset_ = second_half ? memory.stride / 2 : 0;
  }

  const verbs::QueueMemory& memory() const { return memory_; }
  CqeFormat format() const { return format_; }
  std::uint32_t offset() const { return offset_; }  // of the entry in its slot
  std::uint32_t index() const { return index_; }    // of the next completion, counted since the queue was made

  // The slot of the completion that was polled just now, `bytes` long, or failed. Empty: the memory does not show it.
  std::span<const std::uint8_t> take(bool succeeded, std::uint32_t bytes) {
    // Entries that the driver kept to itself are passed over; there should be none.
    for (std::uint32_t skip = 0; skip < 8; ++skip) {
      const std::uint32_t index = index_ + skip;
      const std::uint8_t* const slot = memory_.slots + std::size_t{index & (memory_.count - 1)} * memory_.stride;
      if (!is_written(slot, index)) break;
      const bool error = is_error(slot);
      if (error == succeeded || (succeeded && length(slot) != bytes)) continue;
      index_ = index + 1;
      return {slot, memory_.stride};
    }
    // Keeps in step as well as it can.
    ++index_;
    return {};
  }

  // Packets were lost before this one, for want of buffers. mlx4 only.
  static bool is_after_loss(std::span<const std::uint8_t> entry) { return (entry[0] & 0x08) != 0; }
  // One record stands for sending and receiving of the same packet. mlx4 only.
  static bool is_both_ways(std::span<const std::uint8_t> entry) { return (entry[0] & 0x04) != 0; }

 private:
  // The hardware writes the last byte last.
  std::uint8_t last_byte(const std::uint8_t* slot) const {
    const std::uint8_t* const at = slot + offset_ + (format_ == CqeFormat::mlx5 ? 63 : 31);
    const std::uint8_t value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    return value;
  }
  bool is_written(const std::uint8_t* slot, std::uint32_t index) const {
    const std::uint8_t last = last_byte(slot);
    const bool turn = (index & memory_.count) != 0;
    if (format_ == CqeFormat::mlx5) return last >> 4 != 15 && ((last & 1) != 0) == turn;
    return ((last & 0x80) != 0) == turn;
  }
  bool is_error(const std::uint8_t* slot) const {
    const std::uint8_t last = last_byte(slot);
    return format_ == CqeFormat::mlx5 ? last >> 4 >= 12 && last >> 4 <= 14 : (last & 0x1f) == 0x1e;
  }
  std::uint32_t length(const std::uint8_t* slot) const {
    return load32(slot + offset_ + (format_ == CqeFormat::mlx5 ? 44 : 20), true);
  }

  verbs::QueueMemory memory_;
  CqeFormat format_;
  std::uint32_t offset_ = 0, index_ = 0;
};

}  // namespace rdmascope::capture
