// The model as a tester sees it: forged packets in, answers, completions and memory out. Numbers in names are the rules
// of ib-wire.md section 6.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "replay/udp_wire.h"
#include "tests/unit/replay_bench.h"

namespace rdmascope::test {
namespace {

constexpr std::uint8_t send_first = 0x00, send_middle = 0x01, send_last = 0x02, send_only = 0x04,
                       send_only_immediate = 0x05, write_first = 0x06, write_last = 0x08, write_only = 0x0a,
                       write_only_immediate = 0x0b, read_request = 0x0c, read_first = 0x0d, read_middle = 0x0e,
                       read_last = 0x0f, read_only = 0x10, ack = 0x11, atomic_ack = 0x12, fetch_add = 0x14,
                       send_only_invalidate = 0x17, flush = 0x1c, atomic_write = 0x1d;
constexpr std::uint32_t pmtu = 256;

std::uint32_t from_dut(std::uint32_t n) { return (dut_psn + n) & 0xffffff; }

WorkRequest read_of(std::uint64_t id, std::uint32_t length, std::uint32_t local_offset = 0) {
  WorkRequest r{.id = id, .work = Work::read, .local_offset = local_offset, .length = length};
  r.va = 0x999000;
  r.r_key = 0x12345;
  return r;
}

// An answer: opcode, PSN, syndrome, MSN.
void expect_answer(Tester& t, std::uint8_t opcode, std::uint32_t n, std::uint8_t syndrome, std::uint32_t msn) {
  const std::optional<Seen> seen = t.next();
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->whole);
  EXPECT_EQ(seen->opcode, opcode);
  EXPECT_EQ(seen->psn, tester_psn + n);
  EXPECT_EQ(seen->syndrome, syndrome);
  EXPECT_EQ(seen->msn, msn);
  EXPECT_FALSE(seen->ack_request);
}

void expect_completion(Tester& t, std::uint64_t id, std::string_view status) {
  const std::vector<Completion> c = t.poll(second);
  ASSERT_GE(c.size(), 1u);
  EXPECT_EQ(c[0].id, id);
  EXPECT_EQ(name(c[0].status), status);
}

// ---- Requester

// ib-wire.md 7.2: the correct run of the READ completion test.
TEST(ModelRequester, ReadCompletesAfterLastOnly) {
  Tester t;
  const auto data = pattern(3 * pmtu);
  t.post(read_of(1, 3 * pmtu));
  t.post(read_of(2, 3 * pmtu, 3 * pmtu));
  for (std::uint32_t n : {0u, 3u}) {
    const auto seen = t.next();
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->whole);
    EXPECT_EQ(seen->opcode, read_request);
    EXPECT_EQ(seen->psn, from_dut(n));
    EXPECT_EQ(seen->va, 0x999000u);
    EXPECT_EQ(seen->r_key, 0x12345u);
    EXPECT_EQ(seen->dma_length, 3 * pmtu);
  }
  const std::span<const std::uint8_t> d(data);
  t.answer(read_first, 0, d.subspan(0, pmtu));
  t.answer(read_middle, 1, d.subspan(pmtu, pmtu));
  EXPECT_TRUE(t.poll(second).empty());
  t.answer(read_last, 2, d.subspan(2 * pmtu, pmtu));
  const auto done = t.poll(second);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].id, 1u);
  EXPECT_EQ(done[0].bytes, 3 * pmtu);
  EXPECT_EQ(t.memory(Region::local, 0, 3 * pmtu), data);
  EXPECT_TRUE(t.poll(second).empty());
  ASSERT_TRUE(t.dut().to_error(t.channel));
  expect_completion(t, 2, "wr_flush_err");
}

