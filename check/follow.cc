#include "check/follow.h"

#include <libdeflate.h>

#include <algorithm>

#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using dissect::Position;
using dissect::View;

// Bounds of what is remembered of one flow, so that a hostile or one-way capture cannot grow it.
constexpr std::size_t most_messages = 4096, most_sent = 512, most_gaps = 64, most_asked = 1024;
// What is answered stays a while: it may be sent again.
constexpr std::size_t kept_sent = 8, kept_asked = 16;
// Behind a READ or atomic without all its responses, that many messages are answered: the capture missed them.
constexpr std::size_t most_behind_open = 64;

// Packets of one sender closer to each other than this may have changed places on the way or in the capturing host.
constexpr std::int64_t reorder_ns = 50'000;
// A requester that goes back later than this, and does not know its timer: the timer ran out.
constexpr std::int64_t reaction_ns = 4'000'000, shortest_timer_ns = 1'000'000;

constexpr std::uint32_t legal_pmtu[] = {256, 512, 1024, 2048, 4096};
bool is_legal_pmtu(std::uint32_t bytes) {
  return std::find(std::begin(legal_pmtu), std::end(legal_pmtu), bytes) != std::end(legal_pmtu);
}

std::uint32_t read_psns(std::uint32_t dma_length, std::uint32_t pmtu) {
  return dma_length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{dma_length} + pmtu - 1) / pmtu);
}

bool is_read_like(Operation o) { return o == Operation::read || o == Operation::flush || o == Operation::atomic_write; }

class Follower {
 public:
  Follower(Context& context, Facts& facts, MessageSink* sink)
      : c_(context), connection_(context.connection), facts_(facts), sink_(sink) {}

  void request();
  void response();

 private:
  void note_order();

  // Requests.
  void place(RequestFacts& f);
  void new_packet(RequestFacts& f);
  void repeated_packet(RequestFacts& f);
  void begin_message(RequestFacts& f);
  void continue_message(Message& m, RequestFacts& f);
  void read_reth(Message& m) const;
  void adopt(RequestFacts& f);
  Message* insert_message(std::size_t at, const Message& message);
  Message* split(Message& m, std::uint32_t at);
  void remember_sent();
  void remember_asked(const RequestFacts& f);
  void find_original(RequestFacts& f);
  void note_rewind(RequestFacts& f);
  void learn_pmtu(std::uint32_t bytes);
  void learn_read_length(std::uint32_t next_psn);
  Message* message_at(std::uint32_t psn);
  DataRequest* asked_at(std::uint32_t psn);
  Gap* gap_at(std::uint32_t psn);
  std::uint32_t packets_between(std::uint32_t from, std::uint32_t to);
  void remove_from_gap(Gap& gap, std::uint32_t psn, std::uint32_t count);

  // Responses.
  void acknowledge_before(std::uint32_t psn, bool including);
  std::uint32_t unanswered(std::uint32_t from, std::uint32_t to);
  void note_answer(ResponseFacts& f);
  void note_data(ResponseFacts& f);
  void read_response(Message& m, ResponseFacts& f);
  std::optional<std::uint32_t> completed_by(const ResponseFacts& f);
  void judge_msn(ResponseFacts& f);
  void settle_msn(RequestFacts& f);
  void forget_msn(std::uint32_t psn);
  void resolve_gaps(std::uint32_t psn, bool including, ResponseFacts* f);
  bool proves_skipped(const Gap& gap, ResponseFacts& f);
  void complete(Message& m, MessageState state);
  void retire();

  Context& c_;
  Connection& connection_;
  Facts& facts_;
  MessageSink* sink_;
  Flow* flow_ = nullptr;
  std::uint8_t requester_ = 0;
  // Of this packet, by its sender's count of IP packets.
  bool twice_ = false, late_ = false, order_known_ = false;
  bool follows_directly_ = false;  // nothing of the sender is missing between its packet before and this one
  std::optional<std::uint16_t> ip_id_;
};

// Where the packet stands in the order of sending. Most stacks number their IP packets; in a row that goes up by small
// steps, one that steps back was overtaken, and one with a number and PSN seen just before is the same frame again.
void Follower::note_order() {
  const auto ip = c_.packet.find<dissect::Ipv4>();
  if (!ip) return;
  const std::uint16_t id = static_cast<std::uint16_t>(ip->get<"id">());
  ip_id_ = id;
  std::uint16_t& highest = connection_.ip_id[c_.side];
  std::uint8_t& run = connection_.ip_id_run[c_.side];
  const std::uint32_t mark = ((c_.psn << 8 | c_.opcode_byte) * 2654435761u ^ id * 40503u) | 1;
  auto& recent = connection_.recent[c_.side];
  constexpr std::uint8_t enough = 16;
  if (connection_.ip_id_changes[c_.side] >= 2 && std::find(recent.begin(), recent.end(), mark) != recent.end()) {
    twice_ = true;
    if (connection_.twice++ == 0) connection_.first_twice_frame = c_.packet.frame.number;
    return;
  }
  recent[connection_.recent_at[c_.side]++ % recent.size()] = mark;
  constexpr int small_step = 4096;
  const int step = static_cast<std::int16_t>(id - highest);
  follows_directly_ = step == 1;
  if (step != 0 && connection_.ip_id_changes[c_.side] < 255) ++connection_.ip_id_changes[c_.side];
  if (step < 0 && step > -small_step && run >= enough) {
    late_ = true;
    return;
  }
  run = step > 0 && step < small_step ? static_cast<std::uint8_t>(std::min(run + 1, 255)) : std::uint8_t{0};
  highest = id;
  order_known_ = run >= enough;
}

// --- Requests --------------------------------------------------------------------------------------------------------

Message* Follower::message_at(std::uint32_t psn) {
  for (std::size_t i = 0; i < flow_->messages.size(); ++i)
    if (flow_->messages[i].holds(psn)) return &flow_->messages[i];
  if (flow_->messages.empty()) return nullptr;
  Message& last = flow_->messages.back();  // a READ whose end is not known yet
  return !last.length_known && psn_diff(psn, last.first_psn) >= 0 ? &last : nullptr;
}

Gap* Follower::gap_at(std::uint32_t psn) {
  for (std::size_t i = 0; i < flow_->trouble->gaps.size(); ++i) {
    Gap& gap = flow_->trouble.write().gaps[i];
    const std::int32_t d = psn_diff(psn, gap.first);
    if (d >= 0 && static_cast<std::uint32_t>(d) < gap.count) return &gap;
  }
  return nullptr;
}

DataRequest* Follower::asked_at(std::uint32_t psn) {
  for (std::size_t i = flow_->asked.size(); i-- > 0;) {
    DataRequest& d = flow_->asked[i];
    const std::int32_t offset = psn_diff(psn, d.psn);
    if (offset >= 0) return static_cast<std::uint32_t>(offset) < d.psns ? &d : nullptr;
  }
  return nullptr;
}

// Request packets with PSNs in that range: one for each PSN, but one only for a READ.
std::uint32_t Follower::packets_between(std::uint32_t from, std::uint32_t to) {
  std::uint32_t n = static_cast<std::uint32_t>(std::max(psn_diff(to, from), 0));
  for (std::size_t i = flow_->asked.size(); i-- > 0;) {
    const DataRequest& a = flow_->asked[i];
    const std::int32_t end = psn_diff(psn_add(a.psn, a.psns), from);
    if (end <= 0) break;
    const std::int32_t first = std::max(psn_diff(a.psn, from), 0), last = std::min(end, psn_diff(to, from));
    if (last > first) n -= static_cast<std::uint32_t>(last - first - 1);
  }
  return n;
}

