// Tracker and follower on short packet sequences: which connections they see, how these are paired, what became of the
// messages, and what the rules say. What each line of a table expects was worked out by hand.
#include "check/checker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/frames.h"

namespace rdmascope::check {
namespace {

using namespace rdmascope::test;

// Hears the checker and keeps what it says as text.
class Heard final : public Listener {
 public:
  std::string rules;        // "Q-01@3": violations and anomalies by frame, "!H-CUT": artifacts
  std::string connections;  // a line each, when they end

  void finding(const Finding& f, const Connection*) override {
    if (f.rule->severity == Severity::info && f.kind == Class::anomaly) return;
    std::string& out = rules;
    if (!out.empty()) out += ' ';
    out += f.kind == Class::artifact ? fmt::format("!{}", f.rule->id) : fmt::format("{}@{}", f.rule->id, f.frame);
  }
  // "0x11-0x22 CM 3/4+0/1": messages completed/begun of the side that sent the first packet, and of the other.
  void ended(const Connection& c) override {
    if (c.transport == dissect::Transport::ud) return;
    const auto qp = [](std::optional<std::uint32_t> n) { return n ? fmt::format("{:#x}", *n) : std::string("?"); };
    const auto messages = [](const Flow& flow) { return fmt::format("{}/{}", flow.completed, flow.message_count); };
    if (!connections.empty()) connections += ", ";
    connections += fmt::format("{}-{} {} {}+{}", qp(c.qpn[0]), qp(c.qpn[1]), name(c.paired), messages(*c.flow[0]),
                               messages(*c.flow[1]));
    last_retransmitted = c.flow[0]->retransmitted;
    last_twice = c.twice;
    last_cut = c.cut;
    last_first_twice = c.first_twice_frame;
    last_first_cut = c.first_cut_frame;
    last_order_run = c.ip_id_run;
    last_pmtu = c.pmtu;
  }
  // Of the connection that ended last.
  std::uint32_t last_retransmitted = 0, last_twice = 0, last_cut = 0, last_pmtu = 0;
  std::uint64_t last_first_twice = 0, last_first_cut = 0;
  std::array<std::uint8_t, 2> last_order_run{};
  Totals totals;
};

// Every packet is a batch of its own: what is known of it is judged before the next one comes.
Heard judge(const std::vector<Sent>& packets, CheckOptions options = {}) {
  Heard heard;
  Checker checker(std::move(options), heard);
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<Frame> frames;
  std::array<std::uint16_t, 2> ids{100, 5000};
  std::int64_t time_ns = 1'000'000'000;
  for (const Sent& s : packets) {
    std::uint16_t& id = ids[static_cast<std::size_t>(s.from)];
    bytes.push_back(frame_of(s, s.ip_id >= 0 ? static_cast<std::uint16_t>(s.ip_id) : ++id));
    Frame& f = frames.emplace_back();
    f.info.number = frames.size();
    f.info.time_ns = time_ns += s.wait_us * 1000;
    f.info.link_type = link_ethernet;
    f.info.wire_bytes = static_cast<std::uint32_t>(bytes.back().size());
    if (s.cut > 0) bytes.back().resize(s.cut);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i].bytes = bytes[i];
  for (const Frame& f : frames) checker.batch({&f, 1});
  checker.finish();
  heard.totals = checker.totals();
  return heard;
}

struct Case {
  std::string_view name;
  std::vector<Sent> packets;
  std::string connections, rules;
};

void expect(const std::vector<Case>& cases, const CheckOptions& options = {}) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Heard heard = judge(c.packets, options);
    EXPECT_EQ(heard.connections, c.connections);
    EXPECT_EQ(heard.rules, c.rules);
    // Any number of workers says the same.
    CheckOptions several = options;
    several.workers = 3;
    EXPECT_EQ(judge(c.packets, several).rules, heard.rules);
  }
}