// ib-wire.md 7.4: forged responses that must not complete a READ.
TEST(ModelRequester, ForgedResponsesDoNotComplete) {
  const auto data = pattern(3 * pmtu);
  const std::span<const std::uint8_t> d(data);
  const auto first = d.subspan(0, pmtu), middle = d.subspan(pmtu, pmtu), last = d.subspan(2 * pmtu);
  using Forge =
      void (*)(Tester&, std::span<const std::uint8_t>, std::span<const std::uint8_t>, std::span<const std::uint8_t>);
  constexpr std::pair<const char*, Forge> forges[] = {
      {"N1", [](Tester& t, auto a, auto b,
                auto c) { t.answer(read_first, 0, a), t.answer(read_middle, 0, b), t.answer(read_last, 0, c); }},
      {"N2", [](Tester& t, auto a, auto, auto c) { t.answer(read_first, 0, a), t.answer(read_last, 2, c); }},
      {"N3",
       [](Tester& t, auto a, auto b, auto c) {
         t.answer(read_first, 0, a), t.answer(read_middle, 1, b.first(pmtu - 4)), t.answer(read_last, 2, c);
       }},
      {"N6", [](Tester& t, auto a, auto b,
                auto c) { t.answer(read_first, 0, a, 0x60), t.answer(read_middle, 1, b), t.answer(read_last, 2, c); }},
      {"N7", [](Tester& t, auto, auto, auto) { t.answer(ack, 2); }},
      {"N8", [](Tester& t, auto a, auto b,
                auto c) { t.answer(read_first, 3, a), t.answer(read_middle, 4, b), t.answer(read_last, 5, c); }},
      {"N12", [](Tester& t, auto a, auto b,
                 auto c) { t.answer(read_last, 2, c), t.answer(read_first, 0, a), t.answer(read_middle, 1, b); }},
      {"middle first",
       [](Tester& t, auto a, auto b, auto c) {
         t.answer(read_middle, 0, a), t.answer(read_middle, 1, b), t.answer(read_last, 2, c);
       }},
      {"last early", [](Tester& t, auto a, auto b, auto) { t.answer(read_first, 0, a), t.answer(read_last, 1, b); }},
      {"atomic", [](Tester& t, auto, auto, auto) { t.answer(atomic_ack, 0); }},
  };
  for (const auto& [name_of, forge] : forges) {
    SCOPED_TRACE(name_of);
    Tester t;
    t.post(read_of(1, 3 * pmtu));
    t.post(read_of(2, 3 * pmtu, 3 * pmtu));
    forge(t, first, middle, last);
    for (const Completion& c : t.poll(second)) EXPECT_NE(name(c.status), "success");
  }
}

TEST(ModelRequester, ReadWithRepeatedMiddleAndBadIcrcCompletesOnce) {
  const auto data = pattern(3 * pmtu);
  const std::span<const std::uint8_t> d(data);
  Tester t;
  t.post(read_of(1, 3 * pmtu));
  t.answer(read_first, 0, d.subspan(0, pmtu));
  t.answer(read_middle, 1, d.subspan(pmtu, pmtu));
  t.answer(read_middle, 1, d.subspan(pmtu, pmtu));
  OutPacket bad;
  bad.opcode = read_last;
  bad.psn = from_dut(2);
  bad.payload = d.subspan(2 * pmtu);
  bad.syndrome = 0x1f;
  bad.icrc_xor = 1;
  t.send(bad);
  EXPECT_TRUE(t.poll(second).empty());
  bad.icrc_xor = 0;
  t.send(bad);
  EXPECT_EQ(t.poll(second).size(), 1u);
  EXPECT_EQ(t.memory(Region::local, 0, 3 * pmtu), data);
}

// a response is missing; the READ goes out again for the rest, without any timer.
TEST(ModelRequester, ImpliedNakAsksForTheRest) {
  const auto data = pattern(3 * pmtu);
  const std::span<const std::uint8_t> d(data);
  Tester t;
  t.post(read_of(1, 3 * pmtu));
  t.next();
  t.answer(read_first, 0, d.subspan(0, pmtu));
  t.answer(read_last, 2, d.subspan(2 * pmtu));
  const auto again = t.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->psn, from_dut(1));
  EXPECT_EQ(again->va, 0x999000u + pmtu);
  EXPECT_EQ(again->dma_length, 2 * pmtu);
  t.answer(read_first, 1, d.subspan(pmtu, pmtu));
  t.answer(read_last, 2, d.subspan(2 * pmtu));
  expect_completion(t, 1, "success");
  EXPECT_EQ(t.memory(Region::local, 0, 3 * pmtu), data);
}