void Follower::remove_from_gap(Gap& gap, std::uint32_t psn, std::uint32_t count) {
  Queue<Gap>& gaps = flow_->trouble.write().gaps;
  const std::uint32_t before = static_cast<std::uint32_t>(psn_diff(psn, gap.first));
  count = std::min(count, gap.count - before);
  const std::uint32_t behind = gap.count - before - count;
  if (before == 0) {
    gap.first = psn_add(psn, count);
    gap.count = behind;
  } else {
    gap.count = before;
    if (behind > 0 && gaps.size() < most_gaps) {
      Gap second = gap;
      second.first = psn_add(psn, count);
      second.count = behind;
      std::size_t i = 0;
      while (&gaps[i] != &gap) ++i;
      gaps.insert(i + 1, second);
    }
  }
  for (std::size_t i = gaps.size(); i-- > 0;)
    if (gaps[i].count == 0) gaps.erase(i);
}

// What a First packet carries. While few messages vouch for the value, a larger one shows that it was a mistake: a
// sender cannot exceed its path MTU unnoticed, but the value may stem from a packet that was wrong itself, or from an
// earlier life of the queue pair.
void Follower::learn_pmtu(std::uint32_t bytes) {
  if (connection_.pmtu_told || !is_legal_pmtu(bytes)) return;
  constexpr std::uint8_t enough = 3;
  if (bytes == connection_.pmtu) {
    connection_.pmtu_messages = static_cast<std::uint8_t>(std::min(connection_.pmtu_messages + 1, 255));
    return;
  }
  if (connection_.pmtu != 0 && (bytes < connection_.pmtu || connection_.pmtu_messages >= enough)) return;
  const bool was_mistaken = connection_.pmtu != 0;
  connection_.pmtu = bytes;
  connection_.pmtu_messages = 1;
  if (!was_mistaken) return;
  for (Rare<Flow>& rare : connection_.flow) {  // READs that wait for answers take fewer PSNs than it seemed
    if (!rare) continue;
    Flow& flow = rare.write();
    for (std::size_t i = 0; i < flow.messages.size(); ++i) {
      Message& m = flow.messages[i];
      if (m.operation != Operation::read || m.state != MessageState::open || !m.length_known) continue;
      const bool is_last = m.end_psn() == flow.next_psn;
      m.psns = read_psns(m.dma_length, bytes);
      if (is_last) {
        if (flow.cursor_psn == flow.next_psn) flow.cursor_psn = m.end_psn();
        flow.next_psn = m.end_psn();
      }
    }
    for (std::size_t i = 0; i < flow.asked.size(); ++i) {
      DataRequest& d = flow.asked[i];
      if (d.operation == Operation::read && !d.answered && d.length_known) d.psns = read_psns(d.dma_length, bytes);
    }
  }
}

// A READ whose number of responses is unknown ends before the next request begins; how much before, its responses tell.
void Follower::learn_read_length(std::uint32_t next_psn) {
  if (flow_->messages.empty()) return;
  Message& m = flow_->messages.back();
  const std::int32_t psns = psn_diff(next_psn, m.first_psn);
  if (m.length_known || psns <= 0) return;
  m.length_known = connection_.pmtu != 0;
  m.psns = m.length_known ? read_psns(m.dma_length, connection_.pmtu) : static_cast<std::uint32_t>(psns);
  if (!flow_->asked.empty() && flow_->asked.back().psn == m.first_psn) {
    flow_->asked.back().psns = m.psns;
    flow_->asked.back().length_known = m.length_known;
  }
  flow_->next_psn = flow_->cursor_psn = m.end_psn();
  if (!m.length_known) forget_msn(next_psn);  // there may have been something between
  flow_->next_known = true;
}

void Follower::find_original(RequestFacts& f) {
  // Ascending by PSN.
  std::size_t low = 0, high = flow_->sent.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::int32_t d = psn_diff(flow_->sent[middle].psn, c_.psn);
    if (d == 0) {
      facts_.original = flow_->sent[middle];
      f.original = &facts_.original;
      return;
    }
    if (d < 0)
      low = middle + 1;
    else
      high = middle;
  }
}

// The sender goes back. Why? Either something in the capture asked for it, or its timer ran out.
void Follower::note_rewind(RequestFacts& f) {
  f.rewinds = true;
  f.back_from = flow_->cursor_psn;
  f.last_asked = flow_->last_asked;
  f.last_frame = flow_->last_request_frame;
  f.silent_ns = c_.packet.frame.time_ns - std::max(flow_->last_request_ns, flow_->last_response_ns);
  f.cause = flow_->trouble->nak;
  f.holes = flow_->trouble->holes;
  const std::optional<std::uint8_t> code = connection_.facts[requester_].ack_timeout;
  const std::int64_t timer_ns = code && *code > 0 ? std::int64_t{4096} << *code : 0;
  // A timer may run up to four times as long as it is set to; half of it is no timeout.
  const bool long_silence = f.silent_ns >= (timer_ns > 0 ? timer_ns / 2 : reaction_ns);
  switch (f.cause.kind) {
    case PendingNak::Kind::rnr:
      f.back_by = BackBy::rnr_nak;
      break;
    case PendingNak::Kind::sequence:
      f.back_by = long_silence ? BackBy::timeout : BackBy::sequence_nak;
      break;
    default:
      if (flow_->trouble->hole_ns != 0 && !long_silence)
        f.back_by = BackBy::implied_nak;
      else if (long_silence || (timer_ns == 0 && f.silent_ns >= shortest_timer_ns))
        f.back_by = BackBy::timeout;
      break;
  }
  Trouble& trouble = flow_->trouble.write();
  if (f.back_by == BackBy::timeout) {
    ++flow_->timeouts;
    ++trouble.timeouts_in_row;
  }
  ++trouble.go_backs;
  trouble.nak = {};
  trouble.holes = 0;
  trouble.hole_ns = 0;
  trouble.skip_psns = 0;
  trouble.overtaken_psn.reset();
  if (psn_diff(c_.psn, flow_->answer_psn) < 0) {
    flow_->answer_psn = c_.psn;
    flow_->answers_restart = true;
  }
}

// Where the packet stands among those seen before.
void Follower::place(RequestFacts& f) {
  if (!flow_->started) {
    f.order = Order::first;
    flow_->began_inside = c_.opcode.position == Position::middle || c_.opcode.position == Position::last;
    flow_->started = true;
    flow_->next_known = true;
    flow_->first_psn = flow_->next_psn = flow_->cursor_psn = flow_->answer_psn = flow_->msn_from_psn = c_.psn;
    const std::optional<std::uint32_t> start = connection_.facts[requester_].start_psn;
    // The connection was seen being made: its first PSN is known. Far from it, the capture or the CM exchange lied.
    constexpr std::int32_t believable = 1 << 16;
    if (!start || psn_diff(c_.psn, *start) < 0 || psn_diff(c_.psn, *start) > believable) return;
    flow_->first_psn = flow_->next_psn = flow_->cursor_psn = flow_->answer_psn = flow_->msn_from_psn = *start;
    flow_->msn_low_known = flow_->msn_high_known = true;  // and a new queue pair counts from 0
  } else if (!flow_->next_known) {
    learn_read_length(c_.psn);
    if (!flow_->next_known && psn_diff(c_.psn, flow_->next_psn) >= 0) {  // still unknown: take it as it comes
      flow_->next_psn = flow_->cursor_psn = c_.psn;
      flow_->next_known = true;
    }
  }
  f.expected_known = true;
  f.expected_psn = flow_->next_psn;
  const std::int32_t d = psn_diff(c_.psn, flow_->next_psn);
  if (d >= 0) {
    f.order = d == 0 ? Order::next : Order::after_gap;
    if (flow_->cursor_psn != flow_->next_psn)
      f.skipped = static_cast<std::uint32_t>(psn_diff(flow_->next_psn, flow_->cursor_psn));
  } else {
    find_original(f);
    const Gap* const gap = gap_at(c_.psn);
    const DataRequest* const asked = asked_at(c_.psn);
    f.order = gap ? Order::fills_gap : psn_diff(c_.psn, flow_->first_psn) < 0 ? Order::old : Order::retransmission;
    const std::int32_t back = psn_diff(c_.psn, flow_->cursor_psn);
    const bool asked_for = flow_->trouble->nak.kind != PendingNak::Kind::none || flow_->trouble->hole_ns != 0;
    if (late_ || (gap && back < 0 && !gap->naked && !asked_for && flow_->cursor_psn == flow_->next_psn &&
                  c_.packet.frame.time_ns - gap->time_ns < shortest_timer_ns)) {
      f.late = true;
      ++flow_->reordered;
    } else {
      f.acked = flow_->has_acked && psn_diff(c_.psn, flow_->acked_psn) <= 0 &&
                (!asked || (asked->answered && flow_->trouble->holes == 0));
      if (back < 0) note_rewind(f);
      if (back > 0) f.skipped = static_cast<std::uint32_t>(back);
    }
  }
  if (f.skipped > 0) {  // lost once more
    Trouble& trouble = flow_->trouble.write();
    trouble.resend_skips += f.skipped;
    if (trouble.skip_psns == 0) {
      trouble.skip_psn = flow_->cursor_psn;
      trouble.skip_psns = f.skipped;
    }
    trouble.lost_requests += packets_between(flow_->cursor_psn, psn_add(flow_->cursor_psn, f.skipped));
  }
  if (flow_->trouble->nak.kind == PendingNak::Kind::sequence && flow_->trouble->nak.psn == c_.psn)
    flow_->trouble.write().nak = {};
  if (f.rewinds && f.back_by == BackBy::sequence_nak && psn_diff(c_.psn, f.cause.psn) > 0) {
    Trouble& trouble = flow_->trouble.write();
    trouble.wanted_psn = f.cause.psn;
    trouble.resumed_psn = c_.psn;
    trouble.resumed_frame = c_.packet.frame.number;
    trouble.resumed_ns = c_.packet.frame.time_ns;
    trouble.lost_requests += packets_between(f.cause.psn, c_.psn);  // lost on the second way
  } else if (flow_->trouble->wanted_psn == c_.psn) {
    f.came_late = true;
  } else if (f.rewinds) {
    flow_->trouble.write().wanted_psn.reset();
  }
}

