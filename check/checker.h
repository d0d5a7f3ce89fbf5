// The engine: batches of frames to verdicts. Per batch: walk every frame and compute its ICRC (parallel by frame), find
// the connections (in order), judge (parallel by connection), hand findings and messages over in the order of the
// capture. So the result is the same for any number of workers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/follow.h"
#include "check/rule.h"
#include "check/tracker.h"
#include "dissect/walk.h"

namespace rdmascope::check {

struct CheckOptions {
  dissect::WalkOptions walk;
  unsigned workers = 1;
  std::vector<const Rule*> rules;  // empty: all
  bool messages = false;           // hand over messages, too
  std::vector<UserPair> pairs;
  std::size_t most_connections = 200'000;
  // Only packets that pass are judged. Called from several threads at once.
  std::function<bool(const dissect::Packet&)> filter;
};

// Who hears the results, on the caller's thread, in the order of the capture.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void finding(const Finding&, const Connection*) {}
  virtual void message(const Connection&, std::uint8_t /*side*/, const Message&) {}
  // Nothing more will be said of it; it is gone after the call when its queue pair was used anew.
  virtual void ended(const Connection&) {}
};

struct Totals {
  std::uint64_t frames = 0, rdma = 0, connections = 0;
  std::uint64_t icrc_good = 0, icrc_bad = 0, icrc_unverified = 0;
  std::uint64_t cut = 0;         // frames the capture did not keep whole
  std::uint64_t not_judged = 0;  // responses whose requests are not known
  std::uint64_t refused = 0;     // packets of connections beyond the limit
  std::int64_t first_ns = 0, last_ns = 0;
};

struct Frame {
  std::span<const std::uint8_t> bytes;
  dissect::FrameInfo info;
};

class Checker {
 public:
  Checker(CheckOptions options, Listener& listener);
  ~Checker();

  // Frames in capture order; their bytes must stay until the call returns.
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
