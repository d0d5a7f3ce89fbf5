// Responses: what they answer, which messages they complete, and what is missing.
#include <algorithm>

#include "check/follower.h"

namespace rdmascope::check {

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

namespace {

bool is_nak(ResponseFacts::Kind kind) {
  return kind == ResponseFacts::Kind::sequence_nak || kind == ResponseFacts::Kind::rnr_nak ||
         kind == ResponseFacts::Kind::fatal_nak;
}

}  // namespace

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

}  // namespace rdmascope::check