void Follower::read_reth(Message& m) const {
  if (const auto reth = c_.packet.find<dissect::Reth>()) {
    m.has_reth = true;
    m.va = reth->get<"va">();
    m.r_key = static_cast<std::uint32_t>(reth->get<"r_key">());
    m.dma_length = static_cast<std::uint32_t>(reth->get<"dmalen">());
  } else if (const auto atomic = c_.packet.find<dissect::Atomiceth>()) {
    m.has_reth = true;
    m.va = atomic->get<"va">();
    m.r_key = static_cast<std::uint32_t>(atomic->get<"r_key">());
    m.dma_length = 8;
  }
}

void Follower::begin_message(RequestFacts& f) {
  const dissect::Packet& p = c_.packet;
  if (flow_->messages.size() == most_messages) {
    if (sink_) sink_->message(connection_, requester_, flow_->messages.front());
    flow_->messages.pop_front();
    ++connection_.not_judged;
  }
  Message m;
  m.index = ++flow_->message_count;
  m.operation = operation_of(c_.opcode_byte);
  m.has_first = c_.opcode.position == Position::first || c_.opcode.position == Position::only;
  m.first_psn = m.next_response_psn = c_.psn;
  m.first_frame = p.frame.number;
  m.start_ns = p.frame.time_ns;
  read_reth(m);
  if (m.operation == Operation::read) {
    m.request_psns[0] = c_.psn;
    m.request_count = 1;
    m.maybe_rest = f.order != Order::next;
    if (connection_.pmtu != 0 || m.dma_length <= legal_pmtu[0]) {
      f.psns = read_psns(m.dma_length, connection_.pmtu != 0 ? connection_.pmtu : legal_pmtu[0]);
    } else {
      f.psns = read_psns(m.dma_length, legal_pmtu[4]);  // at least so many
      m.length_known = false;
    }
  }
  if (connection_.transport == dissect::Transport::uc) m.state = MessageState::unreliable;
  flow_->messages.push_back(m);
  flow_->in_message = c_.opcode.position == Position::first || c_.opcode.position == Position::middle;
  f.message = &flow_->messages.back();
}

// Takes a request packet into its message.
void Follower::continue_message(Message& m, RequestFacts& f) {
  const dissect::Packet& p = c_.packet;
  m.last_frame = p.frame.number;
  m.sent_ns = p.frame.time_ns;
  ++m.packets;
  if (m.operation != Operation::read) m.bytes += p.payload_bytes;
  const std::int32_t reach = psn_diff(psn_add(c_.psn, f.psns), m.first_psn);
  if (reach > 0 && static_cast<std::uint32_t>(reach) > m.psns) m.psns = static_cast<std::uint32_t>(reach);
  if (const auto immediate = p.find<dissect::Immdt>()) {
    m.has_immediate = true;
    m.immediate = static_cast<std::uint32_t>(immediate->get<"data">());
  }
  if (c_.opcode.position == Position::last || c_.opcode.position == Position::only) m.has_last = true;
  if (m.operation != Operation::read) m.has_hole = m.packets < m.psns;
  f.ends_message = m.has_last && m.has_first && !m.has_hole;
}

// Into the middle of the queue: those behind it count on.
Message* Follower::insert_message(std::size_t at, const Message& message) {
  flow_->messages.insert(at, message);
  flow_->messages[at].index =
      at + 1 < flow_->messages.size() ? flow_->messages[at + 1].index : flow_->message_count + 1;
  for (std::size_t i = at + 1; i < flow_->messages.size(); ++i) ++flow_->messages[i].index;
  ++flow_->message_count;
  return &flow_->messages[at];
}

// What was taken for one message is two: the second, which lacks its first packet, begins at PSN `at`. Packets of the
// first that were seen are First or Middle, so their bytes are known.
Message* Follower::split(Message& m, std::uint32_t at) {
  std::size_t i = 0;
  while (&flow_->messages[i] != &m) ++i;
  Message rest = m;
  rest.first_psn = at;
  rest.psns = static_cast<std::uint32_t>(psn_diff(m.end_psn(), at));
  rest.packets = rest.psns;
  for (std::size_t g = 0; g < flow_->trouble->gaps.size(); ++g) {
    const Gap& gap = flow_->trouble->gaps[g];
    const std::int32_t from = std::max(psn_diff(gap.first, at), 0);
    const std::int32_t to = std::min(psn_diff(psn_add(gap.first, gap.count), at), static_cast<std::int32_t>(rest.psns));
    if (to > from) rest.packets -= std::min(rest.packets, static_cast<std::uint32_t>(to - from));
  }
  if (at == c_.psn) --rest.packets;  // this packet is out of the gap and not counted yet
  rest.has_first = false;
  rest.has_reth = false;
  m.psns -= rest.psns;
  m.packets -= std::min(m.packets, rest.packets);
  const std::uint64_t bytes = std::min(m.bytes, std::uint64_t{m.packets} * connection_.pmtu);
  rest.bytes = m.bytes - bytes;
  m.bytes = bytes;
  m.has_last = false;
  return insert_message(i + 1, rest);
}

