#include "check/completions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "check/cqe_time.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

// Beyond these nothing new is followed: a capture can name any number of queues.
constexpr std::size_t most_queues = 1 << 16, most_immediates = 256, most_waiting = 64;

// Entries and packets are captured by different means: a packet may be written this much later than it came. Not so
// when the device is a model, which keeps one clock for both and every entry from the first on.
constexpr std::int64_t tolerance_ns = 1'000'000'000;

template <class Map>
typename Map::mapped_type* find_or_add(Map& map, const typename Map::key_type& key) {
  if (const auto found = map.find(key); found != map.end()) return &found->second;
  if (map.size() >= most_queues) return nullptr;
  return &map[key];
}

bool stops_other_queue(std::uint8_t qp_type) {  // its failure does
  return qp_type == qpt_rc || qp_type == qpt_xrc_send || qp_type == qpt_xrc_recv;
}

// What a receive says of the message: immediate data or an invalidated key.
struct Said {
  std::uint32_t value;
  bool is_key;
};
std::optional<Said> said(const Completion& c) {
  if (c.send || c.kind != Completion::Kind::completion) return std::nullopt;
  if (c.format == CqeFormat::mlx4 || c.format == CqeFormat::mlx4_timestamp) {
    const auto value = static_cast<std::uint32_t>(View<Mlx4Cqe>(c.bytes).get<"immediate_rssvalue_invalidatekey">());
    if (c.opcode == 0x00 || c.opcode == 0x02) return Said{value, false};
    if (c.opcode == 0x03) return Said{value, true};
  } else if (c.format == CqeFormat::mlx5) {
    const auto value = static_cast<std::uint32_t>(View<Mlx5Cqe>(c.bytes).get<"imm_inval_pkey">());
    if (c.opcode == 1 || c.opcode == 3) return Said{value, false};
    if (c.opcode == mlx5_resp_send_inv) return Said{value, true};
  }
  return std::nullopt;
}

bool is_read(const Completion& c) {
  if (!c.send || c.kind != Completion::Kind::completion) return false;
  return c.operation == "RDMA_READ";
}

}  // namespace

// What is known of packets to that queue pair of a side.
Completions::Traffic* Completions::traffic_to(const Connection& connection, std::uint8_t side, std::uint32_t qpn) {
  Traffic* t = find_or_add(traffic_, qpn);
  if (!t) return nullptr;
  if (t->host.kind == Address::Kind::none) {
    t->host = connection.address[side];
    t->whole = connection.first_frame > first_entry_;
  } else if (t->host != connection.address[side])
    t->ambiguous = true;
  return t;
}

void Completions::packet(const Context& c) {
  if (!c.request && !c.response) return;
  Traffic* t = traffic_to(c.connection, c.side ^ 1, static_cast<std::uint32_t>(c.bth.get<"destqp">()));
  if (!t) return;
  if (c.request) {
    const RequestFacts& r = *c.request;
    if (r.order == Order::after_gap || r.order == Order::fills_gap) t->lossy = true;
    if (r.order != Order::first && r.order != Order::next) return;
    if (operation_of(c.opcode_byte) == Operation::read && c.connection.qpn[c.side])
      if (Traffic* own = traffic_to(c.connection, c.side, *c.connection.qpn[c.side])) ++own->reads_requested;
    if (const auto immdt = c.packet.find<Immdt>(); immdt && t->immediates.size() < most_immediates)
      t->immediates.push_back({static_cast<std::uint32_t>(immdt->get<"data">()), false, c.packet.frame.number});
    if (const auto ieth = c.packet.find<Ieth>(); ieth && t->immediates.size() < most_immediates)
      t->immediates.push_back({static_cast<std::uint32_t>(ieth->get<"r_key">()), true, c.packet.frame.number});
    if (t->immediates.size() >= most_immediates) t->lossy = true;
    return;
  }
  const ResponseFacts& r = *c.response;
  if (r.holes > 0 || !r.judged) t->lossy = true;
  if (r.kind != ResponseFacts::Kind::read || r.repeated || r.again) return;
  if (c.opcode.position != Position::last && c.opcode.position != Position::only) return;
  ++t->reads_answered;
  std::erase_if(t->waiting, [&](const EarlyCompletion& e) {
    if (e.completions > t->reads_answered) return false;
    if (c.packet.frame.time_ns - e.time_ns > e.tolerance_ns && t->early.size() < most_waiting) t->early.push_back(e);
    return true;
  });
}

