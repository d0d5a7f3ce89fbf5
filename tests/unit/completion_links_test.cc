// Which message an entry is said to end: where order leaves one, and never where it leaves two.
#include "check/completion_links.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "check/checker.h"
#include "tests/unit/entries.h"
#include "tests/unit/frames.h"

namespace rdmascope::check {
namespace {

using namespace rdmascope::test;

class Kept final : public Listener {
 public:
  CompletionLinker linker;
  std::vector<MessageOf> messages;
  void completion(const CompletionContext& c) override { linker.entry(c); }
  void message(const Connection& c, std::uint8_t side, const Message& m) override {
    messages.push_back({c.id, side, m});
  }
  void ended(const Connection& c) override { linker.connection(c); }
};

using Step = std::variant<Sent, Entry>;

// "3 by 2": the entry in frame 3 was caused by frame 2; "7 by 6?": likely; "8 of 1": of connection 1, no more is known;
// "9": nothing is.
std::string links(const std::vector<Step>& steps) {
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<Frame> frames(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Entry* const entry = std::get_if<Entry>(&steps[i]);
    bytes.push_back(entry ? bytes_of(*entry) : frame_of(std::get<Sent>(steps[i]), static_cast<std::uint16_t>(i)));
    frames[i].info.number = i + 1;
    frames[i].info.has_time = true;
    frames[i].info.time_ns = static_cast<std::int64_t>(i) * 10'000;
    frames[i].info.wire_bytes = static_cast<std::uint32_t>(bytes[i].size());
    frames[i].info.link_type = entry ? 252 : 1;
    frames[i].info.interface_id = entry ? 1 + entry->interface : 0;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) frames[i].bytes = bytes[i];
  CheckOptions options;
  options.packets = options.messages = true;
  options.pairs.push_back(*parse_pair("10.0.0.1,0x11=10.0.0.2,0x22"));
  Kept kept;
  Checker checker(options, kept);
  checker.batch(frames);
  checker.finish();
  std::string out;
  for (const CompletionLink& link : kept.linker.link(kept.messages)) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}", link.frame);
    if (link.message)
      out += fmt::format(" by {}{}", link.caused_by, link.certain ? "" : "?");
    else if (link.connection != 0)
      out += fmt::format(" of {}", link.connection);
  }
  return out;
}

// Of the model under test, which is host 0 with queue pair 0x11.
Entry sent(std::uint16_t wqe, std::uint8_t syndrome = 0) {
  return {.ci = wqe, .wqe = wqe, .syndrome = syndrome, .qpn = 0x11, .slots = 64, .simulated = true};
}
// Of host 1.
Entry received(std::uint16_t wqe, std::uint32_t bytes = 8) {
  return {.ci = wqe,
          .wqe = wqe,
          .opcode = 1,
          .send = false,
          .cqn = 0x86,
          .qpn = 0x22,
          .slots = 64,
          .bytes = bytes,
          .simulated = true};
}
Entry by_device(Entry e) {
  e.simulated = false;
  return e;
}

TEST(CompletionLinks, EachSendHasItsAcknowledge) {
  EXPECT_EQ(links({only(1), ack(1, 1), sent(0), only(2), only(3), ack(3, 3), sent(1), sent(2)}),
            "3 by 2, 7 by 6, 8 by 6");
}

TEST(CompletionLinks, ReceivesHaveTheLastPacketOfTheirMessage) {
  EXPECT_EQ(links({first(1, 1024), last(2, 8), received(0, 1032), ack(2, 1), only(3), received(1), ack(3, 2)}),
            "3 by 2, 6 by 5");
}

TEST(CompletionLinks, OneOfTwoIsNotGuessed) {
  // The first was not signaled, or its entry is not in the capture: it may be either.
  EXPECT_EQ(links({only(1), ack(1, 1), only(2), ack(2, 2), sent(1)}), "5 of 1");
  EXPECT_EQ(links({only(1, 8), ack(1, 1), only(2, 16), ack(2, 2), received(1, 16)}), "5 by 3");
}

TEST(CompletionLinks, AnEntryWithoutItsMessageShiftsNoOther) {
  EXPECT_EQ(links({only(1), sent(0), ack(1, 1), sent(1)}), "2 of 1, 4 of 1");
}

TEST(CompletionLinks, FailuresHaveTheNak) {
  EXPECT_EQ(links({only(1), nak(1, 0, 0x61), sent(0, 0x12), only(2), sent(1, 0x05)}), "3 by 2, 5 of 1");
}

TEST(CompletionLinks, NumbersThatTwoHaveTellNothing) {
  EXPECT_EQ(links({only(1), ack(1, 1), only(7).to(0x11), sent(0)}), "4");
  Entry other = sent(0);
  other.interface = 1;
  EXPECT_EQ(links({only(1), ack(1, 1), sent(0), other}), "3, 4");
  EXPECT_EQ(links({only(1), ack(1, 1), {Entry{.qpn = 0x77}}}), "3");
}

TEST(CompletionLinks, DevicesMayTellBeforeThePacketWasCaptured) {
  EXPECT_EQ(links({only(1), ack(1, 1), by_device(sent(0))}), "3 by 2");
  // The second message would fit, too, if its acknowledge was captured late.
  EXPECT_EQ(links({only(1), ack(1, 1), by_device(sent(0)), only(2), ack(2, 2)}), "3 by 2?");
}

}  // namespace
}  // namespace rdmascope::check