// A packet that was passed over finds its place: in the message around it, in the one before or behind it, or in one of
// its own.
void Follower::adopt(RequestFacts& f) {
  const Position position = c_.opcode.position;
  const bool starts = position == Position::first || position == Position::only;
  const bool ends = position == Position::last || position == Position::only;
  const Operation operation = operation_of(c_.opcode_byte);
  const std::uint32_t next = psn_add(c_.psn, 1);
  if (position == Position::first) learn_pmtu(c_.packet.payload_bytes);
  const auto takes = [operation](const Message* m) {
    return m && m->operation == operation && operation < Operation::read;
  };
  Message* m = message_at(c_.psn);
  if (m && m->operation >= Operation::read) return;
  if (m) {
    if (starts && c_.psn != m->first_psn) m = split(*m, c_.psn);
    if (ends && next != m->end_psn()) {
      const std::uint32_t first_psn = m->first_psn;
      split(*m, next);
      m = message_at(first_psn);
    }
    if (m->packets == 0) m->operation = operation;
  } else if (Message* before = message_at(psn_add(c_.psn, psn_mask)); !starts && takes(before) && !before->has_last) {
    m = before;
  } else if (Message* behind = message_at(next); !ends && takes(behind) && !behind->has_first) {
    m = behind;
    m->first_psn = c_.psn;
    ++m->psns;
  } else {
    Message own;
    own.operation = operation;
    own.first_psn = own.next_response_psn = c_.psn;
    own.maybe_rest = operation == Operation::read;
    own.first_frame = c_.packet.frame.number;
    own.start_ns = c_.packet.frame.time_ns;
    if (connection_.transport == dissect::Transport::uc) own.state = MessageState::unreliable;
    if (operation == Operation::read) {
      own.request_psns[0] = c_.psn;
      own.request_count = 1;
      own.length_known = connection_.pmtu != 0;
    }
    std::size_t at = flow_->messages.size();
    while (at > 0 && psn_diff(flow_->messages[at - 1].first_psn, c_.psn) > 0) --at;
    m = insert_message(at, own);
  }
  if (starts) {
    m->has_first = true;
    read_reth(*m);
  }
  f.message = m;
  continue_message(*m, f);
  if (m->has_last || m->operation >= Operation::read) return;
  // Does it reach a part that lacks its first packet? Then they are one.
  for (std::size_t i = 0; i + 1 < flow_->messages.size(); ++i) {
    if (&flow_->messages[i] != m) continue;
    const Message& rest = flow_->messages[i + 1];
    if (rest.has_first || rest.operation != operation || rest.first_psn != m->end_psn()) break;
    m->psns += rest.psns;
    m->packets += rest.packets;
    m->bytes += rest.bytes;
    m->has_last = rest.has_last;
    m->has_immediate = rest.has_immediate;
    m->immediate = rest.immediate;
    m->has_hole = m->packets < m->psns;
    flow_->messages.erase(i + 1);
    --flow_->message_count;
    for (std::size_t k = i + 1; k < flow_->messages.size(); ++k) --flow_->messages[k].index;
    break;
  }
  f.ends_message = f.ends_message && m->has_last && !m->has_hole;
}

void Follower::remember_sent() {
  const dissect::Packet& p = c_.packet;
  const SentPacket packet{c_.psn, c_.content_crc, p.frame.number, p.frame.time_ns,
                          c_.opcode_byte};
  while (flow_->sent.size() >= most_sent || (flow_->sent.size() >= kept_sent && flow_->has_acked &&
                                             psn_diff(flow_->sent.front().psn, flow_->acked_psn) < 0 &&
                                             psn_diff(flow_->sent[kept_sent - 1].psn, flow_->acked_psn) < 0))
    flow_->sent.pop_front();
  std::size_t at = flow_->sent.size();
  while (at > 0 && psn_diff(flow_->sent[at - 1].psn, c_.psn) > 0) --at;
  if (at == flow_->sent.size())
    flow_->sent.push_back(packet);
  else
    flow_->sent.insert(at, packet);
}

void Follower::remember_asked(const RequestFacts& f) {
  Queue<DataRequest>& asked = flow_->asked;
  while (!asked.empty() && (asked.size() >= most_asked || (asked.size() >= kept_asked && asked.front().answered))) {
    if (!asked.front().answered) --flow_->outstanding;
    asked.pop_front();
  }
  DataRequest d{};
  d.psn = c_.psn;
  d.psns = f.psns;
  d.frame = c_.packet.frame.number;
  d.operation = operation_of(c_.opcode_byte);
  d.length_known = true;
  if (const Message* m = f.message) {
    d.length_known = m->length_known;
    d.r_key = m->r_key;
    d.dma_length = m->dma_length;
    d.va = m->va;
  }
  std::size_t at = asked.size();
  while (at > 0 && psn_diff(asked[at - 1].psn, c_.psn) > 0) --at;
  if (at == asked.size())
    asked.push_back(d);
  else
    asked.insert(at, d);
  flow_->most_outstanding = std::max(flow_->most_outstanding, ++flow_->outstanding);
}

// A PSN not seen before.
void Follower::new_packet(RequestFacts& f) {
  const dissect::Packet& p = c_.packet;
  const bool starts = c_.opcode.position == Position::first || c_.opcode.position == Position::only;
  if (flow_->trouble->ahead_psn && psn_diff(flow_->trouble->ahead_last_psn, flow_->next_psn) < 0)
    flow_->trouble.write().ahead_psn.reset();
  settle_msn(f);
  if (f.order == Order::after_gap) {
    const std::uint32_t count = static_cast<std::uint32_t>(psn_diff(c_.psn, flow_->next_psn));
    flow_->gap_packets += count;
    Trouble& trouble = flow_->trouble.write();
    if (trouble.gaps.size() == most_gaps) trouble.gaps.pop_front();
    Gap gap{flow_->next_psn, count, p.frame.number, p.frame.time_ns};
    gap.tight = follows_directly_;
    gap.in_message = flow_->in_message || !starts;
    if (!flow_->sent.empty()) gap.behind = operation_of(flow_->sent.back().opcode);
    trouble.gaps.push_back(gap);
    if (trouble.ahead_psn) {  // acknowledged already
      resolve_gaps(trouble.ahead_last_psn, true, nullptr);
      if (psn_diff(trouble.ahead_last_psn, c_.psn) < 0) trouble.ahead_psn.reset();
    }
  }
  Message* current = flow_->in_message && !flow_->messages.empty() ? &flow_->messages.back() : nullptr;
  if (current && !starts && current->operation == operation_of(c_.opcode_byte)) {
    f.message = current;
    if (c_.opcode.position == Position::last) flow_->in_message = false;
  } else {
    if (f.order == Order::next) {
      f.breaks_message = current != nullptr;
      if (current) ++flow_->broken_messages;
      f.lacks_first = !current && !starts;
    }
    if (current) {
      f.previous_opcode = flow_->sent.empty() ? 0 : flow_->sent.back().opcode;
      current->has_hole = true;
    }
    begin_message(f);
  }
  if (c_.opcode.position == Position::first) learn_pmtu(p.payload_bytes);
  continue_message(*f.message, f);

  flow_->next_psn = psn_add(c_.psn, f.psns);
  flow_->next_known = f.message->length_known;
  flow_->cursor_psn = flow_->next_psn;
  remember_sent();
  if (f.message->answered_by_response()) remember_asked(f);

  // Is it certain that the capture did not miss an earlier copy of it?
  if (flow_->trouble->ahead_psn && psn_diff(*flow_->trouble->ahead_psn, c_.psn) >= 0 &&
      psn_diff(*flow_->trouble->ahead_psn, flow_->next_psn) < 0)
    f.reveals_ahead = flow_->last_request_frame < flow_->trouble->ahead_frame && flow_->last_was_new &&
                      (ip_id_ ? follows_directly_
                              : flow_->trouble->ahead_is_ack && flow_->trouble->nak.kind == PendingNak::Kind::none);
}