TEST(ModelRequester, FatalNakFailsOneAndFlushesTheRest) {
  constexpr std::pair<std::uint8_t, std::string_view> codes[] = {
      {0x61, "rem_inv_req_err"}, {0x62, "rem_access_err"}, {0x63, "rem_op_err"}};
  for (const auto& [syndrome, status] : codes) {
    Tester t;
    t.post({.id = 1, .work = Work::send, .length = 4});
    WorkRequest unsignaled{.id = 2, .work = Work::send, .length = 4};
    unsignaled.signaled = false;
    t.post(unsignaled);
    t.post({.id = 3, .work = Work::send, .length = 4});
    t.drain();
    t.answer(ack, 1, {}, syndrome, 1);
    const auto done = t.poll(second);
    ASSERT_EQ(done.size(), 3u);
    EXPECT_EQ(name(done[0].status), "success");
    EXPECT_EQ(name(done[1].status), status);  // C-05: unsignaled, but failed
    EXPECT_EQ(name(done[2].status), "wr_flush_err");
    EXPECT_TRUE(t.in_error());
    EXPECT_TRUE(t.dut().post_send(t.channel, {.id = 4, .work = Work::send}));
    expect_completion(t, 4, "wr_flush_err");
    EXPECT_FALSE(t.next(second));
  }
}

TEST(ModelRequester, SequenceNakResumesAtItsPsn) {
  Tester t;
  t.post({.id = 1, .work = Work::send, .length = 4 * pmtu});
  t.drain();
  t.answer(ack, 2, {}, 0x60, 0);
  for (std::uint32_t n : {2u, 3u}) EXPECT_EQ(t.next()->psn, from_dut(n));
  EXPECT_FALSE(t.next(second));
  t.answer(ack, 3);
  expect_completion(t, 1, "success");
}

TEST(ModelRequester, TimerAndRetryCount) {
  ChannelOptions o;
  o.ack_timeout = 10;  // 4.194304 ms
  o.retry_count = 2;
  Tester t(o);
  t.post({.id = 1, .work = Work::send, .length = 4});
  std::int64_t last_ns = t.next()->time_ns;
  for (int i = 0; i < 2; ++i) {
    const auto again = t.next(second);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->psn, from_dut(0));
    EXPECT_EQ(again->time_ns - last_ns, 4096 << 10);
    last_ns = again->time_ns;
  }
  EXPECT_FALSE(t.next(second));
  expect_completion(t, 1, "retry_exc_err");
}

TEST(ModelRequester, NoTimerWhenTimeoutIsZero) {
  Tester t;
  t.post({.id = 1, .work = Work::send, .length = 4});
  EXPECT_TRUE(t.next());
  EXPECT_FALSE(t.next(1000 * second));
}

// C9-130: code 31 is 491.52 ms; one retry, then the error.
TEST(ModelRequester, RnrTimerAndRetryCount) {
  ChannelOptions o;
  o.rnr_retry = 1;
  o.ack_timeout = 5;
  Tester t(o);
  t.post({.id = 1, .work = Work::send, .length = 4});
  t.post({.id = 2, .work = Work::send, .length = 4});
  t.next();
  t.next();
  t.answer(ack, 0, {}, 0x3f, 0);
  const std::int64_t naked_ns = t.wire().now_ns();
  const auto again = t.next(second);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->psn, from_dut(0));
  EXPECT_GE(again->time_ns - naked_ns, 491'520'000);
  EXPECT_LE(again->time_ns - naked_ns, 491'530'000);
  t.next();
  t.answer(ack, 0, {}, 0x21, 0);
  expect_completion(t, 1, "rnr_retry_exc_err");
}

