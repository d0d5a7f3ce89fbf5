#include "check/checker.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>

#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using dissect::CrcStatus;
using dissect::Packet;
using dissect::Transport;

// A result and the frame of the batch that brought it, to put the results of several workers in order.
struct FoundMessage {
  std::uint32_t item;
  const Connection* connection;
  std::uint8_t side;
  Message message;
};

class Collector final : public MessageSink {
 public:
  std::uint32_t item = 0;
  std::vector<FoundMessage> messages;
  void message(const Connection& connection, std::uint8_t side, const Message& message) override {
    messages.push_back({item, &connection, side, message});
  }
};

// What one worker owns.
struct Worker {
  Facts facts;
  Findings findings;
  std::vector<std::uint32_t> finding_items;
  Collector messages;
  Connection nobody;  // packets that no connection takes
};

// Runs a job on all workers at once; worker 0 is the caller.
class Crew {
 public:
  explicit Crew(unsigned workers) : start_(workers), done_(workers) {
    for (unsigned w = 1; w < workers; ++w)
      threads_.emplace_back([this, w] {
        while (true) {
          start_.arrive_and_wait();
          if (!job_) return;
          (*job_)(w);
          done_.arrive_and_wait();
        }
      });
  }
  ~Crew() {
    job_ = nullptr;
    if (!threads_.empty()) start_.arrive_and_wait();
    for (std::thread& t : threads_) t.join();
  }
  void run(const std::function<void(unsigned)>& job) {
    if (threads_.empty()) return job(0);
    job_ = &job;
    start_.arrive_and_wait();
    job(0);
    done_.arrive_and_wait();
  }

 private:
  std::barrier<> start_, done_;
  const std::function<void(unsigned)>* job_ = nullptr;
  std::vector<std::thread> threads_;
};

bool is_dropped(const Packet& p) {  // by a receiver: silently
  return p.icrc().status == CrcStatus::bad || p.vcrc().status == CrcStatus::bad;
}

}  // namespace

class Checker::Impl {
 public:
  Impl(CheckOptions options, Listener& listener)
      : options_(std::move(options)),
        listener_(listener),
        tracker_(options_.most_connections),
        workers_(std::max(1u, options_.workers)),
        crew_(static_cast<unsigned>(workers_.size())) {
    for (const UserPair& pair : options_.pairs) tracker_.pair(pair);
    for (const Rule* rule :
         options_.rules.empty() ? std::vector<const Rule*>(all_rules().begin(), all_rules().end()) : options_.rules) {
      for (std::size_t bit = 0; bit < by_trigger_.size(); ++bit)
        if (rule->packet && rule->on >> bit & 1) by_trigger_[bit].push_back(rule);
      if (rule->end) at_end_.push_back(rule);
    }
  }

  void batch(std::span<const Frame> frames) {
    if (packets_.size() < frames.size()) {
      packets_.resize(frames.size());
      places_.resize(frames.size());
      taken_.resize(frames.size());
    }
    frames_ = frames;
    crew_.run(walk_);
    place_all();
    crew_.run(judge_);
    hand_over();
    tracker_.forget_merged();
    for (const std::unique_ptr<Connection>& c : tracker_.take_ended()) {
      ++ended_;
      end(*c);
    }
  }

  void finish() {
    for (Connection* c : tracker_.connections()) end(*c);
    totals_.connections = ended_ + tracker_.connections().size();
    totals_.refused = tracker_.refused();
  }

  Tracker& tracker() { return tracker_; }
  const Totals& totals() const { return totals_; }

 private:
  // The last word on a connection.
  void end(Connection& c) {
    Worker& w = workers_[0];
    finish_messages(c, options_.messages ? &w.messages : nullptr);
    for (const Rule* rule : at_end_) rule->end(c, w.findings);
    w.finding_items.resize(w.findings.list().size());
    hand_over();
    totals_.not_judged += c.not_judged;
    listener_.ended(c);
  }

  // Bytes to layers and CRC verdicts: each worker takes a run of frames.
  void walk(unsigned worker) {
    const std::size_t count = frames_.size(), share = (count + workers_.size() - 1) / workers_.size();
    for (std::size_t i = worker * share; i < std::min(count, (worker + 1) * share); ++i) {
      Packet& p = packets_[i];
      p.frame = frames_[i].info;
      dissect::walk(p, frames_[i].bytes, options_.walk);
      taken_[i] = !options_.filter || options_.filter(p);
      if (taken_[i] && p.bth_layer >= 0) static_cast<void>(is_dropped(p));
    }
  }