// A PSN seen before, or one that was passed over.
void Follower::repeated_packet(RequestFacts& f) {
  const dissect::Packet& p = c_.packet;
  const bool is_read = operation_of(c_.opcode_byte) == Operation::read;
  const auto reth = p.find<dissect::Reth>();
  DataRequest* const asked = asked_at(c_.psn);
  if (is_read && reth) {
    const std::uint32_t length = static_cast<std::uint32_t>(reth->get<"dmalen">());
    if (connection_.pmtu != 0)
      f.psns = read_psns(length, connection_.pmtu);
    else if (asked)
      f.psns = asked->psns - static_cast<std::uint32_t>(psn_diff(c_.psn, asked->psn));
  }
  if (f.order == Order::fills_gap) {
    if (Gap* gap = gap_at(c_.psn)) remove_from_gap(*gap, c_.psn, f.psns);
    adopt(f);
    if (!f.late) {
      ++flow_->retransmitted;
      ++flow_->trouble.write().lost_requests;
      if (flow_->trouble->first_lost_frame == 0) flow_->trouble.write().first_lost_frame = p.frame.number;
    }
    if (f.message) {
      remember_sent();
      if (f.message->answered_by_response()) remember_asked(f);
    }
  } else {
    Message* const m = message_at(c_.psn);
    f.message = m;
    if (asked) {
      facts_.earlier = *asked;
      f.earlier_read = &facts_.earlier;
      asked->resent = asked->resent || !f.late;
      f.partial_read = is_read && c_.psn != asked->psn;
      f.inside_read = !is_read && asked->operation == Operation::read;
      const std::uint32_t offset = static_cast<std::uint32_t>(psn_diff(c_.psn, asked->psn));
      if (is_read && asked->length_known && offset + f.psns > asked->psns) asked->asked_too_much = true;
    }
    if (m && is_read && m->operation == Operation::read && !f.late) {
      if (m->request_count < m->request_psns.size())
        m->request_psns[m->request_count++] = c_.psn;
      else
        m->request_psns.back() = c_.psn;
      m->next_response_psn = c_.psn;
      m->response_holes = 0;
    }
    if (!f.late) {
      ++flow_->retransmitted;
      if (m) {
        ++m->retransmitted;
        m->last_frame = p.frame.number;
        m->sent_ns = p.frame.time_ns;
      }
    }
    if (f.original && f.original->content_crc != 0 && !is_read) {
      f.content_differs = c_.content_crc != 0 && (c_.content_crc != f.original->content_crc || c_.opcode_byte != f.original->opcode);
    }
  }
  if (!f.late) flow_->cursor_psn = psn_add(c_.psn, f.psns);
}

void Follower::request() {
  requester_ = c_.side;
  flow_ = c_.flow = &connection_.flow[requester_].write();
  RequestFacts& f = facts_.request;
  f = {};
  c_.request = &f;
  note_order();
  if (twice_) {
    f.order = Order::twice;
    return;
  }
  ++flow_->request_packets;
  flow_->request_bytes += c_.packet.payload_bytes;
  place(f);
  if (f.order == Order::first || f.order == Order::next || f.order == Order::after_gap)
    new_packet(f);
  else
    repeated_packet(f);
  flow_->last_request_ns = c_.packet.frame.time_ns;
  flow_->last_request_frame = c_.packet.frame.number;
  flow_->last_was_new = f.order == Order::first || f.order == Order::next || f.order == Order::after_gap;
  flow_->last_was_tight = follows_directly_;
  flow_->last_asked = c_.bth.get<"a">() || operation_of(c_.opcode_byte) >= Operation::read;
  if (connection_.transport == dissect::Transport::uc) {  // nobody answers: done when sent
    while (flow_->messages.size() > (flow_->in_message ? 1u : 0u)) {
      if (sink_ && &flow_->messages.front() != f.message)
        sink_->message(connection_, requester_, flow_->messages.front());
      if (&flow_->messages.front() == f.message) break;
      flow_->messages.pop_front();
    }
  }
}

// --- Responses -------------------------------------------------------------------------------------------------------

void Follower::complete(Message& m, MessageState state) {
  if (m.state != MessageState::open) return;
  m.state = state;
  m.answer_frame = c_.packet.frame.number;
  m.done_ns = c_.packet.frame.time_ns;
  if (const auto aeth = c_.packet.find<dissect::Aeth>()) m.msn = static_cast<std::uint32_t>(aeth->get<"msn">());
  if (state != MessageState::complete) return;
  ++flow_->completed;
  ResponseFacts& f = facts_.response;
  if (&m != f.message || m.retransmitted > 0 || m.rnr_naks > 0 || m.seq_naks > 0) return;
  const std::int64_t wait_ns = m.done_ns - m.sent_ns;
  if (wait_ns < 0) return;
  constexpr std::uint32_t enough = 8;
  constexpr std::int64_t weight = 16;
  if (flow_->waits >= enough) {
    f.wait_ns = wait_ns;
    f.usual_wait_ns = flow_->usual_wait_ns;
  }
  ++flow_->waits;
  flow_->usual_wait_ns += (wait_ns - flow_->usual_wait_ns) / std::min(weight, static_cast<std::int64_t>(flow_->waits));
}

// Answered messages leave the front of the queue. The one of this packet stays for the rules.
void Follower::retire() {
  while (!flow_->messages.empty()) {
    Message& m = flow_->messages.front();
    if (m.state == MessageState::open && m.answered_by_response() && flow_->messages.size() > most_behind_open &&
        flow_->messages[most_behind_open].state != MessageState::open)
      m.state = MessageState::missed;
    if (m.state == MessageState::open || &m == facts_.response.message ||
        (flow_->in_message && flow_->messages.size() == 1))
      return;
    if (sink_) sink_->message(connection_, requester_, m);
    flow_->messages.pop_front();
  }
}

// Is it certain that no packet was in the gap, although a response covers it? Between messages: had messages been
// there, the MSN would count them. Inside a WRITE: its other packets carry all its bytes.
bool Follower::proves_skipped(const Gap& gap, ResponseFacts& f) {
  if (gap.in_message) {
    const Message* m = message_at(gap.first);
    // One packet cannot hide the end of one message and the beginning of the next.
    return m && m->operation == Operation::write && m->has_reth && m->has_last && m->dma_length > 0 &&
           m->bytes == m->dma_length && gap.count == 1 && m->psns == m->packets + 1;
  }
  const auto aeth = c_.packet.find<dissect::Aeth>();
  const std::optional<std::uint32_t> done = completed_by(f);
  // A READ there may be the retry of one that the capture lacks, and does not count.
  const Message* const behind = message_at(psn_add(gap.first, gap.count));
  if (!aeth || !done || !flow_->msn_low_known || (!gap.tight && (!behind || behind->operation == Operation::read)))
    return false;
  const std::uint32_t msn = static_cast<std::uint32_t>(aeth->get<"msn">());
  return psn_diff(msn, psn_add(flow_->msn_low, *done)) <= 0;
}

// Gaps the responder got: the capture missed them. Gaps it did not: it asks for them again.
void Follower::resolve_gaps(std::uint32_t psn, bool including, ResponseFacts* f) {
  if (!flow_->trouble) return;
  Trouble& trouble = flow_->trouble.write();
  while (!trouble.gaps.empty()) {
    Gap& gap = trouble.gaps.front();
    const std::int32_t d = psn_diff(psn, gap.first) + (including ? 1 : 0);
    if (d <= 0) return;
    const std::uint32_t count = std::min(static_cast<std::uint32_t>(d), gap.count);
    if (f && count == gap.count && proves_skipped(gap, *f)) {
      if (!f->skipped_gap) f->skipped_gap = gap;
    } else {
      if (flow_->missed_packets == 0) trouble.first_missed_frame = gap.frame;
      flow_->missed_packets += count;
      forget_msn(psn_add(gap.first, gap.count));  // messages may be among them
    }
    gap.first = psn_add(gap.first, count);
    gap.count -= count;
    if (gap.count > 0) return;
    trouble.gaps.pop_front();
  }
}

// SEND and WRITE packets up to that PSN are acknowledged.
void Follower::acknowledge_before(std::uint32_t psn, bool including) {
  resolve_gaps(psn, including, &facts_.response);
  const std::uint32_t end = including ? psn_add(psn, 1) : psn;
  for (std::size_t i = 0; i < flow_->messages.size(); ++i) {
    Message& m = flow_->messages[i];
    if (psn_diff(end, m.end_psn()) < 0 || !m.length_known) {
      if (psn_diff(end, m.first_psn) <= 0) break;
      continue;
    }
    if (!m.answered_by_response() && m.state == MessageState::open && m.has_last)
      complete(m, m.has_first && !m.has_hole ? MessageState::complete : MessageState::missed);
  }
}

