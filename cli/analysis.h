// The fields that need the connections to be followed (rdmascope.flow, infiniband.response_in, ...), for commands that
// show or choose packets. A file is read once before, so that what later frames tell is known; a pipe cannot be.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/source.h"
#include "check/annotate.h"
#include "cli/choice.h"
#include "cli/frames.h"
#include "dissect/walk.h"

namespace rdmascope::cli {

// auto: when the filter, a column or -V asks for them.
enum class AnalysisWhen { automatic, always, never };
inline constexpr Choice<AnalysisWhen> analysis_choices[] = {
    {"auto", AnalysisWhen::automatic}, {"always", AnalysisWhen::always}, {"never", AnalysisWhen::never}};

// The first that can be read only once: standard input, a pipe, a terminal.
std::optional<std::string> first_unrepeatable(const std::vector<std::string>& files);

// What one reading of the files tells about their frames. Says nothing about damaged files: the second reading does.
std::shared_ptr<const check::Annotator> read_ahead(const std::vector<std::string>& files, check::CheckOptions options);

class Analysis {
 public:
  // Files are read here. `walk` as for the reading that follows.
  Analysis(const std::vector<std::string>& files, const dissect::WalkOptions& walk);
  ~Analysis();

  // Before the frames of a batch are walked.
  void batch(std::span<const capture::Frame> frames, const std::vector<capture::Interface>& interfaces);
  // Until the next call, or the next walk.
  void annotate(dissect::Packet& packet);

 private:
  class Live;
  std::unique_ptr<Live> live_;  // one reading only
  std::shared_ptr<const check::Annotator> known_;
  dissect::Annotations annotations_;
};

}  // namespace rdmascope::cli
