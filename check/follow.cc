#include "check/follow.h"

#include <libdeflate.h>

#include <algorithm>

#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using dissect::Position;
using dissect::View;

// Bounds of what is remembered of one flow, so that a hostile or one-way capture cannot grow it.
constexpr std::size_t most_messages = 4096, most_sent = 512, most_gaps = 64;

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
  // Requests.
  void place(RequestFacts& f);
  void new_packet(RequestFacts& f);
  void repeated_packet(RequestFacts& f);
  void begin_message(RequestFacts& f);
  void continue_message(Message& m, RequestFacts& f);
  void find_original(RequestFacts& f);
  void note_rewind(RequestFacts& f);
  void learn_pmtu(std::uint32_t bytes);
  void learn_read_length(std::uint32_t next_psn);
  std::uint32_t content_crc() const;
  Message* message_at(std::uint32_t psn);
  Gap* gap_at(std::uint32_t psn);
  void remove_from_gap(Gap& gap, std::uint32_t psn);

  // Responses.
  void acknowledge_before(std::uint32_t psn, bool including);
  void read_response(Message& m, ResponseFacts& f);
  void judge_msn(ResponseFacts& f);
  void resolve_gaps(std::uint32_t psn, bool including);
  void complete(Message& m, MessageState state);
  void retire();

  Context& c_;
  Connection& connection_;
  Facts& facts_;
  MessageSink* sink_;
  Flow* flow_ = nullptr;
  std::uint8_t requester_ = 0;
};

// --- Requests --------------------------------------------------------------------------------------------------------

std::uint32_t Follower::content_crc() const {
  const dissect::Packet& p = c_.packet;
  const dissect::Crc& icrc = p.icrc();
  if (icrc.status == dissect::CrcStatus::absent || icrc.at > p.bytes.size()) return 0;
  const std::uint32_t from = icrc.bth + static_cast<std::uint32_t>(dissect::Bth::bytes);
  if (icrc.at < from) return 0;
  return libdeflate_crc32(1, p.bytes.data() + from, icrc.at - from) | 1;  // never 0
}

Message* Follower::message_at(std::uint32_t psn) {
  for (std::size_t i = 0; i < flow_->messages.size(); ++i)
    if (flow_->messages[i].holds(psn)) return &flow_->messages[i];
  if (flow_->messages.empty()) return nullptr;
  Message& last = flow_->messages.back();  // a READ whose end is not known yet
  return !last.length_known && psn_diff(psn, last.first_psn) >= 0 ? &last : nullptr;
}

Gap* Follower::gap_at(std::uint32_t psn) {
  for (std::size_t i = 0; i < flow_->gaps.size(); ++i) {
    const std::int32_t d = psn_diff(psn, flow_->gaps[i].first);
    if (d >= 0 && static_cast<std::uint32_t>(d) < flow_->gaps[i].count) return &flow_->gaps[i];
  }
  return nullptr;
}

void Follower::remove_from_gap(Gap& gap, std::uint32_t psn) {
  const std::uint32_t before = static_cast<std::uint32_t>(psn_diff(psn, gap.first));
  const std::uint32_t behind = gap.count - before - 1;
  if (before == 0) {
    gap.first = psn_add(psn, 1);
    gap.count = behind;
  } else {
    gap.count = before;
    if (behind > 0 && flow_->gaps.size() < most_gaps) {
      Gap second = gap;
      second.first = psn_add(psn, 1);
      second.count = behind;
      flow_->gaps.push_back(second);
    }
  }
  while (!flow_->gaps.empty() && flow_->gaps.front().count == 0) flow_->gaps.pop_front();
}

void Follower::learn_pmtu(std::uint32_t bytes) {
  if (connection_.pmtu == 0 && is_legal_pmtu(bytes)) connection_.pmtu = bytes;
}