// PSNs of READ and atomic responses in that range.
std::uint32_t Follower::unanswered(std::uint32_t from, std::uint32_t to) {
  std::uint32_t n = 0;
  for (std::size_t i = flow_->asked.size(); i-- > 0;) {
    const DataRequest& a = flow_->asked[i];
    const std::int32_t end = psn_diff(psn_add(a.psn, a.psns), from);
    if (end <= 0) break;
    const std::int32_t first = std::max(psn_diff(a.psn, from), 0), last = std::min(end, psn_diff(to, from));
    if (last > first) n += static_cast<std::uint32_t>(last - first);
  }
  return n;
}

// Responses come one after the other. One that is passed over was lost, or is late; to the requester an implied NAK.
void Follower::note_answer(ResponseFacts& f) {
  const bool data = f.kind == ResponseFacts::Kind::read || f.kind == ResponseFacts::Kind::atomic_ack;
  const bool acknowledges = f.kind == ResponseFacts::Kind::ack || f.kind == ResponseFacts::Kind::reserved;
  const std::uint32_t end = f.kind == ResponseFacts::Kind::read || data || acknowledges ? psn_add(c_.psn, 1) : c_.psn;
  const std::uint32_t before = acknowledges ? end : c_.psn;  // all before it must have been answered
  if (flow_->answers_restart) {
    const std::uint32_t next = psn_add(flow_->last_response_psn, 1);
    if (data && psn_diff(c_.psn, next) >= 0 && c_.psn != flow_->answer_psn && psn_diff(flow_->answer_psn, next) < 0) {
      flow_->trouble.write().lost_responses += unanswered(next, c_.psn);
      return;
    }
    flow_->answers_restart = false;
  }
  if (psn_diff(before, flow_->answer_psn) > 0) {
    f.holes = unanswered(flow_->answer_psn, before);
    if (f.holes > 0) {
      Trouble& trouble = flow_->trouble.write();
      trouble.holes += f.holes;
      trouble.lost_responses += f.holes;
      // Some requests were passed over when they were sent again: nobody could answer them.
      if (trouble.skip_psns > 0) {
        const std::uint32_t end_of_skip = psn_add(trouble.skip_psn, trouble.skip_psns);
        const std::uint32_t from =
            psn_diff(trouble.skip_psn, flow_->answer_psn) > 0 ? trouble.skip_psn : flow_->answer_psn;
        const std::uint32_t to = psn_diff(end_of_skip, before) < 0 ? end_of_skip : before;
        if (psn_diff(to, from) > 0) trouble.lost_responses -= std::min(unanswered(from, to), f.holes);
      }
      trouble.hole_ns = c_.packet.frame.time_ns;
      if (trouble.first_lost_frame == 0) trouble.first_lost_frame = c_.packet.frame.number;
    }
  }
  if (psn_diff(end, flow_->answer_psn) > 0 || data) flow_->answer_psn = end;
}

// READ responses and ATOMIC ACKs against what was asked.
void Follower::note_data(ResponseFacts& f) {
  DataRequest* const d = asked_at(c_.psn);
  if (!d) return;
  facts_.earlier = *d;
  f.request = &facts_.earlier;
  if (f.kind == ResponseFacts::Kind::atomic_ack) {
    if (const auto data = c_.packet.find<dissect::Atomicacketh>()) {
      const std::uint64_t original = data->get<"origremdt">();
      if (d->answered)
        f.original_data = d->original_data;
      else
        d->original_data = original;
    }
  }
  const std::int64_t now = c_.packet.frame.time_ns;
  if (flow_->trouble->overtaken_psn && !d->answered && !d->resent &&
      psn_diff(c_.psn, *flow_->trouble->overtaken_psn) >= 0 && psn_diff(c_.psn, flow_->trouble->overtaking_psn) < 0 &&
      (order_known_ || now - flow_->trouble->overtaking_ns > reorder_ns)) {
    f.was_overtaken = true;
    f.overtaking_psn = flow_->trouble->overtaking_psn;
    f.overtaking_frame = flow_->trouble->overtaking_frame;
    f.overtaking_ns = flow_->trouble->overtaking_ns;
    flow_->trouble.write().overtaken_psn.reset();
  }
  if (f.kind == ResponseFacts::Kind::read && d->operation == Operation::read &&
      psn_diff(c_.psn, flow_->answer_psn) < 0 && !d->resent)
    f.again = follows_directly_ && c_.psn == flow_->last_response_psn;
  if (!d->answered && (f.kind == ResponseFacts::Kind::atomic_ack || c_.psn == psn_add(d->psn, d->psns - 1))) {
    d->answered = true;
    --flow_->outstanding;
  }
}

void Follower::read_response(Message& m, ResponseFacts& f) {
  const std::uint32_t psn = c_.psn, payload = c_.packet.payload_bytes;
  flow_->response_bytes += payload;
  const Position position = c_.opcode.position;
  if (m.operation == Operation::read) {
    if (position == Position::first) learn_pmtu(payload);
    // Whatever request it answers, the READ's or a retry's, says what stands here.
    std::uint32_t count = m.psns;
    if (!m.length_known) {
      if (position == Position::only || connection_.pmtu != 0) {
        count = position == Position::only && connection_.pmtu == 0 ? 1 : read_psns(m.dma_length, connection_.pmtu);
        if (&m == &flow_->messages.back() && !flow_->next_known) {
          if (flow_->cursor_psn == flow_->next_psn) flow_->cursor_psn = psn_add(m.first_psn, count);
          flow_->next_psn = psn_add(m.first_psn, count);
          flow_->next_known = true;
        } else if (count < m.psns) {
          flow_->missed_packets += m.psns - count;  // there was something behind it
          if (flow_->trouble->first_missed_frame == 0)
            flow_->trouble.write().first_missed_frame = c_.packet.frame.number;
          forget_msn(psn_add(m.first_psn, m.psns));
        }
        m.psns = count;
        m.length_known = true;
        if (DataRequest* d = asked_at(m.first_psn)) {
          d->psns = count;
          d->length_known = true;
        }
      }
    }
    if (m.length_known) {
      const std::uint32_t last = psn_add(m.end_psn(), psn_mask);  // - 1
      bool fits = false;
      for (unsigned i = m.request_count; i-- > 0 && !fits;) {
        const bool starts = psn == m.request_psns[i], ends = psn == last;
        const Position wanted = starts && ends ? Position::only
                                : starts       ? Position::first
                                : ends         ? Position::last
                                               : Position::middle;
        if (psn_diff(psn, m.request_psns[i]) < 0) continue;
        fits = wanted == position;
        // Soft-RoCE answers a retry for the rest with Middle and Last.
        if (starts && m.maybe_rest) fits = fits || position == (ends ? Position::last : Position::middle);
        if (fits) {
          f.expected_position = position;
          f.position_known = true;
          break;
        }
        if (!f.position_known) f.expected_position = wanted;
        f.position_known = true;
      }
      if (connection_.pmtu != 0 || count == 1) {
        f.payload_known = true;
        f.expected_payload = psn == last ? m.dma_length - (count - 1) * connection_.pmtu : connection_.pmtu;
      }
    }
    f.expected_psn = m.next_response_psn;
    const std::int32_t d = psn_diff(psn, m.next_response_psn);
    if (d >= 0) {
      m.response_holes += static_cast<std::uint32_t>(d);
      m.next_response_psn = psn_add(psn, 1);
      ++m.responses;
      m.bytes += payload;
    } else {
      f.repeated = true;
      if (m.response_holes > 0 && m.state == MessageState::open) {  // it fills a hole
        --m.response_holes;
        ++m.responses;
        m.bytes += payload;
      }
    }
    if (m.length_known && m.next_response_psn == m.end_psn() && m.response_holes == 0)
      complete(m, MessageState::complete);
  } else if (is_read_like(m.operation)) {
    f.position_known = true;
    f.expected_position = Position::only;
    f.payload_known = true;
    f.expected_payload = 0;
    f.repeated = m.state != MessageState::open;
    complete(m, MessageState::complete);
  }
}

