// Every mutant shows: some story below leaves another trace (frames with their times, completions, memory) than the
// correct model. And what a mutant does on the wire, the check engine finds under the rule it breaks.
#include <iterator>
#include <set>

#include "tests/unit/replay_bench.h"

namespace rdmascope::test {
namespace {

constexpr std::uint32_t pmtu = 256;

struct Story {
  const char* name;
  ChannelOptions options;
  void (*tell)(Tester&);
};

WorkRequest work(std::uint64_t id, Work kind, std::uint32_t length) {
  WorkRequest r{.id = id, .work = kind, .length = length};
  r.va = 0x999000;
  r.r_key = 0x12345;
  r.immediate = 0x01020304;
  r.compare = 3;
  r.operand = 0x0102030405060708;
  return r;
}

ChannelOptions with(void (*change)(ChannelOptions&)) {
  ChannelOptions o;
  o.initiator_depth = 4;
  change(o);
  return o;
}

void end(Tester& t) {
  t.drain(ms);
  t.poll();
  t.memory(Region::local, 0, 4096);
  t.memory(Region::remote, 0, 4096);
  (void)t.dut().to_error(t.channel);
  t.poll();
  t.drain(ms);
}

void post_reads(Tester& t) {
  t.post(work(1, Work::read, 3 * pmtu));
  WorkRequest second_read = work(2, Work::read, 3 * pmtu);
  second_read.local_offset = 2048;
  t.post(second_read);
  t.drain();
}

// ---- The DUT asks

void sends(Tester& t) {
  t.fill(Region::local, 0, pattern(4096));
  for (const Work kind : {Work::send, Work::send_with_immediate, Work::write, Work::write_with_immediate}) {
    WorkRequest r = work(1, kind, 3 * pmtu - 2);
    r.solicited = true;
    t.post(r);
    t.post(work(2, kind, 9));
    t.post(work(3, kind, 8));
  }
  t.post(work(4, Work::compare_swap, 8));
  t.post(work(5, Work::fetch_add, 8));
  t.poll();
  t.drain();
  t.answer(0x11, 0, {}, 0x1f, 0);  // the first packet of the first message
  t.poll();
  WorkRequest quiet = work(6, Work::send, 4);
  quiet.signaled = false;
  t.post(quiet);
  end(t);
}
void acknowledged(Tester& t) {
  WorkRequest quiet = work(2, Work::send, 4);
  quiet.signaled = false;
  t.post(work(1, Work::send, 4));
  t.post(quiet);
  t.drain();
  t.answer(0x11, 5);
  t.poll();
  t.answer(0x11, 1);
  t.poll();
  t.post(quiet);
  end(t);
}
void reads(Tester& t) {
  post_reads(t);
  const auto data = pattern(3 * pmtu);
  const std::span<const std::uint8_t> d(data);
  t.answer(0x0d, 0, d.first(pmtu));
  t.poll();
  t.answer(0x0e, 1, d.subspan(pmtu, pmtu));
  t.poll();
  t.answer(0x0f, 2, d.subspan(2 * pmtu));
  end(t);
}
template <std::uint32_t psn2, std::uint32_t psn3, std::uint32_t short_by, std::uint8_t syndrome>
void forged_reads(Tester& t) {
  post_reads(t);
  const auto data = pattern(3 * pmtu);
  const std::span<const std::uint8_t> d(data);
  t.answer(0x0d, 0, d.first(pmtu), syndrome);
  if (psn2 != 99) t.answer(0x0e, psn2, d.subspan(pmtu, pmtu - short_by));
  t.answer(0x0f, psn3, d.subspan(2 * pmtu));
  end(t);
}
void later_read_first(Tester& t) {
  post_reads(t);
  const auto data = pattern(3 * pmtu);
  const std::span<const std::uint8_t> d(data);
  t.answer(0x0d, 3, d.first(pmtu));
  t.answer(0x0e, 4, d.subspan(pmtu, pmtu));
  t.answer(0x0f, 5, d.subspan(2 * pmtu));
  end(t);
}
void early_last(Tester& t) {
  post_reads(t);
  t.answer(0x0d, 0, pattern(pmtu));
  t.answer(0x0f, 1, pattern(pmtu));
  end(t);
}
void plain_acks(Tester& t) {
  t.post(work(1, Work::read, 4));
  t.answer(0x11, 0);
  end(t);
}
void plain_ack_for_atomic(Tester& t) {
  t.post(work(1, Work::fetch_add, 8));
  t.answer(0x11, 0);
  end(t);
}
void atomic_answer(Tester& t) {
  t.post(work(1, Work::compare_swap, 8));
  t.post(work(2, Work::send, 8));
  t.drain();
  OutPacket out;
  out.opcode = 0x12;
  out.psn = dut_psn;
  out.syndrome = 0x1f;
  out.msn = 1;
  out.original = 0x0102030405060708;
  t.send(out);
  end(t);
}
void reads_too_many(Tester& t) {
  for (std::uint64_t id = 1; id < 8; ++id) t.post(work(id, Work::read, 4));
  end(t);
}
void fenced(Tester& t) {
  t.post(work(1, Work::read, 4));
  WorkRequest r = work(2, Work::send, 4);
  r.fence = true;
  t.post(r);
  end(t);
}
void credits(Tester& t) {
  t.post(work(1, Work::send, 4));
  t.drain();
  t.answer(0x11, 0, {}, 0x00, 1);
  t.drain();
  for (std::uint64_t id = 2; id < 5; ++id) t.post(work(id, Work::send, 4));
  end(t);
}
void sequence_nak(Tester& t) {
  t.post(work(1, Work::send, 4 * pmtu));
  t.drain();
  t.answer(0x11, 1, {}, 0x60, 0);
  end(t);
}
template <std::uint8_t syndrome>
void fatal_nak(Tester& t) {
  t.post(work(1, Work::send, 4));
  WorkRequest quiet = work(2, Work::send, 4);
  quiet.signaled = false;
  t.post(quiet);
  t.post(work(3, Work::send, 4));
  t.drain();
  t.answer(0x11, 1, {}, syndrome, 1);
  t.drain();
  (void)t.dut().post_send(t.channel, work(4, Work::send, 4));
  end(t);
}
void rnr_nak(Tester& t) {
  t.post(work(1, Work::send, 4));
  for (int i = 0; i < 4; ++i) {
    t.drain(second);
    t.answer(0x11, 0, {}, 0x3f, 0);
  }
  t.drain(second);
  end(t);
}
void silence(Tester& t) {
  t.post(work(1, Work::send, 3 * pmtu));
  t.drain(second);
  end(t);
}

// ---- The DUT answers

void receives(Tester& t, unsigned count) {
  for (unsigned i = 0; i < count; ++i) t.post_receive(100 + i, 2048 + i * 600, 600);
}
void asked(Tester& t) {
  t.fill(Region::remote, 0, pattern(4096));
  receives(t, 3);
  OutPacket p = t.request(0x00, 0, pattern(pmtu));
  t.send(p);
  t.send(t.request(0x03, 1, pattern(99)));  // SEND Last with Immediate
  t.send(t.request(0x0a, 2, pattern(16, 5)));
  p = t.request(0x0c, 3);
  p.dma_length = 3 * pmtu - 7;
  t.send(p);
  t.send(t.request(0x04, 6, pattern(4)));
  p = t.request(0x14, 7);
  p.swap_or_add = 7;
  t.send(p);
  p = t.request(0x13, 8);
  p.swap_or_add = 9;
  t.send(p);
  t.send(t.request(0x0c, 9));  // of no bytes
  p = t.request(0x0a, 10);
  p.r_key = 0;
  t.send(p);
  end(t);
}
void gap(Tester& t) {
  receives(t, 3);
  t.send(t.request(0x04, 1, pattern(4)));
  t.send(t.request(0x04, 2, pattern(4)));
  end(t);
}
void asked_twice(Tester& t) {
  t.fill(Region::remote, 0, pattern(4096));
  receives(t, 3);
  t.send(t.request(0x04, 0, pattern(4)));
  t.send(t.request(0x0a, 1, pattern(8, 3)));
  OutPacket read = t.request(0x0c, 2);
  read.dma_length = 2 * pmtu;
  t.send(read);
  OutPacket add = t.request(0x14, 4);
  add.swap_or_add = 7;
  t.send(add);
  t.drain();
  t.send(t.request(0x04, 0, pattern(4, 9)));
  t.send(t.request(0x0a, 1, pattern(8, 4)));
  t.drain();
  t.send(read);
  read.dma_length += 5;
  t.send(read);
  t.send(add);
  end(t);
}
void read_without_receive(Tester& t) {
  OutPacket p = t.request(0x0c, 0);
  p.dma_length = 3 * pmtu;
  t.send(p);
  t.send(t.request(0x0a, 3, pattern(4)));
  end(t);
}
void not_ready(Tester& t) {
  t.send(t.request(0x04, 0, pattern(4)));
  t.drain();
  receives(t, 1);
  t.send(t.request(0x04, 0, pattern(4)));
  end(t);
}
// One forged request, and a good one behind it.
template <void (*change)(Tester&, OutPacket&)>
void forged(Tester& t) {
  receives(t, 2);
  static const auto four = pattern(4);
  OutPacket p = t.request(0x0a, 0, four);
  change(t, p);
  t.send(p);
  t.path.p_key = t.channel.p_key;
  t.path.destination_qpn = t.channel.qpn;
  t.send(t.request(0x0a, 1, four));
  end(t);
}
void interleaved(Tester& t) {
  receives(t, 2);
  t.send(t.request(0x00, 0, pattern(pmtu)));
  t.send(t.request(0x0a, 1, pattern(4)));
  end(t);
}
void invalidated(Tester& t) {
  receives(t, 1);
  OutPacket p = t.request(0x17, 0, pattern(4));
  p.invalidate = t.channel.remote_r_key;
  t.send(p);
  t.send(t.request(0x0a, 1, pattern(4)));
  end(t);
}

// ---- Unreliable

void unreliable(Tester& t) {
  receives(t, 4);
  t.send(t.request(0x24, 0, pattern(4)));
  t.send(t.request(0x20, 1, pattern(pmtu)));
  t.send(t.request(0x21, 3, pattern(pmtu)));  // one is missing
  t.send(t.request(0x22, 4, pattern(4)));
  t.send(t.request(0x24, 5, pattern(4)));
  end(t);
}
void datagrams(Tester& t) {
  receives(t, 4);
  OutPacket p = t.request(0x64, 0, pattern(4));
  p.q_key = 0x11111111;
  t.send(p);
  p.q_key = 5;
  ++p.psn;
  t.send(p);
  WorkRequest r = work(1, Work::send, 4);
  r.remote_q_key = 0x80000001;
  t.post(r);
  t.post(work(2, Work::send, 5000));
  end(t);
}

const ChannelOptions plain = with([](ChannelOptions&) {});
const ChannelOptions timed = with([](ChannelOptions& o) { o.ack_timeout = 11, o.retry_count = 3; });

const Story stories[] = {
    {"sends", plain, sends},
    {"acknowledged", plain, acknowledged},
    {"reads", plain, reads},
    {"repeated PSNs", plain, forged_reads<0, 0, 0, 0x1f>},
    {"missing middle", plain, forged_reads<99, 2, 0, 0x1f>},
    {"short middle", plain, forged_reads<1, 2, 4, 0x1f>},
    {"NAK in first", plain, forged_reads<1, 2, 0, 0x60>},
    {"later READ first", plain, later_read_first},
    {"early last", plain, early_last},
    {"plain ACKs", plain, plain_acks},
    {"plain ACK for an atomic", plain, plain_ack_for_atomic},
    {"atomic answer", plain, atomic_answer},
    {"reads too many", plain, reads_too_many},
    {"fence", plain, fenced},
    {"credits", plain, credits},
    {"sequence NAK", plain, sequence_nak},
    {"NAK 0x61", plain, fatal_nak<0x61>},
    {"NAK 0x62", plain, fatal_nak<0x62>},
    {"RNR NAK", with([](ChannelOptions& o) { o.rnr_retry = 2; }), rnr_nak},
    {"silence", timed, silence},
    {"silence without timer", plain, silence},
    {"asked", plain, asked},
    {"gap", plain, gap},
    {"asked twice", plain, asked_twice},
    {"read without receive", plain, read_without_receive},
    {"not ready", with([](ChannelOptions& o) { o.min_rnr_timer = 9; }), not_ready},
    {"not enabled", with([](ChannelOptions& o) { o.allow_remote_write = false; }), forged<[](Tester&, OutPacket&) {}>},
    {"undefined opcode", plain, forged<[](Tester&, OutPacket& p) { p.opcode = 0x18; }>},
    {"stray last", plain, forged<[](Tester&, OutPacket& p) { p.opcode = 0x02; }>},
    {"short first", plain, forged<[](Tester&, OutPacket& p) { p.opcode = 0x06, p.dma_length = 8; }>},
    {"short write", plain, forged<[](Tester&, OutPacket& p) { p.dma_length = 8; }>},
    {"long send", plain, forged<[](Tester& t, OutPacket& p) {
       static const auto data = pattern(pmtu);
       p.payload = data;
       p.opcode = 0x00, t.send(p), ++p.psn;
       p.opcode = 0x01, t.send(p), ++p.psn;  // and once more: 768 bytes into 600
     }>},
    {"misaligned atomic", plain, forged<[](Tester&, OutPacket& p) { p.opcode = 0x14, p.payload = {}, p.va += 1; }>},
    {"bad key", plain, forged<[](Tester&, OutPacket& p) { p.r_key ^= 1; }>},
    {"bad range", plain, forged<[](Tester&, OutPacket& p) { p.va += 1 << 20; }>},
    {"bad ICRC", plain, forged<[](Tester&, OutPacket& p) { p.icrc_xor = 1; }>},
    {"bad version", plain, forged<[](Tester&, OutPacket& p) { p.tver = 3; }>},
    {"bad P_Key", plain, forged<[](Tester& t, OutPacket&) { t.path.p_key = 0x8123; }>},
    {"wrong QP", plain, forged<[](Tester& t, OutPacket&) { t.path.destination_qpn += 7; }>},
    {"no bytes, no key", plain, forged<[](Tester&, OutPacket& p) { p.payload = {}, p.dma_length = 0, p.r_key = 0; }>},
    {"interleaved", plain, interleaved},
    {"invalidated", plain, invalidated},
    {"unreliable", with([](ChannelOptions& o) { o.service = Service::uc; }), unreliable},
    {"datagrams", with([](ChannelOptions& o) { o.service = Service::ud; }), datagrams},
};

std::string trace_of(const Story& story, Mutant mutant) {
  Tester t(story.options, mutant);
  story.tell(t);
  return t.trace;
}

TEST(Mutants, EachOneShows) {
  std::vector<std::string> right;
  for (const Story& story : stories) right.push_back(trace_of(story, 0));
  for (Mutant m = 1; m <= std::size(mutants); ++m) {
    bool shows = false;
    for (std::size_t i = 0; i < std::size(stories) && !shows; ++i) shows = trace_of(stories[i], m) != right[i];
    EXPECT_TRUE(shows) << mutants[m - 1].name;
  }
}

TEST(Mutants, TheSameCallsGiveTheSameFrames) {
  for (const Story& story : stories) EXPECT_EQ(trace_of(story, 0), trace_of(story, 0)) << story.name;
}

TEST(Mutants, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (Mutant m = 1; m <= std::size(mutants); ++m) {
    const MutantInfo& info = mutants[m - 1];
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(mutant_by_name(info.name), m);
    EXPECT_EQ(info.what.back(), '.') << info.name;
  }
  EXPECT_EQ(mutant_by_name("none such"), std::nullopt);
}

// Both ends talk, a is the mutant; what the check engine says names the rule.
std::string judged(Mutant mutant) {
  ChannelOptions o;
  o.ack_timeout = 11;
  o.initiator_depth = 4;
  Link link(o, {}, mutant);
  const auto both = [&](auto call) {
    call(link.a, link.channel_a, link.channel_b);
    call(link.b, link.channel_b, link.channel_a);
  };
  both([&](Model& m, Channel& c, Channel&) {
    for (std::uint64_t id = 0; id < 20; ++id) (void)m.post_receive(c, {id, 4096, 2048});
  });
  for (unsigned round = 0; round < 3; ++round)
    both([&](Model& m, Channel& c, Channel& other) {
      for (const Work kind :
           {Work::send, Work::read, Work::send, Work::write, Work::fetch_add, Work::write_with_immediate, Work::send}) {
        WorkRequest r{.id = 1, .work = kind, .length = 3 * pmtu - 5};
        r.va = other.remote_va;
        r.r_key = other.remote_r_key;
        r.solicited = true;
        (void)m.post_send(c, r, link.now_ns);
      }
      link.run();
    });
  return violations(link.captured);
}

TEST(Mutants, CheckEngineNamesTheRule) {
  EXPECT_EQ(judged(0), "");
  for (const std::string_view name :
       {"read-takes-one-psn", "solicited-everywhere", "short-first", "dmalen-off-by-one", "wrong-pad", "pad-not-zero",
        "reserved-bits-set", "tver-one", "msn-counts-packets", "msn-not-counted-read", "read-response-same-psn",
        "nak-in-read-response", "read-response-short", "atomic-plain-ack", "response-asks-ack"}) {
    const Mutant m = *mutant_by_name(name);
    EXPECT_NE(judged(m).find(mutants[m - 1].breaks), std::string::npos)
        << name << " breaks " << mutants[m - 1].breaks << ", found:\n"
        << judged(m);
  }
}

}  // namespace
}  // namespace rdmascope::test
