// Two models wired to each other: every operation with many sizes, on a good link and on bad ones. Data and completions
// are right, and the check engine finds nothing wrong with the conversation.
#include "tests/unit/replay_bench.h"

namespace rdmascope::test {
namespace {

constexpr std::uint32_t region = 1 << 16;

ChannelOptions channel_options(Service service, std::uint32_t pmtu) {
  ChannelOptions o;
  o.service = service;
  o.pmtu = pmtu;
  o.ack_timeout = 12;  // 16.8 ms
  o.min_rnr_timer = 6;
  o.local_bytes = o.remote_bytes = region;
  return o;
}

// One request of a, checked at both ends.
void one(Link& link, Work work, std::uint32_t length, std::uint64_t id) {
  SCOPED_TRACE("work " + std::to_string(static_cast<int>(work)) + ", " + std::to_string(length) + " bytes, id " +
               std::to_string(id));
  const std::vector<std::uint8_t> data = pattern(length, static_cast<std::uint32_t>(id));
  const bool is_read = work == Work::read;
  const bool needs_receive = work <= Work::send_with_invalidate || work == Work::write_with_immediate;
  ASSERT_TRUE(
      link.a.write_memory(link.channel_a, Region::local, 0, is_read ? std::vector<std::uint8_t>(length) : data));
  if (is_read) {
    ASSERT_TRUE(link.b.write_memory(link.channel_b, Region::remote, 8, data));
  }
  if (needs_receive) {
    ASSERT_TRUE(link.b.post_receive(link.channel_b, {id + 1000, 64, region / 2}));
  }
  WorkRequest r;
  r.id = id;
  r.work = work;
  r.length = length;
  r.va = link.channel_b.remote_va + 8;
  r.r_key = link.channel_b.remote_r_key;
  r.immediate = work == Work::send_with_invalidate ? r.r_key : 0x01020304;
  ASSERT_TRUE(link.a.post_send(link.channel_a, r, link.now_ns));
  link.run();

  const std::vector<Completion> sent = *link.a.poll(link.channel_a);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].id, id);
  EXPECT_EQ(name(sent[0].status), "success");
  const std::vector<Completion> received = *link.b.poll(link.channel_b);
  ASSERT_EQ(received.size(), needs_receive ? 1u : 0u);
  if (needs_receive) {
    EXPECT_EQ(received[0].id, id + 1000);
    EXPECT_EQ(received[0].bytes, length);
    const bool immediate = work == Work::send_with_immediate || work == Work::write_with_immediate;
    EXPECT_EQ(received[0].immediate.value_or(0), immediate ? 0x01020304u : 0u);
  }
  const bool is_send = work <= Work::send_with_invalidate;
  const auto got = is_read   ? *link.a.read_memory(link.channel_a, Region::local, 0, length)
                   : is_send ? *link.b.read_memory(link.channel_b, Region::local, 64, length)
                             : *link.b.read_memory(link.channel_b, Region::remote, 8, length);
  EXPECT_EQ(got, data);
}

void everything(Link& link, std::uint32_t pmtu) {
  std::uint64_t id = 1;
  for (const Work work : {Work::send, Work::send_with_immediate, Work::write, Work::write_with_immediate, Work::read})
    for (const std::uint32_t length : {0u, 1u, 3u, pmtu - 1, pmtu, pmtu + 1, 2 * pmtu, 7 * pmtu + 5, 20000u})
      one(link, work, length, id++);
}

TEST(ModelLink, EveryOperationAndSize) {
  for (const std::uint32_t pmtu : {256u, 1024u, 4096u}) {
    Link link(channel_options(Service::rc, pmtu), {});
    everything(link, pmtu);
    EXPECT_EQ(violations(link.captured), "");
    one(link, Work::send_with_invalidate, 300, 99);
    WorkRequest write{.id = 7, .work = Work::write, .length = 4};
    write.va = link.channel_b.remote_va;
    write.r_key = link.channel_b.remote_r_key;
    ASSERT_TRUE(link.a.post_send(link.channel_a, write, link.now_ns));
    link.run();
    EXPECT_EQ((*link.a.poll(link.channel_a))[0].status, Status::rem_access_err);  // the R_Key is gone
  }
}