// Messages before that PSN are not counted the same way as those behind it.
void Follower::forget_msn(std::uint32_t psn) {
  flow_->msn_low_known = flow_->msn_high_known = false;
  flow_->msn_doubt = {};
  flow_->settled = 0;
  if (psn_diff(psn, flow_->msn_from_psn) > 0) flow_->msn_from_psn = psn;
}

// A new request packet: has the capture all that were sent when the last responses were made?
void Follower::settle_msn(RequestFacts& f) {
  MsnDoubt& doubt = flow_->msn_doubt;
  if (!doubt.any) return;
  // Behind packets that were sent again, one that seems new may be sent again, too. So at once it is certain only if no
  // packet of the sender is missing, here and before; else it takes several that agree: the count rises with the
  // messages.
  const bool goes_on = f.order == Order::next && !flow_->trouble->ahead_psn && flow_->last_was_new;
  const bool tight = follows_directly_ && flow_->last_was_tight && flow_->last_request_frame < doubt.frame;
  const bool prompt = c_.packet.frame.time_ns - flow_->last_request_ns < reaction_ns;
  if (goes_on && (tight || (flow_->trouble->go_backs == 0 && prompt))) {
    constexpr std::uint8_t enough = 2;
    const bool agrees = flow_->settled > 0 && doubt.low == flow_->settled_low && doubt.msn != flow_->settled_msn;
    flow_->settled = agrees ? static_cast<std::uint8_t>(std::min(flow_->settled + 1, 255)) : std::uint8_t{1};
    flow_->settled_low = doubt.low;
    flow_->settled_msn = doubt.msn;
    const bool certain = flow_->settled >= enough;
    if (doubt.too_high && (tight || certain)) {
      facts_.doubt = doubt;
      f.msn_too_high = &facts_.doubt;
      forget_msn(c_.psn);
    } else if (certain && !doubt.too_high && (!flow_->msn_low_known || psn_diff(doubt.low, flow_->msn_low) > 0)) {
      flow_->msn_low = doubt.low;
      flow_->msn_low_known = true;
    }
  }
  doubt = {};
}

bool is_nak(ResponseFacts::Kind kind) {
  return kind == ResponseFacts::Kind::sequence_nak || kind == ResponseFacts::Kind::rnr_nak ||
         kind == ResponseFacts::Kind::fatal_nak;
}

// How many messages of this flow are complete when everything up to the response's PSN is; a NAK: before its PSN.
std::optional<std::uint32_t> Follower::completed_by(const ResponseFacts& f) {
  const Queue<Message>& messages = flow_->messages;
  const bool nak = is_nak(f.kind);
  if (const Message* m = message_at(c_.psn)) {
    const bool whole = m->answered_by_response() || (m->has_last && psn_add(c_.psn, 1) == m->end_psn());
    return m->index - (whole && !nak ? 0 : 1);
  }
  const std::uint32_t last = psn_add(c_.psn, nak ? psn_mask : 0);  // the last PSN that is acknowledged
  if (messages.empty()) {
    if (psn_diff(psn_add(last, 1), flow_->next_psn) >= 0) return flow_->message_count;
    return std::nullopt;
  }
  if (const Message& m = messages.back(); psn_diff(last, m.end_psn()) >= -1)
    return m.index - (m.has_last || m.answered_by_response() ? 0 : 1);
  if (psn_add(last, 1) == messages[0].first_psn) return messages[0].index - 1;
  return std::nullopt;
}

// (complete up to the acknowledged PSN) <= MSN <= (received in full), counted from an unknown start that every response
// narrows.
void Follower::judge_msn(ResponseFacts& f) {
  const auto aeth = c_.packet.find<dissect::Aeth>();
  if (!aeth) return;
  const std::uint32_t msn = static_cast<std::uint32_t>(aeth->get<"msn">());
  if (psn_diff(c_.psn, flow_->msn_from_psn) < 0) return;
  const std::optional<std::uint32_t> done = completed_by(f);
  // Messages received in full: all begun but the one in progress. A NAK stops everything from its PSN on.
  const std::uint32_t received = is_nak(f.kind) && done ? *done : flow_->message_count - (flow_->in_message ? 1 : 0);
  const std::uint32_t complete = done.value_or(0) - std::min(done.value_or(0), flow_->broken_messages);
  const std::uint32_t at_least = std::min(complete, received);
  f.previous_msn = flow_->last_msn;
  f.msn_decreases = flow_->any_response && !f.late && f.order_known && psn_diff(msn, flow_->last_msn) < 0 &&
                    psn_diff(c_.psn, flow_->last_response_psn) >= 0;
  if (flow_->msn_low_known) {
    f.msn_low_known = true;
    f.msn_low = psn_add(flow_->msn_low, at_least);
  }
  if (flow_->msn_high_known) {
    f.msn_high_known = true;
    f.msn_high = psn_add(flow_->msn_high, received);
  }
  const bool too_low = f.msn_low_known && psn_diff(msn, f.msn_low) < 0;
  const bool too_high = f.msn_high_known && psn_diff(msn, f.msn_high) > 0;
  const std::uint32_t low = (msn - received) & psn_mask, high = (msn - at_least) & psn_mask;
  if (!too_high && (!flow_->msn_high_known || psn_diff(high, flow_->msn_high) < 0)) {
    flow_->msn_high = high;
    flow_->msn_high_known = true;
  }
  if (!flow_->trouble->ahead_psn && !flow_->msn_doubt.too_high) {
    MsnDoubt& doubt = flow_->msn_doubt;
    if (too_high || !doubt.any || psn_diff(low, doubt.low) > 0)
      doubt = {
          true,      too_high && !is_nak(f.kind), low, f.msn_high, msn, c_.packet.frame.number, c_.packet.frame.time_ns,
          f.repeated};
  }
  if (too_low || (too_high && is_nak(f.kind))) forget_msn(flow_->next_psn);  // said once; then start anew
  if (!f.late) flow_->last_msn = msn;
}