  // In order: whose packet is it?
  void place_all() {
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const Packet& p = packets_[i];
      if (totals_.frames++ == 0) totals_.first_ns = p.frame.time_ns;
      totals_.last_ns = p.frame.time_ns;
      if (p.bytes.size() < p.frame.wire_bytes) ++totals_.cut;
      places_[i] = {};
      if (!taken_[i] || p.bth_layer < 0) continue;
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
      places_[i] = tracker_.place(p, is_dropped(p));
    }
  }

  // Each worker judges the connections that are its own.
  void judge(unsigned number) {
    Worker& w = workers_[number];
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const Packet& p = packets_[i];
      if (!taken_[i] || p.bth_layer < 0) continue;
      const Place place = Tracker::resolve(places_[i]);
      const std::uint32_t id = place.connection ? place.connection->id : 0;
      if (id % workers_.size() != number) continue;
      w.messages.item = static_cast<std::uint32_t>(i);
      judge(p, place.connection ? *place.connection : w.nobody, place.side, w);
      w.finding_items.resize(w.findings.list().size(), static_cast<std::uint32_t>(i));
    }
  }

  void judge(const Packet& p, Connection& connection, std::uint8_t side, Worker& w) {
    const dissect::View<dissect::Bth> bth(p.data(p.layers()[static_cast<std::size_t>(p.bth_layer)]));
    const std::uint8_t opcode = static_cast<std::uint8_t>(bth.get<"opcode">());
    Context c{
        p,    bth,          dissect::opcodes[opcode], opcode, static_cast<std::uint32_t>(bth.get<"psn">()), connection,
        side, is_dropped(p)};
    if (connection.id != 0) count(p, connection, side);
    run(0, c, w);  // on_any
    if (c.bad_crc) return;
    const bool connected = c.opcode.transport == Transport::rc || c.opcode.transport == Transport::uc ||
                           c.opcode.transport == Transport::xrc;
    if (connected && c.opcode.defined && connection.id != 0 && connection.transport == c.opcode.transport) {
      follow(c, w.facts, options_.messages ? &w.messages : nullptr);
      run(c.response ? 2 : 1, c, w);
    } else if (c.opcode.transport == Transport::ud) {
      run(3, c, w);
    } else if (c.opcode.transport == Transport::cnp) {
      run(4, c, w);
    }
    run(5, c, w);  // on_good
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

  void run(std::size_t trigger, const Context& c, Worker& w) {
    for (const Rule* rule : by_trigger_[trigger]) rule->packet(c, w.findings);
  }

  // Results of all workers, in the order of the frames that brought them.
  void hand_over() {
    findings_.clear();
    messages_.clear();
    for (Worker& w : workers_) {
      for (std::size_t i = 0; i < w.findings.list().size(); ++i)
        findings_.emplace_back(w.finding_items[i], &w.findings.list()[i]);
      for (FoundMessage& m : w.messages.messages) messages_.push_back(&m);
    }
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::stable_sort(messages_.begin(), messages_.end(),
                     [](const FoundMessage* a, const FoundMessage* b) { return a->item < b->item; });
    for (const auto& [item, finding] : findings_) listener_.finding(*finding, finding->of);
    for (const FoundMessage* m : messages_) listener_.message(*m->connection, m->side, m->message);
    for (Worker& w : workers_) {
      w.findings.list().clear();
      w.finding_items.clear();
      w.messages.messages.clear();
    }
  }

  CheckOptions options_;
  Listener& listener_;
  Tracker tracker_;
  std::vector<Worker> workers_;
  std::array<std::vector<const Rule*>, 6> by_trigger_;  // by bit number of On
  std::vector<const Rule*> at_end_;
  Totals totals_;
  std::uint64_t ended_ = 0;

  // The batch in work.
  std::span<const Frame> frames_;
  std::vector<Packet> packets_;
  std::vector<Place> places_;
  std::vector<char> taken_;
  std::vector<std::pair<std::uint32_t, const Finding*>> findings_;
  std::vector<const FoundMessage*> messages_;
  const std::function<void(unsigned)> walk_ = [this](unsigned w) { walk(w); };
  const std::function<void(unsigned)> judge_ = [this](unsigned w) { judge(w); };
  Crew crew_;  // last: its threads use all of the above
};

Checker::Checker(CheckOptions options, Listener& listener)
    : impl_(std::make_unique<Impl>(std::move(options), listener)) {}
Checker::~Checker() = default;
void Checker::batch(std::span<const Frame> frames) { impl_->batch(frames); }
void Checker::finish() { impl_->finish(); }
std::vector<Connection*> Checker::connections() { return impl_->tracker().connections(); }
const Totals& Checker::totals() const { return impl_->totals(); }

}  // namespace rdmascope::check