TEST(ModelLink, Atomics) {
  Link link(channel_options(Service::rc, 256), {});
  std::vector<std::uint8_t> memory(8);
  store_host_value(memory, 40);
  ASSERT_TRUE(link.b.write_memory(link.channel_b, Region::remote, 16, memory));
  WorkRequest r;
  r.va = link.channel_b.remote_va + 16;
  r.r_key = link.channel_b.remote_r_key;
  const auto run = [&](Work work, std::uint64_t compare, std::uint64_t operand) {
    r.work = work;
    r.compare = compare;
    r.operand = operand;
    EXPECT_TRUE(link.a.post_send(link.channel_a, r, link.now_ns));
    link.run();
    EXPECT_EQ((*link.a.poll(link.channel_a)).at(0).status, Status::success);
    return std::pair(host_value(*link.a.read_memory(link.channel_a, Region::local, 0, 8)),
                     host_value(*link.b.read_memory(link.channel_b, Region::remote, 16, 8)));
  };
  using Values = std::pair<std::uint64_t, std::uint64_t>;  // result at a, memory at b
  EXPECT_EQ(run(Work::fetch_add, 0, 2), Values(40, 42));
  EXPECT_EQ(run(Work::compare_swap, 41, 9), Values(42, 42));
  EXPECT_EQ(run(Work::compare_swap, 42, 9), Values(42, 9));
  EXPECT_EQ(run(Work::fetch_add, 0, ~0ULL), Values(9, 8));
  r.length = 8;
  EXPECT_EQ(run(Work::atomic_write, 0, 0).second, 9u);  // what the result of the last one was
  r.work = Work::flush;
  ASSERT_TRUE(link.a.post_send(link.channel_a, r, link.now_ns));
  link.run();
  EXPECT_EQ((*link.a.poll(link.channel_a)).at(0).status, Status::success);
  EXPECT_EQ(violations(link.captured), "");
}

// Many requests at once, both ways, on a link that loses, doubles and delays.
void storm(LinkOptions options) {
  SCOPED_TRACE("seed " + std::to_string(options.seed));
  Link link(channel_options(Service::rc, 256), options);
  std::minstd_rand random(options.seed);
  constexpr unsigned count = 40;
  struct End {
    Model& model;
    Channel& channel;
    Channel& other;
  };
  End ends[] = {{link.a, link.channel_a, link.channel_b}, {link.b, link.channel_b, link.channel_a}};
  // Local memory: 0 to 24K is sent from, then READs and receives of up to 500 bytes each have a place of their own.
  // Remote memory: the first half is written, the second read.
  constexpr std::uint32_t places = 24 * 1024, place = 500, receives_at = places + count * place;
  const std::vector<std::uint8_t> source = pattern(places, options.seed),
                                  readable = pattern(region / 2, options.seed + 1);
  std::uint64_t sum[2] = {0, 0};
  std::vector<WorkRequest> posted[2];
  for (int side : {0, 1}) {
    End& e = ends[side];
    ASSERT_TRUE(e.model.write_memory(e.channel, Region::local, 0, source));
    ASSERT_TRUE(e.model.write_memory(e.channel, Region::remote, region / 2, readable));
    for (std::uint32_t i = 0; i < count; ++i)
      ASSERT_TRUE(e.model.post_receive(e.channel, {1000 + i, receives_at + i * place, place}));
    for (std::uint32_t i = 0; i < count; ++i) {
      WorkRequest r;
      r.id = i;
      r.r_key = e.other.remote_r_key;
      const std::uint32_t length = static_cast<std::uint32_t>(random() % 5000);
      switch (random() % 5) {
        case 0:
          r.work = Work::send_with_immediate;
          r.length = length % place;
          r.local_offset = i;
          r.immediate = i;
          break;
        case 1:
        case 2:
          r.work = Work::write;
          r.length = length;
          r.local_offset = i * 37;
          r.va = e.other.remote_va + 4096 + i * 100;
          break;
        case 3:
          r.work = Work::read;
          r.length = length % place;
          r.local_offset = places + i * place;
          r.va = e.other.remote_va + region / 2 + i;
          break;
        case 4:
          r.work = Work::fetch_add;
          r.local_offset = places + i * place;
          r.va = e.other.remote_va;
          r.operand = i;
          sum[side ^ 1] += i;
          break;
      }
      r.fence = random() % 8 == 0;
      posted[side].push_back(r);
      ASSERT_TRUE(e.model.post_send(e.channel, r, link.now_ns));
    }
  }
  link.run();

  for (int side : {0, 1}) {
    End& e = ends[side];
    std::uint64_t next = 0, next_receive = 1000;
    std::vector<std::uint8_t> written(region / 2);
    const std::vector<Completion> completions = *e.model.poll(e.channel);
    for (const Completion& c : completions) {
      ASSERT_EQ(name(c.status), "success");
      if (!c.is_receive) {
        EXPECT_EQ(c.id, next++);
        continue;
      }
      EXPECT_EQ(c.id, next_receive);
      const WorkRequest& r = posted[side ^ 1][*c.immediate];
      ASSERT_EQ(c.bytes, r.length);
      const std::uint32_t at = receives_at + static_cast<std::uint32_t>(next_receive++ - 1000) * place;
      EXPECT_EQ(*e.model.read_memory(e.channel, Region::local, at, r.length),
                std::vector<std::uint8_t>(source.begin() + r.local_offset, source.begin() + r.local_offset + r.length));
    }
    EXPECT_EQ(next, count);
    for (const WorkRequest& r : posted[side]) {
      if (r.work != Work::read) continue;
      EXPECT_EQ(*e.model.read_memory(e.channel, Region::local, r.local_offset, r.length),
                std::vector<std::uint8_t>(readable.begin() + static_cast<std::ptrdiff_t>(r.id),
                                          readable.begin() + static_cast<std::ptrdiff_t>(r.id) + r.length));
    }
    for (const WorkRequest& r : posted[side ^ 1])
      if (r.work == Work::write)
        std::copy_n(source.begin() + r.local_offset, r.length,
                    written.begin() + static_cast<std::ptrdiff_t>(r.va - e.channel.remote_va));
    store_host_value(written, sum[side]);
    EXPECT_EQ(*e.model.read_memory(e.channel, Region::remote, 0, region / 2), written);
  }
  EXPECT_EQ(violations(link.captured), "");
}