TEST(ModelRequester, DepthFenceAndCredits) {
  Tester t;  // initiator depth 2
  for (std::uint64_t id : {1, 2, 3}) t.post(read_of(id, 4));
  EXPECT_EQ(t.next()->psn, from_dut(0));
  EXPECT_EQ(t.next()->psn, from_dut(1));
  EXPECT_FALSE(t.next(second));
  t.answer(read_only, 0, pattern(4));
  EXPECT_EQ(t.next()->psn, from_dut(2));
  WorkRequest fenced{.id = 4, .work = Work::send, .fence = true};
  t.post(fenced);
  t.answer(read_only, 1, pattern(4), 0x1f, 2);
  EXPECT_FALSE(t.next(second));
  t.answer(read_only, 2, pattern(4), 0x1f, 3);
  EXPECT_EQ(t.next()->psn, from_dut(3));
  // No credit left: one may probe, the next one waits.
  t.answer(ack, 3, {}, 0x00, 4);
  t.post({.id = 5, .work = Work::send});
  t.post({.id = 6, .work = Work::send});
  EXPECT_EQ(t.next()->psn, from_dut(4));
  EXPECT_FALSE(t.next(second));
  t.answer(ack, 4, {}, 0x01, 5);
  EXPECT_EQ(t.next()->psn, from_dut(5));
}

TEST(ModelRequester, AckAheadOfWhatWasSentIsIgnored) {
  Tester t;
  t.post({.id = 1, .work = Work::send, .length = 4});
  t.answer(ack, 1);
  EXPECT_TRUE(t.poll(second).empty());
  t.answer(ack, 0);
  expect_completion(t, 1, "success");
}

// ---- Responder

TEST(ModelResponder, OneNakForAGap) {
  Tester t;
  t.post_receive(1, 0, 100);
  t.post_receive(2, 100, 100);
  t.send(t.request(send_only, 1, pattern(4)));
  t.send(t.request(send_only, 2, pattern(4)));
  expect_answer(t, ack, 0, 0x60, 0);
  EXPECT_FALSE(t.next());
  t.send(t.request(send_only, 0, pattern(4)));
  expect_answer(t, ack, 0, 0x1f, 1);
  t.send(t.request(send_only, 2, pattern(4)));
  expect_answer(t, ack, 1, 0x60, 1);
}

TEST(ModelResponder, RnrNakUntilAReceiveIsPosted) {
  ChannelOptions o;
  o.min_rnr_timer = 12;
  Tester t(o);
  t.send(t.request(send_only_immediate, 0, pattern(4)));
  t.send(t.request(send_only, 1, pattern(4)));
  expect_answer(t, ack, 0, 0x2c, 0);
  EXPECT_FALSE(t.next());
  t.post_receive(1, 0, 100);
  t.send(t.request(send_only_immediate, 0, pattern(4)));
  expect_answer(t, ack, 0, 0x1f, 1);
  EXPECT_EQ(t.poll(second).size(), 1u);
  // A WRITE needs one for its immediate only, a READ never.
  t.send(t.request(write_only, 1, pattern(4)));
  expect_answer(t, ack, 1, 0x1f, 2);
  t.send(t.request(write_only_immediate, 2, pattern(4)));
  expect_answer(t, ack, 2, 0x2c, 2);
}

TEST(ModelResponder, DuplicatesAreAcknowledgedNotExecuted) {
  Tester t;
  t.post_receive(1, 0, 100);
  t.post_receive(2, 100, 100);
  t.send(t.request(send_only, 0, pattern(4)));
  expect_answer(t, ack, 0, 0x1f, 1);
  OutPacket read = t.request(read_request, 1);
  read.dma_length = 2 * pmtu;
  t.send(read);
  expect_answer(t, read_first, 1, 0x1f, 2);
  expect_answer(t, read_last, 2, 0x1f, 2);
  t.send(t.request(send_only, 0, pattern(4)));
  expect_answer(t, ack, 0, 0x1f, 2);  // not the READ's PSN
  EXPECT_EQ(t.poll(second).size(), 1u);
  // the second half, read again; then more than was asked for.
  read.psn += 1;
  read.va += pmtu;
  read.dma_length = pmtu;
  t.send(read);
  expect_answer(t, read_only, 2, 0x1f, 2);
  read.dma_length = 2 * pmtu;
  t.send(read);
  EXPECT_FALSE(t.next());
}

