// Completion queues: what follows from one completion queue entry to the next. A CQE is no packet of a connection, so
// its state lives here, by (interface of the capture, number of the completion queue) and by queue pair.
//
// Nothing is done for packets until the first entry was seen: a capture without any pays one test of a flag per packet.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include "check/context.h"
#include "dissect/headers.h"

namespace rdmascope::check {

// How a CQE stands to what was seen before.
struct CompletionFacts {
  // The queue.
  std::optional<std::uint32_t> expected_ci;  // after the entry before
  std::uint64_t previous_frame = 0;          // of the queue; 0: none
  bool lost_before = false;                  // entries of this queue are missing since the one before
  bool behind_resize = false;                // the one before ended the ring, and this is of the same ring
  std::optional<std::uint64_t> previous_timestamp;
  // The work queue: one of the two of its queue pair.
  std::optional<std::uint16_t> previous_wqe;
  std::uint64_t previous_wqe_frame = 0;
  bool restarted = false;    // the counter began anew: the queue pair was reset, or is another one
  std::uint32_t in_row = 0;  // steps of one before this one
  // A failure that was no flush, before this entry: of this queue, or of the pair's other one where that matters.
  std::uint64_t failure_frame = 0;  // 0: none
  dissect::Fault failure = dissect::Fault::none;
  bool same_queue = false;   // as the failure
  bool first_flush = false;  // of the queue pair
  // Packets: what the entry should say, and surely does not.
  std::optional<std::uint32_t> immediate;
  std::uint64_t immediate_frame = 0;
};

struct CompletionContext {
  const dissect::Packet& packet;
  dissect::View<dissect::CqeRecord> record;
  const dissect::Completion& entry;
  CompletionFacts facts;

  bool tunnel() const { return record.get<"flags.tunnel">(); }
  bool sniffer() const { return record.get<"flags.sniffer">(); }
  bool has_index() const { return record.get<"flags.index_valid">(); }
  bool is_ethernet() const { return record.get<"flags.link_known">() && record.get<"flags.ethernet">(); }
  bool is_infiniband() const { return record.get<"flags.link_known">() && !record.get<"flags.ethernet">(); }
  std::uint8_t qp_type() const { return static_cast<std::uint8_t>(record.get<"qp_type">()); }
  bool is_mlx4() const {
    return entry.format == dissect::CqeFormat::mlx4 || entry.format == dissect::CqeFormat::mlx4_timestamp;
  }
  bool is_mlx5() const { return entry.format == dissect::CqeFormat::mlx5; }
};

// A READ that completed with success before its response was in the capture, as it turned out at the end.
struct EarlyCompletion {
  std::uint64_t frame = 0;
  std::int64_t time_ns = 0;
  std::uint32_t qpn = 0;
  std::uint64_t completions = 0, answered = 0;  // READs of this queue pair at that time
  std::int64_t tolerance_ns = 0;                // its response may be written that much later than it came
};

class Completions {
 public:
  bool active() const { return active_; }

  // A packet that a receiver would take, after it was followed. Called when active.
  void packet(const Context& c);

  // A completion queue entry: what it says of what was before, and remembers it.
  CompletionFacts entry(const dissect::Packet& packet, const dissect::View<dissect::CqeRecord>& record,
                        const dissect::Completion& entry);

  // After the last frame.
  std::vector<EarlyCompletion> early(std::int64_t last_ns) const;

 private:
  struct Queue {
    std::uint64_t frame = 0;
    std::optional<std::uint32_t> ci, count;  // of the last entry
    std::uint32_t compressed = 0;            // entries of the block it is the title of
    bool resized = false;                    // it ended the ring
    std::uint32_t incarnation = 0, losses = 0;
    std::optional<std::uint64_t> timestamp;
  };
  struct WorkQueue {
    std::optional<std::uint16_t> wqe;
    std::uint64_t frame = 0;
    std::uint16_t largest_step = 0;  // a counter no higher than this may be that of a new queue pair
    std::uint32_t in_row = 0;
    std::uint64_t failure_frame = 0;
    dissect::Fault failure = dissect::Fault::none;
  };
  struct QueuePair {
    WorkQueue queues[2];                        // receive, send
    std::uint32_t incarnation = 0, losses = 0;  // of the completion queue, when this was first seen
    bool known = false, flushed = false;
    bool lost = false;        // completions of it may be missing
    bool from_start = false;  // its first send is in the capture
    std::uint64_t reads = 0;  // that completed
  };
  struct Immediate {
    std::uint32_t value = 0;
    bool is_key = false;  // to invalidate
    std::uint64_t frame = 0;
  };
  // What packets to a queue pair said; by its number alone, since a CQE has no address.
  struct Traffic {
    Address host;
    bool ambiguous = false;             // queue pairs of two hosts have this number
    bool lossy = false;                 // packets are missing
    bool whole = false;                 // its packets were seen from the first on
    bool in_step = false;               // an entry had the immediate data of its packet
    bool behind = false;                // an entry came before its packet
    std::vector<Immediate> immediates;  // that no entry has had yet
    std::uint64_t reads_requested = 0, reads_answered = 0;
    std::vector<EarlyCompletion> waiting, early;
  };
  using QueueKey = std::tuple<std::uint32_t, std::uint32_t>;                // interface, cqn
  using PairKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // and qpn

  void follow_counter(WorkQueue& work, const dissect::Completion& entry, std::uint64_t frame, CompletionFacts& facts,
                      QueuePair& pair);
  Traffic* traffic_to(const Connection& connection, std::uint8_t side, std::uint32_t qpn);
  void hold_against_packets(const dissect::Packet& packet, const dissect::Completion& entry, QueuePair& pair,
                            CompletionFacts& facts, bool one_clock);

  bool active_ = false;
  std::uint64_t first_entry_ = 0;  // frame; packets before were not looked at
  absl::flat_hash_map<QueueKey, Queue> queues_;
  absl::flat_hash_map<PairKey, QueuePair> pairs_;
  absl::node_hash_map<std::uint32_t, Traffic> traffic_;  // a packet is about two of them at once
};

}  // namespace rdmascope::check
