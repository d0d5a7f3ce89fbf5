// Live sources, each read by a thread of its own, so that the kernel's buffer is emptied while the disk makes others wait. What
// they read waits in a bounded queue; when that is full the sources wait, and count what they lose.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "capture/source.h"

namespace rdmascope::cli {

// Frames of one source, in its order, and how many were lost just before them.
struct LiveBatch {
  std::size_t source = 0;
  std::vector<capture::Frame> frames;
  std::uint64_t lost_before = 0;
  Memory memory;
};

class Intake {
 public:
  explicit Intake(std::vector<std::unique_ptr<capture::Source>> sources);
  ~Intake();  // waits for the threads; stop the sources first (capture::stop_descriptor)

  const capture::Source& source(std::size_t i) const { return *sources_[i]; }
  std::size_t sources() const { return sources_.size(); }

  // The next batch, or nullptr when none comes until `deadline_ns` (monotonic clock) or all sources have ended. Valid until the
  // next call.
  LiveBatch* next(std::int64_t deadline_ns);
  // No source will give anything more, and all was taken.
  bool at_end();
  // Why sources ended early.
  std::vector<std::string> take_errors();

 private:
  void read(std::size_t source);

  std::vector<std::unique_ptr<capture::Source>> sources_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<LiveBatch>> spare_;
  std::deque<std::unique_ptr<LiveBatch>> full_;
  std::vector<std::string> errors_;
  std::size_t running_ = 0;
  bool leaving_ = false;

  std::unique_ptr<LiveBatch> current_;
  std::vector<std::jthread> threads_;  // last: ended before the rest goes
};

}  // namespace rdmascope::cli