void Follower::response() {
  requester_ = c_.side ^ 1;
  flow_ = c_.flow = &connection_.flow[requester_].write();
  ResponseFacts& f = facts_.response;
  f = {};
  c_.response = &f;

  const dissect::Packet& p = c_.packet;
  const auto aeth = p.find<dissect::Aeth>();
  const bool acknowledge = (c_.opcode_byte & 31) == 0x11;
  std::uint8_t syndrome = 0;
  if (aeth) syndrome = static_cast<std::uint8_t>(aeth->get<"syndrome">());
  const dissect::Syndrome decoded = dissect::decode_syndrome(syndrome);
  if (!acknowledge) {
    f.kind = (c_.opcode_byte & 31) == 0x12 ? ResponseFacts::Kind::atomic_ack : ResponseFacts::Kind::read;
  } else {
    switch (decoded.kind) {
      case dissect::SyndromeKind::ack:
        f.kind = ResponseFacts::Kind::ack;
        break;
      case dissect::SyndromeKind::rnr_nak:
        f.kind = ResponseFacts::Kind::rnr_nak;
        break;
      case dissect::SyndromeKind::reserved:
        f.kind = ResponseFacts::Kind::reserved;
        break;
      case dissect::SyndromeKind::nak:
        f.kind = decoded.value == 0 ? ResponseFacts::Kind::sequence_nak : ResponseFacts::Kind::fatal_nak;
        break;
    }
  }
  note_order();
  if (twice_) return;
  ++flow_->response_packets;
  const std::int64_t now = p.frame.time_ns;
  if (!flow_->started || psn_diff(c_.psn, flow_->first_psn) < 0) {  // about requests before the capture
    ++connection_.not_judged;
    if (aeth) flow_->last_msn = static_cast<std::uint32_t>(aeth->get<"msn">());
    return;
  }
  f.judged = true;
  f.late = late_;
  f.order_known = order_known_ || (!late_ && now - flow_->last_response_ns > reorder_ns);
  f.message = message_at(c_.psn);
  f.previous_psn = flow_->last_response_psn;
  f.repeated = flow_->has_acked && psn_diff(c_.psn, flow_->acked_psn) < 0;
  f.goes_back = f.repeated && !f.late && flow_->retransmitted == 0;
  const bool nak = is_nak(f.kind);
  // A sequence NAK names the PSN wanted next, which may be just behind what was sent.
  const std::int32_t beyond = psn_diff(c_.psn, flow_->next_psn);
  f.ahead = flow_->next_known && (nak ? beyond > 0 : beyond >= 0);
  if (!flow_->next_known && f.message && f.kind == ResponseFacts::Kind::read &&
      (c_.opcode.position == Position::first || c_.opcode.position == Position::only)) {
    // Behind a READ of unknown length: it begins the answer to a request that is not there yet.
    const auto begin = f.message->request_psns.begin();
    f.ahead = std::find(begin, begin + f.message->request_count, c_.psn) == begin + f.message->request_count;
  }
  if (f.ahead) {
    Trouble& trouble = flow_->trouble.write();
    if (!trouble.ahead_psn || psn_diff(c_.psn, trouble.ahead_last_psn) > 0) trouble.ahead_last_psn = c_.psn;
    if (!trouble.ahead_psn && !f.late) {
      trouble.ahead_psn = c_.psn;
      trouble.ahead_is_ack = f.kind == ResponseFacts::Kind::ack;
      trouble.ahead_frame = p.frame.number;
      trouble.ahead_ns = now;
    }
    return;
  }
  if (f.late) ++flow_->trouble.write().late_responses;
  if (f.kind == ResponseFacts::Kind::read || f.kind == ResponseFacts::Kind::atomic_ack)
    note_data(f);
  else if (const DataRequest* d = asked_at(c_.psn)) {
    facts_.earlier = *d;
    f.request = &facts_.earlier;
  }
  if (!f.late) note_answer(f);

  switch (f.kind) {
    case ResponseFacts::Kind::ack:
    case ResponseFacts::Kind::reserved:
      for (std::size_t i = flow_->asked.size(); i-- > 0 && !f.late && flow_->outstanding > 0;) {
        const DataRequest& d = flow_->asked[i];  // still being answered?
        if (d.answered || d.resent || psn_diff(c_.psn, psn_add(d.psn, d.psns)) < 0) continue;
        Trouble& trouble = flow_->trouble.write();
        trouble.overtaken_psn = d.psn;
        trouble.overtaking_psn = c_.psn;
        trouble.overtaking_frame = p.frame.number;
        trouble.overtaking_ns = now;
      }
      if (flow_->plain_acked_psn && psn_diff(c_.psn, *flow_->plain_acked_psn) < 0)
        f.superseded = flow_->plain_acked_psn;
      else
        flow_->plain_acked_psn = c_.psn;
      acknowledge_before(c_.psn, true);
      break;
    case ResponseFacts::Kind::read:
      if (!f.message && !f.request) resolve_gaps(c_.psn, true, nullptr);
      if (c_.opcode.position != Position::middle) acknowledge_before(f.message ? f.message->first_psn : c_.psn, false);
      if (f.message) read_response(*f.message, f);
      break;
    case ResponseFacts::Kind::atomic_ack:
      acknowledge_before(c_.psn, false);
      if (f.message &&
          (f.message->operation == Operation::compare_swap || f.message->operation == Operation::fetch_add))
        complete(*f.message, MessageState::complete);
      break;
    case ResponseFacts::Kind::sequence_nak:
      ++flow_->seq_naks;
      acknowledge_before(c_.psn, false);
      f.second_nak =
          !f.late && flow_->trouble->nak.kind == PendingNak::Kind::sequence && flow_->trouble->nak.psn == c_.psn;
      f.another_nak = f.second_nak && (ip_id_ ? ip_id_ != flow_->trouble->nak.ip_id
                                              : now - flow_->trouble->nak.time_ns > shortest_timer_ns);
      if (Gap* gap = gap_at(c_.psn)) {
        gap->naked = true;
      } else if (!f.second_nak && !f.late &&
                 ((c_.psn - flow_->trouble->skip_psn) & psn_mask) >= flow_->trouble->skip_psns) {
        // Lost behind the capture point.
        ++flow_->trouble.write().lost_requests;
        if (flow_->trouble->first_lost_frame == 0) flow_->trouble.write().first_lost_frame = p.frame.number;
      }
      if (f.message) ++f.message->seq_naks;
      if (!f.late)
        flow_->trouble.write().nak = {PendingNak::Kind::sequence, syndrome, c_.psn, p.frame.number, now, ip_id_};
      break;
    case ResponseFacts::Kind::rnr_nak:
      ++flow_->rnr_naks;
      acknowledge_before(c_.psn, false);
      if (f.message) ++f.message->rnr_naks;
      if (Trouble& trouble = flow_->trouble.write(); trouble.rnr_in_row++ == 0) trouble.rnr_start_ns = now;
      if (!f.late) flow_->trouble.write().nak = {PendingNak::Kind::rnr, syndrome, c_.psn, p.frame.number, now, ip_id_};
      break;
    case ResponseFacts::Kind::fatal_nak:
      ++flow_->fatal_naks;
      acknowledge_before(c_.psn, false);
      if (f.message) {
        f.message->nak_code = syndrome;
        complete(*f.message, MessageState::naked);
      }
      flow_->trouble.write().nak = {PendingNak::Kind::fatal, syndrome, c_.psn, p.frame.number, now, ip_id_};
      if (!flow_->trouble->dead) {
        Trouble& trouble = flow_->trouble.write();
        trouble.dead = true;
        trouble.dead_psn = c_.psn;
        trouble.dead_ns = now;
      }
      break;
  }
  judge_msn(f);
  if (decoded.kind == dissect::SyndromeKind::ack && aeth && !f.late) {
    f.starves = decoded.value == 0 && flow_->credit_code != 0;
    if (f.starves) ++flow_->trouble.write().starved;
    flow_->credit_code = decoded.value;
  }
  const std::uint32_t covered = nak ? psn_add(c_.psn, psn_mask) : c_.psn;
  if (!flow_->has_acked || psn_diff(covered, flow_->acked_psn) > 0) {
    flow_->acked_psn = covered;
    flow_->last_progress_ns = now;
    if (flow_->trouble) {
      Trouble& trouble = flow_->trouble.write();
      if (trouble.wanted_psn && psn_diff(covered, *trouble.wanted_psn) >= 0) trouble.wanted_psn.reset();  // it arrived
      trouble.rnr_in_row = f.kind == ResponseFacts::Kind::rnr_nak ? 1 : 0;  // another request
      trouble.rnr_start_ns = now;
    }
  }
  flow_->has_acked = flow_->any_response = true;
  if (!f.late) {
    flow_->last_response_psn = c_.psn;
    flow_->last_response_frame = p.frame.number;
    flow_->last_response_ns = now;
    if (flow_->trouble->timeouts_in_row > 0) flow_->trouble.write().timeouts_in_row = 0;
  }
  retire();
}

}  // namespace

std::uint32_t content_crc(const dissect::Packet& p) {
  const dissect::Crc& icrc = p.icrc();
  if (icrc.status == dissect::CrcStatus::absent || icrc.at > p.bytes.size()) return 0;
  const std::uint32_t from = icrc.bth + static_cast<std::uint32_t>(dissect::Bth::bytes);
  if (icrc.at < from) return 0;
  return libdeflate_crc32(1, p.bytes.data() + from, icrc.at - from) | 1;  // never 0
}

void follow(Context& c, Facts& facts, MessageSink* messages) {
  Follower follower(c, facts, messages);
  if (c.opcode.response)
    follower.response();
  else
    follower.request();
}

void finish_messages(Connection& connection, MessageSink* messages) {
  for (std::uint8_t side = 0; side < 2; ++side) {
    if (!connection.flow[side]) continue;
    Flow& flow = connection.flow[side].write();
    if (messages)
      for (std::size_t i = 0; i < flow.messages.size(); ++i) messages->message(connection, side, flow.messages[i]);
    flow.messages.clear();
  }
}

}  // namespace rdmascope::check
