// Management datagrams of the tester: frames, the model under scripts, many requests at a time, the safety limit, and
// the wire to ibsim against a server that speaks its protocol here.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "dissect/headers.h"
#include "dissect/walk.h"
#include "replay/ibsim_wire.h"
#include "replay/mad_attributes.h"
#include "replay/mad_dut.h"
#include "replay/script.h"

namespace rdmascope::replay {
namespace {

using dissect::Mad;
using dissect::View;

std::string verdict(const ScriptRun& run) {
  std::string out;
  for (const Case& c : run.report.cases) {
    out += (out.empty() ? "" : "\n") + std::string(name(c.verdict));
    if (c.verdict != Verdict::passed) out += ": " + c.message;
  }
  return out;
}

ScriptRun run(const std::string& body, const MadModelOptions& model = {}, ScriptOptions options = {}) {
  MadModelOnMemory bench = open_mad_model(model);
  return run_script({"t.lua", "test { id = 'T', title = 't' }\n" + body}, *bench.wire, *bench.dut, options);
}
std::string verdict(const std::string& body, const MadModelOptions& model = {}) { return verdict(run(body, model)); }

// ---- frames

TEST(MadFrame, IsReadBackAsBuilt) {
  MadBytes mad{};
  dissect::put<Mad, "mgmtclass">(mad.data(), class_perf);
  dissect::put<Mad, "transactionid">(mad.data(), 0x1122334455667788);
  MadAddress address = MadAddress::of_class(class_perf, 3, 4);
  address.psn = 0x123456;
  const std::vector<std::uint8_t> frame = mad_frame(mad, address);
  EXPECT_EQ(frame.size(), 290U);
  const std::optional<MadOfFrame> in = mad_of(frame);
  ASSERT_TRUE(in);
  EXPECT_TRUE(std::ranges::equal(in->mad, mad));
  EXPECT_EQ(in->address.source_lid, 3);
  EXPECT_EQ(in->address.destination_lid, 4);
  EXPECT_EQ(in->address.q_key, gsi_q_key);
  EXPECT_EQ(in->address.destination_qp, 1U);
  EXPECT_EQ(in->address.vl, 0);
  EXPECT_EQ(in->address.psn, 0x123456U);
}

TEST(MadFrame, HasRightCrcs) {
  const std::vector<std::uint8_t> frame = mad_frame(MadBytes{}, MadAddress::of_class(class_subn_lid, 1, 2));
  dissect::Packet packet;
  packet.frame.link_type = link_infiniband;
  packet.frame.wire_bytes = static_cast<std::uint32_t>(frame.size());
  dissect::walk(packet, frame, {});
  EXPECT_EQ(packet.icrc().status, dissect::CrcStatus::good);
  EXPECT_EQ(packet.vcrc().status, dissect::CrcStatus::good);
  EXPECT_TRUE(packet.events().empty());
}

// ---- scripts

TEST(MadScript, AnswersHaveFieldsByName) {
  for (const char* holds :
       {"mad.get { attribute = 'NodeInfo' }.nodeinfo.numports == 8",
        "mad.get { attribute = 0x0011 }.nodeinfo.nodetype == 2",
        "mad.get { attribute = 'nodeinfo', class = 'SubnLID' }.smppaths == nil",
        "mad.get { attribute = 'NodeInfo' }.status == 0", "mad.get { attribute = 'NodeInfo' }.mad.d == 1",
        "mad.get { attribute = 'NodeInfo' }.status_word == 0",
        "mad.get { attribute = 'P_KeyTable' }.p_keytable.p_key[1] == 0xffff",
        "#mad.get { attribute = 'P_KeyTable' }.data == 64",
        "mad.get { attribute = 'PortInfo', tid = 0x8877665544332211 }.tid == 0x8877665544332211",
        "mad.node().type == 'switch'", "mad.node().lid == 2",
        "mad.get { class = 'Perf', attribute = 'PortCounters', portcounters = { portselect = 1 } "
        "}.portcounters.portrcvpkts == 1"})
    EXPECT_EQ(verdict(std::string("assert(") + holds + ")"), "passed") << holds;
}

TEST(MadScript, WhatIsSetByHandGoesOut) {
  const ScriptRun got =
      run("local r = mad.send { attribute = 'P_KeyTable', modifier = 0x10007, method = 'Set', m_key = 5, data = 'ab',\n"
          "  mad = { reserved16 = 0xbeef }, p_keytable = { p_key = { 1, 2 } }, lrh = { sl = 3 } }\n"
          "local s = mad.sent(r)\n"
          "assert(s.mad.reserved16 == 0xbeef and s.p_keytable.p_key[2] == 2 and s.p_keytable.p_key[3] == 0)\n"
          "assert(s.lrh.sl == 3 and s.smpdirected.mkey == 5 and s.modifier == 0x10007 and s.method == 2)\n"
          "mad.maybe { to = r, status = any }");
  EXPECT_EQ(verdict(got), "passed");
}

TEST(MadScript, MistakesSayWhat) {
  const std::pair<const char*, const char*> wrong[] = {
      {"mad.get {}", "error: t.lua:2: mad.get: attribute is missing"},
      {"mad.get { attribute = 'NodeInfo', modifer = 1 }",
       "error: t.lua:2: mad.get has no option modifer; perhaps modifier"},
      {"mad.get { attribute = 'NodeInfo', portinfo = { lid = 1 } }",
       "error: t.lua:2: infiniband.portinfo.lid: a MAD of this class and attribute has no such header"},
      {"mad.get { attribute = 'NodeInfo', route = { 1 } }",
       "error: t.lua:2: mad.get: a route begins with 0, the tester's own node, and ports are at most 255"},
      {"mad.get { attribute = 'NodeInfo', mad = { method = 0x100 } }",
       "error: t.lua:2: mad.method: 256 does not fit into its 8 bits"},
      {"mad.get { attribute = 'NodeInfo', data = ('x'):rep(65) }",
       "error: t.lua:2: data of 65 bytes; attributes of this class have 64"},
      {"local x = mad.get { attribute = 'NodeInfo' }.nodeinf", "error: t.lua:2: an answer has no 'nodeinf'"},
      {"open_rc {}", "not applicable: t.lua:2: model of a switch is reached by MADs, not through queue pairs"},
  };
  for (const auto& [body, sentence] : wrong) EXPECT_EQ(verdict(body), sentence) << body;
}

TEST(MadScript, MismatchesSayFieldExpectedAndActual) {
  EXPECT_EQ(
      verdict("mad.get { attribute = 'NodeInfo', status = 7 }"),
      "failed: t.lua:2: SubnDirectedRoute Get NodeInfo, modifier 0x0: status code: expected 7, got 0 (status 0x8000)");
  EXPECT_EQ(
      verdict("mad.get { attribute = 'NodeInfo', expect = { nodeinfo = { numports = 9 } } }"),
      "failed: t.lua:2: SubnDirectedRoute Get NodeInfo, modifier 0x0: infiniband.nodeinfo.numports: expected 9, got 8");
  EXPECT_EQ(verdict("mad.get { attribute = 'NodeInfo', m_key = 1, mad = { baseversion = 2 }, tries = 2, within = '10 "
                    "ms', status = 0 }")
                .find("failed"),
            0U);
}

TEST(MadScript, AnAnswerThatNobodyAskedForFails) {
  MadModelOptions twice;
  twice.mutant = mad_mutant<"mad-answers-twice">();
  EXPECT_EQ(verdict("mad.get { attribute = 'NodeInfo' }", twice).substr(0, 61),
            "failed: t.lua: a second answer to one request: frame 3: SubnD");
}

TEST(MadScript, NeedsANode) {
  MadModelOptions hca;
  hca.is_switch = false;
  MadModelOnMemory bench = open_mad_model(hca);
  const ScriptRun got =
      run_script({"t.lua", "test { id = 'T', title = 't', needs = { mads = 'switch' } }"}, *bench.wire, *bench.dut, {});
  EXPECT_EQ(verdict(got), "not applicable: t.lua:1: needs a switch: model of an HCA is a ca");
  const Result<ScriptHead> head = head_of({"t.lua", "test { id = 'T', title = 't', needs = { mads = 'ca' } }"});
  ASSERT_TRUE(head);
  EXPECT_EQ(head->node, "ca");
}

// A port that the device does not have may crash it (ibsim 0.10 does).
TEST(MadScript, PortsAboveNumPortsAreNotSent) {
  for (const char* request :
       {"attribute = 'PortInfo', modifier = 9", "attribute = 'P_KeyTable', modifier = 9 << 16",
        "attribute = 'SLtoVLMappingTable', modifier = 9 << 8", "attribute = 'SLtoVLMappingTable', modifier = 9",
        "attribute = 'VLArbitrationTable', modifier = 0x10009",
        "class = 'Perf', attribute = 'PortCounters', portcounters = { portselect = 9 }"}) {
    const ScriptRun got = run(std::string("mad.send { ") + request + " }");
    EXPECT_EQ(got.report.cases[0].verdict, Verdict::not_applicable) << request;
    EXPECT_NE(got.report.cases[0].message.find("names port 9, and the device has 8"), std::string::npos)
        << verdict(got);
    for (const KeptFrame& frame : got.frames)
      if (frame.from_tester) {
        EXPECT_EQ(highest_port(mad_of(frame.bytes)->mad).value_or(0), 0U) << request;
      }
    ScriptOptions destructive;
    destructive.tester.destructive = true;
    EXPECT_EQ(
        verdict(run(std::string("mad.maybe { to = mad.send { ") + request + " }, status = any }", {}, destructive)),
        "passed");
  }
  EXPECT_EQ(verdict("mad.get { attribute = 'PortInfo', modifier = 0x80000008 }"), "passed");  // bit 31 is no port
  EXPECT_EQ(verdict("mad.get { class = 'Perf', attribute = 'PortCounters', portcounters = { portselect = 255 } }"),
            "passed");
}

// ---- many at a time

// Loses every third request, and says how many were under way at most.
class LossyWire final : public Wire {
 public:
  explicit LossyWire(std::unique_ptr<Wire> inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return "lossy"; }
  std::uint16_t link_type() const override { return inner_->link_type(); }
  IpAddress address() const override { return {}; }
  std::int64_t now_ns() override { return inner_->now_ns(); }
  std::optional<MadCarriage> mads() const override {
    MadCarriage out = *inner_->mads();
    out.window = 5;
    return out;
  }
  Result<void> send(std::span<const std::uint8_t> frame) override {
    most_ = std::max(most_, ++under_way_);
    if (++sent_ % 3 == 0) return {};
    return inner_->send(frame);
  }
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override {
    auto got = inner_->receive(deadline_ns);
    if (got && *got) --under_way_;
    return got;
  }
  unsigned sent_ = 0;
  int under_way_ = 0, most_ = 0;

