// Requests: where each stands among those before it, and the message it belongs to.
#include <algorithm>

#include "check/follower.h"

namespace rdmascope::check {

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

}  // namespace rdmascope::check