TEST(ModelResponder, DuplicateAtomicGetsTheSavedResult) {
  Tester t;
  OutPacket add = t.request(fetch_add, 0);
  add.swap_or_add = 5;
  t.send(add);
  t.send(add);
  for (int i = 0; i < 2; ++i) {
    const auto seen = t.next();
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->opcode, atomic_ack);
    EXPECT_EQ(seen->original, 0u);
  }
  EXPECT_EQ(host_value(t.memory(Region::remote, 0, 8)), 5u);
}

TEST(ModelResponder, RefusesWithTheRightCode) {
  struct Case {
    const char* what;
    std::uint8_t syndrome;
    std::function<void(Tester&, OutPacket&)> change;
  };
  const auto data = pattern(pmtu);
  const std::span<const std::uint8_t> d(data);
  const Case cases[] = {
      {"undefined opcode", 0x61, [](Tester&, OutPacket& p) { p.opcode = 0x18; }},
      {"stray Middle", 0x61, [d](Tester&, OutPacket& p) { p.opcode = send_middle, p.payload = d; }},
      {"stray Last", 0x61, [d](Tester&, OutPacket& p) { p.opcode = write_last, p.payload = d; }},
      {"short First", 0x61, [d](Tester&, OutPacket& p) { p.opcode = send_first, p.payload = d.first(100); }},
      {"long Only", 0x61,
       [](Tester&, OutPacket& p) {
         static const auto longer = pattern(pmtu + 4);
         p.opcode = send_only, p.payload = longer;
       }},
      {"WRITE shorter than told", 0x61, [d](Tester&, OutPacket& p) { p.payload = d.first(10), p.dma_length = 11; }},
      {"READ longer than 2^31", 0x61,
       [](Tester&, OutPacket& p) { p.opcode = read_request, p.payload = {}, p.dma_length = 0x80000001; }},
      {"bad key", 0x62, [](Tester&, OutPacket& p) { p.r_key ^= 1; }},
      {"before the region", 0x62, [](Tester&, OutPacket& p) { p.va -= 1; }},
      {"behind the region", 0x62, [](Tester&, OutPacket& p) { p.va += 65536 - 3; }},
      {"around the end of all addresses", 0x62, [](Tester&, OutPacket& p) { p.va = ~0ULL - 1; }},
      {"misaligned atomic", 0x61, [](Tester&, OutPacket& p) { p.opcode = fetch_add, p.payload = {}, p.va += 4; }},
      {"atomic behind the region", 0x62,
       [](Tester&, OutPacket& p) { p.opcode = fetch_add, p.payload = {}, p.va += 65536; }},
      {"wrong key to invalidate", 0x62, [](Tester&, OutPacket& p) { p.opcode = send_only_invalidate; }},
      {"short ATOMIC WRITE", 0x61, [d](Tester&, OutPacket& p) { p.opcode = atomic_write, p.payload = d.first(4); }},
      {"SEND longer than its buffer", 0x61, [d](Tester&, OutPacket& p) { p.opcode = send_only, p.payload = d; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Tester t;
    t.post_receive(7, 0, 100);
    OutPacket p = t.request(write_only, 0, d.first(4));
    c.change(t, p);
    t.send(p);
    expect_answer(t, ack, 0, c.syndrome, 0);
    EXPECT_TRUE(t.in_error());
    EXPECT_EQ(t.poll(second).size(), 1u);  // the receive, one way or the other
    t.send(t.request(write_only, 0, d.first(4)));
    EXPECT_FALSE(t.next());
  }
}

TEST(ModelResponder, OperationsThatAreNotEnabled) {
  ChannelOptions o;
  o.allow_remote_read = o.allow_remote_write = o.allow_remote_atomic = false;
  for (const std::uint8_t opcode : {write_only, read_request, fetch_add}) {
    Tester t(o);
    t.send(t.request(opcode, 0));
    expect_answer(t, ack, 0, 0x61, 0);
  }
}

TEST(ModelResponder, InterleavedMessages) {
  Tester t;
  OutPacket first = t.request(write_first, 0, pattern(pmtu));
  first.dma_length = 2 * pmtu;
  t.send(first);
  expect_answer(t, ack, 0, 0x1f, 0);
  t.send(t.request(read_request, 1));
  expect_answer(t, ack, 1, 0x61, 0);
}

TEST(ModelResponder, ZeroLengthNeedsNoKey) {
  Tester t;
  OutPacket p = t.request(read_request, 0);
  p.r_key = 0;
  p.va = 0;
  t.send(p);
  expect_answer(t, read_only, 0, 0x1f, 1);
  p.opcode = write_only;
  ++p.psn;
  t.send(p);
  expect_answer(t, ack, 1, 0x1f, 2);
}

TEST(ModelResponder, FlushAndAtomicWrite) {
  Tester t;
  const auto value = pattern(8);
  t.send(t.request(atomic_write, 0, value));
  expect_answer(t, read_only, 0, 0x1f, 1);
  EXPECT_EQ(t.memory(Region::remote, 0, 8), value);
  OutPacket p = t.request(flush, 1);
  p.placement = 1;
  p.dma_length = 8;
  t.send(p);
  t.send(p);
  expect_answer(t, read_only, 1, 0x1f, 2);
  expect_answer(t, read_only, 1, 0x1f, 2);
  p.psn += 1;
  p.r_key ^= 1;
  t.send(p);
  expect_answer(t, ack, 2, 0x62, 2);
}

TEST(ModelResponder, DropsWithoutAWord) {
  Tester t;
  t.post_receive(1, 0, 100);
  const Path right = t.path;
  const auto dropped = [&](const OutPacket& p) {
    t.send(p);
    t.path = right;
    EXPECT_FALSE(t.next());
  };
  const auto data = pattern(4);
  OutPacket p = t.request(send_only, 0, data);
  p.icrc_xor = 1;
  dropped(p);
  p.icrc_xor = 0;
  p.tver = 1;
  dropped(p);
  p.tver = 0;
  t.path.p_key = 0x8001;
  dropped(p);
  t.path.destination_qpn ^= 1;
  dropped(p);
  t.path.source[15] ^= 0x40;
  dropped(p);
  t.path.destination[15] ^= 0x40;
  dropped(p);
  p.opcode = 0x24;  // UC
  dropped(p);
  p.opcode = send_only;
  t.path.p_key = 0x7fff;  // a limited member
  t.send(p);
  expect_answer(t, ack, 0, 0x1f, 1);
}

// ---- Other services and wrappings

TEST(ModelUd, QKeyAndLength) {
  ChannelOptions o;
  o.service = Service::ud;
  Tester t(o);
  t.post_receive(1, 0, 100);
  OutPacket p = t.request(0x64, 0, pattern(10));
  p.q_key = 1;
  t.send(p);
  EXPECT_TRUE(t.poll(second).empty());
  p.q_key = 0x11111111;
  t.send(p);
  const auto done = t.poll(second);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].bytes, 50u);
  EXPECT_FALSE(t.next());
  WorkRequest r{.id = 2, .work = Work::send, .length = 4, .remote_q_key = 0x80000001};
  t.post(r);
  EXPECT_EQ(t.next()->q_key, 0x11111111u);
}

