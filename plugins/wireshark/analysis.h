// What the rules and the connections say of the capture that is open. Frames are given once, in their order, when
// Wireshark sees each for the first time; whatever is asked later, in any order and any number of times, is looked up.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check/annotate.h"
#include "check/checker.h"
#include "check/lists.h"

namespace rdmascope::wireshark {

class CaptureAnalysis final : public check::Listener {
 public:
  explicit CaptureAnalysis(check::CheckOptions options);

  // tshark -R gives the number of a frame that it leaves out to the next one. The checker counts them all, and so do
  // the texts of findings.
  void take(check::Frame frame);
  // All frames were seen. What was missing until the end is found now, and numbers are final.
  void finish();
  bool finished() const { return finished_; }

  // Valid until the next call of take() or finish().
  dissect::Annotations of(std::uint64_t number) const;
  std::int64_t first_ns() const { return checker_.totals().first_ns; }

  // For lists at the end. `frame` of a finding as the checker counts: number_of() is Wireshark's, 0 when it was left
  // out.
  std::uint64_t number_of(std::uint64_t frame) const;
  const std::vector<check::FoundRow>& findings() const { return lists_.findings; }
  const std::vector<check::ConnectionRow>& connections() const { return lists_.connections; }
  // The verdict in a sentence, and what was left out of the lists.
  std::string summary() const;

 private:
  void finding(const check::Finding&, const check::Connection*) override;
  void packet(const check::PacketFacts& facts) override { annotator_.packet(facts); }
  void waits(std::uint64_t frame, std::uint32_t connection) override { annotator_.waits(frame, connection); }
  void message(const check::Connection& c, std::uint8_t side, const check::Message& m) override {
    annotator_.message(c, side, m);
  }
  void mad(const check::MadContext& c) override { annotator_.mad(c); }
  void cdi(const check::CdiContext& c) override { annotator_.cdi(c); }
  void ended(const check::Connection& c) override;

  check::Annotator annotator_{check::Annotator::Readings::two};
  // The annotator's own list of findings can be asked only in the end.
  std::map<std::uint64_t, std::vector<dissect::Note>> notes_;
  check::Lists lists_;
  // Wireshark's number of the frame before, and the checker's; by each of them the other one, empty while they agree.
  std::uint64_t last_number_ = 0, last_counted_ = 0;
  std::vector<std::uint32_t> number_of_, counted_of_;
  bool finished_ = false;
  check::Checker checker_;
};

}  // namespace rdmascope::wireshark