std::vector<Sent> operator+(std::vector<Sent> a, const std::vector<Sent>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// --- Which packets belong together -----------------------------------------------------------------------------------

TEST(Tracker, PairsTheTwoDirections) {
  expect({
      {"by the answer", {only(7), ack(7, 1)}, "0x11-0x22 inference 1/1+0/0", ""},
      {"both send", {only(7), only(90).by(1), ack(7, 1), ack(90, 1).by(0)}, "0x11-0x22 inference 1/1+1/1", ""},
      {"by CM", {cm_request(0x11, 500, 3), cm_reply(0x22, 7), only(7), ack(7, 1)}, "0x11-0x22 CM 1/1+0/0", ""},
      {"by CM, before the other side has sent anything",
       {cm_request(0x11, 500, 3), cm_reply(0x22, 7), only(500).by(1)},
       "0x11-0x22 CM 0/0+0/1",
       "!H-NO-RESPONSE"},
      {"not by an answer to another PSN",
       {only(7), ack(9, 1)},
       "?-0x22 not paired 0/1+0/0, ?-0x11 not paired 0/0+0/0",
       "!H-NO-RESPONSE !H-NO-RESPONSE"},
  });
}

TEST(Tracker, PairsAsTheUserSays) {
  CheckOptions options;
  options.pairs.push_back(*parse_pair("10.0.0.1,0x11=10.0.0.2,0x22"));
  expect({{"although nothing is answered", {only(7), only(90).by(1)}, "0x11-0x22 user 0/1+0/1", ""},
          {"other queue pairs as before", {only(7).to(0x23), ack(7, 1).to(0x12)}, "0x12-0x23 inference 1/1+0/0", ""}},
         options);
}

// Queue pairs 0x31 to 0x34 on both hosts, each with the one that mirrors it on the other: the numbers say nothing, and
// all have begun with the same PSN. What they send next tells them apart.
TEST(Tracker, TellsFourEqualQueuePairsApartByTheirPsns) {
  std::vector<Sent> packets;
  for (std::uint32_t i = 0; i < 4; ++i) packets.push_back(only(100).to(0x31 + i));
  for (std::uint32_t i = 0; i < 4; ++i) packets.push_back(ack(100, 1).to(0x34 - i));  // any of the four
  for (std::uint32_t i = 0; i < 4; ++i)
    for (std::uint32_t k = 0; k <= i; ++k) packets.push_back(only(101 + k).to(0x31 + i));
  for (std::uint32_t i = 4; i-- > 0;) packets.push_back(ack(101 + i, 2 + i).to(0x34 - i));
  const Heard heard = judge(packets);
  EXPECT_EQ(heard.connections,
            "0x34-0x31 inference 2/2+0/0, 0x33-0x32 inference 3/3+0/0, 0x32-0x33 inference 4/4+0/0, "
            "0x31-0x34 inference 5/5+0/0");
}

TEST(Tracker, SplitsAQueuePairNumberThatIsUsedAnew) {
  const std::vector<Sent> before = {only(10), ack(10, 1), only(11), ack(11, 2)};
  expect({
      {"a far PSN after a silence", before + std::vector{only(5'000'000).after_ms(300), ack(5'000'000, 1)},
       "0x11-0x22 inference 2/2+0/0, 0x11-0x22 inference 1/1+0/0", ""},
      {"not without a silence", before + std::vector{only(5'000'000)}, "0x11-0x22 inference 2/3+0/0", ""},
      {"not near: that is a gap", before + std::vector{only(14).after_ms(300)}, "0x11-0x22 inference 2/3+0/0", ""},
      {"not inside a message", before + std::vector{middle(5'000'000, 256).after_ms(300)},
       "0x11-0x22 inference 2/3+0/0", ""},
      {"UC, too: its messages have another path MTU",
       {uc_first(10, 1024), uc_last(11, 8), uc_first(5'000'000, 256).after_ms(300), uc_last(5'000'001, 8)},
       "?-0x22 not paired 0/1+0/0, ?-0x22 not paired 0/1+0/0",
       ""},
      {"of another transport",
       {only(10), ack(10, 1), uc_only(5'000'000).after_ms(300)},
       "0x11-0x22 inference 1/1+0/0, ?-0x22 not paired 0/1+0/0",
       ""},
      {"a new CM exchange, near and at once",
       {cm_request(0x11, 500, 3), cm_reply(0x22, 7), only(7), ack(7, 1), cm_request(0x11, 600, 3), cm_reply(0x22, 9),
        only(9), ack(9, 1)},
       "0x11-0x22 CM 1/1+0/0, 0x11-0x22 CM 1/1+0/0",
       ""},
  });
}

TEST(Tracker, KeepsNoMoreConnectionsThanItMay) {
  CheckOptions options;
  options.most_connections = 2;
  const Heard heard =
      judge({only(1).to(0x31), only(1).to(0x32), only(1).to(0x33), only(2).to(0x33), only(2).to(0x31)}, options);
  EXPECT_EQ(heard.connections, "?-0x31 not paired 0/2+0/0, ?-0x32 not paired 0/1+0/0");
  EXPECT_EQ(heard.totals.refused, 2u);
  EXPECT_EQ(heard.totals.rdma, 5u);
}

// What was seen of the second half is still known when it becomes one with the first.
TEST(Tracker, JoinsWhatBothHalvesHaveSeen) {
  std::vector<Sent> packets = {only(7), only(8)};
  for (std::uint32_t i = 0; i < 20; ++i) packets.push_back(only(500 + i).by(1).numbered(static_cast<int>(700 + i)));
  packets.push_back(only(519).by(1).numbered(719));
  packets.push_back(only(520).by(1).numbered(720).kept(60));
  packets.push_back(ack(8, 2).numbered(721));
  const Heard heard = judge(packets);
  EXPECT_EQ(heard.connections, "0x11-0x22 inference 2/2+0/21");
  EXPECT_EQ(heard.last_twice, 1u);
  EXPECT_EQ(heard.last_first_twice, 23u);
  EXPECT_EQ(heard.last_cut, 1u);
  EXPECT_EQ(heard.last_first_cut, 24u);
  EXPECT_GE(heard.last_order_run[1], 20);
  EXPECT_NE(heard.rules.find("!H-TWICE"), std::string::npos) << heard.rules;
  EXPECT_NE(heard.rules.find("!H-CUT"), std::string::npos) << heard.rules;
}

// --- What became of the requests -------------------------------------------------------------------------------------

TEST(Follower, FollowsRequestsAndAnswers) {
  expect({
      {"PSNs go on from 2^24 - 1 to 0",
       {only(0xfffffe), ack(0xfffffe, 1), only(0xffffff), ack(0xffffff, 2), only(0), ack(0, 3), only(1), ack(1, 4)},
       "0x11-0x22 inference 4/4+0/0",
       ""},
      {"a READ across it",
       {read(0xffffff, 3 * 1024), data_first(0xffffff, 1, 1024), data_middle(0, 1024), data_last(1, 1, 1024), only(2),
        ack(2, 2)},
       "0x11-0x22 inference 2/2+0/0",
       ""},
      {"one acknowledge for many", {only(1), only(2), only(3), ack(3, 3)}, "0x11-0x22 inference 3/3+0/0", ""},
      {"requests only",
       {only(1), first(2, 256), middle(3, 256), last(4, 10)},
       "?-0x22 not paired 0/2+0/0",
       "!H-NO-RESPONSE"},
      {"answers only", {ack(1, 1), ack(2, 2), ack(3, 3)}, "?-0x11 not paired 0/0+0/0", "!H-NO-RESPONSE"},
      {"begun inside a message",
       {middle(3, 256), last(4, 10), ack(4, 9)},
       "0x11-0x22 inference 0/1+0/0",
       "!H-MIDSTREAM"},
  });
}

TEST(Follower, JudgesLossAndRepetition) {
  expect({
      {"sent again after a timeout, before any answer: still one half",
       {only(1), only(1).after_ms(500), ack(1, 1)},
       "0x11-0x22 inference 1/1+0/0",
       "H-TIMEOUT@2"},
      {"other content under the same PSN",
       {only(1), only(1).after_ms(500).filled(0x77), ack(1, 1)},
       "0x11-0x22 inference 1/1+0/0",
       "Q-06@2 H-TIMEOUT@2"},
      {"go back N",
       {only(1), ack(1, 1), only(2), only(3), nak(2, 1), only(2), only(3), ack(3, 3)},
       "0x11-0x22 inference 3/3+0/0",
       "H-GO-BACK-N@6 H-LOSS@5"},
      {"back to another PSN than asked for",
       {only(1), ack(1, 1), only(2), only(3), only(4), nak(2, 1), only(3), only(4), only(2).after_ms(20), only(3),
        only(4), ack(4, 4)},
       "0x11-0x22 inference 4/4+0/0",
       "H-GO-BACK-N@7 Q-10@7 H-TIMEOUT@9 H-LOSS@6"},
      {"the same frame twice",
       {only(1).numbered(5), only(2).numbered(6), only(3).numbered(7), only(3).numbered(7), ack(3, 3)},
       "0x11-0x22 inference 3/3+0/0",
       "!H-TWICE"},
      {"the READ's answer is passed over, and asked for at once",
       {read(1, 100), only(2), ack(2, 2), read(1, 100), data_only(1, 2, 100), ack(2, 2)},
       "0x11-0x22 inference 2/2+0/0",
       "H-IMPLIED-NAK@4 H-LOSS@3"},
      {"a READ's rest",
       {read(1, 3072), data_first(1, 1, 1024), data_last(3, 1, 1024), read(2, 2048, 0x10400), data_first(2, 1, 1024),
        data_last(3, 1, 1024)},
       "0x11-0x22 inference 1/1+0/0",
       "H-IMPLIED-NAK@4 H-LOSS@3"},
      {"a READ's rest at the old address",
       {read(1, 3072), data_first(1, 1, 1024), data_last(3, 1, 1024), read(2, 2048), data_first(2, 1, 1024),
        data_last(3, 1, 1024)},
       "0x11-0x22 inference 1/1+0/0",
       "Q-07@4 H-IMPLIED-NAK@4 H-LOSS@3"},
      {"the capture lacks a request",
       {only(1), ack(1, 1), only(3), ack(3, 3)},
       "0x11-0x22 inference 2/2+0/0",
       "!H-MISSED"},
  });
}

TEST(Follower, BoundsTheMsn) {
  const std::vector<Sent> made = {cm_request(0x11, 500, 3), cm_reply(0x22, 1)};  // a new queue pair counts from 0
  expect({
      {"too low", made + std::vector{only(1), ack(1, 1), only(2), ack(2, 1)}, "0x11-0x22 CM 2/2+0/0", "R-17@6"},
      {"too high: certain when the next request shows that none is missing",
       made + std::vector{only(1), ack(1, 1), only(2), ack(2, 3), only(3), ack(3, 3)}, "0x11-0x22 CM 3/3+0/0",
       "R-17@6"},
      {"too high, and the capture may lack a request",
       made + std::vector{only(1), ack(1, 1), only(2), ack(2, 3), only(4)}, "0x11-0x22 CM 2/3+0/0", ""},
      {"of an unknown start", {only(1), ack(1, 77), only(2), ack(2, 78)}, "0x11-0x22 inference 2/2+0/0", ""},
      {"counted for a duplicate: certain behind two new requests",
       made + std::vector{only(1), ack(1, 1), only(1).after_ms(500), ack(1, 2), only(2), ack(2, 3), only(3), ack(3, 4),
                          only(4), ack(4, 5)},
       "0x11-0x22 CM 4/4+0/0", "H-TIMEOUT@5 R-17@8"},
      {"counted for a duplicate, and nothing follows",
       made + std::vector{only(1), ack(1, 1), only(1).after_ms(500), ack(1, 2), only(2)}, "0x11-0x22 CM 1/2+0/0",
       "H-TIMEOUT@5"},
  });
}

// A path MTU that nobody told is a guess at first.
TEST(Follower, CorrectsAMistakenPathMtu) {
  expect({
      {"a larger First packet is right",
       {first(1, 256), last(2, 8), ack(2, 1), first(3, 1024), middle(4, 1024), last(5, 8), ack(5, 2)},
       "0x11-0x22 inference 2/2+0/0",
       ""},
      {"and so are READ responses of that size",
       {first(1, 256), last(2, 8), ack(2, 1), read(3, 2048), data_first(3, 2, 1024), data_last(4, 2, 1024), only(5),
        ack(5, 3)},
       "0x11-0x22 inference 3/3+0/0",
       ""},
      {"a larger Middle in the same message is wrong",
       {first(1, 256), middle(2, 1024), last(3, 8), ack(3, 1)},
       "0x11-0x22 inference 1/1+0/0",
       "L-01@2"},
      {"many messages agree: the larger one is wrong",
       {first(1, 256), last(2, 8), first(3, 256), last(4, 8), first(5, 256), last(6, 8), ack(6, 3), first(7, 1024),
        last(8, 8), ack(8, 4)},
       "0x11-0x22 inference 4/4+0/0",
       "L-01@8"},
      {"a smaller one is wrong",
       {first(1, 1024), last(2, 8), ack(2, 1), first(3, 256), last(4, 8), ack(4, 2)},
       "0x11-0x22 inference 2/2+0/0",
       "L-01@4"},
      {"CM has told it",
       {cm_request(0x11, 500, 1), cm_reply(0x22, 1), first(1, 1024), last(2, 8), ack(2, 1)},
       "0x11-0x22 CM 1/1+0/0",
       "L-01@3"},
  });
}

// --- Frames in which no BTH was reached ------------------------------------------------------------------------------

struct Datagram {
  std::string_view name;
  std::uint16_t source, destination;
  std::uint32_t payload;     // bytes that IP has behind the UDP header
  std::uint32_t udp_length;  // as UDP says
  std::uint32_t kept;        // bytes of the frame in the capture; 0: all
  std::string rules;
};

TEST(FrameRules, JudgeOnlyWhatIsMeantAsRdma) {
  const Datagram datagrams[] = {
      {"ends inside BTH", 50000, 4791, 11, 19, 0, "F-08@1"},
      {"empty: a probe of the port", 50000, 4791, 0, 8, 0, "F-08@1"},
      {"UDP has less than its header", 50000, 4791, 40, 7, 0, "F-03@1"},
      {"UDP has less than IP", 50000, 4791, 40, 15, 0, "F-03@1"},
      {"cut by the capture", 50000, 4791, 40, 48, 50, ""},
      {"another port", 50000, 4792, 11, 19, 0, ""},
      {"a name server answers to a port that happens to be 4791", 53, 4791, 11, 19, 0, ""},
      {"from the port, not to it", 4791, 50000, 11, 19, 0, ""},
  };
  for (const Datagram& d : datagrams) {
    SCOPED_TRACE(d.name);
    std::vector<std::uint8_t> bytes = frame_of(only(1), 1);
    bytes.resize(42 + d.payload);
    const auto set = [&bytes](std::size_t at, std::uint32_t value) {
      bytes[at] = static_cast<std::uint8_t>(value >> 8);
      bytes[at + 1] = static_cast<std::uint8_t>(value);
    };
    set(16, 28 + d.payload);
    set(34, d.source);
    set(36, d.destination);
    set(38, d.udp_length);
    Frame frame;
    frame.info.number = 1;
    frame.info.link_type = link_ethernet;
    frame.info.wire_bytes = static_cast<std::uint32_t>(bytes.size());
    if (d.kept > 0) bytes.resize(d.kept);
    frame.bytes = bytes;
    Heard heard;
    Checker checker({}, heard);
    checker.batch({&frame, 1});
    checker.finish();
    EXPECT_EQ(heard.rules, d.rules);
    EXPECT_EQ(heard.connections, "");
  }
}

}  // namespace
}  // namespace rdmascope::check
