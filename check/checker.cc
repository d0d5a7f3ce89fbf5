#include "check/checker.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "check/cdi_data.h"
#include "check/completions.h"
#include "check/mads.h"
#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using dissect::CrcStatus;
using dissect::Packet;
using dissect::Transport;

// A wait is mostly shorter than being put to sleep and woken: 67 us in a virtual machine. Trying that often takes as
// long.
constexpr int tries_before_sleep = 500;

// Two made two workers 1.68 times as fast as one, three 1.75 times.
constexpr std::size_t desks_of_a_worker = 3;

// A response means little until it is known whose requests it answers, and what shows it may come a little later. So it
// waits for that, and all behind it, too: this many frames, this long by the time of the capture, or this many bytes.
constexpr std::uint64_t longest_wait_frames = 256;
constexpr std::int64_t longest_wait_ns = 100'000'000;
constexpr std::size_t most_waiting_bytes = 4 << 20;

// A frame on its way through the stages.
struct Item {
  Packet packet;
  bool taken = false;    // it passes the filter
  bool judged = false;   // and has a BTH
  bool answers = false;  // a response of a reliable connection that a receiver would take
  std::uint32_t content_crc = 0;
  std::uint64_t number = 0;  // from 1, in the order of the capture
  Place place;
};

// An item whose batch ended before its wait did.
struct Held {
  Item item;
  std::vector<std::uint8_t> bytes;

  explicit Held(const Item& from) : item(from), bytes(from.packet.bytes.begin(), from.packet.bytes.end()) {
    item.packet.bytes = bytes;
    item.packet.frame.options = {};
  }
};

// A connection that no packet finds any more, but those that were placed before.
struct Gone {
  std::uint64_t last_item = 0;
  std::unique_ptr<Connection> connection;
};

// Where a batch lies from being read to being judged.
struct Desk {
  Batch batch;
  std::vector<Item> items;
  std::uint64_t number = 0;  // of the batch
};

struct FoundMessage {
  const Connection* connection;
  std::uint8_t side;
  Message message;
};

class Collector final : public MessageSink {
 public:
  std::vector<FoundMessage> list;
  void message(const Connection& connection, std::uint8_t side, const Message& message) override {
    list.push_back({&connection, side, message});
  }
};

bool is_dropped(const Packet& p) {  // by a receiver: silently
  return p.icrc().status == CrcStatus::bad || p.vcrc().status == CrcStatus::bad;
}

bool is_whole(const Packet& p) {
  return p.bytes.size() >= p.frame.wire_bytes &&
         std::none_of(p.events().begin(), p.events().end(),
                      [](const dissect::Event& e) { return e.problem == dissect::Problem::cut; });
}

bool is_reliable(std::uint8_t opcode) {
  const Transport t = dissect::opcodes[opcode].transport;
  return t == Transport::rc || t == Transport::xrc;
}

dissect::View<dissect::Bth> bth_of(const Packet& p) {
  return dissect::View<dissect::Bth>(p.data(p.layers()[static_cast<std::size_t>(p.bth_layer)]));
}

}  // namespace

class Checker::Impl {
 public:
  Impl(CheckOptions options, Listener& listener)
      : options_(std::move(options)), listener_(listener), tracker_(options_.most_connections) {
    for (const UserPair& pair : options_.pairs) tracker_.pair(pair);
    for (const Rule* rule :
         options_.rules.empty() ? std::vector<const Rule*>(all_rules().begin(), all_rules().end()) : options_.rules) {
      for (std::size_t bit = 0; bit < by_trigger_.size(); ++bit)
        if (rule->packet && rule->on >> bit & 1) by_trigger_[bit].push_back(rule);
      if (rule->end) at_end_.push_back(rule);
      if (rule->frame) on_frame_.push_back(rule);
      if (rule->completion) on_completion_.push_back(rule);
      if (rule->early) on_early_.push_back(rule);
      if (rule->mad) on_mad_.push_back(rule);
      if (rule->unanswered) on_unanswered_.push_back(rule);
      if (rule->cdi) on_breach_[static_cast<std::size_t>(*rule->cdi)] = rule;
    }
  }

