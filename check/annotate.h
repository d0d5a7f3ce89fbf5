// From what the checker tells to annotations of frames: each packet's connection and message, request and response, and
// the findings on it. A Listener; ask the checker for packets and messages.
//
// With two readings, the first fills this and the second shows it: 24 bytes per RDMA frame, 64 per control message of
// CDI, and each finding. With one
// reading only the frames of the last batch are kept, and only what was known when the packet came.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "check/checker.h"
#include "dissect/annotations.h"

namespace rdmascope::check {

class Annotator final : public Listener {
 public:
  enum class Readings : std::uint8_t { one, two };
  explicit Annotator(Readings readings) : readings_(readings) {}

  void packet(const PacketFacts& facts) override;
  void waits(std::uint64_t frame, std::uint32_t connection) override { waiting_.push_back({frame, connection}); }
  void mad(const MadContext& c) override;
  void cdi(const CdiContext& c) override;
  void message(const Connection& connection, std::uint8_t side, const Message& message) override;
  void finding(const Finding& finding, const Connection* connection) override;
  void ended(const Connection& connection) override;

  // One reading: before each batch.
  void forget();
  // Two readings: when the checker has finished.
  void settle();

  // What is known of a frame. Several threads may ask, while nothing is added.
  dissect::Annotations of(std::uint64_t frame) const;

 private:
  // A frame with an InfiniBand transport header. Numbers beyond 32 bits are not kept.
  struct Record {
    std::uint32_t frame;
    std::uint32_t flow;
    std::uint32_t message = 0;
    std::uint32_t earlier = 0;   // frame: of its request, or as it was first sent
    std::uint32_t response = 0;  // frame
    bool is_response = false, retransmission = false;
  };
  // A request packet that may still be answered or sent again.
  struct Sent {
    std::uint32_t psn, psns, message;
    std::uint32_t frame;
    std::uint64_t record;  // its number
    bool answered;
    bool numbered = false;  // its message has its last number
  };
  // Requests in order of PSN, then of time.
  struct Requests {
    Queue<Sent> sent;
    std::size_t first_open = 0;  // all before are answered
    std::size_t behind(std::uint32_t psn) const;
    const Sent* at(std::uint32_t psn) const;
    void add(Sent sent);
  };
  // What one side asks: data requests wait for their data, the others for any acknowledge.
  struct Flow {
    Requests plain, data;
  };
  struct State {
    std::uint32_t other_half = 0;
    std::array<Flow, 2> flow;
  };

  // A record that a segment of a long answer ends.
  struct Joined {
    std::uint64_t frame;
    const dissect::MadAttribute* attribute;
    std::vector<std::uint8_t> bytes;
  };

  // A control message: step number `step` of its flow.
  struct CdiRecord {
    std::uint64_t frame;
    std::uint32_t flow, step;
  };

  struct Waiting {
    std::uint64_t frame;
    std::uint32_t flow;
  };

  State& state(std::uint32_t id, std::uint32_t other_half);
  void request(Flow& flow, const PacketFacts& facts, Record& record);
  void response(Flow& flow, const PacketFacts& facts, Record& record);
  void answer(Sent& sent, std::uint64_t frame);
  void mad_record(Record& record);
  const Record* find(std::uint64_t frame) const;
  Record* find(std::uint64_t frame) { return const_cast<Record*>(std::as_const(*this).find(frame)); }
  Record* numbered(std::uint64_t number);

  Readings readings_;
  std::deque<Record> records_;   // in order of frame
  std::uint64_t forgotten_ = 0;  // so many records were before
  std::deque<Waiting> waiting_;  // to be judged, in order of frame
  std::vector<dissect::Note> notes_;
  std::vector<Joined> records_of_tables_;                 // in order of frame
  std::vector<CdiRecord> cdi_records_;                    // in order of frame
  std::vector<std::vector<dissect::CdiStep>> cdi_steps_;  // by number of the flow
  // Of the management datagram whose packet() comes next.
  std::uint64_t mad_frame_ = 0, mad_question_ = 0;
  MadFacts::Kind mad_kind_ = MadFacts::Kind::message;
  std::uint64_t last_frame_ = 0;
  absl::flat_hash_map<std::uint32_t, State> states_;          // by connection id
  absl::flat_hash_map<std::uint32_t, std::uint32_t> joined_;  // halves by their former id
};

}  // namespace rdmascope::check
