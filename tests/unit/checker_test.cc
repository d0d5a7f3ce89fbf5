// The engine on made packets: how many connections it keeps, and that the number of workers changes nothing.
#include "check/checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "check/annotate.h"
#include "tests/unit/frames.h"
#include "tests/unit/vectors.h"

namespace rdmascope::check {
namespace {

using Frames = std::vector<std::vector<std::uint8_t>>;

class Heard final : public Listener {
 public:
  std::string text;
  std::size_t ended_connections = 0;
  void finding(const Finding& f, const Connection*) override {
    text +=
        std::string(f.rule->id) + " of frame " + std::to_string(f.frame) + " of " + std::to_string(f.connection) + '\n';
  }
  void message(const Connection& c, std::uint8_t, const Message& m) override {
    text += "message " + std::to_string(m.index) + " of " + std::to_string(c.id) + '\n';
  }
  void ended(const Connection&) override { ++ended_connections; }
};

// RDMA WRITEs over RoCEv1, each to a queue pair of its own; their ICRCs are not verified, since the capture lacks them.
Frames writes_to(std::uint32_t queue_pairs, std::uint32_t first = 0x100) {
  Frames frames;
  for (std::uint32_t n = 0; n < queue_pairs; ++n) {
    std::vector<std::uint8_t> frame = test::from_hex(test::v4.hex);
    constexpr std::size_t destqp = 14 + 40 + 5;
    frame[destqp] = static_cast<std::uint8_t>((first + n) >> 16);
    frame[destqp + 1] = static_cast<std::uint8_t>((first + n) >> 8);
    frame[destqp + 2] = static_cast<std::uint8_t>(first + n);
    frame.erase(frame.end() - 4, frame.end());
    frames.push_back(std::move(frame));
  }
  return frames;
}

Totals judge(const Frames& frames, CheckOptions options, Listener& listener, std::size_t batch_frames = 10) {
  options.messages = true;
  Checker checker(options, listener);
  std::size_t at = 0;
  checker.run([&](Batch& batch) {
    batch.frames.clear();
    for (; at < frames.size() && batch.frames.size() < batch_frames; ++at) {
      Frame& frame = batch.frames.emplace_back();
      frame.bytes = frames[at];
      frame.info.number = at + 1;
      // 250 ms of silence now and then.
      frame.info.time_ns = static_cast<std::int64_t>(at * 10'000 + at / 300 * 250'000'000);
      frame.info.wire_bytes = static_cast<std::uint32_t>(frames[at].size() + 4);
      frame.info.link_type = test::link_ethernet;
    }
    return !batch.frames.empty();
  });
  checker.finish();
  return checker.totals();
}

TEST(Checker, RefusesConnectionsBeyondTheLimit) {
  CheckOptions options;
  options.most_connections = 100;
  Heard heard;
  const Totals totals = judge(writes_to(1000), options, heard);
  EXPECT_EQ(totals.frames, 1000u);
  EXPECT_EQ(totals.connections, 100u);
  EXPECT_EQ(totals.refused, 900u);
  EXPECT_EQ(heard.ended_connections, 100u);
}

TEST(Checker, RefusesNothingAtTheLimit) {
  CheckOptions options;
  options.most_connections = 100;
  Heard heard;
  const Totals totals = judge(writes_to(100), options, heard);
  EXPECT_EQ(totals.connections, 100u);
  EXPECT_EQ(totals.refused, 0u);
}

TEST(Checker, GoesOnWithKnownConnectionsAtTheLimit) {
  CheckOptions options;
  options.most_connections = 10;
  Frames frames = writes_to(20);
  for (std::vector<std::uint8_t>& frame : writes_to(10)) frames.push_back(std::move(frame));
  Heard heard;
  EXPECT_EQ(judge(frames, options, heard).refused, 10u);
}

TEST(Checker, SaysTheSameWithAnyNumberOfWorkers) {
  Frames frames;
  for (int round = 0; round < 20; ++round)
    for (std::vector<std::uint8_t>& frame : writes_to(37)) frames.push_back(std::move(frame));
  Heard one;
  judge(frames, {}, one);
  ASSERT_NE(one.text, "");
  for (const unsigned workers : {2u, 3u, 8u}) {
    CheckOptions options;
    options.workers = workers;
    Heard several;
    judge(frames, options, several);
    EXPECT_EQ(several.text, one.text) << workers << " workers";
  }
}

// Conversations of several queue pairs, with numbers that are wrong here and there.
Frames damaged_conversations(unsigned seed) {
  std::mt19937 random(seed);
  const auto one_of = [&random](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
  Frames frames;
  std::array<std::uint32_t, 4> psn{7, 90, 7, 1000}, msn{};
  const auto send = [&](test::Sent s) {
    if (one_of(10) == 0) s.psn += one_of(5) - 2;
    if (one_of(20) == 0) s.qp = 0x31 + one_of(4);
    if (one_of(50) == 0) s.opcode = static_cast<std::uint8_t>(s.opcode ^ 1u << one_of(8));
    std::vector<std::uint8_t> frame = test::frame_of(s, static_cast<std::uint16_t>(frames.size()));
    frame.erase(frame.end() - 4, frame.end());  // damage is not to be seen in the CRC
    frames.push_back(std::move(frame));
  };
  while (frames.size() < 2000) {
    const std::uint32_t qp = one_of(4);
    if (one_of(40) == 0) psn[qp] += 1 << 18;  // made anew
    if (one_of(40) == 0) {
      send(test::cm_request(0x31 + qp, psn[qp], 3));
      send(test::cm_reply(0x31 + qp, psn[qp]));
    }
    for (std::uint32_t n = one_of(3) + 1; n > 0; --n) {
      if (one_of(3) == 0) {
        send(test::read(psn[qp], 8).to(0x31 + qp));
        send(test::data_only(psn[qp]++, ++msn[qp], 8).to(0x31 + qp));
      } else {
        send(test::only(psn[qp]++).to(0x31 + qp));
        ++msn[qp];
      }
    }
    if (one_of(5) != 0) send(test::ack(psn[qp] - 1, msn[qp]).to(0x31 + qp));
  }
  return frames;
}

TEST(Checker, SaysTheSameWhereverABatchEnds) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Frames frames = damaged_conversations(seed);
    Heard whole;
    const Totals totals = judge(frames, {}, whole, frames.size());
    ASSERT_NE(whole.text, "");
    for (const std::size_t batch : {1, 2, 7, 100}) {
      Heard heard;
      const Totals same = judge(frames, {}, heard, batch);
      EXPECT_EQ(heard.text, whole.text) << "seed " << seed << ", batches of " << batch;
      EXPECT_EQ(same.connections, totals.connections);
      EXPECT_EQ(same.not_judged, totals.not_judged);
    }
  }
}

// Responses whose requests are not in the capture wait to be judged; whose they are is known all the same.
TEST(Checker, TellsTheConnectionOfWhatWaits) {
  for (const bool at_once : {false, true}) {
    CheckOptions options;
    options.packets = true;
    options.at_once = at_once;
    Annotator annotator(Annotator::Readings::two);
    Checker checker(options, annotator);
    for (std::uint64_t n = 1; n <= 5; ++n) {
      const std::vector<std::uint8_t> bytes = test::frame_of(test::ack(static_cast<std::uint32_t>(n), 1), 1);
      Frame frame;
      frame.bytes = bytes;
      frame.info.number = n;
      frame.info.wire_bytes = static_cast<std::uint32_t>(bytes.size());
      frame.info.link_type = test::link_ethernet;
      checker.batch({&frame, 1});
      EXPECT_EQ(annotator.of(n).flow, 1u) << n;
      EXPECT_EQ(checker.connections()[0]->packets[0], at_once ? n : 0);
    }
    checker.finish();
    annotator.settle();
    for (std::uint64_t n = 1; n <= 5; ++n) EXPECT_EQ(annotator.of(n).flow, 1u) << n;
  }
}

TEST(Checker, JudgesNothingWhenNothingIsRead) {
  CheckOptions options;
  options.workers = 4;
  Heard heard;
  EXPECT_EQ(judge({}, options, heard).frames, 0u);
}

}  // namespace
}  // namespace rdmascope::check
