#include "plugins/wireshark/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rdmascope::wireshark {
CaptureAnalysis::CaptureAnalysis(check::CheckOptions options) : checker_(std::move(options), *this) {}

void CaptureAnalysis::take(check::Frame frame) {
  if (finished_) return;
  const std::uint64_t number = frame.info.number;
  if (number <= last_number_) {
    if (number_of_.empty()) {
      number_of_.resize(last_counted_ + 1);
      std::iota(number_of_.begin(), number_of_.end(), 0u);
      counted_of_ = number_of_;
    }
    number_of_[last_counted_] = 0;
  }
  if (number_of_.empty()) {
    last_counted_ = number;
  } else {
    frame.info.number = ++last_counted_;
    number_of_.push_back(static_cast<std::uint32_t>(number));
    counted_of_.resize(number + 1);
    counted_of_[number] = static_cast<std::uint32_t>(last_counted_);
  }
  last_number_ = number;
  checker_.batch({&frame, 1});
}

std::uint64_t CaptureAnalysis::number_of(std::uint64_t frame) const {
  if (number_of_.empty()) return frame;
  return frame < number_of_.size() ? number_of_[frame] : 0;
}

void CaptureAnalysis::finish() {
  if (std::exchange(finished_, true)) return;
  checker_.finish();
  annotator_.settle();
  lists_.settle();
}

void CaptureAnalysis::finding(const check::Finding& f, const check::Connection* c) {
  const bool is_kept = lists_.findings.size() < check::Lists::most_findings;
  lists_.finding(f, c);
  if (is_kept && f.frame != 0)
    notes_[f.frame].push_back({f.frame, f.rule->id, f.rule->title, static_cast<std::uint8_t>(f.kind), check::words(f)});
}

void CaptureAnalysis::ended(const check::Connection& c) {
  annotator_.ended(c);
  lists_.ended(c);
}

dissect::Annotations CaptureAnalysis::of(std::uint64_t number) const {
  const std::uint64_t frame = counted_of_.empty() ? number : number < counted_of_.size() ? counted_of_[number] : 0;
  dissect::Annotations out = annotator_.of(frame);
  if (const auto notes = notes_.find(frame); notes != notes_.end()) out.notes = notes->second;
  for (std::uint64_t* link : {&out.request_in, &out.response_in, &out.retransmission_of}) *link = number_of(*link);
  return out;
}

std::string CaptureAnalysis::summary() const {
  std::string out = check::verdict(checker_.totals(), lists_.tallies);
  if (lists_.left_out > 0) out += fmt::format("\n{} more findings are not listed", lists_.left_out);
  return out;
}

}  // namespace rdmascope::wireshark
