// The packets of one connection as steps between two lifelines, and completion queue entries as steps on one of them:
// what is missing between them, where each stands, and what is written at it. No widgets. Text is made for what is
// painted; everything else is found by binary search.
#pragma once

#include <QString>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

// What stands between two steps without being a packet.
struct LadderGap {
  enum class Kind : std::uint8_t { missing, pause };
  std::uint32_t before;  // step behind it
  Kind kind;
  std::uint8_t side;         // missing: who sent them
  bool responses;            // missing: of a READ
  std::uint32_t psn, count;  // missing
  std::int64_t ns;           // pause
};

// How steps are spread: one under the other, or by time.
struct LadderScale {
  enum class Spacing : std::uint8_t { rows, time };
  Spacing spacing = Spacing::rows;
  double row = 20;  // pixels
  double ns_per_pixel = 1e4;
};

// What is written at a step.
struct LadderLabel {
  enum class Nak : std::uint8_t { none, rnr, other };
  QString words;
  Nak nak = Nak::none;
};

class Ladder {
 public:
  using Kind = check::PacketFacts::Kind;

  // The steps of connection `id`; labels come from `file`. nullptr, or no such connection: none.
  void set(const CaptureFile* file, std::shared_ptr<const Followed> followed, std::uint32_t id);
  // `steps` with the times they were captured at, both in order of the capture.
  void build(const CaptureFile* file, std::shared_ptr<const Followed> followed, std::vector<StepRow> steps,
             std::vector<std::int64_t> times, std::uint32_t id);

  std::size_t size() const { return steps_.size(); }
  bool empty() const { return steps_.empty(); }
  const StepRow& operator[](std::size_t i) const { return steps_[i]; }
  std::int64_t time(std::size_t i) const { return times_[i]; }  // never less than that of the step before
  std::int64_t duration() const { return times_.empty() ? 0 : times_.back() - times_.front(); }
  const std::vector<LadderGap>& gaps() const { return gaps_; }
  const std::array<QString, 2>& ends() const { return ends_; }
  std::int64_t capture_start() const { return file_ ? file_->first_ns() : 0; }

  // The step of a frame; nullopt: it is none of this connection.
  std::optional<std::size_t> step_of(std::uint64_t frame) const;
  // The gravest finding on a step, or nullptr.
  const FoundRow* finding(std::size_t step) const;
  // NAKs, retransmissions and findings among the steps in [from, to), and the first of them.
  std::size_t notable(std::size_t from, std::size_t to) const { return notable_[to] - notable_[from]; }
  std::size_t first_notable(std::size_t from) const;

  LadderLabel label(std::size_t step, bool absolute) const;  // PSNs absolute, or since the first of the flow
  QString missing_label(const LadderGap& gap, bool absolute) const;
  QString tip(std::size_t step) const;  // several lines

  // --- Where things stand: pixels from the top of the whole picture.

  double height(const LadderScale& scale) const;
  double y(std::size_t step, const LadderScale& scale) const;
  std::size_t first_at(double y, const LadderScale& scale) const;  // first step at or below; size(): none
  // Rows only. A row is a step, or a gap: then the number of the step behind it comes with it.
  struct Row {
    std::size_t step;
    const LadderGap* gap;  // nullptr: it is the step
  };
  std::size_t rows() const { return steps_.size() + gaps_.size(); }
  Row row(std::size_t r) const;
  std::size_t row_of(std::size_t step) const;
  const LadderGap* gap_before(std::size_t step, LadderGap::Kind kind) const;

 private:
  static std::uint8_t flow_of(const StepRow& s) {  // who asked
    return s.kind == Kind::request || s.kind == Kind::other ? s.side : s.side ^ 1;
  }
  void find_bases();
  void find_missing(std::uint32_t id);
  void find_pauses();
  void find_notable(std::uint32_t id);
  LadderLabel completion_label(const StepRow& step) const;
  QString psn_text(std::uint32_t psn, std::uint8_t flow, bool absolute) const;

  const CaptureFile* file_ = nullptr;
  std::shared_ptr<const Followed> followed_;
  std::array<QString, 2> ends_;
  std::vector<StepRow> steps_;
  std::vector<std::int64_t> times_;
  std::vector<LadderGap> gaps_;
  std::vector<std::uint32_t> found_;                  // places of findings on a frame of this connection, by frame
  std::vector<std::uint32_t> notable_;                // so many before step i
  std::array<std::optional<std::uint32_t>, 2> base_;  // first PSN of each flow
};

}  // namespace rdmascope::gui