// A READ whose number of responses was unknown ends where the next request begins.
void Follower::learn_read_length(std::uint32_t next_psn) {
  if (flow_->messages.empty()) return;
  Message& m = flow_->messages.back();
  if (m.length_known) return;
  const std::int32_t psns = psn_diff(next_psn, m.first_psn);
  if (psns <= 0) return;
  std::uint32_t fitting = 0;
  for (std::uint32_t pmtu : legal_pmtu)
    if (read_psns(m.dma_length, pmtu) == static_cast<std::uint32_t>(psns)) fitting = pmtu;
  if (fitting == 0) return;
  m.psns = static_cast<std::uint32_t>(psns);
  m.length_known = true;
  flow_->next_psn = next_psn;
  flow_->next_known = true;
  if (psns > 1) learn_pmtu(fitting);
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

void Follower::note_rewind(RequestFacts& f) {
  f.rewinds = true;
  f.silent_ns = c_.packet.frame.time_ns - std::max(flow_->last_request_ns, flow_->last_progress_ns);
  f.cause = flow_->nak;
  flow_->nak = {};
  if (f.cause.kind == PendingNak::Kind::none) ++flow_->timeouts;
}

// Where the packet stands among those seen before.
void Follower::place(RequestFacts& f) {
  if (!flow_->started) {
    f.order = Order::first;
    flow_->started = true;
    flow_->next_known = true;
    flow_->first_psn = flow_->next_psn = flow_->cursor_psn = c_.psn;
    const std::optional<std::uint32_t> start = connection_.facts[requester_].start_psn;
    if (!start) return;
    // The connection was seen being made: its first PSN is known.
    flow_->first_psn = flow_->next_psn = flow_->cursor_psn = *start;
  } else if (!flow_->next_known) {
    learn_read_length(c_.psn);
    if (!flow_->next_known && psn_diff(c_.psn, flow_->next_psn) >= 0) {  // still unknown: take it as it comes
      flow_->next_psn = c_.psn;
      flow_->next_known = true;
    }
  }
  f.expected_known = true;
  f.expected_psn = flow_->next_psn;
  const std::int32_t d = psn_diff(c_.psn, flow_->next_psn);
  if (d == 0) {
    f.order = Order::next;
  } else if (d > 0) {
    f.order = Order::after_gap;
  } else if (gap_at(c_.psn)) {
    f.order = Order::fills_gap;
  } else {
    find_original(f);
    f.order = f.original || message_at(c_.psn) ? Order::retransmission : Order::old;
  }
  if (d < 0 && c_.psn != flow_->cursor_psn) note_rewind(f);
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
  if (const auto reth = p.find<dissect::Reth>()) {
    m.has_reth = true;
    m.va = reth->get<"va">();
    m.r_key = static_cast<std::uint32_t>(reth->get<"r_key">());
    m.dma_length = static_cast<std::uint32_t>(reth->get<"dmalen">());
  } else if (const auto atomic = p.find<dissect::Atomiceth>()) {
    m.has_reth = true;
    m.va = atomic->get<"va">();
    m.r_key = static_cast<std::uint32_t>(atomic->get<"r_key">());
    m.dma_length = 8;
  }
  if (m.operation == Operation::read) {
    m.request_psns[0] = c_.psn;
    m.request_count = 1;
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

// A PSN not seen before.
void Follower::new_packet(RequestFacts& f) {
  const dissect::Packet& p = c_.packet;
  const bool starts = c_.opcode.position == Position::first || c_.opcode.position == Position::only;
  if (f.order == Order::after_gap) {
    const std::uint32_t count = static_cast<std::uint32_t>(psn_diff(c_.psn, flow_->next_psn));
    flow_->gap_packets += count;
    if (flow_->gaps.size() == most_gaps) flow_->gaps.pop_front();
    Gap gap{flow_->next_psn, count, p.frame.number, p.frame.time_ns};
    gap.in_message = flow_->in_message || !starts;
    flow_->gaps.push_back(gap);
  }
  Message* current = flow_->in_message && !flow_->messages.empty() ? &flow_->messages.back() : nullptr;
  if (current && !starts && current->operation == operation_of(c_.opcode_byte)) {
    f.message = current;
    if (c_.opcode.position == Position::last) flow_->in_message = false;
  } else {
    if (f.order == Order::next) {
      f.breaks_message = current != nullptr;
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
  if (flow_->sent.size() == most_sent) flow_->sent.pop_front();
  flow_->sent.push_back(
      {c_.psn, connection_.reliable() ? content_crc() : 0, p.frame.number, p.frame.time_ns, c_.opcode_byte});

  if (flow_->ahead_psn && psn_diff(*flow_->ahead_psn, c_.psn) >= 0 && psn_diff(*flow_->ahead_psn, flow_->next_psn) < 0)
    f.reveals_ahead = true;
}

// A PSN seen before, or one that was passed over.
void Follower::repeated_packet(RequestFacts& f) {
  const dissect::Packet& p = c_.packet;
  Message* m = message_at(c_.psn);
  f.message = m;
  const bool is_read = operation_of(c_.opcode_byte) == Operation::read && c_.opcode.position == Position::only;
  if (is_read && m && m->operation == Operation::read) {
    const auto reth = p.find<dissect::Reth>();
    f.psns = connection_.pmtu != 0 && reth
                 ? read_psns(static_cast<std::uint32_t>(reth->get<"dmalen">()), connection_.pmtu)
                 : 1;
    f.partial_read = c_.psn != m->first_psn;
    f.earlier_read = m;
    if (m->request_count < m->request_psns.size())
      m->request_psns[m->request_count++] = c_.psn;
    else
      m->request_psns.back() = c_.psn;
    m->next_response_psn = c_.psn;
    m->response_holes = 0;
  } else if (m && m->operation == Operation::read && c_.psn != m->first_psn) {
    f.inside_read = true;
  }
  if (f.order == Order::fills_gap) {
    if (Gap* gap = gap_at(c_.psn)) {
      const bool lost = gap->naked || f.rewinds || flow_->nak.kind != PendingNak::Kind::none;
      if (!lost && p.frame.time_ns - gap->time_ns < 1'000'000) ++flow_->reordered;
      remove_from_gap(*gap, c_.psn);
    }
    if (m && m->operation != Operation::read) continue_message(*m, f);
    f.ends_message = f.ends_message && m;
  } else {
    ++flow_->retransmitted;
    if (m) {
      ++m->retransmitted;
      m->last_frame = p.frame.number;
      m->sent_ns = p.frame.time_ns;
    }
    if (f.original && f.original->content_crc != 0 && !is_read) {
      const std::uint32_t crc = content_crc();
      f.content_differs = crc != 0 && (crc != f.original->content_crc || c_.opcode_byte != f.original->opcode);
    }
  }
  flow_->cursor_psn = psn_add(c_.psn, f.psns);
}

void Follower::request() {
  requester_ = c_.side;
  flow_ = c_.flow = &connection_.flow[requester_];
  RequestFacts& f = facts_.request;
  f = {};
  c_.request = &f;
  ++flow_->request_packets;
  flow_->request_bytes += c_.packet.payload_bytes;
  place(f);
  if (f.order == Order::first || f.order == Order::next || f.order == Order::after_gap)
    new_packet(f);
  else
    repeated_packet(f);
  flow_->last_request_ns = c_.packet.frame.time_ns;
  flow_->last_request_frame = c_.packet.frame.number;
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
  if (state == MessageState::complete) ++flow_->completed;
}

// Answered messages leave the front of the queue. The one of this packet stays for the rules.
void Follower::retire() {
  while (!flow_->messages.empty()) {
    Message& m = flow_->messages.front();
    if (m.state == MessageState::open || &m == facts_.response.message ||
        (flow_->in_message && flow_->messages.size() == 1))
      return;
    if (sink_) sink_->message(connection_, requester_, m);
    flow_->messages.pop_front();
  }
}

// Gaps the responder got: the capture missed them. Gaps it did not: it asks for them again.
void Follower::resolve_gaps(std::uint32_t psn, bool including) {
  while (!flow_->gaps.empty()) {
    Gap& gap = flow_->gaps.front();
    const std::int32_t d = psn_diff(psn, gap.first) + (including ? 1 : 0);
    if (d <= 0) return;
    const std::uint32_t count = std::min(static_cast<std::uint32_t>(d), gap.count);
    flow_->missed_packets += count;
    flow_->msn_known = false;  // messages may be among them
    gap.first = psn_add(gap.first, count);
    gap.count -= count;
    if (gap.count > 0) return;
    flow_->gaps.pop_front();
  }
}

// SEND and WRITE packets up to that PSN are acknowledged.
void Follower::acknowledge_before(std::uint32_t psn, bool including) {
  resolve_gaps(psn, including);
  const std::uint32_t end = including ? psn_add(psn, 1) : psn;
  for (std::size_t i = 0; i < flow_->messages.size(); ++i) {
    Message& m = flow_->messages[i];
    if (psn_diff(end, m.end_psn()) < 0 || !m.length_known) {
      if (psn_diff(end, m.first_psn) <= 0) break;
      continue;
    }
    flow_->done_count = std::max(flow_->done_count, m.index);
    if (!m.answered_by_response() && m.state == MessageState::open && m.has_last)
      complete(m, m.has_first && !m.has_hole ? MessageState::complete : MessageState::missed);
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
        m.psns = count =
            position == Position::only && connection_.pmtu == 0 ? 1 : read_psns(m.dma_length, connection_.pmtu);
        m.length_known = true;
        if (&m == &flow_->messages.back()) {
          flow_->next_psn = m.end_psn();
          flow_->next_known = true;
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
        if (fits || !f.position_known) f.expected_position = wanted;
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
      f.holes = static_cast<std::uint32_t>(d);
      m.response_holes += f.holes;
      m.next_response_psn = psn_add(psn, 1);
      ++m.responses;
      m.bytes += payload;
    } else {
      f.repeated = true;
    }
    flow_->done_count = std::max(flow_->done_count, m.index);  // counted when it was accepted
    if (m.length_known && m.next_response_psn == m.end_psn() && m.response_holes == 0)
      complete(m, MessageState::complete);
  } else if (is_read_like(m.operation)) {
    flow_->done_count = std::max(flow_->done_count, m.index);
    f.position_known = true;
    f.expected_position = Position::only;
    f.payload_known = true;
    f.expected_payload = 0;
    f.repeated = m.state != MessageState::open;
    complete(m, MessageState::complete);
  }
}

// (complete up to the acknowledged PSN) <= MSN <= (received in full), counted from an unknown start that every response
// narrows. ib-wire.md 4.5.
void Follower::judge_msn(ResponseFacts& f) {
  const auto aeth = c_.packet.find<dissect::Aeth>();
  if (!aeth) return;
  const std::uint32_t msn = static_cast<std::uint32_t>(aeth->get<"msn">());
  // Messages received in full: all begun but the one in progress.
  const std::uint32_t received = flow_->message_count - (flow_->in_message ? 1 : 0);
  const std::uint32_t done = std::min(flow_->done_count, received);
  f.msn_decreases =
      flow_->any_response && psn_diff(msn, flow_->last_msn) < 0 && psn_diff(c_.psn, flow_->last_response_psn) >= 0;
  if (flow_->msn_known) {
    f.msn_known = true;
    f.msn_low = psn_add(flow_->msn_low, done);
    f.msn_high = psn_add(flow_->msn_high, received);
  }
  const std::uint32_t low = (msn - received) & psn_mask, high = (msn - done) & psn_mask;
  if (!flow_->msn_known) {
    flow_->msn_low = low;
    flow_->msn_high = high;
    flow_->msn_known = true;
  } else {
    if (psn_diff(low, flow_->msn_low) > 0) flow_->msn_low = low;
    if (psn_diff(high, flow_->msn_high) < 0) flow_->msn_high = high;
    if (psn_diff(flow_->msn_high, flow_->msn_low) < 0) {  // contradiction: said once, then start anew
      flow_->msn_low = low;
      flow_->msn_high = high;
    }
  }
  flow_->last_msn = msn;
}

void Follower::response() {
  requester_ = c_.side ^ 1;
  flow_ = c_.flow = &connection_.flow[requester_];
  ResponseFacts& f = facts_.response;
  f = {};
  c_.response = &f;
  ++flow_->response_packets;

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
  if (!flow_->started || psn_diff(c_.psn, flow_->first_psn) < 0) {  // about requests before the capture
    ++connection_.not_judged;
    if (aeth) flow_->last_msn = static_cast<std::uint32_t>(aeth->get<"msn">());
    return;
  }
  f.judged = true;
  f.message = message_at(c_.psn);
  f.previous_psn = flow_->last_response_psn;
  f.repeated = flow_->has_acked && psn_diff(c_.psn, flow_->acked_psn) < 0;
  f.goes_back = f.repeated && flow_->retransmitted == 0 && flow_->reordered == 0;
  const bool nak = f.kind == ResponseFacts::Kind::sequence_nak || f.kind == ResponseFacts::Kind::rnr_nak ||
                   f.kind == ResponseFacts::Kind::fatal_nak;
  // A sequence NAK names the PSN wanted next, which may be just behind what was sent.
  const std::int32_t beyond = psn_diff(c_.psn, flow_->next_psn);
  f.ahead = flow_->next_known && (nak ? beyond > 0 : beyond >= 0);
  if (f.ahead) {
    if (!flow_->ahead_psn) {
      flow_->ahead_psn = c_.psn;
      flow_->ahead_frame = p.frame.number;
      flow_->ahead_ns = p.frame.time_ns;
    }
    return;
  }

  switch (f.kind) {
    case ResponseFacts::Kind::ack:
    case ResponseFacts::Kind::reserved:
      for (std::size_t i = 0; i < flow_->messages.size(); ++i) {  // behind a READ that still gets its responses?
        const Message& m = flow_->messages[i];
        if (psn_diff(c_.psn, m.end_psn()) < 0) break;
        if (m.state == MessageState::open && m.answered_by_response() && m.length_known) {
          f.overtakes_read = true;
          f.overtaken_psn = m.next_response_psn;
        }
      }
      acknowledge_before(c_.psn, true);
      break;
    case ResponseFacts::Kind::read:
      if (c_.opcode.position != Position::middle) acknowledge_before(f.message ? f.message->first_psn : c_.psn, false);
      if (f.message) read_response(*f.message, f);
      break;
    case ResponseFacts::Kind::atomic_ack:
      acknowledge_before(c_.psn, false);
      if (f.message &&
          (f.message->operation == Operation::compare_swap || f.message->operation == Operation::fetch_add)) {
        flow_->done_count = std::max(flow_->done_count, f.message->index);
        complete(*f.message, MessageState::complete);
      }
      break;
    case ResponseFacts::Kind::sequence_nak:
      ++flow_->seq_naks;
      acknowledge_before(c_.psn, false);
      f.second_nak = flow_->nak.kind == PendingNak::Kind::sequence && flow_->nak.psn == c_.psn;
      if (Gap* gap = gap_at(c_.psn)) gap->naked = true;
      if (f.message) ++f.message->seq_naks;
      flow_->nak = {PendingNak::Kind::sequence, syndrome, c_.psn, p.frame.number, p.frame.time_ns};
      break;
    case ResponseFacts::Kind::rnr_nak:
      ++flow_->rnr_naks;
      acknowledge_before(c_.psn, false);
      if (f.message) ++f.message->rnr_naks;
      flow_->nak = {PendingNak::Kind::rnr, syndrome, c_.psn, p.frame.number, p.frame.time_ns};
      break;
    case ResponseFacts::Kind::fatal_nak:
      ++flow_->fatal_naks;
      acknowledge_before(c_.psn, false);
      if (f.message) {
        f.message->nak_code = syndrome;
        complete(*f.message, MessageState::naked);
      }
      flow_->nak = {PendingNak::Kind::fatal, syndrome, c_.psn, p.frame.number, p.frame.time_ns};
      flow_->dead = true;
      flow_->dead_ns = p.frame.time_ns;
      break;
  }
  judge_msn(f);
  if (decoded.kind == dissect::SyndromeKind::ack && aeth) flow_->credit_code = decoded.value;
  if (!flow_->has_acked || psn_diff(c_.psn, flow_->acked_psn) > 0) {
    flow_->acked_psn = c_.psn;
    flow_->last_progress_ns = p.frame.time_ns;
  }
  flow_->has_acked = flow_->any_response = true;
  flow_->last_response_psn = c_.psn;
  flow_->last_response_frame = p.frame.number;
  retire();
}

}  // namespace

void follow(Context& c, Facts& facts, MessageSink* messages) {
  Follower follower(c, facts, messages);
  if (c.opcode.response)
    follower.response();
  else
    follower.request();
}

void finish_messages(Connection& connection, MessageSink* messages) {
  for (std::uint8_t side = 0; side < 2; ++side) {
    Flow& flow = connection.flow[side];
    if (messages)
      for (std::size_t i = 0; i < flow.messages.size(); ++i) messages->message(connection, side, flow.messages[i]);
    flow.messages.clear();
  }
}

}  // namespace rdmascope::check
