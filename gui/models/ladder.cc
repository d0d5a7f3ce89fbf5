#include "gui/models/ladder.h"

#include <algorithm>
#include <iterator>

#include "check/psn.h"
#include "dissect/headers.h"
#include "dissect/summary.h"
#include "gui/models/words.h"

namespace rdmascope::gui {
namespace {

constexpr std::int64_t least_pause_ns = 1'000'000;
const QString psn_word = "PSN ";
constexpr std::int64_t pause_to_median = 20;  // a pause is so much longer than what is usual here

}  // namespace

void Ladder::set(const CaptureFile* file, std::shared_ptr<const Followed> followed, std::uint32_t id) {
  std::vector<StepRow> steps;
  std::vector<std::int64_t> times;
  if (file && followed) {
    const auto is_ours = [&](const auto& row) {
      return row.connection == id && row.frame != 0 && row.frame <= file->index().size();
    };
    std::ranges::copy_if(followed->steps, std::back_inserter(steps), is_ours);
    const auto packets = static_cast<std::ptrdiff_t>(steps.size());
    for (const CompletionRow& c : followed->completions)
      if (is_ours(c))
        steps.push_back(
            {c.frame, id, 0, c.ended, c.failed ? Kind::nak : Kind::other, c.side, false, false, false, true});
    std::ranges::inplace_merge(steps, steps.begin() + packets, {}, &StepRow::frame);
    for (const StepRow& s : steps) times.push_back(file->index()[s.frame - 1].time_ns);
  }
  build(file, std::move(followed), std::move(steps), std::move(times), id);
}

void Ladder::build(const CaptureFile* file, std::shared_ptr<const Followed> followed, std::vector<StepRow> steps,
                   std::vector<std::int64_t> times, std::uint32_t id) {
  file_ = file;
  followed_ = std::move(followed);
  steps_ = std::move(steps);
  times_ = std::move(times);
  // Frames without a time stand with the one before; so do those whose clock went back.
  const auto first_timed = std::ranges::find_if(times_, [](auto t) { return t != IndexedFrame::no_time; });
  std::int64_t latest = first_timed == times_.end() ? 0 : *first_timed;
  for (std::int64_t& t : times_) latest = t = std::max(t, latest);
  ends_ = {};
  gaps_.clear();
  if (followed_) {
    const auto& list = followed_->connections;
    const auto c = std::ranges::lower_bound(list, id, {}, &ConnectionRow::id);
    if (c != list.end() && c->id == id) ends_ = {text(c->end[0]), text(c->end[1])};
  }
  find_bases();
  find_missing(id);
  find_pauses();
  std::ranges::stable_sort(gaps_, {}, &LadderGap::before);
  find_notable(id);
}

void Ladder::find_bases() {
  base_ = {};
  // Requests know best where their flow begins.
  const auto take = [this](auto wanted) {
    for (const StepRow& s : steps_) {
      if (s.completion) continue;
      std::optional<std::uint32_t>& base = base_[flow_of(s)];
      if (!base && wanted(s.kind)) base = s.psn;
      if (base_[0] && base_[1]) return;
    }
  };
  take([](Kind k) { return k == Kind::request; });
  take([](Kind k) { return k != Kind::request && k != Kind::other; });
  take([](Kind k) { return k == Kind::other; });
}

void Ladder::find_missing(std::uint32_t id) {
  if (!followed_) return;
  using check::Message;
  struct Flow {
    std::vector<const Message*> reads;  // in order of first frame
    std::size_t asked = 0;              // so many of them by now
    std::optional<std::uint32_t> next;  // PSN of the next request
    const Message* answered = nullptr;  // the READ that the last response was for
    std::uint32_t next_answer = 0, reached = 0;
  };
  std::array<Flow, 2> flows;
  for (const MessageRow& m : followed_->messages)
    if (m.connection == id && m.message.operation == check::Operation::read) flows[m.side].reads.push_back(&m.message);
  for (Flow& f : flows) std::ranges::sort(f.reads, {}, [](const Message* m) { return m->first_frame; });

  const auto missing = [this](std::size_t i, bool responses, std::uint32_t psn, std::int32_t count) {
    if (count > 0)
      gaps_.push_back({static_cast<std::uint32_t>(i), LadderGap::Kind::missing, steps_[i].side, responses, psn,
                       static_cast<std::uint32_t>(count), 0});
  };
  const auto request = [&](std::size_t i, Flow& flow) {
    const StepRow& s = steps_[i];
    const Message* read = nullptr;
    while (flow.asked < flow.reads.size() && flow.reads[flow.asked]->first_frame <= s.frame)
      if (const Message* m = flow.reads[flow.asked++]; m->first_frame == s.frame) read = m;
    if (s.retransmission) return;
    const std::int32_t ahead = flow.next ? check::psn_diff(s.psn, *flow.next) : 0;
    if (ahead < 0) return;  // late
    missing(i, false, flow.next.value_or(0), ahead);
    flow.next = check::psn_add(s.psn, read ? read->psns : 1);
    if (read && !read->length_known) flow.next.reset();
  };
  const auto response = [&](std::size_t i, Flow& flow) {
    const StepRow& s = steps_[i];
    const Message* read = nullptr;
    constexpr std::size_t most_open = 256;
    for (std::size_t k = 0; k < std::min(most_open, flow.asked) && !read; ++k)
      if (const Message* m = flow.reads[flow.asked - 1 - k]; m->holds(s.psn)) read = m;
    if (!read) return;
    if (read == flow.answered) {
      missing(i, true, flow.next_answer, check::psn_diff(s.psn, flow.next_answer));
    } else if (!flow.answered || check::psn_diff(read->first_psn, flow.answered->first_psn) > 0) {
      if (flow.answered)
        missing(i, true, flow.next_answer, check::psn_diff(flow.answered->end_psn(), flow.next_answer));
      const bool begun = flow.answered && check::psn_diff(flow.reached, read->first_psn) > 0;
      const std::uint32_t from = begun ? flow.reached : read->first_psn;
      missing(i, true, from, check::psn_diff(s.psn, from));
    }
    if (!flow.answered || check::psn_diff(check::psn_add(s.psn, 1), flow.reached) > 0)
      flow.reached = check::psn_add(s.psn, 1);
    flow.answered = read;
    flow.next_answer = check::psn_add(s.psn, 1);
  };
  // Damaged packets are not judged, but where they stand as expected nothing is missing.
  const auto unjudged = [&](const StepRow& s) {
    Flow &asks = flows[s.side], &answers = flows[s.side ^ 1u];
    if (asks.next == s.psn)
      asks.next = check::psn_add(s.psn, 1);
    else if (answers.answered && answers.next_answer == s.psn)
      answers.next_answer = check::psn_add(s.psn, 1);
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].completion) continue;
    if (steps_[i].kind == Kind::other) unjudged(steps_[i]);
    if (steps_[i].kind == Kind::request) request(i, flows[steps_[i].side]);
    if (steps_[i].kind == Kind::read_response) response(i, flows[steps_[i].side ^ 1u]);
  }
}