 private:
  std::unique_ptr<Wire> inner_;
};

TEST(MadPipeline, SendsAgainWhatIsLost) {
  MadModelOnMemory bench = open_mad_model({});
  LossyWire wire(std::move(bench.wire));
  ScriptOptions options;
  std::vector<std::uint64_t> progress;
  options.tester.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 1000U);
    progress.push_back(done);
  };
  const ScriptRun got = run_script(
      {"t.lua",
       "test { id = 'T', title = 't' }\nlocal seen = {}\n"
       "mad.pipeline { count = 1000, request = function(i) return { attribute = 'P_KeyTable', modifier = i % 2, "
       "tries = 20, expect = { mad = { attributemodifier = i % 2 } } } end,\n"
       "  answer = function(i, r) assert(not seen[i]) seen[i] = true end }\n"
       "for i = 0, 999 do assert(seen[i], i) end"},
      wire, *bench.dut, options);
  EXPECT_EQ(verdict(got), "passed");
  EXPECT_GT(wire.sent_, 1400U);
  EXPECT_EQ(progress, (std::vector<std::uint64_t>{256, 512, 768}));
}

TEST(MadPipeline, KeepsToTheWindow) {
  MadModelOnMemory bench = open_mad_model({});
  LossyWire wire(std::move(bench.wire));
  const std::string body =
      "test { id = 'T', title = 't' }\nmad.pipeline { count = 2, request = function(i) return { attribute = 'NodeInfo' "
      "} end }\n"
      "mad.pipeline { count = 100, window = WINDOW, request = function(i) return { attribute = 'NodeInfo', tries = 30 "
      "} end }";
  EXPECT_EQ(
      verdict(run_script({"t.lua", std::string(body).replace(body.find("WINDOW"), 6, "0")}, wire, *bench.dut, {})),
      "passed");
  EXPECT_GE(wire.most_, 5);
}