TEST(ModelFrames, EveryWrapping) {
  for (const auto& [link_type, wrap] :
       {std::pair{101, Wrap::roce_v2}, std::pair{1, Wrap::roce_v2}, std::pair{1, Wrap::roce_v1}})
    for (const bool v6 : {false, true}) {
      ModelOptions m;
      m.link_type = static_cast<std::uint16_t>(link_type);
      m.wrap = wrap;
      MemoryWireOptions w;
      if (v6) m.address[0] = w.address[0] = 0x20;
      auto bench = open_model(m, w);
      ChannelOptions o;
      o.tester_address = w.address;
      o.tester_psn = tester_psn;
      const Channel channel = *bench.dut->open(o);
      Path path;
      path.link_type = m.link_type;
      path.wrap = wrap;
      path.source = w.address;
      path.destination = m.address;
      path.destination_qpn = channel.qpn;
      OutPacket p;
      p.opcode = read_request;
      p.psn = tester_psn;
      p.va = channel.remote_va;
      p.r_key = channel.remote_r_key;
      p.dma_length = 5;
      ASSERT_TRUE(bench.wire->send(write_frame(p, path, 0)));
      const auto frame = *bench.wire->receive(second);
      ASSERT_TRUE(frame);
      const Seen seen = see(frame->bytes, 0, m.link_type);
      EXPECT_TRUE(seen.whole);
      EXPECT_EQ(seen.opcode, read_only);
      EXPECT_EQ(seen.payload.size(), 5u);
    }
}