void Ladder::find_pauses() {
  if (steps_.size() < 2) return;
  std::vector<std::int64_t> waits(steps_.size() - 1);
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i) waits[i] = times_[i + 1] - times_[i];
  const auto middle = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2);
  std::nth_element(waits.begin(), middle, waits.end());
  const std::int64_t least = std::max(least_pause_ns, *middle * pause_to_median);
  for (std::size_t i = 1; i < steps_.size(); ++i)
    if (times_[i] - times_[i - 1] >= least)
      gaps_.push_back(
          {static_cast<std::uint32_t>(i), LadderGap::Kind::pause, 0, false, 0, 0, times_[i] - times_[i - 1]});
}

void Ladder::find_notable(std::uint32_t id) {
  found_.clear();
  // What is found on an entry belongs to no connection.
  const auto is_entry = [this](std::uint64_t frame) {
    const std::optional<std::size_t> step = step_of(frame);
    return step && steps_[*step].completion;
  };
  if (followed_)
    for (std::size_t i = 0; i < followed_->findings.size(); ++i)
      if (const FoundRow& f = followed_->findings[i]; f.frame != 0 && (f.connection == id || is_entry(f.frame)))
        found_.push_back(static_cast<std::uint32_t>(i));
  std::ranges::sort(found_, {}, [this](std::uint32_t i) {
    return std::pair(followed_->findings[i].frame, followed_->findings[i].kind);
  });
  notable_.assign(steps_.size() + 1, 0);
  std::size_t next = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const StepRow& s = steps_[i];
    while (next < found_.size() && followed_->findings[found_[next]].frame < s.frame) ++next;
    const bool found = next < found_.size() && followed_->findings[found_[next]].frame == s.frame;
    notable_[i + 1] = notable_[i] + (found || s.retransmission || s.kind == Kind::nak);
  }
}