TEST(MadPipeline, FailsAtTheFirstWrongAnswer) {
  EXPECT_EQ(
      verdict(
          "mad.pipeline { count = 100, request = function(i) return { attribute = 'P_KeyTable', modifier = i } end }")
          .substr(0, 78),
      "failed: t.lua:2: SubnDirectedRoute Get P_KeyTable, modifier 0x2: status code: ");
}

// ---- ibsim

// The server's side of the protocol, for one client. mad.md section 10.4.
class FakeIbsim {
 public:
  FakeIbsim()
      : name_("rdmascope-test-" + std::to_string(getpid())),
        control_(bound(name_ + ":ctl")),
        data_(bound(name_ + ":out3")) {}
  ~FakeIbsim() {
    close(control_);
    close(data_);
  }
  const std::string& name() const { return name_; }

  // Answers what comes on the control socket, until the client knows its LID.
  void connect(bool accept) {
    for (int i = 0; i < 2; ++i) {
      std::uint32_t message[20] = {};
      sockaddr_un from{};
      socklen_t size = sizeof from;
      ASSERT_EQ(recvfrom(control_, message, sizeof message, 0, reinterpret_cast<sockaddr*>(&from), &size), 80);
      EXPECT_EQ(message[0], 0xdeadbeefU);
      if (i == 0) {
        EXPECT_EQ(message[2], 1U);
        node = reinterpret_cast<const char*>(message + 7);
        const std::string own = name_ + ":in" + std::to_string(message[4]);
        message[4] = 3;
        if (accept) to(data_, own);
        if (!accept) message[2] = 0;
      } else {
        EXPECT_EQ(message[2], 8U);
        EXPECT_EQ(message[1], 3U);
        std::memset(message + 4, 0, 64);
        dissect::put<dissect::PortInfo, "lid">(reinterpret_cast<std::uint8_t*>(message + 4), 7);
      }
      ASSERT_EQ(sendto(control_, message, sizeof message, 0, reinterpret_cast<sockaddr*>(&from), size), 80);
      if (!accept) return;
    }
  }
  std::vector<std::uint8_t> take() {
    std::vector<std::uint8_t> out(300);
    pollfd wait{data_, POLLIN, 0};
    if (poll(&wait, 1, 2000) <= 0) return {};
    const ssize_t count = recv(data_, out.data(), out.size(), 0);
    out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return out;
  }
  void give(const std::vector<std::uint8_t>& datagram) {
    ASSERT_EQ(send(data_, datagram.data(), datagram.size(), 0), 288);
  }

