// The engine: batches of frames to verdicts. A batch is read, its frames walked and their CRCs computed, then its
// packets find their connections and are judged. Any number of batches are walked at once, but one is read at a time
// and one judged, in the order of the capture. So the result is the same for any number of workers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "check/follow.h"
#include "check/packet_facts.h"
#include "check/rule.h"
#include "check/tracker.h"
#include "dissect/walk.h"

namespace rdmascope::check {

// Of check/cdi.h.
struct CdiContext;
struct CdiFlow;
class CdiFlows;

struct CheckOptions {
  dissect::WalkOptions walk;
  unsigned workers = 1;
  std::vector<const Rule*> rules;  // empty: all
  bool messages = false;           // hand over messages, too
  bool packets = false;            // and each packet with InfiniBand transport
  // No packet waits for what pairs its stream: for those who show each packet when it comes. What is wrong with the
  // first responses of a connection can then be missed.
  bool at_once = false;
  std::vector<UserPair> pairs;
  std::size_t most_connections = 200'000;
  // Only packets that pass are judged. Called from several threads at once.
  std::function<bool(dissect::Packet&)> filter;
};

// Who hears the results, in the order of the capture. Called by one thread at a time, not always the same one.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void finding(const Finding&, const Connection*) {}
  // Before its findings and messages.
  virtual void packet(const PacketFacts&) {}
  // One that is not judged yet, as the next ones may tell more; packet() comes later. With `packets`.
  virtual void waits(std::uint64_t /*frame*/, std::uint32_t /*connection*/) {}
  virtual void message(const Connection&, std::uint8_t /*side*/, const Message&) {}
  // Management datagrams that a receiver would take; before their findings.
  virtual void mad(const MadContext&) {}
  // After the last frame: all that was learnt of the fabric, and questions without an answer.
  virtual void end_of_mads(const Mads&) {}
  // Completion queue entries whose layout is known; before their findings.
  virtual void completion(const CompletionContext&) {}
  // CDI's control messages; before their findings. After the last frame: all flows.
  virtual void cdi(const CdiContext&) {}
  virtual void end_of_cdi(const CdiFlows&, std::int64_t /*begin_ns*/, std::int64_t /*end_ns*/) {}
  // Nothing more will be said of it; it is gone after the call when its queue pair was used anew.
  virtual void ended(const Connection&) {}
};

struct Totals {
  std::uint64_t frames = 0, rdma = 0, connections = 0;
  std::uint64_t completions = 0;  // completion queue entries
  std::uint64_t mads = 0;         // management datagrams
  std::uint64_t cdi = 0;          // control messages of CDI
  std::uint64_t icrc_good = 0, icrc_bad = 0, icrc_unverified = 0;
  std::uint64_t cut = 0;         // frames the capture did not keep whole
  std::uint64_t not_judged = 0;  // responses whose requests are not known
  std::uint64_t refused = 0;     // packets of connections beyond the limit
  std::int64_t first_ns = 0, last_ns = 0;

  bool nothing_to_judge() const { return rdma + completions + cdi == 0; }
};

struct Frame {
  std::span<const std::uint8_t> bytes;
  dissect::FrameInfo info;
};

// Frames in capture order. With one worker their bytes must stay until the next batch is read; with several until this
// object is to be filled again, and `memory` is room for them where the source does not keep them.
struct Batch {
  std::vector<Frame> frames;
  Memory memory;
};

class Checker {
 public:
  Checker(CheckOptions options, Listener& listener);
  ~Checker();

  // Reads and judges batches until `read` returns false. It is called by one thread at a time, not always the same one.
  void run(const std::function<bool(Batch&)>& read);
  // One batch, for those who have frames and no source. Their bytes must stay until the call returns.
  void batch(std::span<const Frame> frames);
  // After the last batch: what never came, and what is still open.
  void finish();

  std::vector<Connection*> connections();
  const Totals& totals() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rdmascope::check
