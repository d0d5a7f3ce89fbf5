// The CDI probe of the tester: messages byte for byte, what the model makes of bad input and of versions, ports under
// scripts, and the model on real sockets.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

#include "replay/cdi_dut.h"
#include "replay/cdi_message.h"
#include "replay/cdi_model.h"
#include "replay/cdi_wire.h"
#include "replay/script.h"

namespace rdmascope::replay {
namespace {

using namespace dissect;

std::vector<std::uint8_t> bytes_of(std::string_view hex) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

// ---- messages. cdi-probe.md 2.8: bytes at offsets, all others 0.

struct Piece {
  std::size_t at;
  std::string_view hex;
};
std::vector<std::uint8_t> vector_of(std::size_t size, std::initializer_list<Piece> pieces) {
  std::vector<std::uint8_t> out(size);
  for (const Piece& p : pieces) std::ranges::copy(bytes_of(p.hex), out.begin() + static_cast<std::ptrdiff_t>(p.at));
  return out;
}

CdiMessage sample(const char* version, std::uint32_t command, std::uint16_t number) {
  constexpr std::array<std::uint8_t, 16> gid = {0xfe, 0x80, 0,    0,    0,    0,    0,    0,
                                                0x02, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55};
  CdiMessage m;
  m.version = *parse_cdi_version(version);
  m.command = command;
  m.ip = "10.0.0.1";
  m.adapter = efa_adapter(gid, 0x1234, 0x12345678);
  m.number = number;
  if (command == cdi_ack) {
    m.port = 2000;
    m.ack_command = cdi_reset;
    m.ack_number = 1;
  } else {
    m.name = "cam1";
    m.port = 0xc001;
    m.requires_ack = command != cdi_connected;
  }
  return m;
}

TEST(CdiMessage, IsBuiltByteForByte) {
  struct Row {
    const char* version;
    std::uint32_t command;
    std::uint16_t number;
    std::size_t size;
    std::string_view head, tail;
  };
  constexpr Row rows[] = {
      {"1.0.5", cdi_reset, 1, 252, "01000501000000", "ffffffff01c00100502801"},
      {"1.0.5", cdi_ping, 2, 252, "01000502000000", "ffffffff01c00200502601"},
      {"1.0.5", cdi_connected, 3, 252, "01000503000000", "ffffffff01c003005025"},
      {"1.0.5", cdi_protocol_version, 4, 252, "01000505000000", "ffffffff01c00400502101"},
      {"1.0.5", cdi_ack, 1, 257, "01000504000000", "ffffffffd00701009b260100000001"},
      {"1.0.0", cdi_reset, 1, 252, "01000001000000", "ffffffff01c00100552801"},
      {"1.0.0", cdi_ping, 2, 252, "01000002000000", "ffffffff01c00200552601"},
      {"1.0.0", cdi_connected, 3, 252, "01000003000000", "ffffffff01c003005525"},
      {"1.0.0", cdi_ack, 1, 257, "01000004000000", "ffffffffd0070100a0260100000001"},
      {"2.1.4", cdi_reset, 1, 248, "02010401000000", "01c00100502701"},
      {"2.1.4", cdi_ping, 2, 248, "02010402000000", "01c00200502501"},
      {"2.1.4", cdi_connected, 3, 248, "02010403000000", "01c003005024"},
      {"2.1.4", cdi_protocol_version, 4, 248, "02010405000000", "01c00400502001"},
      {"2.1.4", cdi_ack, 1, 253, "02010404000000", "d00701009b250100000001"},
      {"2.3.5", cdi_reset, 1, 248, "02030501000000", "01c001004f2501"},
      {"2.3.5", cdi_ping, 2, 248, "02030502000000", "01c002004f2301"},
      {"2.3.5", cdi_connected, 3, 248, "02030503000000", "01c003004f22"},
      {"2.3.5", cdi_protocol_version, 4, 248, "02030505000000", "01c004004f1e01"},
      {"2.3.5", cdi_ack, 1, 253, "02030504000000", "d00701009a230100000001"},
  };
  for (const Row& row : rows) {
    const CdiMessage message = sample(row.version, row.command, row.number);
    const std::vector<std::uint8_t> expected = vector_of(row.size, {{0, row.head},
                                                                    {7, "31302e302e302e31"},
                                                                    {71, "fe80"},
                                                                    {79, "021122fffe3344553412000078563412"},
                                                                    {103, row.command == cdi_ack ? "" : "63616d31"},
                                                                    {241, row.tail}});
    EXPECT_EQ(build(message), expected) << row.version << ' ' << row.command;
    CdiMessage back;
    ASSERT_EQ(read_cdi(expected, back), CdiFault::none);
    EXPECT_EQ(build(back), expected) << row.version << ' ' << row.command;
  }
}

TEST(CdiMessage, EveryWrongBitIsSeen) {
  const std::vector<std::uint8_t> right = build(sample("2.3.5", cdi_reset, 1));
  for (std::size_t bit = 0; bit < right.size() * 8; ++bit) {
    std::vector<std::uint8_t> wrong = right;
    wrong[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    CdiMessage m;
    EXPECT_NE(read_cdi(wrong, m), CdiFault::none) << "bit " << bit;
  }
}

TEST(CdiMessage, IsValidatedInThatOrder) {
  CdiMessage m;
  std::vector<std::uint8_t> v1 = build(sample("1.0.5", cdi_reset, 1)), v2 = build(sample("2.3.5", cdi_ack, 1));
  EXPECT_EQ(read_cdi({}, m), CdiFault::too_short);
  for (std::size_t n = 0; n < v1.size(); ++n) EXPECT_NE(read_cdi(std::span(v1).first(n), m), CdiFault::none) << n;
  // The last byte of this one is 0, which is what stands for it when it is missing.
  EXPECT_EQ(read_cdi(std::span(v2).first(246), m), CdiFault::too_short);
  EXPECT_EQ(read_cdi(std::span(v2).first(252), m), CdiFault::bad_length);
  v1.push_back(0);
  EXPECT_EQ(read_cdi(v1, m), CdiFault::bad_length);
  EXPECT_EQ(read_cdi(build(sample("2.0.0", cdi_reset, 1)), m), CdiFault::refused_version);
  EXPECT_EQ(read_cdi(bytes_of("020000"), m), CdiFault::refused_version);
  // Step 5: the length of an unknown command is not looked at.
  std::vector<std::uint8_t> unknown = build(sample("2.3.5", 9, 1));
  EXPECT_EQ(read_cdi(unknown, m), CdiFault::none);
  EXPECT_EQ(m.command, 9U);
  unknown.push_back(7);
  EXPECT_EQ(read_cdi(unknown, m), CdiFault::none);
}

TEST(CdiVersions, AreNegotiated) {
  const auto agreed = [](const char* own, const char* remote) {
    return to_text(negotiate(*parse_cdi_version(own), *parse_cdi_version(remote)));
  };
  // cdi-probe.md 3.6.
  EXPECT_EQ(agreed("2.3.5", "0.7.1"), "0.7.1");
  EXPECT_EQ(agreed("2.3.5", "1.0.0"), "1.0.0");
  EXPECT_EQ(agreed("2.3.5", "1.9.9"), "1.9.9");
  EXPECT_EQ(agreed("2.3.5", "2.1.4"), "2.1.4");
  EXPECT_EQ(agreed("2.3.5", "2.3.6"), "2.3.6");
  EXPECT_EQ(agreed("2.3.5", "2.4.0"), "2.3.5");
  EXPECT_EQ(agreed("2.3.5", "2.9.9"), "2.3.5");
  EXPECT_EQ(agreed("2.3.5", "3.0.0"), "2.3.5");
  EXPECT_EQ(agreed("2.2.5", "2.3.5"), "2.2.5");
  EXPECT_EQ(agreed("2.2.5", "2.2.9"), "2.2.9");
  for (const char* wrong : {"", "2", "2.3", "2.3.", "2.3.5.1", "2.3.256", "a.b.c", "2.3.5 "})
    EXPECT_FALSE(parse_cdi_version(wrong)) << wrong;
}

// ---- the model

// What the model sent, with its time.
struct Bench {
  struct Sent {
    UdpPlace to;
    CdiMessage message;
    std::int64_t time_ns;
  };
  explicit Bench(CdiModelOptions options = {})
      : model(make_cdi_model(options, [this](const UdpPlace& to, std::span<const std::uint8_t> bytes, bool) {
          CdiMessage m;
          EXPECT_EQ(read_cdi(bytes, m), CdiFault::none);
          sent.push_back({to, m, now_ns});
        })) {}
  void pass(std::int64_t ms) {
    const std::int64_t until_ns = now_ns + ms * 1'000'000;
    for (std::optional<std::int64_t> next = model->next_event_ns(); next && *next <= until_ns;
         next = model->next_event_ns()) {
      now_ns = std::max(now_ns, *next);
      model->run(now_ns);
    }
    now_ns = until_ns;
  }
  void receive(std::span<const std::uint8_t> bytes, std::uint16_t port = 5000) {
    model->datagram({0xc0000201, port}, bytes, now_ns);
  }
  void receive(const CdiMessage& m, std::uint16_t port = 5000) { receive(build(m), port); }
  std::string story() const {
    std::string out;
    for (const Sent& s : sent) {
      out += std::string(cdi_command_name(s.message.command)) + " " + to_text(s.message.version);
      if (s.message.command == cdi_ack) out += " of " + std::string(cdi_command_name(s.message.ack_command));
      out += " at " + std::to_string(s.time_ns / 1'000'000) + "; ";
    }
    return out;
  }

  std::int64_t now_ns = 0;
  std::vector<Sent> sent;
  std::unique_ptr<CdiModel> model;
};

CdiModelOptions transmitter() {
  CdiModelOptions options;
  options.transmits = true;
  options.remote = {0xc0000201, 5000};
  return options;
}

TEST(CdiModel, ReceiverKeepsTheTimesOfTheTable) {
  Bench bench;
  bench.receive(sample("1.0.5", cdi_reset, 7));
  bench.pass(20'000);
  EXPECT_EQ(bench.story(), "Ack 2.3.5 of Reset at 10; Reset 1.0.5 at 3010; Reset 1.0.5 at 5010; ");
  EXPECT_FALSE(bench.model->next_event_ns());  // it has forgotten the transmitter
}

// R7, R13: it says so while its adapter takes longer than a second.
TEST(CdiModel, ReceiverWithASlowAdapter) {
  CdiModelOptions options;
  options.local_reset_ns = 1'500'000'000;
  options.local_start_ns = 1'200'000'000;
  Bench bench(options);
  bench.receive(sample("1.0.5", cdi_reset, 7));
  bench.pass(1'600);
  EXPECT_EQ(bench.story(), "Reset 1.0.5 at 1000; Ack 2.3.5 of Reset at 1500; ");
  EXPECT_EQ(bench.sent.front().message.requires_ack, 1);
  bench.sent.clear();
  bench.receive(sample("2.3.5", cdi_protocol_version, 8));
  bench.pass(1'400);
  EXPECT_EQ(bench.story(), "Ack 2.3.5 of ProtocolVersion at 2600; ");
}

// T9: WaitForStart and Resetting repeat Reset every 2 s.
TEST(CdiModel, TransmitterWithASlowAdapter) {
  CdiModelOptions options = transmitter();
  options.local_start_ns = 4'000'000'000;
  Bench bench(options);
  bench.pass(0);
  CdiMessage ack = sample("2.3.5", cdi_ack, 1);
  bench.receive(ack);
  ack.ack_command = cdi_protocol_version;
  ack.ack_number = 2;
  bench.receive(ack);
  bench.pass(3'500);
  EXPECT_EQ(bench.story(), "Reset 1.0.5 at 0; ProtocolVersion 2.3.5 at 0; Reset 2.3.5 at 1000; Reset 2.3.5 at 3000; ");
}

TEST(CdiModel, TransmitterKeepsTheTimesOfTheTable) {
  Bench bench(transmitter());
  bench.pass(3'000);
  bench.receive(sample("1.0.0", cdi_reset, 1));  // T26: to the port that it names, so it is of somebody else
  CdiMessage reset = sample("2.3.5", cdi_reset, 1);
  bench.receive(reset);
  bench.pass(2'000);
  EXPECT_EQ(bench.story(), "Reset 1.0.5 at 0; Reset 1.0.5 at 2000; Reset 2.3.5 at 4010; ");
}

TEST(CdiModel, VersionsAreNegotiatedWithBothSdks) {
  const auto acked = [](const CdiVersion& own, const char* remote) {
    CdiModelOptions options;
    options.version = own;
    Bench bench(options);
    bench.receive(sample("1.0.5", cdi_reset, 1));
    bench.pass(100);
    bench.receive(sample(remote, cdi_protocol_version, 2));
    bench.pass(100);
    return to_text(bench.sent.back().message.version);
  };
  EXPECT_EQ(acked(cdi_sdk_head, "2.1.4"), "2.1.4");
  EXPECT_EQ(acked(cdi_sdk_head, "2.9.9"), "2.3.5");
  EXPECT_EQ(acked(cdi_sdk_head, "3.0.0"), "2.3.5");
  EXPECT_EQ(acked(cdi_sdk_2_4_1, "2.3.5"), "2.2.5");
  EXPECT_EQ(acked(cdi_sdk_2_4_1, "2.1.4"), "2.1.4");
}

TEST(CdiModel, ConnectsOverAnOpenDataPath) {
  CdiModelOptions options;
  options.data_open = true;
  Bench rx(options);
  rx.receive(sample("1.0.5", cdi_reset, 1));
  rx.pass(50);
  rx.receive(sample("2.3.5", cdi_protocol_version, 2));
  rx.pass(5'000);
  EXPECT_EQ(rx.story(), "Ack 2.3.5 of Reset at 10; Ack 2.3.5 of ProtocolVersion at 70; Connected 2.3.5 at 170; ");

  options = transmitter();
  options.data_open = true;
  Bench tx(options);
  tx.pass(0);
  CdiMessage ack = sample("2.3.5", cdi_ack, 1);
  tx.receive(ack);
  ack.ack_command = cdi_protocol_version;
  ack.ack_number = 2;
  tx.receive(ack);
  tx.pass(100);
  tx.receive(sample("2.3.5", cdi_connected, 3));
  EXPECT_EQ(tx.story(), "Reset 1.0.5 at 0; ProtocolVersion 2.3.5 at 0; Ping 2.3.5 at 100; ");
}

// The two roles against each other, each of both SDKs.
TEST(CdiModel, TheRolesConnect) {
  for (const CdiVersion& of_tx : {cdi_sdk_2_4_1, cdi_sdk_head})
    for (const CdiVersion& of_rx : {cdi_sdk_2_4_1, cdi_sdk_head}) {
      const UdpPlace at_tx{0x0a000001, 5000}, at_rx{0x0a000002, 2000};
      std::deque<std::pair<bool, std::vector<std::uint8_t>>> network;  // to the receiver
      std::vector<std::string> versions_of_ping, versions_of_connected;
      const auto make = [&](bool transmits, const CdiVersion& version) {
        CdiModelOptions options;
        options.transmits = transmits;
        options.version = version;
        options.own = transmits ? at_tx : at_rx;
        options.remote = at_rx;
        options.data_open = true;
        return make_cdi_model(options, [&, transmits](const UdpPlace& to, std::span<const std::uint8_t> bytes, bool) {
          EXPECT_EQ(to, transmits ? at_rx : at_tx);
          network.emplace_back(transmits, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
          CdiMessage m;
          EXPECT_EQ(read_cdi(bytes, m), CdiFault::none);
          if (m.command == cdi_ping) versions_of_ping.push_back(to_text(m.version));
          if (m.command == cdi_connected) versions_of_connected.push_back(to_text(m.version));
        });
      };
      const std::unique_ptr<CdiModel> tx = make(true, of_tx), rx = make(false, of_rx);
      constexpr std::int64_t step_ns = 1'000'000, minute_ns = 60'000'000'000;
      for (std::int64_t now_ns = 0; now_ns < minute_ns; now_ns += step_ns) {
        tx->run(now_ns);
        rx->run(now_ns);
        for (; !network.empty(); network.pop_front()) {
          const auto [to_rx, bytes] = network.front();
          (to_rx ? rx : tx)->datagram(to_rx ? at_tx : at_rx, bytes, now_ns);
        }
      }
      const std::string agreed = to_text(std::min(of_tx, of_rx));
      EXPECT_EQ(versions_of_connected, std::vector<std::string>{agreed});
      EXPECT_EQ(versions_of_ping, std::vector<std::string>(12, agreed));  // at once, then each 5 s
    }
}

TEST(CdiModel, DropsDatagramsOfEveryOtherLength) {
  for (const bool transmits : {false, true})
    for (const char* version : {"1.0.5", "2.3.5"})
      for (std::size_t size = 0; size <= 300; ++size) {
        Bench bench(transmits ? transmitter() : CdiModelOptions{});
        bench.pass(0);
        const std::size_t before = bench.sent.size();
        std::vector<std::uint8_t> bytes = build(sample(version, transmits ? cdi_ack : cdi_reset, 1));
        const bool right = size == bytes.size();
        bytes.resize(size);
        bench.receive(bytes);
        bench.pass(500);
        EXPECT_EQ(bench.sent.size() > before, right) << version << ' ' << size;
      }
}

TEST(CdiModel, AnUnknownCommandOpensAnEndpointAsInTheSdk) {
  for (const std::uint32_t command : {0U, 6U, 9U, 0xffffffffU}) {
    Bench bench;
    bench.receive(sample("2.3.5", command, 1));
    bench.pass(100);
    EXPECT_EQ(bench.story(), "Reset 1.0.5 at 0; ") << command;
  }
}

TEST(CdiModel, TakesFiveTransmitters) {
  Bench bench;
  for (std::uint16_t port = 5000; port < 5008; ++port) bench.receive(sample("1.0.5", cdi_reset, 1), port);
  bench.pass(100);
  EXPECT_EQ(bench.sent.size(), 5U);
}

// Replayed, reordered, damaged: it neither crashes nor stops keeping its times.
TEST(CdiModel, LivesThroughAnything) {
  std::minstd_rand random(1);
  const auto pick = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 400; ++round) {
    CdiModelOptions options = round % 2 == 0 ? CdiModelOptions{} : transmitter();
    options.data_open = pick(2) == 0;
    Bench bench(options);
    std::vector<std::vector<std::uint8_t>> seen;
    for (int step = 0; step < 200; ++step) {
      if (!seen.empty() && pick(3) == 0) {
        bench.receive(seen[pick(static_cast<std::uint32_t>(seen.size()))]);
      } else {
        static constexpr const char* versions[] = {"1.0.0", "1.0.2", "1.0.5", "2.0.0", "2.1.4", "2.3.5", "3.0.0"};
        CdiMessage m = sample(versions[pick(std::size(versions))], pick(7), static_cast<std::uint16_t>(pick(8)));
        m.port = 5000;
        m.ack_command = pick(6);
        m.ack_number = static_cast<std::uint16_t>(pick(8));
        if (pick(4) == 0 && !bench.sent.empty()) {  // the right answer to what it said last
          m.ack_command = bench.sent.back().message.command;
          m.ack_number = bench.sent.back().message.number;
        }
        std::vector<std::uint8_t> bytes = build(m);
        if (pick(5) == 0)
          bytes[pick(static_cast<std::uint32_t>(bytes.size()))] ^= static_cast<std::uint8_t>(1 + pick(255));
        if (pick(8) == 0) bytes.resize(pick(300));
        bench.receive(bytes, static_cast<std::uint16_t>(5000 + (pick(6) == 0 ? pick(7) : 0)));
        seen.push_back(std::move(bytes));
      }
      if (pick(20) == 0) bench.model->deliver(pick(1200), bench.now_ns);
      bench.pass(pick(4) == 0 ? pick(6000) : pick(30));
    }
    const std::size_t before = bench.sent.size();
    bench.pass(60'000);
    if (options.transmits) {
      EXPECT_GT(bench.sent.size(), before + 7) << "a transmitter never gives up, round " << round;
    } else {
      EXPECT_FALSE(bench.model->next_event_ns()) << "a receiver forgets, round " << round;
    }
  }
}

// ---- scripts

std::string verdict(const ScriptRun& run) {
  std::string out;
  for (const Case& c : run.report.cases) {
    out += (out.empty() ? "" : "\n") + std::string(name(c.verdict));
    if (c.verdict != Verdict::passed) out += ": " + c.message;
  }
  return out;
}

std::string verdict(const std::string& body, const CdiModelOptions& model = {}) {
  CdiModelBench bench = open_cdi_model(model);
  return verdict(run_script({"t.lua", "test { id = 'T', title = 't' }\n" + body}, *bench.wire, *bench.dut, {}));
}

TEST(CdiScript, MessagesHaveFieldsByName) {
  for (const char* holds :
       {"ack.version == '2.3.5'", "ack.command == 'Ack'", "ack.number == 1", "ack.bytes == 253",
        "ack.source_port == 2000", "ack.cdi.senders_control_dest_port == 2000", "ack.cdi.ack_command == 1",
        "ack.cdi.ack_control_packet_num == 7", "#ack.senders_gid_array == 32", "reset.cdi.requires_ack == 1",
        "reset.cdi.senders_stream_name_str == 'rdmascope'", "reset.version == '1.0.5'", "ack.time > reset.time"})
    EXPECT_EQ(verdict("local tx = open_cdi_tx {} local reset = tx:send { 'Reset', number = 7 }\n"
                      "local ack = tx:expect { 'Ack', of = reset } assert(" +
                      std::string(holds) + ")"),
              "passed")
        << holds;
}

TEST(CdiScript, MistakesSayWhat) {
  const std::pair<const char*, const char*> wrong[] = {
      {"open_cdi_tx {}:send { 'Rest' }",
       "error: t.lua:2: no such command: Rest; there are Reset, Ping, Connected, Ack, ProtocolVersion"},
      {"open_cdi_tx {}:send {}", "error: t.lua:2: send takes one command, by name or number"},
      {"open_cdi_tx {}:send { 'Ack' }", "error: t.lua:2: an Ack needs `of`, the message it answers"},
      {"open_cdi_tx {}:send { 'Reset', version = '2' }", "error: t.lua:2: version: write \"2.3.5\", not \"2\""},
      {"open_cdi_tx {}:send { 'Reset', senders_gid_array = 'x' }",
       "error: t.lua:2: senders_gid_array has 32 bytes, not 1"},
      {"open_cdi_tx {}:expect { 'Ack', at = '2 s' }",
       "error: t.lua:2: `at` counts from a message, and none was sent or expected yet"},
      {"open_cdi_rx {}", "not applicable: t.lua:2: model of a CDI receiver is a receiver, too"},
      {"open_rc {}",
       "not applicable: t.lua:2: model of a CDI receiver is reached by CDI control messages, not through queue pairs"},
      {"mad.get { attribute = 'NodeInfo' }", "not applicable: t.lua:2: model of a CDI receiver is not reached by MADs"},
  };
  for (const auto& [body, sentence] : wrong) EXPECT_EQ(verdict(body), sentence) << body;
}

TEST(CdiScript, MismatchesSayFieldExpectedAndActual) {
  const std::string reset = "local tx = open_cdi_tx {} local reset = tx:send { 'Reset', number = 7 }\n";
  EXPECT_EQ(verdict(reset + "tx:expect { 'Ack', of = reset, version = '2.1.4' }"),
            "failed: t.lua:3: expected Ack 2.1.4 of Reset #7: cdi.version: expected \"2.1.4\", got 2.3.5");
  EXPECT_EQ(verdict(reset + "tx:expect { 'Ack', number = 2 }"),
            "failed: t.lua:3: expected Ack: cdi.control.control_packet_num: expected 2, got 1");
  EXPECT_EQ(verdict(reset + "tx:expect { 'Ack', at = '1 s' }"),
            "failed: t.lua:3: expected Ack: it comes after 10.002 ms, expected after 1000 ms, give or take 100 ms");
  EXPECT_EQ(verdict(reset + "tx:quiet {}"),
            "failed: t.lua:3: expected no message for 1000 ms, got frame 2: Ack #1 of Reset #7, 2.3.5");
  EXPECT_EQ(verdict(reset + "tx:expect { 'Ack' } tx:expect { 'Ping', within = '2 s' }"),
            "failed: t.lua:3: expected Ping, but nothing came within 2000 ms");
}

TEST(CdiScript, NeedsItsEnd) {
  CdiModelBench bench = open_cdi_model({});
  const ScriptRun got =
      run_script({"t.lua", "test { id = 'T', title = 't', needs = { cdi = 'tx' } }"}, *bench.wire, *bench.dut, {});
  EXPECT_EQ(verdict(got), "not applicable: t.lua:1: needs a CDI transmitter: model of a CDI receiver is the other end");
  const Result<ScriptHead> head = head_of({"t.lua", "test { id = 'T', title = 't', needs = { cdi = 'rx' } }"});
  ASSERT_TRUE(head);
  EXPECT_EQ(head->node, "cdi-rx");
}

TEST(CdiScript, WhatMayCrashADeviceIsNotSent) {
  const auto at_an_address = [](bool destructive) {
    CdiModelBench bench = open_cdi_model({});
    CdiTarget target = *bench.dut->info().cdi;
    target.data.reset();
    const std::unique_ptr<Dut> dut = make_cdi_dut("device", target);
    ScriptOptions options;
    options.tester.destructive = destructive;
    return verdict(run_script({"t.lua", "test { id = 'T', title = 't' }\nopen_cdi_tx {}:send { 'Connected' }"},
                              *bench.wire, *dut, options));
  };
  EXPECT_EQ(at_an_address(false), "not applicable: t.lua:2: this message may crash the device; --destructive sends it");
  EXPECT_EQ(at_an_address(true), "passed");
}

// ---- mutants

TEST(CdiMutants, HaveNamesAndSentences) {
  std::set<std::string_view> names;
  for (const MutantInfo& m : cdi_mutants) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_TRUE(m.name.starts_with("cdi-rx-") || m.name.starts_with("cdi-tx-")) << m.name;
    EXPECT_FALSE(m.breaks.empty()) << m.name;
    EXPECT_TRUE(m.what.ends_with('.')) << m.name;
    EXPECT_FALSE(mutant_by_name(m.name)) << m.name << " is a mutant of the other model, too";
  }
}

// ---- sockets

TEST(CdiOnUdp, TheModelTalksOverSockets) {
  for (const bool transmits : {false, true}) {
    CdiModelOptions options;
    options.transmits = transmits;
    options.scale = 0.2;
    Result<CdiModelBench> bench = open_cdi_model_on_udp(options);
    ASSERT_TRUE(bench) << bench.error();
    const std::string body =
        transmits ? "local rx = open_cdi_rx {} local reset = rx:begin()\n"
                    "rx:send { 'Ack', of = reset } rx:expect { 'ProtocolVersion' }"
                  : "local tx = open_cdi_tx {} local ack = tx:expect { 'Ack', of = tx:send { 'Reset' } }\n"
                    "tx:expect { 'Ack', of = tx:send { 'ProtocolVersion' } } tx:deliver {} tx:expect { 'Connected' }";
    const ScriptRun got =
        run_script({"t.lua", "test { id = 'T', title = 't' }\n" + body}, *bench->wire, *bench->dut, {});
    EXPECT_EQ(verdict(got), "passed");
    for (const KeptFrame& frame : got.frames) EXPECT_TRUE(udp_of(frame.bytes));
  }
}

TEST(UdpFrame, IsReadBackAsBuilt) {
  const std::vector<std::uint8_t> payload = bytes_of("010203");
  const std::vector<std::uint8_t> frame = udp_frame({0x0a000001, 2000}, {0x0a000002, 0xc001}, payload);
  const std::optional<UdpOfFrame> udp = udp_of(frame);
  ASSERT_TRUE(udp);
  EXPECT_EQ(to_text(udp->from), "10.0.0.1:2000");
  EXPECT_EQ(to_text(udp->to), "10.0.0.2:49153");
  EXPECT_TRUE(std::ranges::equal(udp->payload, payload));
  // Worked by hand: 0x0a00 + 1 + 0x0a00 + 2 + 17 + 11 + 2000 + 0xc001 + 11 + 0x0102 + 0x0300, complemented.
  EXPECT_EQ(frame[26] << 8 | frame[27], 0x2002);
  EXPECT_FALSE(udp_of(std::span(frame).first(frame.size() - 1)));
}

TEST(UdpFrame, PlacesAreParsed) {
  EXPECT_EQ(to_text(*parse_udp_place("127.0.0.1:2000", "x")), "127.0.0.1:2000");
  for (const char* wrong : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "localhost:1", "::1:5"})
    EXPECT_FALSE(parse_udp_place(wrong, "x")) << wrong;
}

}  // namespace
}  // namespace rdmascope::replay
