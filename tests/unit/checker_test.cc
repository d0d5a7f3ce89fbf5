// The engine on made packets: how many connections it keeps, and that the number of workers changes nothing.
#include "check/checker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/vectors.h"

namespace rdmascope::check {
namespace {

using Frames = std::vector<std::vector<std::uint8_t>>;

class Heard final : public Listener {
 public:
  std::string text;
  std::size_t ended_connections = 0;
  void finding(const Finding& f, const Connection*) override {
    text += std::string(f.rule->id) + " of frame " + std::to_string(f.frame) + '\n';
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

Totals judge(const Frames& frames, CheckOptions options, Listener& listener) {
  options.messages = true;
  Checker checker(options, listener);
  std::size_t at = 0;
  checker.run([&](Batch& batch) {
    batch.frames.clear();
    for (; at < frames.size() && batch.frames.size() < 10; ++at) {
      Frame& frame = batch.frames.emplace_back();
      frame.bytes = frames[at];
      frame.info.number = at + 1;
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

TEST(Checker, JudgesNothingWhenNothingIsRead) {
  CheckOptions options;
  options.workers = 4;
  Heard heard;
  EXPECT_EQ(judge({}, options, heard).frames, 0u);
}

}  // namespace
}  // namespace rdmascope::check
