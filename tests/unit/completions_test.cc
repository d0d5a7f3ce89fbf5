// Rules about completion queue entries: what must not be taken for a fault. That each rule fires is shown by mutants.
#include "check/completions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/checker.h"
#include "tests/unit/entries.h"

namespace rdmascope::check {
namespace {

using test::bytes_of;
using test::Entry;

class Heard final : public Listener {
 public:
  std::string text;
  void finding(const Finding& f, const Connection*) override {
    if (!text.empty()) text += ", ";
    text += std::string(f.rule->id) + ' ' + std::string(name(f.kind)) + " in " + std::to_string(f.frame);
  }
};

std::string found(const std::vector<Entry>& entries) {
  std::vector<std::vector<std::uint8_t>> bytes;
  for (const Entry& e : entries) bytes.push_back(bytes_of(e));
  std::vector<Frame> frames(entries.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].bytes = bytes[i];
    frames[i].info.number = i + 1;
    frames[i].info.time_ns = static_cast<std::int64_t>(i) * 1000;
    frames[i].info.wire_bytes = static_cast<std::uint32_t>(bytes[i].size());
    frames[i].info.link_type = 252;
    frames[i].info.interface_id = entries[i].interface;
  }
  Heard heard;
  Checker checker({}, heard);
  checker.batch(frames);
  checker.finish();
  EXPECT_EQ(checker.totals().completions, entries.size());
  return heard.text;
}

TEST(Completions, ARingGoesRound) {
  std::vector<Entry> entries;
  for (std::uint32_t ci = 6; ci < 22; ++ci) entries.push_back({.ci = ci, .wqe = static_cast<std::uint16_t>(ci)});
  EXPECT_EQ(found(entries), "");
  entries[9].ci -= 4;  // as if it were of the pass before
  EXPECT_EQ(found(entries), "CQE-02 violation in 10, CQE-02 artifact in 11");
}

TEST(Completions, CountersGoRound) {
  EXPECT_EQ(found({{.ci = 0xfffffffe, .wqe = 65534},
                   {.ci = 0xffffffff, .wqe = 65535},
                   {.ci = 0, .wqe = 0},
                   {.ci = 1, .wqe = 1}}),
            "");
}

TEST(Completions, QueuesOfOneNumberOnTwoInterfaces) {
  EXPECT_EQ(found({{.ci = 7, .wqe = 70},
                   {.ci = 0, .wqe = 3, .interface = 1},
                   {.ci = 8, .wqe = 71},
                   {.ci = 1, .wqe = 4, .interface = 1}}),
            "");
}

TEST(Completions, ANewQueueOfTheSameNumber) {
  EXPECT_EQ(found({{.ci = 5, .wqe = 50}, {.ci = 6, .wqe = 51}, {.ci = 0, .wqe = 7}, {.ci = 1, .wqe = 8}}), "");
}

TEST(Completions, AQueuePairThatWasReset) {
  // After a failure, and without one; also where only every fourth work request asks for a completion.
  EXPECT_EQ(found({{.ci = 1, .wqe = 4},
                   {.ci = 2, .wqe = 5, .syndrome = 0x15},
                   {.ci = 3, .wqe = 6, .syndrome = 0x05},
                   {.ci = 4, .wqe = 0},
                   {.ci = 5, .wqe = 1}}),
            "");
  EXPECT_EQ(found({{.ci = 1, .wqe = 3}, {.ci = 2, .wqe = 7}, {.ci = 3, .wqe = 11}, {.ci = 4, .wqe = 3}}), "");
  EXPECT_EQ(found({{.ci = 1, .wqe = 2000}, {.ci = 2, .wqe = 2001}, {.ci = 3, .wqe = 2001}}), "CQE-04 violation in 3");
}

TEST(Completions, WhatTheCaptureLacksIsNoFaultOfTheDevice) {
  EXPECT_EQ(found({{.ci = 1, .wqe = 4, .syndrome = 0x15}, {.ci = 9, .wqe = 5}}), "CQE-02 artifact in 2");
  EXPECT_EQ(found({{.ci = 1, .wqe = 4, .syndrome = 0x15}, {.ci = 2, .wqe = 5}}), "CQE-06 violation in 2");
}

TEST(Completions, SharedReceiveQueuesCountInAnyOrder) {
  EXPECT_EQ(found({{.ci = 1, .wqe = 40, .opcode = 1, .send = false},
                   {.ci = 2, .wqe = 7, .opcode = 1, .send = false},
                   {.ci = 3, .wqe = 39, .opcode = 1, .send = false},
                   {.ci = 4, .wqe = 7, .opcode = 1, .send = false}}),
            "");
}

// No packets, nothing to hold the values against.
TEST(Completions, ImmediateDataWithoutPackets) {
  EXPECT_EQ(found({{.ci = 1, .opcode = 2, .send = false, .dw1 = 5},
                   {.ci = 2, .wqe = 1, .opcode = 2, .send = false, .dw1 = 6}}),
            "");
}

// A capture may name any number of queues.
TEST(Completions, ManyQueues) {
  std::vector<Entry> entries;
  for (std::uint32_t n = 0; n < 70'000; ++n) entries.push_back({.ci = 1, .cqn = n, .qpn = n & 0xffffff});
  EXPECT_EQ(found(entries), "");
}

}  // namespace
}  // namespace rdmascope::check