TEST(ModelLink, ManyRequestsAtOnce) { storm({}); }

TEST(ModelLink, Loss) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) storm({.seed = seed, .lost = 20});
}
TEST(ModelLink, LossAndDoubles) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) storm({.seed = seed, .lost = 15, .doubled = 20});
}
TEST(ModelLink, Delays) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) storm({.seed = seed, .lost = 5, .doubled = 5, .delayed = 10});
}

TEST(ModelLink, UnreliableConnectionLosesWholeMessages) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Link link(channel_options(Service::uc, 256), {.seed = seed, .lost = 60});
    constexpr std::uint32_t count = 50;
    const std::vector<std::uint8_t> data = pattern(4096, seed);
    ASSERT_TRUE(link.a.write_memory(link.channel_a, Region::local, 0, data));
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(link.b.post_receive(link.channel_b, {i, i * 1200, 1200}));
      WorkRequest r;
      r.id = i;
      r.work = Work::send_with_immediate;
      r.immediate = i;
      r.length = i * 21;
      r.local_offset = i;
      ASSERT_TRUE(link.a.post_send(link.channel_a, r, link.now_ns));
    }
    link.run();
    EXPECT_EQ((*link.a.poll(link.channel_a)).size(), count);
    const std::vector<Completion> received = *link.b.poll(link.channel_b);
    EXPECT_GT(received.size(), count / 3);
    EXPECT_LT(received.size(), count);
    for (const Completion& c : received) {
      ASSERT_EQ(c.bytes, *c.immediate * 21);
      EXPECT_EQ(*link.b.read_memory(link.channel_b, Region::local, static_cast<std::uint32_t>(c.id) * 1200, c.bytes),
                std::vector<std::uint8_t>(data.begin() + *c.immediate, data.begin() + *c.immediate + c.bytes));
    }
    for (const Link::Captured& frame : link.captured) EXPECT_NE(see(frame.bytes, 0).opcode & 31, 0x11);
    EXPECT_EQ(violations(link.captured), "");
  }
}

TEST(ModelLink, Datagrams) {
  Link link(channel_options(Service::ud, 256), {});
  const std::vector<std::uint8_t> data = pattern(4096);
  ASSERT_TRUE(link.a.write_memory(link.channel_a, Region::local, 0, data));
  ASSERT_TRUE(link.b.post_receive(link.channel_b, {1, 0, 100}));  // too small: the message is dropped
  WorkRequest r{.id = 5, .work = Work::send_with_immediate, .length = 1000, .immediate = 77};
  r.remote_qpn = 0x22;
  r.remote_q_key = 0x11111111;
  ASSERT_TRUE(link.a.post_send(link.channel_a, r, link.now_ns));
  r.length = 60;
  ASSERT_TRUE(link.a.post_send(link.channel_a, r, link.now_ns));
  link.run();
  EXPECT_EQ((*link.a.poll(link.channel_a)).size(), 2u);
  const std::vector<Completion> received = *link.b.poll(link.channel_b);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].bytes, 100u);
  EXPECT_EQ(received[0].immediate, 77u);
  EXPECT_EQ(*link.b.read_memory(link.channel_b, Region::local, 40, 60),
            std::vector<std::uint8_t>(data.begin(), data.begin() + 60));
  EXPECT_EQ((*link.b.read_memory(link.channel_b, Region::local, 20, 1))[0], 0x45);  // the IPv4 header
  EXPECT_EQ(violations(link.captured), "");
}

}  // namespace
}  // namespace rdmascope::test