// ---- Any bytes

TEST(ModelFuzz, SpoiledFramesNeverBreakIt) {
  std::minstd_rand random(7);
  for (const Service service : {Service::rc, Service::uc, Service::ud}) {
    ChannelOptions o;
    o.service = service;
    o.ack_timeout = 1;
    Tester t(o);
    for (unsigned i = 0; i < 20000; ++i) {
      if (i % 50 == 0) {
        if (t.in_error()) {
          const std::uint32_t qpn = t.channel.qpn;
          ASSERT_TRUE(t.dut().close(t.channel));
          o.tester_address = t.wire().address();
          o.tester_psn = tester_psn;
          t.channel = *t.dut().open(o);
          EXPECT_NE(t.channel.qpn, qpn);
          t.path.destination_qpn = t.channel.qpn;
        }
        t.post_receive(i, 0, 4096);
        WorkRequest r{
            .id = i, .work = static_cast<Work>(random() % 10), .length = static_cast<std::uint32_t>(random() % 2000)};
        (void)t.dut().post_send(t.channel, r);
      }
      const auto payload = pattern(random() % 3 == 0 ? pmtu : random() % 300, i);
      OutPacket p = t.request(static_cast<std::uint8_t>(random() % 32 | (service == Service::rc   ? 0
                                                                         : service == Service::uc ? 0x20
                                                                                                  : 0x60)),
                              static_cast<std::uint32_t>(random() % 4), payload);
      if (random() % 2) p.psn = static_cast<std::uint32_t>(random() % 3 - 1) & 0xffffff;
      p.dma_length = static_cast<std::uint32_t>(random());
      if (random() % 2) p.dma_length = static_cast<std::uint32_t>(random() % 1000);
      if (random() % 4 == 0) p.va = std::uint64_t{random()};
      p.syndrome = static_cast<std::uint8_t>(random());
      p.q_key = 0x11111111;
      std::vector<std::uint8_t> frame = write_frame(p, t.path, 0);
      if (random() % 4 == 0) frame.resize(random() % frame.size());
      if (random() % 4 == 0 && !frame.empty())
        frame[random() % frame.size()] ^= static_cast<std::uint8_t>(1 << random() % 8);
      t.send(frame);
      if (i % 64 == 0) {
        t.trace.clear();
        t.drain();
        t.poll();
      }
    }
  }
}

// ---- The model behind a wire in real time