void Completions::follow_counter(WorkQueue& work, const Completion& entry, std::uint64_t frame, CompletionFacts& facts,
                                 QueuePair& pair) {
  const auto wqe = static_cast<std::uint16_t>(*entry.wqe);
  facts.previous_wqe = work.wqe;
  facts.previous_wqe_frame = work.frame;
  facts.in_row = work.in_row;
  if (work.wqe) {
    const auto step = static_cast<std::uint16_t>(wqe - *work.wqe);
    // A new queue pair counts from 0, and its first completion comes after as many work requests as between others.
    facts.restarted = (step == 0 || step >= 0x8000) && wqe <= work.largest_step;
    if (facts.restarted) {
      const QueuePair before = std::exchange(pair, QueuePair{});
      pair.known = true;
      pair.incarnation = before.incarnation;
      pair.losses = before.losses;
      facts.in_row = 0;
    } else {
      work.in_row = step == 1 ? work.in_row + 1 : 0;
      if (step < 0x8000) work.largest_step = std::max(work.largest_step, step);
    }
  } else {
    constexpr std::uint16_t small = 1024;  // more are hardly left without a completion
    work.largest_step = wqe < small ? wqe : std::uint16_t{0};
  }
  work.wqe = wqe;
  work.frame = frame;
}

void Completions::hold_against_packets(const Packet& packet, const Completion& entry, QueuePair& pair,
                                       CompletionFacts& facts, bool one_clock) {
  const auto found = traffic_.find(*entry.qpn);
  if (found == traffic_.end()) return;
  Traffic& t = found->second;
  if (t.ambiguous || pair.lost || (t.lossy && !(one_clock && t.whole))) return;
  if (const std::optional<Said> s = said(entry); s && !t.lossy) {
    // Packets may be captured later than entries. It is sure that one is missing only while the two run in step.
    const auto match = std::find_if(t.immediates.begin(), t.immediates.end(),
                                    [&](const Immediate& i) { return i.value == s->value && i.is_key == s->is_key; });
    if (t.immediates.empty()) {
      t.behind = true;
    } else if (match != t.immediates.end()) {
      t.in_step = true;
      t.immediates.erase(t.immediates.begin(), match + 1);
    } else {
      if (t.in_step && !t.behind) {
        facts.immediate = t.immediates.front().value;
        facts.immediate_frame = t.immediates.front().frame;
      }
      t.immediates.erase(t.immediates.begin());
    }
  }
  // The READ was asked for here, so the queue pair is that of these packets, and its answer is due. A model's packets
  // are all in the capture.
  if (is_read(entry) && pair.from_start && pair.reads > t.reads_answered &&
      ((one_clock && t.whole) || pair.reads <= t.reads_requested) && t.waiting.size() < most_waiting)
    t.waiting.push_back({packet.frame.number, packet.frame.time_ns, *entry.qpn, pair.reads, t.reads_answered,
                         one_clock && t.whole ? 0 : tolerance_ns});
}