// --- Looking up ------------------------------------------------------------------------------------------------------

std::optional<std::size_t> Ladder::step_of(std::uint64_t frame) const {
  const auto at = std::ranges::lower_bound(steps_, frame, {}, &StepRow::frame);
  if (at == steps_.end() || at->frame != frame) return std::nullopt;
  return static_cast<std::size_t>(at - steps_.begin());
}

const FoundRow* Ladder::finding(std::size_t step) const {
  const auto at = std::ranges::lower_bound(found_, std::uint64_t{steps_[step].frame}, {},
                                           [this](std::uint32_t i) { return followed_->findings[i].frame; });
  if (at == found_.end() || followed_->findings[*at].frame != steps_[step].frame) return nullptr;
  return &followed_->findings[*at];
}

std::size_t Ladder::first_notable(std::size_t from) const {
  const auto at =
      std::upper_bound(notable_.begin() + static_cast<std::ptrdiff_t>(from), notable_.end(), notable_[from]);
  return static_cast<std::size_t>(at - notable_.begin()) - 1;
}

// --- Text ------------------------------------------------------------------------------------------------------------

QString Ladder::psn_text(std::uint32_t psn, std::uint8_t flow, bool absolute) const {
  if (absolute || !base_[flow]) return psn_word + QString::number(psn);
  const std::int32_t n = check::psn_diff(psn, *base_[flow]);
  return psn_word + (n < 0 ? "" : "+") + QString::number(n);
}

// "CQE: send RDMA_READ  64 B", "CQE: receive failed: work request flushed"
LadderLabel Ladder::completion_label(const StepRow& s) const {
  LadderLabel out;
  out.words = "CQE";
  dissect::Packet packet;
  if (file_) file_->load(s.frame - 1, packet);
  const auto entry = file_ ? dissect::completion_of(packet) : std::nullopt;
  if (!entry) return out;
  out.words += entry->send ? ": send" : ": receive";
  if (!entry->operation.empty()) out.words += ' ' + text(entry->operation);
  if (entry->byte_count) out.words += QString("  %1 B").arg(*entry->byte_count);
  if (!entry->failed()) return out;
  out.nak = entry->fault == dissect::Fault::flushed ? LadderLabel::Nak::rnr : LadderLabel::Nak::other;
  out.words += " failed: " + text(dissect::words_of(entry->fault).name);
  return out;
}

LadderLabel Ladder::label(std::size_t step, bool absolute) const {
  LadderLabel out;
  const StepRow& s = steps_[step];
  if (s.completion) return completion_label(s);
  std::uint8_t flow = flow_of(s);
  dissect::Packet packet;
  if (file_) file_->load(s.frame - 1, packet);
  const auto bth = file_ && packet.bth_layer >= 0 ? packet.find<dissect::Bth>() : std::nullopt;
  if (!bth) {
    out.words = psn_text(s.psn, flow, absolute);
    return out;
  }
  const auto opcode = static_cast<std::uint8_t>(bth->get<"opcode">());
  QString name = text(dissect::opcode_title(opcode));
  for (const char* prefix : {"RC ", "UC ", "RD ", "UD ", "XRC ", "RDMA "})
    if (name.startsWith(prefix)) name.remove(0, static_cast<qsizetype>(qstrlen(prefix)));
  if (s.kind == Kind::other && dissect::opcodes[opcode].response) flow = s.side ^ 1;
  QString more;
  if (const auto aeth = packet.find<dissect::Aeth>()) {
    const dissect::Syndrome syndrome = dissect::decode_syndrome(static_cast<std::uint8_t>(aeth->get<"syndrome">()));
    const bool plain = (opcode & 31) == 0x11;
    if (syndrome.kind == dissect::SyndromeKind::rnr_nak) {
      out.nak = LadderLabel::Nak::rnr;
      name = "RNR NAK";
      more = "  wait " + text(dissect::name_of(dissect::rnr_timer_names, syndrome.value));
    } else if (syndrome.kind == dissect::SyndromeKind::nak) {
      out.nak = LadderLabel::Nak::other;
      const QString code = text(dissect::name_of(dissect::nak_codes, syndrome.value));
      name = "NAK " + (code.isEmpty() ? QString("code %1").arg(syndrome.value) : code);
    } else if (plain) {
      name = syndrome.kind == dissect::SyndromeKind::ack ? "ACK" : "reserved syndrome";
    }
    more = QString("  MSN %1").arg(aeth->get<"msn">()) + more;
  }
  if (const auto reth = packet.find<dissect::Reth>(); reth && packet.payload_bytes == 0)
    more += QString("  %1 B wanted").arg(reth->get<"dmalen">());
  if (packet.payload_bytes > 0) more += QString("  %1 B").arg(packet.payload_bytes);
  if (s.retransmission) more += s.earlier ? QString("  again, first in %1").arg(s.earlier) : QString("  again");
  if (packet.icrc().status == dissect::CrcStatus::bad) more += "  damaged";
  if (bth->get<"a">()) more += "  AckReq";
  out.words = name + "  " + psn_text(s.psn, flow, absolute) + more;
  return out;
}