  std::string node;

 private:
  static socklen_t address(const std::string& name, sockaddr_un& out) {
    out = {};
    out.sun_family = AF_UNIX;
    std::memcpy(out.sun_path + 1, name.data(), name.size());
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 2);
  }
  static int bound(const std::string& name) {
    sockaddr_un own{};
    const socklen_t size = address(name, own);
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&own), size), 0) << name;
    return fd;
  }
  static void to(int fd, const std::string& name) {
    sockaddr_un other{};
    const socklen_t size = address(name, other);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&other), size), 0) << name;
  }

  std::string name_;
  int control_, data_;
};

TEST(IbsimWire, SpeaksTheProtocol) {
  FakeIbsim server;
  std::thread answering([&] { server.connect(true); });
  Result<std::unique_ptr<IbsimWire>> wire = IbsimWire::open(server.name(), "Hca2");
  answering.join();
  ASSERT_TRUE(wire) << wire.error();
  EXPECT_EQ(server.node, "Hca2");
  EXPECT_EQ((*wire)->mads()->own_lid, 7);

  MadBytes mad{};
  dissect::put<Mad, "mgmtclass">(mad.data(), class_subn_directed);
  dissect::put<Mad, "transactionid">(mad.data(), 0x1234);
  ASSERT_TRUE((*wire)->send(mad_frame(mad, MadAddress::of_class(class_subn_directed, 0, 0))));
  std::vector<std::uint8_t> datagram = server.take();
  ASSERT_EQ(datagram.size(), 288U);
  EXPECT_EQ(std::vector<std::uint8_t>(datagram.begin(), datagram.begin() + 8),
            (std::vector<std::uint8_t>{0xff, 0xff, 0, 0, 0xff, 0xff, 0, 0}));
  EXPECT_EQ(std::vector<std::uint8_t>(datagram.begin() + 24, datagram.begin() + 32),
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 1, 0}));
  EXPECT_TRUE(std::equal(mad.begin(), mad.end(), datagram.begin() + 32));

  // What comes back undelivered is no answer; of an answer's transaction ID the upper half is ibsim's.
  datagram[19] = 110;
  server.give(datagram);
  datagram[19] = 0;
  dissect::put<Mad, "method">(datagram.data() + 32, 0x81);
  dissect::put<Mad, "transactionid">(datagram.data() + 32, 0x0003000500001234);
  server.give(datagram);
  Result<std::optional<Received>> got = (*wire)->receive(real_time_ns() + 2'000'000'000);
  ASSERT_TRUE(got && *got);
  const std::optional<MadOfFrame> in = mad_of((*got)->bytes);
  ASSERT_TRUE(in);
  EXPECT_EQ(View<Mad>(in->mad.data()).get<"transactionid">(), 0x1234U);
  EXPECT_EQ(View<Mad>(in->mad.data()).get<"method">(), 0x81U);
  got = (*wire)->receive(real_time_ns());
  ASSERT_TRUE(got);
  EXPECT_FALSE(*got);

  // LID routed: the LID big-endian, the source left open.
  dissect::put<Mad, "mgmtclass">(mad.data(), class_perf);
  ASSERT_TRUE((*wire)->send(mad_frame(mad, MadAddress::of_class(class_perf, 7, 0x1234))));
  datagram = server.take();
  ASSERT_EQ(datagram.size(), 288U);
  EXPECT_EQ(std::vector<std::uint8_t>(datagram.begin(), datagram.begin() + 16),
            (std::vector<std::uint8_t>{0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(IbsimWire, CarriesWhatIbsimTakes) {
  FakeIbsim server;
  std::thread answering([&] { server.connect(true); });
  Result<std::unique_ptr<IbsimWire>> wire = IbsimWire::open(server.name(), "");
  answering.join();
  ASSERT_TRUE(wire);
  MadBytes mad{};
  dissect::put<Mad, "mgmtclass">(mad.data(), class_perf);
  MadAddress address = MadAddress::of_class(class_perf, 7, 4);
  EXPECT_TRUE((*wire)->carries(mad_frame(mad, address)));
  address.q_key = 5;
  EXPECT_FALSE((*wire)->carries(mad_frame(mad, address)));
  address = MadAddress::of_class(class_subn_directed, 0, 0);
  dissect::put<Mad, "mgmtclass">(mad.data(), class_subn_directed);
  std::vector<std::uint8_t> frame = mad_frame(mad, address);
  EXPECT_TRUE((*wire)->carries(frame));
  frame.back() ^= 1;  // the VCRC
  EXPECT_FALSE((*wire)->carries(frame));
  // It does not look at these and would read what is not there.
  dissect::put<Mad, "hopcount">(mad.data(), 64);
  EXPECT_FALSE((*wire)->carries(mad_frame(mad, address)));
  dissect::put<Mad, "hopcount">(mad.data(), 1);
  dissect::put<Mad, "attributeid">(mad.data(), 0xff90);
  EXPECT_FALSE((*wire)->carries(mad_frame(mad, address)));
}

TEST(IbsimWire, SaysWhyItCannotBeOpened) {
  Result<std::unique_ptr<IbsimWire>> wire = IbsimWire::open("rdmascope-nobody", "");
  ASSERT_FALSE(wire);
  EXPECT_EQ(wire.error(),
            "ibsim wire: no ibsim of the name rdmascope-nobody: start `ibsim -s NETFILE`, with IBSIM_SOCKNAME for "
            "another name");
  FakeIbsim server;
  std::thread answering([&] { server.connect(false); });
  wire = IbsimWire::open(server.name(), "Nowhere");
  answering.join();
  ASSERT_FALSE(wire);
  EXPECT_NE(wire.error().find("refuses node Nowhere: no such node"), std::string::npos) << wire.error();
}

}  // namespace
}  // namespace rdmascope::replay