CompletionFacts Completions::entry(const Packet& packet, const View<CqeRecord>& record, const Completion& entry) {
  if (!active_) first_entry_ = packet.frame.number;
  active_ = true;
  CompletionFacts facts;
  const std::uint32_t interface = packet.frame.interface_id.value_or(0);
  const auto cqn = static_cast<std::uint32_t>(record.get<"cqn">());
  Queue* queue = find_or_add(queues_, QueueKey{interface, cqn});
  if (!queue) return facts;
  const std::uint64_t frame = packet.frame.number;

  const bool has_index = record.get<"flags.index_valid">(), simulated = record.get<"flags.simulated">();
  const auto ci = static_cast<std::uint32_t>(record.get<"ci">()),
             count = static_cast<std::uint32_t>(record.get<"cqe_cnt">());
  if (has_index && ci == 0 && queue->ci) {  // a new queue of the same number
    const std::uint32_t incarnation = queue->incarnation + 1;
    *queue = {};
    queue->incarnation = incarnation;
  }
  facts.previous_frame = queue->frame;
  if (has_index && queue->ci) {
    const std::uint32_t next = *queue->ci + 1;
    const bool behind_block = queue->compressed > 0 && ci - *queue->ci == queue->compressed;
    facts.expected_ci = behind_block ? ci : next;
    facts.lost_before = static_cast<std::int32_t>(ci - *facts.expected_ci) > 0;
    queue->losses += facts.lost_before;
    facts.behind_resize = queue->resized && queue->count == count;
  }
  if (entry.format == CqeFormat::mlx4_timestamp && entry.kind == Completion::Kind::completion) {
    facts.previous_timestamp = queue->timestamp;
    queue->timestamp = corrected_timestamp(entry.bytes);
  }
  const bool goes_on = has_index && (!queue->ci || static_cast<std::int32_t>(ci - *queue->ci) > 0);
  if (goes_on) {
    queue->ci = ci;
    queue->count = count;
  }
  queue->frame = frame;
  queue->resized = entry.kind == Completion::Kind::resize;
  queue->compressed = entry.kind == Completion::Kind::compressed
                          ? static_cast<std::uint32_t>(View<Mlx5Cqe>(entry.bytes).get<"byte_cnt">())
                          : 0;

  const bool has_work =
      entry.qpn && (entry.kind == Completion::Kind::completion || entry.kind == Completion::Kind::error);
  if (!has_work) return facts;
  QueuePair* pair = find_or_add(pairs_, PairKey{interface, cqn, *entry.qpn});
  if (!pair) return facts;
  if (!pair->known || pair->incarnation != queue->incarnation) {
    *pair = {};
    pair->known = true;
    pair->incarnation = queue->incarnation;
    pair->losses = queue->losses;
    pair->from_start = simulated;
  }
  pair->lost = pair->lost || pair->losses != queue->losses;
  WorkQueue& work = pair->queues[entry.send];
  const bool counts = entry.wqe && entry.format != CqeFormat::efa && entry.format != CqeFormat::erdma;
  if (counts) {
    if (entry.send && !work.wqe) pair->from_start = *entry.wqe == 0;
    follow_counter(work, entry, frame, facts, *pair);
    if (facts.restarted && entry.send) pair->from_start = *entry.wqe == 0;
  }
  const auto qp_type = static_cast<std::uint8_t>(record.get<"qp_type">());
  WorkQueue& other = pair->queues[!entry.send];
  if (work.failure_frame != 0) {
    facts.failure_frame = work.failure_frame;
    facts.failure = work.failure;
    facts.same_queue = true;
  } else if (other.failure_frame != 0 && stops_other_queue(qp_type)) {
    facts.failure_frame = other.failure_frame;
    facts.failure = other.failure;
  }
  if (entry.failed()) {
    if (entry.fault == Fault::flushed) {
      facts.first_flush = !pair->flushed && work.failure_frame == 0 && other.failure_frame == 0;
      pair->flushed = true;
    } else if (work.failure_frame == 0) {
      work.failure_frame = frame;
      work.failure = entry.fault;
    }
  }
  if (is_read(entry)) ++pair->reads;
  hold_against_packets(packet, entry, *pair, facts, simulated);
  return facts;
}

std::vector<EarlyCompletion> Completions::early(std::int64_t last_ns) const {
  std::vector<EarlyCompletion> out;
  for (const auto& [qpn, t] : traffic_) {
    const auto sure = [&, &t = t](const EarlyCompletion& e) {
      return !t.ambiguous && (!t.lossy || e.tolerance_ns == 0);
    };
    std::ranges::copy_if(t.early, std::back_inserter(out), sure);
    for (const EarlyCompletion& e : t.waiting)
      if (sure(e) && last_ns - e.time_ns > e.tolerance_ns) out.push_back(e);
  }
  std::sort(out.begin(), out.end(),
            [](const EarlyCompletion& a, const EarlyCompletion& b) { return a.frame < b.frame; });
  return out;
}

}  // namespace rdmascope::check
