#include "check/annotate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "check/cdi.h"

namespace rdmascope::check {
namespace {

// Requests that are remembered although they are answered: they may be sent again, and answered again. And at most.
constexpr std::size_t kept = 64, most_sent = 65'536;
constexpr std::uint32_t ladder = 12;  // control messages of CDI that are shown with each

}  // namespace

// --- Requests of one side --------------------------------------------------------------------------------------------

// The place behind the last request with this PSN or one before.
std::size_t Annotator::Requests::behind(std::uint32_t psn) const {
  std::size_t low = 0, high = sent.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (psn_diff(sent[middle].psn, psn) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The last request that holds this PSN.
const Annotator::Sent* Annotator::Requests::at(std::uint32_t psn) const {
  const std::size_t end = behind(psn);
  if (end == 0) return nullptr;
  const Sent& s = sent[end - 1];
  return s.psns == 0 || static_cast<std::uint32_t>(psn_diff(psn, s.psn)) < s.psns ? &s : nullptr;
}

void Annotator::Requests::add(Sent request) {
  while (sent.size() >= most_sent || (sent.size() > kept && sent.front().answered && sent.front().numbered)) {
    sent.pop_front();
    if (first_open > 0) --first_open;
  }
  const std::size_t place = behind(request.psn);
  first_open = std::min(first_open, place);
  if (place == sent.size())
    sent.push_back(request);
  else
    sent.insert(place, request);
}

// --- Listening -------------------------------------------------------------------------------------------------------

Annotator::State& Annotator::state(std::uint32_t id, std::uint32_t other_half) {
  State& found = states_[id];
  if (other_half == 0 || found.other_half != 0) return found;
  found.other_half = other_half;
  if (readings_ == Readings::two) joined_.emplace(other_half, id);
  const auto half = states_.find(other_half);
  if (half == states_.end()) return found;
  found.flow[1] = std::move(half->second.flow[0]);
  states_.erase(half);
  return found;
}

Annotator::Record* Annotator::numbered(std::uint64_t number) {
  return number < forgotten_ ? nullptr : &records_[number - forgotten_];
}

void Annotator::packet(const PacketFacts& facts) {
  last_frame_ = facts.frame;
  while (!waiting_.empty() && waiting_.front().frame <= facts.frame) waiting_.pop_front();
  if (facts.connection == 0 || facts.frame > std::numeric_limits<std::uint32_t>::max()) return;
  Record& record = records_.emplace_back();
  record.frame = static_cast<std::uint32_t>(facts.frame);
  record.flow = facts.connection;
  if (facts.kind == PacketFacts::Kind::other) {
    if (mad_frame_ == facts.frame) mad_record(record);
    return;
  }
  const bool is_request = facts.kind == PacketFacts::Kind::request;
  Flow& flow = state(facts.connection, facts.other_half).flow[is_request ? facts.side : 1 - facts.side];
  if (is_request)
    request(flow, facts, record);
  else
    response(flow, facts, record);
}

void Annotator::mad(const MadContext& c) {
  const std::uint64_t frame = c.packet.frame.number;
  if (!c.facts.joined.empty() && c.attribute)
    records_of_tables_.push_back({frame, c.attribute, {c.facts.joined.begin(), c.facts.joined.end()}});
  if (!c.facts.question || frame > std::numeric_limits<std::uint32_t>::max()) return;
  mad_frame_ = frame;
  mad_question_ = c.facts.question->frame;
  mad_kind_ = c.facts.kind;
}

void Annotator::cdi(const CdiContext& c) {
  const CdiMessage& m = c.message;
  last_frame_ = m.frame;
  if (cdi_steps_.size() <= c.flow.number) cdi_steps_.resize(c.flow.number + 1);
  std::vector<dissect::CdiStep>& steps = cdi_steps_[c.flow.number];
  // One reading: no more than a ladder shows.
  if (readings_ == Readings::one && steps.size() == 2 * ladder) {
    steps.erase(steps.begin(), steps.begin() + ladder);
    for (CdiRecord& r : cdi_records_)
      if (r.flow == c.flow.number) r.step = r.step < ladder ? 0 : r.step - ladder;
  }
  cdi_records_.push_back({m.frame, c.flow.number, static_cast<std::uint32_t>(steps.size())});
  steps.push_back({m.frame, m.time_ns, m.number, m.ack_number, m.command, m.ack_command, c.by == CdiRole::tx,
                   c.flow.tx().state, c.flow.rx().state, c.request_frame, 0});
  if (c.request_frame == 0) return;
  for (std::size_t i = steps.size() - 1; i-- > 0 && steps[i].frame >= c.request_frame;)
    if (steps[i].frame == c.request_frame && steps[i].response_in == 0) steps[i].response_in = m.frame;
}

// Questions and answers of management datagrams. What a receiver says of a long answer belongs to the question, too.
void Annotator::mad_record(Record& record) {
  if (mad_question_ == record.frame) return;
  record.is_response = mad_kind_ == MadFacts::Kind::response || mad_kind_ == MadFacts::Kind::rmpp;
  record.retransmission = !record.is_response;
  record.earlier = static_cast<std::uint32_t>(mad_question_);
  if (mad_kind_ != MadFacts::Kind::response) return;
  Record* const question = find(mad_question_);
  if (question && question->response == 0) question->response = record.frame;
}

void Annotator::request(Flow& flow, const PacketFacts& facts, Record& record) {
  Requests& requests = facts.asks_for_data ? flow.data : flow.plain;
  Sent sent{
      facts.psn, facts.psns, facts.message, record.frame, forgotten_ + records_.size() - 1, !facts.expects_answer};
  if (sent.message == 0) {  // of a message that was handed over already
    const Sent* const before = requests.at(facts.psn);
    if (before) sent.message = before->message;
    sent.numbered = true;
  }
  record.message = sent.message;
  record.retransmission = facts.retransmission;
  record.earlier = static_cast<std::uint32_t>(facts.retransmission_of);
  requests.add(sent);
}

void Annotator::answer(Sent& sent, std::uint64_t frame) {
  if (std::exchange(sent.answered, true)) return;
  if (Record* record = numbered(sent.record)) record->response = static_cast<std::uint32_t>(frame);
}

// Which request it answers, and which others are answered by that, too: a response acknowledges all plain requests
// before its PSN, and an acknowledge the one at its PSN. A NAK is an answer to the request it names.
void Annotator::response(Flow& flow, const PacketFacts& facts, Record& record) {
  using Kind = PacketFacts::Kind;
  record.is_response = true;
  const bool is_data = facts.kind == Kind::read_response || facts.kind == Kind::atomic_response;
  const Sent* const plain = is_data || facts.ahead ? nullptr : flow.plain.at(facts.psn);
  const Sent* const data = plain || facts.ahead ? nullptr : flow.data.at(facts.psn);
  if (const Sent* const request = plain ? plain : data) {
    record.earlier = request->frame;
    record.message = request->message;
  }
  if (data) {
    const std::uint32_t last_psn = data->psn;
    for (std::size_t i = flow.data.behind(facts.psn); i-- > 0;) {
      Sent& sent = flow.data.sent[i];
      const bool holds = sent.psn == last_psn || static_cast<std::uint32_t>(psn_diff(facts.psn, sent.psn)) < sent.psns;
      if (!holds) break;
      answer(sent, facts.frame);
    }
  }
  if (!facts.acknowledges) return;
  const bool including = !is_data;
  const std::size_t end = flow.plain.behind(including ? facts.psn : psn_add(facts.psn, psn_mask));
  for (std::size_t i = flow.plain.first_open; i < end; ++i) answer(flow.plain.sent[i], facts.frame);
  flow.plain.first_open = std::max(flow.plain.first_open, end);
}

// Its number is the last word: packets found late may have shifted it.
void Annotator::message(const Connection& connection, std::uint8_t side, const Message& message) {
  Flow& flow = state(connection.id, connection.other_half_id).flow[side];
  Requests& requests = message.answered_by_response() ? flow.data : flow.plain;
  std::size_t i = requests.behind(psn_add(message.first_psn, psn_mask));
  for (; i < requests.sent.size(); ++i) {
    Sent& sent = requests.sent[i];
    if (!message.holds(sent.psn)) break;
    if (std::exchange(sent.numbered, true)) continue;
    sent.message = message.index;
    if (readings_ == Readings::one) continue;
    numbered(sent.record)->message = message.index;
  }
}

void Annotator::finding(const Finding& finding, const Connection*) {
  if (finding.frame == 0 || (readings_ == Readings::one && finding.frame != last_frame_)) return;
  notes_.push_back(
      {finding.frame, finding.rule->id, finding.rule->title, static_cast<std::uint8_t>(finding.kind), words(finding)});
}

void Annotator::ended(const Connection& connection) {
  state(connection.id, connection.other_half_id);
  states_.erase(connection.id);
}

void Annotator::forget() {
  forgotten_ += records_.size();
  records_.clear();
  notes_.clear();
  records_of_tables_.clear();
  cdi_records_.clear();
}

void Annotator::settle() {
  std::stable_sort(notes_.begin(), notes_.end(),
                   [](const dissect::Note& a, const dissect::Note& b) { return a.frame < b.frame; });
  for (Record& record : records_) {
    if (const auto joined = joined_.find(record.flow); joined != joined_.end()) record.flow = joined->second;
    if (!record.is_response || record.earlier == 0) continue;
    if (const Record* request = find(record.earlier)) record.message = request->message;
  }
  states_.clear();
  joined_.clear();
}

// --- Asking ----------------------------------------------------------------------------------------------------------

const Annotator::Record* Annotator::find(std::uint64_t frame) const {
  if (records_.empty() || frame < records_.front().frame) return nullptr;
  // Most captures hold little else than RDMA: the place is at or just before this one.
  const std::size_t guess = std::min<std::uint64_t>(frame - records_.front().frame, records_.size() - 1);
  if (records_[guess].frame == frame) return &records_[guess];
  const auto found = std::lower_bound(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(guess) + 1,
                                      frame, [](const Record& r, std::uint64_t wanted) { return r.frame < wanted; });
  return found != records_.end() && found->frame == frame ? &*found : nullptr;
}

dissect::Annotations Annotator::of(std::uint64_t frame) const {
  dissect::Annotations out;
  if (const Record* r = find(frame)) {
    out.flow = r->flow;
    out.message = r->message;
    out.response_in = r->response;
    out.retransmission = r->retransmission;
    (r->is_response ? out.request_in : out.retransmission_of) = r->earlier;
  } else if (const auto waits = std::ranges::lower_bound(waiting_, frame, {}, &Waiting::frame);
             waits != waiting_.end() && waits->frame == frame) {
    out.flow = waits->flow;
  }
  const auto first =
      std::lower_bound(notes_.begin(), notes_.end(), frame,
                       [](const dissect::Note& note, std::uint64_t wanted) { return note.frame < wanted; });
  auto end = first;
  while (end != notes_.end() && end->frame == frame) ++end;
  out.notes = {first, end};
  const auto joined = std::ranges::lower_bound(records_of_tables_, frame, {}, &Joined::frame);
  if (joined != records_of_tables_.end() && joined->frame == frame) {
    out.record = joined->bytes;
    out.record_headers = joined->attribute->layers();
  }
  const auto message = std::ranges::lower_bound(cdi_records_, frame, {}, &CdiRecord::frame);
  if (message != cdi_records_.end() && message->frame == frame) {
    const std::uint32_t from = message->step < ladder ? 0 : message->step + 1 - ladder;
    out.cdi_flow = message->flow;
    out.cdi = std::span(cdi_steps_[message->flow]).subspan(from, message->step + 1 - from);
  }
  return out;
}

}  // namespace rdmascope::check
