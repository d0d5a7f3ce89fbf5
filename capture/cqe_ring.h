// A completion queue's memory as the hardware writes it, read beside the driver that polls it: which slot holds the
// completion that was polled last, and what the hardware says there that verbs do not hand on.
// The tables that dissect completions say where that stands.
//
// Reading after polling is safe although polling frees the slots: while the queue has at least as many slots as there
// are receives, a slot is written again only after the buffer of its completion was posted again.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "capture/verbs.h"
#include "dissect/cqe_mlx4.h"
#include "dissect/cqe_mlx5.h"
#include "dissect/cqe_record.h"

namespace rdmascope::capture {

using dissect::CqeFormat;  // mlx4, mlx4_timestamp or mlx5

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
  static bool is_after_loss(std::span<const std::uint8_t> entry) {
    return dissect::View<dissect::Mlx4Cqe>(entry.data()).get<"fcrc_sd">() != 0;
  }
  // One record stands for sending and receiving of the same packet. mlx4 only.
  static bool is_both_ways(std::span<const std::uint8_t> entry) {
    return dissect::View<dissect::Mlx4Cqe>(entry.data()).get<"d2s">() != 0;
  }

 private:
  bool is_mlx5() const { return format_ == CqeFormat::mlx5; }
  bool is_written(const std::uint8_t* slot, std::uint32_t index) const {
    const std::uint8_t* const entry = slot + offset_;
    // The hardware writes the last byte last; what is read after it is there.
    static_cast<void>(__atomic_load_n(entry + (is_mlx5() ? dissect::Mlx5Cqe::bytes : dissect::Mlx4Cqe::bytes) - 1,
                                      __ATOMIC_ACQUIRE));
    const bool turn = (index & memory_.count) != 0;
    if (!is_mlx5()) return (dissect::View<dissect::Mlx4Cqe>(entry).get<"owner">() != 0) == turn;
    return dissect::mlx5_opcode(entry) != dissect::mlx5_invalid &&
           (dissect::View<dissect::Mlx5Cqe>(entry).get<"owner">() != 0) == turn;
  }
  bool is_error(const std::uint8_t* slot) const {
    const std::uint8_t* const entry = slot + offset_;
    if (!is_mlx5()) return dissect::is_mlx4_error(entry);
    return dissect::is_mlx5_error(entry) || dissect::is_mlx5_signature_error(entry);
  }
  std::uint32_t length(const std::uint8_t* slot) const {
    const std::uint8_t* const entry = slot + offset_;
    return static_cast<std::uint32_t>(is_mlx5() ? dissect::View<dissect::Mlx5Cqe>(entry).get<"byte_cnt">()
                                                : dissect::View<dissect::Mlx4Cqe>(entry).get<"byte_cnt">());
  }

  verbs::QueueMemory memory_;
  CqeFormat format_;
  std::uint32_t offset_ = 0, index_ = 0;
};

}  // namespace rdmascope::capture