QString Ladder::missing_label(const LadderGap& gap, bool absolute) const {
  const std::uint8_t flow = gap.responses ? gap.side ^ 1 : gap.side;
  const QString what = gap.responses ? "response" : "request", first = psn_text(gap.psn, flow, absolute);
  if (gap.count == 1) return QString("%1: %2 not seen").arg(first, what);
  const QString last = psn_text(check::psn_add(gap.psn, gap.count - 1), flow, absolute).mid(psn_word.size());
  return QString("%1 to %2: %3s not seen").arg(first, last, what);
}

QString Ladder::tip(std::size_t step) const {
  const StepRow& s = steps_[step];
  QString out = QString("Frame %1, %2 s").arg(s.frame).arg(seconds(times_[step] - capture_start()));
  if (step > 0) out += QString(", %1 after the one before").arg(gui::duration(times_[step] - times_[step - 1]));
  if (file_) {
    dissect::Packet packet;
    dissect::Annotations annotations;
    file_->load(s.frame - 1, packet, annotations);
    dissect::Text info;
    put_info(info, packet);
    out += '\n' + text(info.view());
  }
  if (s.earlier) out += QString(s.completion ? "\nCompleted by frame %1" : "\nFirst sent in frame %1").arg(s.earlier);
  for (auto at = std::ranges::lower_bound(found_, std::uint64_t{s.frame}, {},
                                          [this](std::uint32_t i) { return followed_->findings[i].frame; });
       at != found_.end() && followed_->findings[*at].frame == s.frame; ++at)
    out += '\n' + text(followed_->findings[*at].rule->id) + ": " + text(followed_->findings[*at].text);
  return out;
}

// --- Where things stand ----------------------------------------------------------------------------------------------

std::size_t Ladder::row_of(std::size_t step) const {
  const auto behind = std::ranges::upper_bound(gaps_, step, {}, &LadderGap::before);
  return step + static_cast<std::size_t>(behind - gaps_.begin());
}

Ladder::Row Ladder::row(std::size_t r) const {
  // The first step whose row is r or behind; if it is behind, a gap before it has row r.
  std::size_t low = r > gaps_.size() ? r - gaps_.size() : 0, high = std::min(r, steps_.size());
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (row_of(middle) < r)
      low = middle + 1;
    else
      high = middle;
  }
  return {low, row_of(low) == r ? nullptr : &gaps_[r - low]};
}

const LadderGap* Ladder::gap_before(std::size_t step, LadderGap::Kind kind) const {
  for (auto g = std::ranges::lower_bound(gaps_, step, {}, &LadderGap::before); g != gaps_.end() && g->before == step;
       ++g)
    if (g->kind == kind) return &*g;
  return nullptr;
}

double Ladder::height(const LadderScale& scale) const {
  if (steps_.empty()) return 0;
  if (scale.spacing == LadderScale::Spacing::rows) return static_cast<double>(rows()) * scale.row;
  return static_cast<double>(duration()) / scale.ns_per_pixel + 2 * scale.row;
}

double Ladder::y(std::size_t step, const LadderScale& scale) const {
  if (scale.spacing == LadderScale::Spacing::rows) return (static_cast<double>(row_of(step)) + 0.8) * scale.row;
  return scale.row + static_cast<double>(times_[step] - times_.front()) / scale.ns_per_pixel;
}

std::size_t Ladder::first_at(double at, const LadderScale& scale) const {
  std::size_t low = 0, high = steps_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (y(middle, scale) < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace rdmascope::gui
