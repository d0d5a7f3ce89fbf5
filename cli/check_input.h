// What check and stats have in common: which packets are judged and how, and the loop over the capture files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "check/checker.h"
#include "cli/dissect_options.h"

namespace CLI {
class App;
}

namespace rdmascope::cli {

// Which frames count, by their time. A frame without a time lies in no range that has an end.
struct TimeRange {
  struct Bound {
    bool absolute = false;  // since 1970-01-01 UTC; else since the first frame
    std::int64_t ns = 0;
  };
  std::optional<Bound> from, to;

  bool unbounded() const { return !from && !to; }
  bool holds(const dissect::FrameInfo& frame) const {
    if (unbounded()) return true;
    if (!frame.has_time) return false;
    return (!from || (from->absolute ? frame.time_ns : frame.time_relative_ns) >= from->ns) &&
           (!to || (to->absolute ? frame.time_ns : frame.time_relative_ns) <= to->ns);
  }
};

// "12.5": seconds since the first frame; "2026-11-29T22:33:01.5", "2026-11-29 22:33", "2026-11-29": UTC.
Result<TimeRange::Bound> parse_time(const std::string& option, const std::string& text);

// Everything needed to start, worked out from the options.
struct CheckPlan {
  check::CheckOptions options;
  TimeRange range;
  std::vector<std::string> files;
};

class CheckInput {
 public:
  void add_to(CLI::App& command);
  // An error is one sentence.
  Result<CheckPlan> plan() const;

 private:
  std::vector<std::string> files_;
  std::string filter_, from_, to_;
  std::vector<std::string> pairs_;
  unsigned workers_ = 0;
  DissectOptions dissect_;
};

// Hands the frames of all files to the checker, without calling finish(). Goes on behind a damaged file. The exit
// status: exit_error when a file cannot be read to its end. Faults of files are told, unless another reading does.
enum class Faults : bool { told, ignored };
int feed(const CheckPlan& plan, check::Checker& checker, Faults faults = Faults::told);

}  // namespace rdmascope::cli
