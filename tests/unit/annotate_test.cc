// Annotations: what the checker tells becomes fields of packets.
#include "check/annotate.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <variant>

#include "dissect/filter.h"
#include "dissect/headers.h"
#include "dissect/json.h"
#include "tests/unit/walked.h"

namespace rdmascope::test {
namespace {

using check::Annotator;
using check::Message;
using check::Operation;
using check::PacketFacts;
using Kind = PacketFacts::Kind;
using Readings = Annotator::Readings;

// One connection of id 1: side 0 asks, side 1 answers.
struct Told {
  explicit Told(Readings readings = Readings::two) : annotator(readings) { connection.id = 1; }

  void request(std::uint64_t frame, std::uint32_t psn, std::uint32_t message = 1, std::uint32_t read_psns = 0) {
    PacketFacts f = facts(frame, psn, Kind::request, 0);
    f.message = message;
    f.psns = read_psns > 0 ? read_psns : 1;
    f.asks_for_data = read_psns > 0;
    annotator.packet(f);
  }
  void response(std::uint64_t frame, std::uint32_t psn, Kind kind = Kind::acknowledge, bool acknowledges = true) {
    PacketFacts f = facts(frame, psn, kind, 1);
    f.acknowledges = acknowledges;
    annotator.packet(f);
  }
  void message(std::uint32_t index, std::uint32_t first_psn, std::uint32_t psns, Operation operation) {
    Message m;
    m.index = index;
    m.first_psn = first_psn;
    m.psns = psns;
    m.operation = operation;
    annotator.message(connection, 0, m);
  }
  static PacketFacts facts(std::uint64_t frame, std::uint32_t psn, Kind kind, std::uint8_t side) {
    PacketFacts f;
    f.frame = frame;
    f.connection = 1;
    f.side = side;
    f.kind = kind;
    f.psn = psn;
    return f;
  }
  // Of each frame.
  void expect_responses(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> cases) const {
    for (const auto& [frame, response] : cases) EXPECT_EQ(annotator.of(frame).response_in, response) << frame;
  }
  void expect_requests(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> cases) const {
    for (const auto& [frame, request] : cases) EXPECT_EQ(annotator.of(frame).request_in, request) << frame;
  }