// Two ends of a cable; time is the machine's.
class Cable {
 public:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::vector<std::uint8_t>> to[2];
  };
  class End final : public Wire {
   public:
    End(std::shared_ptr<Shared> shared, int side) : shared_(std::move(shared)), side_(side) {}
    std::string_view name() const override { return "cable"; }
    std::uint16_t link_type() const override { return 101; }
    IpAddress address() const override {
      IpAddress a = ModelOptions{}.address;
      a[15] = static_cast<std::uint8_t>(side_ + 1);
      return a;
    }
    std::int64_t now_ns() override {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
    }
    Result<void> send(std::span<const std::uint8_t> frame) override {
      const std::lock_guard lock(shared_->mutex);
      shared_->to[side_ ^ 1].emplace_back(frame.begin(), frame.end());
      shared_->changed.notify_all();
      return {};
    }
    Result<std::optional<Received>> receive(std::int64_t deadline_ns) override {
      std::unique_lock lock(shared_->mutex);
      auto& queue = shared_->to[side_];
      const auto wait = std::chrono::nanoseconds(std::max<std::int64_t>(0, deadline_ns - now_ns()));
      if (!shared_->changed.wait_for(lock, wait, [&] { return !queue.empty(); })) return std::optional<Received>();
      Received r{std::move(queue.front()), now_ns()};
      queue.pop_front();
      return std::optional<Received>(std::move(r));
    }

   private:
    std::shared_ptr<Shared> shared_;
    int side_;
  };
};

// A SEND of the DUT is sent again by its timer, then acknowledged; a READ of the tester is answered.
void real_time(Wire& tester, Dut& dut) {
  ChannelOptions o;
  o.tester_address = tester.address();
  o.tester_qpn = tester_qpn;
  o.ack_timeout = 13;  // 33 ms
  const Channel channel = *dut.open(o);
  ASSERT_TRUE(dut.post_send(channel, {.id = 1, .work = Work::send, .length = 10}));
  const auto sent = *tester.receive(tester.now_ns() + second);
  ASSERT_TRUE(sent);
  EXPECT_TRUE(see(sent->bytes, 0).whole);
  const auto again = *tester.receive(tester.now_ns() + second);
  ASSERT_TRUE(again);
  EXPECT_GE(again->time_ns - sent->time_ns, 30 * ms);
  OutPacket p;
  p.opcode = ack;
  p.syndrome = 0x1f;
  p.msn = 1;
  Path path;
  path.source = tester.address();
  path.destination = dut.info().address;
  path.destination_qpn = channel.qpn;
  ASSERT_TRUE(tester.send(write_frame(p, path, 0)));
  const auto done = *dut.poll(channel, second);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, Status::success);
  p.opcode = read_request;
  p.va = channel.remote_va;
  p.r_key = channel.remote_r_key;
  p.dma_length = 100;
  ASSERT_TRUE(tester.send(write_frame(p, path, 0)));
  for (;;) {
    const auto frame = *tester.receive(tester.now_ns() + second);
    ASSERT_TRUE(frame);
    const Seen seen = see(frame->bytes, 0);
    if (seen.opcode == 0x04) continue;  // sent again once more
    EXPECT_EQ(seen.opcode, read_only);
    EXPECT_EQ(seen.payload.size(), 100u);
    return;
  }
}

TEST(ModelDut, RunsInRealTimeOverAnyWire) {
  const auto shared = std::make_shared<Cable::Shared>();
  Cable::End tester(shared, 0);
  auto dut = open_model(ModelOptions{}, std::make_unique<Cable::End>(shared, 1));
  ASSERT_TRUE(dut);
  real_time(tester, **dut);
}

TEST(ModelDut, RunsBehindAUdpSocket) {
  auto tester = UdpWire::open(*parse_address("127.47.91.1"));
  auto model = UdpWire::open(*parse_address("127.47.91.2"));
  if (!tester || !model) GTEST_SKIP() << "no sockets here";
  auto dut = open_model(ModelOptions{}, std::move(*model));
  ASSERT_TRUE(dut);
  real_time(**tester, **dut);
}

}  // namespace
}  // namespace rdmascope::test
