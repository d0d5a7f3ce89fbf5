#include "plugins/wireshark/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rdmascope::wireshark {
namespace {

// A capture has more findings only when something is very wrong.
constexpr std::size_t most_findings = 1'000'000;

}  // namespace

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
  std::ranges::sort(connections_, {}, &ConnectionRow::id);
  for (Found& f : findings_)
    if (const auto half = halves_.find(f.connection); half != halves_.end()) f.connection = half->second;
}

void CaptureAnalysis::finding(const check::Finding& f, const check::Connection* c) {
  while (c && c->merged_into) c = c->merged_into;
  tallies_.add(f, c);
  if (findings_.size() == most_findings) {
    ++left_out_;
    return;
  }
  findings_.push_back({f.rule, f.kind, f.frame, c ? c->id : f.connection, check::sentence(f, c)});
  if (f.frame != 0)
    notes_[f.frame].push_back({f.frame, f.rule->id, f.rule->title, static_cast<std::uint8_t>(f.kind), check::words(f)});
}

void CaptureAnalysis::ended(const check::Connection& c) {
  annotator_.ended(c);
  if (c.other_half_id != 0) {
    tallies_.joined(c.other_half_id, c.id);
    halves_.emplace(c.other_half_id, c.id);
  }
  ConnectionRow& row = connections_.emplace_back();
  row.id = c.id;
  row.ends = check::ends_of(c);
  row.transport = check::transport_name(c.transport);
  row.paired_by = c.paired == check::PairedBy::nothing ? std::string_view() : name(c.paired);
  row.packets = c.packets;
  row.bytes = c.bytes;
  row.messages = row.completed = row.retransmitted = 0;
  for (const auto& flow : c.flow) {
    row.messages += flow->message_count;
    row.completed += flow->completed;
    row.retransmitted += flow->retransmitted;
  }
  row.found = c.found;
  row.not_judged = c.not_judged;
}

dissect::Annotations CaptureAnalysis::of(std::uint64_t number) const {
  const std::uint64_t frame = counted_of_.empty() ? number : number < counted_of_.size() ? counted_of_[number] : 0;
  dissect::Annotations out = annotator_.of(frame);
  if (const auto notes = notes_.find(frame); notes != notes_.end()) out.notes = notes->second;
  for (std::uint64_t* link : {&out.request_in, &out.response_in, &out.retransmission_of}) *link = number_of(*link);
  return out;
}

std::string CaptureAnalysis::summary() const {
  std::string out = check::verdict(checker_.totals(), tallies_);
  if (left_out_ > 0) out += fmt::format("\n{} more findings are not listed", left_out_);
  return out;
}

}  // namespace rdmascope::wireshark