  Annotator annotator;
  check::Connection connection;
};

TEST(Annotator, OneAcknowledgeAnswersAllUpToItsPsn) {
  Told t;
  t.request(1, 0xfffffe);
  t.request(2, 0xffffff);
  t.request(3, 0);
  t.request(4, 1);
  t.response(5, 0);
  t.response(6, 1);
  t.response(7, 1);
  t.annotator.settle();
  t.expect_responses({{1, 5}, {2, 5}, {3, 5}, {4, 6}});
  t.expect_requests({{5, 3}, {6, 4}, {7, 4}});
}

TEST(Annotator, NakAnswersWhatItNamesAndEachCopyHasItsAnswer) {
  Told t;
  t.request(1, 10);
  t.request(2, 11);
  t.request(3, 12);
  t.response(4, 11, Kind::nak);
  t.request(5, 11);
  t.request(6, 12);
  t.response(7, 12);
  t.annotator.settle();
  t.expect_responses({{1, 4}, {2, 4}, {3, 7}, {5, 7}, {6, 7}});
  t.expect_requests({{4, 2}, {7, 6}});
}

TEST(Annotator, ReadIsAnsweredByItsDataOnly) {
  Told t;
  t.request(1, 20);
  t.request(2, 21, 2, 4);  // 21 to 24
  t.request(3, 25, 3);
  t.response(4, 25);
  t.response(5, 21, Kind::read_response);
  t.response(6, 22, Kind::read_response, false);
  t.response(7, 24, Kind::read_response);
  t.response(8, 26, Kind::read_response);  // nobody asked
  t.annotator.settle();
  t.expect_responses({{1, 4}, {2, 5}, {3, 4}});
  t.expect_requests({{4, 3}, {5, 2}, {6, 2}, {7, 2}, {8, 0}});
}

TEST(Annotator, MiddleOfDataAcknowledgesNothingElse) {
  Told t;
  t.request(1, 20);
  t.request(2, 21, 2, 4);
  t.response(3, 22, Kind::read_response, false);
  t.response(4, 24, Kind::read_response);
  t.annotator.settle();
  t.expect_responses({{1, 4}, {2, 3}});
}

TEST(Annotator, RetryForTheRestOfARead) {
  Told t;
  t.request(1, 20, 1, 8);
  t.response(2, 20, Kind::read_response);
  t.request(3, 24, 1, 4);
  t.response(4, 24, Kind::read_response);
  t.response(5, 22, Kind::read_response, false);
  t.annotator.settle();
  t.expect_responses({{1, 2}, {3, 4}});
  t.expect_requests({{4, 3}, {5, 1}});
}

TEST(Annotator, MessagesHaveTheirLastNumber) {
  Told t;
  t.request(1, 5, 1);
  t.request(2, 7, 2);  // 6 comes late and is a message of its own
  t.response(3, 7);
  t.request(4, 6, 2);
  t.message(1, 5, 1, Operation::send);
  t.message(2, 6, 1, Operation::send);
  t.message(3, 7, 1, Operation::send);
  t.request(5, 7, 0);  // once more, when the message is done
  t.annotator.settle();
  const std::pair<std::uint64_t, std::uint32_t> expected[] = {{1, 1}, {2, 3}, {3, 3}, {4, 2}, {5, 3}};
  for (const auto& [frame, message] : expected) EXPECT_EQ(t.annotator.of(frame).message, message) << frame;
}

TEST(Annotator, HalvesAreOneConnectionAfterwards) {
  Told t;
  PacketFacts half = Told::facts(1, 40, Kind::request, 0);
  half.connection = 2;
  half.psns = 1;
  t.annotator.packet(half);
  PacketFacts answer = Told::facts(2, 40, Kind::acknowledge, 0);
  answer.other_half = 2;
  answer.acknowledges = true;
  t.annotator.packet(answer);
  t.annotator.settle();
  EXPECT_EQ(t.annotator.of(1).flow, 1u);
  t.expect_responses({{1, 2}});
  t.expect_requests({{2, 1}});
}

TEST(Annotator, OneReadingKeepsTheLastBatchAndThePast) {
  Told t(Readings::one);
  t.request(1, 50, 7);
  t.annotator.forget();
  t.response(2, 50);
  EXPECT_EQ(t.annotator.of(1).flow, 0u);
  EXPECT_EQ(t.annotator.of(2).request_in, 1u);
  EXPECT_EQ(t.annotator.of(2).message, 7u);
}

TEST(Annotator, FindingsOfEarlierFramesNeedTwoReadings) {
  const check::RuleInfo rule{"T-01", "a test"};
  for (Readings readings : {Readings::one, Readings::two}) {
    Told t(readings);
    t.request(1, 60);
    t.request(2, 61);
    check::Finding finding;
    finding.rule = &rule;
    finding.frame = 1;
    t.annotator.finding(finding, nullptr);
    finding.frame = 2;
    finding.text = "now";
    t.annotator.finding(finding, nullptr);
    if (readings == Readings::two) t.annotator.settle();
    EXPECT_EQ(t.annotator.of(1).notes.size(), readings == Readings::two ? 1u : 0u);
    ASSERT_EQ(t.annotator.of(2).notes.size(), 1u);
    EXPECT_EQ(t.annotator.of(2).notes[0].text, "now");
  }
}

TEST(Annotator, FramesWithoutRdmaBetween) {
  Told t;
  for (std::uint64_t frame : {3, 4, 9, 20}) t.request(frame, static_cast<std::uint32_t>(frame));
  t.annotator.settle();
  for (std::uint64_t frame = 0; frame < 25; ++frame)
    EXPECT_EQ(t.annotator.of(frame).flow != 0, frame == 3 || frame == 4 || frame == 9 || frame == 20) << frame;
}

// --- In a packet -----------------------------------------------------------------------------------------------------

bool matches(std::string_view expression, const dissect::Packet& packet) {
  const auto filter = dissect::Filter::compile(expression);
  EXPECT_TRUE(std::holds_alternative<dissect::Filter>(filter)) << expression;
  return std::get<dissect::Filter>(filter).matches(packet);
}

TEST(Annotations, AreFieldsLikeOthers) {
  Walked w(v1);
  const std::string layers = w.layers();
  const dissect::Note notes[] = {{1, "Q-02", "title", 0, "first"}, {1, "H-LOSS", "title", 1, "second"}};
  dissect::Annotations a;
  a.flow = 3;
  a.response_in = 9;
  a.retransmission = true;
  a.notes = notes;
  annotate(w.packet, a);
  EXPECT_EQ(w.text("rdmascope.flow"), "3");
  EXPECT_EQ(w.text("rdmascope.message"), "");
  EXPECT_EQ(w.text("rdmascope.finding"), "first,second");
  EXPECT_EQ(w.text("rdmascope.finding.rule"), "Q-02,H-LOSS");
  EXPECT_EQ(w.text("rdmascope.finding.class"), "violation,anomaly");
  EXPECT_TRUE(matches("infiniband.retransmission", w.packet));
  EXPECT_TRUE(matches("infiniband.retransmission == 1 and infiniband.response_in == 9", w.packet));
  EXPECT_TRUE(matches("rdmascope.finding.class == violation and rdmascope.finding.rule == \"H-LOSS\"", w.packet));
  EXPECT_TRUE(matches("count(rdmascope.finding) == 2", w.packet));
  EXPECT_FALSE(matches("infiniband.request_in or rdmascope.message", w.packet));
  EXPECT_FALSE(matches("rdmascope", w.packet));  // the events
  EXPECT_EQ(w.text("frame.protocols"), "eth:ip:udp:infiniband.bth:infiniband.aeth:infiniband.invariant");
  w.packet.drop_annotations();
  EXPECT_EQ(w.layers(), layers);
  EXPECT_FALSE(matches("rdmascope.flow", w.packet));
}

TEST(Annotations, ShareTheirObjectWithEvents) {
  std::vector<std::uint8_t> cut = from_hex(v1.hex);
  cut.resize(50);
  Walked w(cut, link_ethernet, 62);
  dissect::Annotations a;
  a.flow = 3;
  a.request_in = 2;
  annotate(w.packet, a);
  dissect::Text json;
  put_json(json, w.packet, {});
  const std::string text(json.view());
  EXPECT_NE(text.find("\"rdmascope\":{\"event\":["), std::string::npos) << text;
  EXPECT_NE(text.find("],\"flow\":3},\"infiniband\":{\"request_in\":2}}"), std::string::npos) << text;
}

TEST(Annotations, FilterSaysWhetherItUsesThem) {
  const auto uses = [](std::string_view expression) {
    return std::get<dissect::Filter>(dissect::Filter::compile(expression)).uses_annotations();
  };
  for (const char* yes : {"rdmascope.flow", "not infiniband.retransmission", "frame.number == infiniband.request_in",
                          "ip and max(infiniband.response_in, frame.number) > 3", "rdmascope.finding contains \"x\""})
    EXPECT_TRUE(uses(yes)) << yes;
  for (const char* no : {"", "infiniband", "rdmascope", "rdmascope.event", "infiniband.bth.psn == 1"})
    EXPECT_FALSE(uses(no)) << no;
}

// A packet with as many layers as it takes still has room for them.
TEST(Annotations, FitIntoAFullPacket) {
  dissect::Packet packet;
  packet.reset({});
  while (packet.add(*dissect::find_header("udp"), 0, 0)) {
  }
  dissect::Annotations a;
  a.flow = 1;
  a.request_in = 2;
  annotate(packet, a);
  EXPECT_EQ(packet.layers().size(), dissect::Packet::max_layers + 2);
  EXPECT_FALSE(packet.add(*dissect::find_header("udp"), 0, 0));
}

}  // namespace
}  // namespace rdmascope::test
