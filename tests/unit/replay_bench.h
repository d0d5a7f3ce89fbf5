// Two benches for the model: a tester that forges packets on the memory wire, and two models wired to each other
// through a link that loses, doubles and delays frames as its seed says.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "check/checker.h"
#include "dissect/headers.h"
#include "dissect/walk.h"
#include "replay/model_dut.h"
#include "replay/model_frame.h"

namespace rdmascope::test {

using namespace replay;

inline std::vector<std::uint8_t> pattern(std::size_t bytes, std::uint32_t seed = 1) {
  std::minstd_rand random(seed);
  std::vector<std::uint8_t> out(bytes);
  for (std::uint8_t& b : out) b = static_cast<std::uint8_t>(random() >> 8);
  return out;
}

// A 64-bit number as it lies in the model's memory.
inline void store_host_value(std::vector<std::uint8_t>& to, std::uint64_t v) {
  for (unsigned i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(v >> 8 * i);
}
inline std::uint64_t host_value(const std::vector<std::uint8_t>& from) {
  std::uint64_t v = 0;
  for (unsigned i = 8; i-- > 0;) v = v << 8 | from[i];
  return v;
}

// What a test looks at in a packet of the model.
struct Seen {
  std::uint8_t opcode = 0;
  std::uint32_t psn = 0;
  bool ack_request = false, solicited = false;
  std::optional<std::uint8_t> syndrome;
  std::uint32_t msn = 0;
  std::uint64_t va = 0;
  std::uint32_t r_key = 0, dma_length = 0;
  std::uint64_t original = 0, swap_or_add = 0, compare = 0;
  std::uint32_t immediate = 0, q_key = 0;
  std::vector<std::uint8_t> payload;
  std::int64_t time_ns = 0;
  bool whole = false;  // no event, ICRC right
};

inline Seen see(const std::vector<std::uint8_t>& bytes, std::int64_t time_ns, std::uint16_t link_type = 101) {
  dissect::Packet p;
  p.frame.link_type = link_type;
  p.frame.wire_bytes = static_cast<std::uint32_t>(bytes.size());
  dissect::walk(p, bytes, {});
  Seen s;
  s.time_ns = time_ns;
  const auto bth = p.find<dissect::Bth>();
  if (!bth) return s;
  s.whole = p.events().empty() && p.icrc().status == dissect::CrcStatus::good;
  s.opcode = static_cast<std::uint8_t>(bth->get<"opcode">());
  s.psn = static_cast<std::uint32_t>(bth->get<"psn">());
  s.ack_request = bth->get<"a">();
  s.solicited = bth->get<"se">();
  if (const auto h = p.find<dissect::Aeth>()) {
    s.syndrome = static_cast<std::uint8_t>(h->get<"syndrome">());
    s.msn = static_cast<std::uint32_t>(h->get<"msn">());
  }
  if (const auto h = p.find<dissect::Reth>()) {
    s.va = h->get<"va">();
    s.r_key = static_cast<std::uint32_t>(h->get<"r_key">());
    s.dma_length = static_cast<std::uint32_t>(h->get<"dmalen">());
  }
  if (const auto h = p.find<dissect::Atomiceth>()) {
    s.swap_or_add = h->get<"swapdt">();
    s.compare = h->get<"cmpdt">();
  }
  if (const auto h = p.find<dissect::Atomicacketh>()) s.original = h->get<"origremdt">();
  if (const auto h = p.find<dissect::Immdt>()) s.immediate = static_cast<std::uint32_t>(h->get<"data">());
  if (const auto h = p.find<dissect::Deth>()) s.q_key = static_cast<std::uint32_t>(h->get<"q_key">());
  if (const dissect::Layer* payload = p.find(dissect::header<dissect::Payload>))
    s.payload.assign(p.data(*payload), p.data(*payload) + payload->bytes);
  return s;
}

constexpr std::int64_t us = 1000, ms = 1'000'000, second = 1'000'000'000;
constexpr std::uint32_t tester_qpn = 0x99;
constexpr std::uint32_t dut_psn = 0xfffffe, tester_psn = 100;  // the DUT's PSNs wrap early

// The tester's seat. Everything it sees goes into a trace, which tells mutants from the correct model.
class Tester {
 public:
  explicit Tester(ChannelOptions options = {}, Mutant mutant = 0)
      : Tester(std::move(options), mutant, ModelOptions{}) {}
  Tester(ChannelOptions options, Mutant mutant, ModelOptions model) {
    model.mutant = mutant;
    bench_ = open_model(model);
    options.tester_address = bench_.wire->address();
    options.tester_qpn = tester_qpn;
    options.dut_psn = dut_psn;
    options.tester_psn = tester_psn;
    channel = *dut().open(options);
    path.link_type = model.link_type;
    path.wrap = model.wrap;
    path.source = bench_.wire->address();
    path.destination = dut().info().address;
    path.destination_qpn = channel.qpn;
    path.p_key = channel.p_key;
  }

  Dut& dut() { return *bench_.dut; }
  MemoryWire& wire() { return *bench_.wire; }

  void send(const OutPacket& packet) { send(write_frame(packet, path, 0)); }
  void send(const std::vector<std::uint8_t>& frame) { ASSERT_TRUE(bench_.wire->send(frame)); }
  // A response to the DUT's request `n` PSNs behind its first.
  void answer(std::uint8_t opcode, std::uint32_t n, std::span<const std::uint8_t> payload = {},
              std::uint8_t syndrome = 0x1f, std::uint32_t msn = 1) {
    OutPacket out;
    out.opcode = opcode;
    out.psn = (dut_psn + n) & 0xffffff;
    out.payload = payload;
    out.syndrome = syndrome;
    out.msn = msn;
    send(out);
  }
  // A request `n` PSNs behind the tester's first one.
  OutPacket request(std::uint8_t opcode, std::uint32_t n, std::span<const std::uint8_t> payload = {}) {
    OutPacket out;
    out.opcode = opcode;
    out.psn = tester_psn + n;
    out.ack_request = true;
    out.payload = payloads_.emplace_back(payload.begin(), payload.end());
    out.va = channel.remote_va;
    out.r_key = channel.remote_r_key;
    out.dma_length = static_cast<std::uint32_t>(payload.size());
    out.immediate = 0x01020304;
    return out;
  }

  std::optional<Seen> next(std::int64_t wait_ns = 10 * us) {
    auto frame = *wire().receive(wire().now_ns() + wait_ns);
    if (!frame) {
      trace += "-\n";
      return std::nullopt;
    }
    trace += std::to_string(frame->time_ns) + ' ';
    trace.append(frame->bytes.begin(), frame->bytes.end());
    trace += '\n';
    return see(frame->bytes, frame->time_ns, wire().link_type());
  }
  // Until it is silent for so long; a mutant may never be.
  void drain(std::int64_t wait_ns = 10 * us) {
    for (unsigned frames = 0; frames < 100 && next(wait_ns); ++frames) {
    }
  }
  std::vector<Completion> poll(std::int64_t wait_ns = 0) {
    std::vector<Completion> out = *dut().poll(channel, wait_ns);
    trace += "poll\n";
    for (const Completion& c : out)
      trace += std::to_string(c.id) + ' ' + std::string(name(c.status)) + ' ' + std::to_string(c.bytes) + ' ' +
               std::to_string(c.immediate.value_or(0)) + (c.is_receive ? " r\n" : " s\n");
    return out;
  }
  std::vector<std::uint8_t> memory(Region region, std::uint32_t offset, std::uint32_t length) {
    std::vector<std::uint8_t> out = *dut().read_memory(channel, region, offset, length);
    trace.append(out.begin(), out.end());
    return out;
  }
  void fill(Region region, std::uint32_t offset, const std::vector<std::uint8_t>& bytes) {
    ASSERT_TRUE(dut().write_memory(channel, region, offset, bytes));
  }
  void post(WorkRequest request) { ASSERT_TRUE(dut().post_send(channel, request)); }
  void post_receive(std::uint64_t id, std::uint32_t offset, std::uint32_t length) {
    ASSERT_TRUE(dut().post_receive(channel, {id, offset, length}));
  }
  bool in_error() { return *dut().state(channel) == QpState::error; }

  Channel channel;
  Path path;
  std::string trace;

 private:
  ModelOnMemory bench_;
  std::deque<std::vector<std::uint8_t>> payloads_;  // of requests
};

struct LinkOptions {
  std::uint32_t seed = 1;
  // Of 1000 frames.
  unsigned lost = 0, doubled = 0, delayed = 0;
};

// Model a at 192.0.2.1, b at 192.0.2.2, one channel each, a capture at a's port.
class Link {
 public:
  Link(ChannelOptions options, LinkOptions link, Mutant mutant_of_a = 0)
      : link_(link), random_(link.seed), a(at(1, 0x11, mutant_of_a), sender(0)), b(at(2, 0x22, 0), sender(1)) {
    options.tester_address = at(2, 0, 0).address;
    options.tester_qpn = 0x22;
    options.dut_psn = 0xfffff0;
    options.tester_psn = 500;
    channel_a = *a.open(options);
    options.tester_address = at(1, 0, 0).address;
    options.tester_qpn = 0x11;
    std::swap(options.dut_psn, options.tester_psn);
    channel_b = *b.open(options);
  }

  // Until nothing is on the way and no timer runs, or the time is over.
  void run(std::int64_t for_ns = second) {
    const std::int64_t end_ns = now_ns + for_ns;
    for (;;) {
      std::optional<std::int64_t> at;
      for (const std::optional<std::int64_t>& t : {a.next_event_ns(), b.next_event_ns()})
        if (t && (!at || *t < *at)) at = t;
      if (!on_way_.empty() && (!at || on_way_.begin()->first <= *at)) at = on_way_.begin()->first;
      if (!at || *at > end_ns) return;
      now_ns = std::max(now_ns, *at);
      if (!on_way_.empty() && on_way_.begin()->first <= now_ns) {
        const OnWay frame = std::move(on_way_.begin()->second);
        on_way_.erase(on_way_.begin());
        if (frame.to_a) captured.push_back({now_ns, frame.bytes});
        (frame.to_a ? a : b).frame(frame.bytes, now_ns);
      } else {
        a.run(now_ns);
        b.run(now_ns);
      }
    }
  }

  struct Captured {
    std::int64_t time_ns;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Captured> captured;
  std::int64_t now_ns = 0;

 private:
  struct OnWay {
    bool to_a;
    std::vector<std::uint8_t> bytes;
  };

  static ModelOptions at(std::uint8_t host, std::uint32_t first_qpn, Mutant mutant) {
    ModelOptions options;
    options.address[15] = host;
    options.first_qpn = first_qpn;
    options.mutant = mutant;
    return options;
  }
  Model::Output sender(bool to_a) {
    return [this, to_a](std::span<const std::uint8_t> frame) {
      const std::vector<std::uint8_t> bytes(frame.begin(), frame.end());
      if (!to_a) captured.push_back({now_ns, bytes});
      if (random_() % 1000 < link_.lost) return;
      std::int64_t arrives = now_ns + us;
      if (random_() % 1000 < link_.delayed) arrives += static_cast<std::int64_t>(random_() % 20) * us;
      on_way_.emplace(arrives, OnWay{to_a, bytes});
      if (random_() % 1000 < link_.doubled) on_way_.emplace(arrives + 3 * us, OnWay{to_a, bytes});
    };
  }

  LinkOptions link_;
  std::minstd_rand random_;
  std::multimap<std::int64_t, OnWay> on_way_;

 public:
  Model a, b;
  Channel channel_a, channel_b;
};

// Violations the check engine finds in a capture, one line each.
inline std::string violations(const std::vector<Link::Captured>& captured) {
  struct Listener final : check::Listener {
    std::string text;
    void finding(const check::Finding& f, const check::Connection*) override {
      if (f.kind != check::Class::violation) return;
      text += std::string(f.rule->id) + " in frame " + std::to_string(f.frame) + ": " + f.text + '\n';
    }
  } listener;
  check::CheckOptions options;
  check::UserPair pair;
  pair.a.kind = pair.b.kind = check::Address::Kind::ip;
  pair.a.bytes = ModelOptions{}.address;
  pair.a.bytes[15] = 1;
  pair.b.bytes = ModelOptions{}.address;
  pair.qp_a = 0x11;
  pair.qp_b = 0x22;
  options.pairs.push_back(pair);
  check::Checker checker(options, listener);
  std::vector<check::Frame> frames(captured.size());
  for (std::size_t i = 0; i < captured.size(); ++i) {
    frames[i].bytes = captured[i].bytes;
    frames[i].info.number = i + 1;
    frames[i].info.time_ns = captured[i].time_ns;
    frames[i].info.wire_bytes = static_cast<std::uint32_t>(captured[i].bytes.size());
    frames[i].info.link_type = 101;
  }
  checker.batch(frames);
  checker.finish();
  EXPECT_EQ(checker.totals().icrc_bad, 0u);
  return listener.text;
}

}  // namespace rdmascope::test