  void run(const std::function<bool(Batch&)>& read) {
    at_end_of_input_ = false;
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < options_.workers; ++i) threads.emplace_back([&] { work(read); });
    work(read);
    for (std::thread& t : threads) t.join();
  }

  // On a desk that stays: a batch may be a single frame.
  void batch(std::span<const Frame> frames) {
    desk_.batch.frames.assign(frames.begin(), frames.end());
    walk(desk_);
    judge(desk_);
  }

  void finish() {
    for (; !held_.empty(); held_.pop_front()) conclude(held_.front().item);
    for (Connection* c : tracker_.connections()) end(*c);
    for (const EarlyCompletion& e : completions_.early(totals_.last_ns))
      for (const Rule* rule : on_early_) rule->early(e, findings_);
    for (const MadQuestion* q : mads_.unanswered(totals_.last_ns))
      for (const Rule* rule : on_unanswered_) rule->unanswered(*q, findings_);
    cdi_.finish(totals_.last_ns);
    cdi_data_.finish(totals_.last_ns);
    judge_cdi();
    hand_over();
    listener_.end_of_mads(mads_);
    listener_.end_of_cdi(cdi_, totals_.first_ns, totals_.last_ns);
    totals_.connections = ended_ + tracker_.connections().size();
    totals_.refused = tracker_.refused() + cdi_.refused();
  }

  Tracker& tracker() { return tracker_; }
  const Totals& totals() const { return totals_; }

 private:
  // The last word on a connection.
  void end(Connection& c) {
    finish_messages(c, options_.messages ? &messages_ : nullptr);
    for (const Rule* rule : at_end_) rule->end(c, findings_);
    hand_over();
    totals_.not_judged += c.not_judged;
    listener_.ended(c);
  }

  // Who walked a batch also judges it: its packets are in the cache of that core. While others judge, a worker reads
  // and walks further batches, so nobody sleeps as long as the work is even.
  void work(const std::function<bool(Batch&)>& read) {
    std::array<Desk, desks_of_a_worker> desks;
    std::size_t oldest = 0, walked = 0;
    std::unique_lock lock(mutex_);
    while (walked > 0 || !at_end_of_input_) {
      if (walked > 0 && desks[oldest].number == batches_judged_) {
        lock.unlock();
        judge(desks[oldest]);
        lock.lock();
        ++batches_judged_;
        oldest = (oldest + 1) % desks.size();
        --walked;
      } else if (walked < desks.size() && !reading_ && !at_end_of_input_) {
        Desk& desk = desks[(oldest + walked) % desks.size()];
        reading_ = true;
        lock.unlock();
        const bool more = read(desk.batch);
        lock.lock();
        reading_ = false;
        if (more) {
          desk.number = batches_read_++;
          tell_change();
          lock.unlock();
          walk(desk);
          lock.lock();
          ++walked;
        } else {
          at_end_of_input_ = true;
        }
      } else {
        wait_for_change(lock);
        continue;
      }
      tell_change();
    }
  }

  void tell_change() {
    ++changes_;
    changed_.notify_all();
  }

  void wait_for_change(std::unique_lock<std::mutex>& lock) {
    const std::uint32_t seen = changes_;
    lock.unlock();
    for (int i = 0; i < tries_before_sleep && changes_ == seen; ++i) std::this_thread::yield();
    lock.lock();
    changed_.wait(lock, [&] { return changes_ != seen; });
  }

  // Bytes to layers and CRCs: all that needs no other packet.
  void walk(Desk& desk) const {
    const std::vector<Frame>& frames = desk.batch.frames;
    if (desk.items.size() < frames.size()) desk.items.resize(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      Item& item = desk.items[i];
      Packet& p = item.packet;
      p.frame = frames[i].info;
      dissect::walk(p, frames[i].bytes, options_.walk);
      item.taken = !options_.filter || options_.filter(p);
      item.judged = item.taken && p.bth_layer >= 0;
      item.answers = false;
      if (!item.judged) continue;
      const std::uint8_t opcode = static_cast<std::uint8_t>(bth_of(p).get<"opcode">());
      const bool is_followed = !is_dropped(p) && is_reliable(opcode);
      item.answers = is_followed && dissect::opcodes[opcode].response;
      item.content_crc = is_followed && !item.answers ? content_crc(p) : 0;
    }
  }

  // Each packet is judged as soon as it and all before it may be: what is said does not depend on where batches end.
  void judge(Desk& desk) {
    const std::span<Item> items = std::span(desk.items).first(desk.batch.frames.size());
    std::size_t next = 0;  // to be judged, behind those that are held
    for (std::size_t i = 0; i < items.size(); ++i) {
      place(items[i]);
      for (; !held_.empty() && !waits(held_.front().item); held_.pop_front()) conclude(held_.front().item);
      if (!held_.empty()) continue;
      for (; next <= i && !waits(items[next]); ++next) conclude(items[next]);
    }
    for (const Item& item : items.subspan(next)) hold(item);
  }

  void hold(const Item& item) {
    held_.emplace_back(item);
    if (const Connection* const c = Tracker::resolve(item.place).connection; c && options_.packets)
      listener_.waits(item.packet.frame.number, c->id);
  }

  bool waits(const Item& item) {
    if (options_.at_once || !item.answers || !item.place.connection) return false;
    Connection& c = *Tracker::resolve(item.place).connection;
    if (c.paired != PairedBy::nothing || c.waited_in_vain) return false;
    const bool is_too_long = totals_.frames - item.number >= longest_wait_frames ||
                             totals_.last_ns - item.packet.frame.time_ns > longest_wait_ns ||
                             waiting_bytes_ > most_waiting_bytes;
    if (is_too_long) c.waited_in_vain = true;
    return !is_too_long;
  }

  void conclude(const Item& item) {
    waiting_bytes_ -= item.packet.bytes.size();
    if (item.judged)
      judge(item, Tracker::resolve(item.place));
    else if (item.taken && is_whole(item.packet))
      judge_frame(item.packet);
    hand_over();
    for (; !gone_.empty() && gone_.front().last_item <= item.number; gone_.pop_front()) {
      Connection& c = *gone_.front().connection;
      if (c.merged_into) continue;
      ++ended_;
      end(c);
    }
  }

  void judge_frame(const Packet& p) {
    for (const Rule* rule : on_frame_) rule->frame(p, findings_);
    if (const std::optional<CdiContext> c = cdi_.frame(p)) {
      ++totals_.cdi;
      cdi_data_.control(*c);
      listener_.cdi(*c);
    } else {
      cdi_data_.frame(p);
    }
    judge_cdi();
    const auto record = p.find<dissect::CqeRecord>();
    if (!record) return;
    const std::optional<dissect::Completion> entry = dissect::completion_of(p);
    if (!entry) return;
    ++totals_.completions;
    const CompletionContext c{p, *record, *entry, completions_.entry(p, *record, *entry)};
    listener_.completion(c);
    for (const Rule* rule : on_completion_) rule->completion(c, findings_);
  }

  void judge_cdi() {
    for (const std::vector<CdiBroken>* list : {&cdi_.broken(), &cdi_data_.broken()})
      for (const CdiBroken& b : *list)
        if (const Rule* rule = on_breach_[static_cast<std::size_t>(b.breach)]) findings_.breach(rule->info, b);
  }

  // Whose packet is it?
  void place(Item& item) {
    const Packet& p = item.packet;
    if (totals_.frames++ == 0) totals_.first_ns = p.frame.time_ns;
    item.number = totals_.frames;
    item.place = {};
    waiting_bytes_ += p.bytes.size();
    totals_.last_ns = p.frame.time_ns;
    if (p.bytes.size() < p.frame.wire_bytes) ++totals_.cut;
    if (!item.judged) return;
    ++totals_.rdma;
    switch (p.icrc().status) {
      case CrcStatus::good:
        ++totals_.icrc_good;
        break;
      case CrcStatus::bad:
        ++totals_.icrc_bad;
        break;
      default:
        ++totals_.icrc_unverified;
        break;
    }
    item.place = tracker_.place(p, is_dropped(p));
    if (tracker_.any_gone())
      for (std::unique_ptr<Connection>& c : tracker_.take_gone()) gone_.push_back({item.number, std::move(c)});
  }

  void judge(const Item& item, Place place) {
    const Packet& p = item.packet;
    Connection& connection = place.connection ? *place.connection : nobody_;
    const dissect::View<dissect::Bth> bth = bth_of(p);
    const std::uint8_t opcode = static_cast<std::uint8_t>(bth.get<"opcode">());
    Context c{p,
              bth,
              dissect::opcodes[opcode],
              opcode,
              static_cast<std::uint32_t>(bth.get<"psn">()),
              connection,
              place.side,
              is_dropped(p),
              item.content_crc};
    if (connection.id != 0) count(p, connection, place.side);
    run(0, c);  // on_any
    if (!c.bad_crc) judge_good(c);
    if (options_.packets) listener_.packet(facts_of(c));
  }

  // A packet that a receiver would take.
  void judge_good(Context& c) {
    const bool connected = c.opcode.transport == Transport::rc || c.opcode.transport == Transport::uc ||
                           c.opcode.transport == Transport::xrc;
    if (connected && c.opcode.defined && c.connection.id != 0 && c.connection.transport == c.opcode.transport) {
      follow(c, facts_, options_.messages ? &messages_ : nullptr);
      if (completions_.active()) completions_.packet(c);
      run(c.response ? 2 : 1, c);
    } else if (c.opcode.transport == Transport::ud) {
      run(3, c);
      if (const dissect::Layer* mad = c.packet.find(dissect::header<dissect::Mad>)) judge_mad(c, *mad);
    } else if (c.opcode.transport == Transport::cnp) {
      run(4, c);
    }
    run(5, c);  // on_good
  }

  void judge_mad(const Context& c, const dissect::Layer& layer) {
    ++totals_.mads;
    const std::uint8_t* bytes = c.packet.data(layer);
    const auto room = static_cast<std::uint32_t>(c.packet.bytes.size()) - layer.at;
    MadContext m{c.packet,
                 dissect::View<dissect::Mad>(bytes),
                 bytes,
                 std::min({dissect::mad_bytes, room, c.packet.payload_bytes}),
                 c,
                 dissect::mad_class(bytes[1]),
                 dissect::mad_attribute(bytes),
                 {}};
    m.facts = mads_.mad(m);
    listener_.mad(m);
    for (const Rule* rule : on_mad_) rule->mad(m, findings_);
  }

  void count(const Packet& p, Connection& c, std::uint8_t side) {
    ++c.packets[side];
    c.bytes[side] += p.frame.wire_bytes;
    c.last_frame = p.frame.number;
    c.last_ns = p.frame.time_ns;
    switch (p.icrc().status) {
      case CrcStatus::good:
        ++c.good_icrc[side];
        break;
      case CrcStatus::bad:
        ++c.bad_icrc[side];
        break;
      default:
        ++c.unverified_icrc[side];
        break;
    }
  }

  void run(std::size_t trigger, const Context& c) {
    for (const Rule* rule : by_trigger_[trigger]) rule->packet(c, findings_);
  }

  void hand_over() {
    for (const Finding& finding : findings_.list()) listener_.finding(finding, finding.of);
    for (const FoundMessage& m : messages_.list) listener_.message(*m.connection, m.side, m.message);
    findings_.list().clear();
    messages_.list.clear();
  }

  CheckOptions options_;
  std::array<std::vector<const Rule*>, 6> by_trigger_;  // by bit number of On
  std::array<const Rule*, cdi_breaches> on_breach_{};
  std::vector<const Rule*> at_end_, on_frame_, on_completion_, on_early_, on_mad_, on_unanswered_;

  // Of the worker that judges.
  Listener& listener_;
  Tracker tracker_;
  Desk desk_;  // of batch()
  Completions completions_;
  Mads mads_;
  CdiFlows cdi_;
  CdiData cdi_data_{cdi_};
  Totals totals_;
  std::deque<Held> held_;
  std::deque<Gone> gone_;
  std::size_t waiting_bytes_ = 0;  // placed, and not judged
  std::uint64_t ended_ = 0;
  Facts facts_;
  Findings findings_;
  Collector messages_;
  Connection nobody_;  // packets that no connection takes

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::uint64_t batches_read_ = 0, batches_judged_ = 0;
  std::atomic<std::uint32_t> changes_ = 0;  // also read without the lock
  bool reading_ = false, at_end_of_input_ = false;
};

Checker::Checker(CheckOptions options, Listener& listener)
    : impl_(std::make_unique<Impl>(std::move(options), listener)) {}
Checker::~Checker() = default;
void Checker::run(const std::function<bool(Batch&)>& read) { impl_->run(read); }
void Checker::batch(std::span<const Frame> frames) { impl_->batch(frames); }
void Checker::finish() { impl_->finish(); }
std::vector<Connection*> Checker::connections() { return impl_->tracker().connections(); }
const Totals& Checker::totals() const { return impl_->totals(); }

}  // namespace rdmascope::check
