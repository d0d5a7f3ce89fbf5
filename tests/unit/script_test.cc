// Scripts against the model: what they can say, what they cannot do, and the words of their failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "replay/model_dut.h"
#include "replay/script.h"

namespace rdmascope::replay {
namespace {

ScriptRun run(const std::string& body, std::string_view mutant = {}, ScriptOptions options = {}) {
  ModelOptions model;
  if (!mutant.empty()) {
    const std::optional<Mutant> number = mutant_by_name(mutant);
    EXPECT_TRUE(number) << mutant;
    model.mutant = number.value_or(0);
  }
  ModelOnMemory bench = open_model(model);
  return run_script({"t.lua", "test { id = 'T', title = 't' }\n" + body}, *bench.wire, *bench.dut, options);
}

// "passed", or the verdict and why.
std::string verdict(const ScriptRun& run) {
  std::string out;
  for (const Case& c : run.report.cases) {
    if (!out.empty()) out += '\n';
    if (run.report.cases.size() > 1) out += c.id + ' ';
    out += name(c.verdict);
    if (c.verdict != Verdict::passed) out += ": " + c.message;
  }
  return out;
}
std::string verdict(const std::string& body, std::string_view mutant = {}) { return verdict(run(body, mutant)); }

// ---- the sandbox

TEST(Sandbox, HasNothingOfTheMachine) {
  for (const char* name : {"io", "os", "require", "package", "debug", "dofile", "loadfile", "load", "pcall", "xpcall",
                           "coroutine", "setmetatable", "getmetatable", "collectgarbage", "rawset", "_G"})
    EXPECT_EQ(verdict(std::string("local x = ") + name),
              std::string("error: t.lua:2: no such name in this script: ") + name);
  for (const char* name : {"dump", "find", "match", "gmatch", "gsub"})
    EXPECT_EQ(verdict(std::string("assert(string.") + name + " == nil)"), "passed") << name;
  EXPECT_EQ(verdict("io.open('/etc/passwd')"), "error: t.lua:2: no such name in this script: io");
}

TEST(Sandbox, TakesNoCompiledCode) {
  ModelOnMemory bench = open_model(ModelOptions{});
  const ScriptRun got = run_script({"t.lua", "\x1bLua"}, *bench.wire, *bench.dut, {});
  EXPECT_EQ(verdict(got).substr(0, 6), "error:");
  EXPECT_NE(verdict(got).find("binary"), std::string::npos) << verdict(got);
}

TEST(Sandbox, EndsWhatComputesForEver) {
  ScriptOptions options;
  options.limits.compute_ns = 200'000'000;
  for (const char* body : {"while true do end", "local function f() return f() end f()",
                           "sub('a', function() while true do end end) sub('b', function() end)"}) {
    const ScriptRun got = run(body, {}, options);
    EXPECT_EQ(got.report.cases.front().verdict, Verdict::error);
    EXPECT_NE(got.report.cases.front().message.find("script computes for more than 0.2 s"), std::string::npos)
        << verdict(got);
  }
}

TEST(Sandbox, NothingRunsForEverInsideC) {
  EXPECT_EQ(verdict("local x = (''):rep(1 << 60)"), "passed");
  // A table whose length is 2^62, as far as Lua can tell.
  const std::string long_table = "local t = { 1, 2, 3, 4, 5 } t[8] = 1 t[9] = 1 for i = 4, 62 do t[1 << i] = 1 end ";
  EXPECT_EQ(verdict(long_table + "assert(#t > 1 << 60)"), "passed");
  EXPECT_EQ(verdict(long_table + "table.remove(t, 1)"), "error: t.lua:2: a table with holes has no length");
  EXPECT_EQ(verdict(long_table + "table.insert(t, 1, 1)"), "error: t.lua:2: a table with holes has no length");
}

TEST(Sandbox, EndsWhatEatsMemory) {
  EXPECT_EQ(verdict("local t = {} for i = 1, 1e9 do t[i] = 'x' .. i end"),
            "error: t.lua: script uses more than 64 MB");
  EXPECT_EQ(verdict("local s = ('x'):rep(100 << 20)"), "error: t.lua: script uses more than 64 MB");
  EXPECT_EQ(verdict("sub('a', function() local s = ('x'):rep(100 << 20) end)").substr(0, 10), "T error: t");
}

TEST(Sandbox, RefusesNamesThatNobodyDeclared) {
  EXPECT_EQ(verdict("x = 1"), "error: t.lua:2: x is not declared; write: local x = ...");
  EXPECT_EQ(verdict("local a = ACKK"), "error: t.lua:2: no such name in this script: ACKK");
}

// ---- values

TEST(Script, PsnsRememberWhereTheyCountFrom) {
  const char* open = "local rc = open_rc { dut_psn = 0xfffffe, tester_psn = 5 }\n";
  const auto holds = [&](const std::string& condition) {
    EXPECT_EQ(verdict(std::string(open) + "assert(" + condition + ", tostring(" + condition + "))"), "passed") << condition;
  };
  holds("tostring(rc.psn(3)) == 'S+3 (0x000001)'");
  holds("tostring(rc.psn(0) - 1) == 'S-1 (0xfffffd)'");
  holds("tostring(rc.own_psn(2) + 1) == 'T+3 (0x000008)'");
  holds("rc.psn(3) - rc.psn(0) == 3");
  holds("rc.psn(0) < rc.psn(3)");  // across the end
  holds("rc.psn(3) == rc.psn(1) + 2");
  holds("rc.psn(3).value == 1");
  holds("rc.psn(3).offset == 3");
}

TEST(Script, NamesTheOptionThatIsNear) {
  EXPECT_EQ(verdict("open_rc { ack_timeot = 0 }"), "error: t.lua:2: open_rc has no option ack_timeot; perhaps ack_timeout");
  EXPECT_EQ(verdict("open_rc { mtu = 300 }"), "error: t.lua:2: open_rc: mtu is 256, 512, 1024, 2048 or 4096");
  EXPECT_EQ(verdict("open_rc()\nquiet { within = '1 h' }"),
            "error: t.lua:3: within: no duration: \"1 h\"; write \"10 ms\", with ns, us, ms or s");
  EXPECT_EQ(verdict("open_rc()\nexpect { 'RC_SEND_OMLY' }"), "error: t.lua:3: no such opcode: RC_SEND_OMLY");
  EXPECT_EQ(verdict("open_rc()\nexpect { psm = 1 }").substr(0, 37), "error: t.lua:3: expect: no such field");
  EXPECT_EQ(verdict("local rc = open_rc()\nlocal x = rc.foo"), "error: t.lua:3: no such name in a connection: foo");
}

// ---- expectations

constexpr const char* one_read = R"(
local rc = open_rc { dut_psn = 0xfffffe }
rc.dut:post_read { length = 700, va = 0x999000, rkey = 0x12345 }
)";

TEST(Script, FieldsMatch) {
  for (const char* good :
       {"psn = rc.psn(0)", "psn = 0xfffffe", "reth = { va = 0x999000, dmalen = 700 }", "reth = { rkey = 0x12345 }",
        "reth = any", "aeth = none", "psn = { rc.psn(5), rc.psn(0) }", "psn = { min = rc.psn(-1), max = rc.psn(1) }",
        "reth = { dmalen = { min = 700 } }", "reth = { dmalen = { max = 700 } }", "reth = { dmalen = any }",
        "payload_bytes = 0", "['infiniband.bth.psn'] = rc.psn(0)", "['reth.dmalen'] = 700", "bth = { tver = 0, padcnt = 0 }",
        "'RC_SEND_ONLY', 'RC_READ_REQUEST'"})
    EXPECT_EQ(verdict(std::string(one_read) + "expect { " + good + " }\nrc:close { flushed = 1 }"), "passed") << good;
}

TEST(Script, MismatchesSayFieldExpectedAndActual) {
  const std::pair<const char*, const char*> bad[] = {
      {"psn = rc.psn(3)", "infiniband.bth.psn: expected S+3 (0x000001), got S+0 (0xfffffe)"},
      {"'RC_SEND_ONLY'", "infiniband.bth.opcode: expected RC_SEND_ONLY, got RC_RDMA_READ_REQUEST"},
      {"reth = { dmalen = 768 }", "infiniband.reth.dmalen: expected 768, got 700"},
      {"reth = { dmalen = { min = 701 } }", "infiniband.reth.dmalen: expected at least 701, got 700"},
      {"reth = { dmalen = { 1, 2 } }", "infiniband.reth.dmalen: expected 1 or 2, got 700"},
      {"reth = { va = 1 }", "infiniband.reth.va: expected 0x0000000000000001, got 0x0000000000999000"},
      {"aeth = any", "infiniband.aeth: expected, but not there"},
      {"reth = none", "infiniband.reth: not expected, but there"},
      {"aeth = { msn = 1 }", "infiniband.aeth.msn: expected 1, but the packet has none"},
      {"payload = 'abc'", "payload: expected 3 bytes, got 0"},
  };
  for (const auto& [pattern, sentence] : bad) {
    const ScriptRun got = run(std::string(one_read) + "expect { " + pattern + " }");
    EXPECT_EQ(verdict(got), std::string("failed: t.lua:5: ") + sentence) << pattern;
    ASSERT_FALSE(got.report.cases[0].details.empty());
    EXPECT_EQ(got.report.cases[0].details.back(), "got frame 1: RC_RDMA_READ_REQUEST S+0 VA 0x999000 length 700 A");
  }
}

TEST(Script, SilenceFailsAnExpectation) {
  EXPECT_EQ(verdict("open_rc()\nexpect { 'RC_ACKNOWLEDGE', within = '20 ms' }"),
            "failed: t.lua:3: expected RC_ACKNOWLEDGE, but nothing came within 20 ms");
}

TEST(Script, LeftoversFail) {
  EXPECT_EQ(verdict(one_read),
            "failed: t.lua: a packet nobody expected: frame 1: RC_RDMA_READ_REQUEST S+0 VA 0x999000 length 700 A");
  EXPECT_EQ(verdict(std::string(one_read) + "allow { 'RC_RDMA_READ_REQUEST' }"), "passed");
  EXPECT_EQ(verdict(std::string(one_read) + "quiet()"),
            "failed: t.lua:5: expected no packet for 100 ms, got frame 1: RC_RDMA_READ_REQUEST S+0 VA 0x999000 length 700 A");
}

TEST(Script, PacketsCanBeLookedAt) {
  EXPECT_EQ(verdict(std::string(one_read) + R"(
local p = expect { "RC_RDMA_READ_REQUEST" }
assert(p.psn == rc.psn(0) and p.opcode == "RC_RDMA_READ_REQUEST" and p.reth.dmalen == 700 and p.aeth == nil)
assert(p.time >= 0 and p.payload == "" and p.frame == 1)
check("length", p.reth.dmalen, { min = 1, max = 700 })
)"),
            "passed");
  EXPECT_EQ(verdict(std::string(one_read) + "local p = expect {}\nlocal x = p.pns"), "error: t.lua:6: a packet has no 'pns'");
  EXPECT_EQ(verdict("check('delay', 1.5, { min = 2 })"), "failed: t.lua:2: delay: expected at least 2, got 1.5");
}

TEST(Script, ReadIsAnsweredAndCompletes) {
  const std::string body = std::string(one_read) + R"(
expect { "RC_RDMA_READ_REQUEST" }
local data = pattern(700)
rc:respond_read { psn = rc.psn(0), data = data }
rc.dut:expect_completion { data = data }
rc:close { flushed = 0 }
)";
  EXPECT_EQ(verdict(body), "passed");
  EXPECT_EQ(verdict(body, "response-wrong-place").substr(0, 41), "failed: t.lua:9: data in the DUT's memory");
}

TEST(Script, MessagesOfTheTester) {
  EXPECT_EQ(verdict(R"(
local rc = open_rc {}
local data = pattern(600)
rc.dut:post_receive { length = 1000 }
rc:send_message { psn = rc.own_psn(0), data = data, immediate = 7 }
rc:expect_ack { psn = rc.own_psn(2), msn = 1 }
rc.dut:expect_completion { receive = true, data = data, immediate = 7 }
rc:write_message { psn = rc.own_psn(3), data = data }
rc:expect_ack { psn = rc.own_psn(5), msn = 2 }
assert(rc.dut:memory(0, 600) == data)
rc:close { flushed = 0 }
)"),
            "passed");
}

TEST(Script, MessagesOfTheDut) {
  EXPECT_EQ(verdict(R"(
local rc = open_rc {}
local data = pattern(600)
rc.dut:post_send { data = data }
rc:expect_send { psn = rc.psn(0), data = data }
rc:acknowledge { psn = rc.psn(2), msn = 1 }
rc.dut:expect_completion()
rc.dut:post_fetch_add { va = 0x1000, add = 5 }
expect { "RC_FETCH_ADD", psn = rc.psn(3), atomiceth = { va = 0x1000, swapdt = 5 } }
send { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.psn(3), aeth = { syndrome = ACK, msn = 2 }, atomicacketh = { origremdt = 17 } }
rc.dut:expect_completion { original = 17 }
rc:close { flushed = 0 }
)"),
            "passed");
}

TEST(Script, SendsWhatIsWrong) {
  const std::string open = R"(
local rc = open_rc {}
allow {}  -- what the DUT makes of it is not looked at
)";
  const auto packet_is = [&](const std::string& draft, const std::string& condition) {
    EXPECT_EQ(verdict(open + "local p = send { " + draft + " }\nassert(" + condition + ")"), "passed")
        << draft;
  };
  packet_is("'RC_SEND_ONLY', psn = rc.own_psn(0), payload = 'abcde'", "p.bth.padcnt == 3 and p.payload == 'abcde' and p.bth.a == 1");
  packet_is("'RC_SEND_ONLY', psn = rc.own_psn(0), a = 0", "p.bth.a == 0");
  packet_is("'RC_SEND_ONLY', psn = rc.own_psn(0), bth = { tver = 1, padcnt = 2 }", "p.bth.tver == 1 and p.bth.padcnt == 2");
  packet_is("'RC_SEND_ONLY', psn = rc.own_psn(0), icrc_xor = 1", "p.invariant['crc.status'] == 0");
  packet_is("'RC_SEND_ONLY', psn = rc.own_psn(0), to = 0x123456", "p.bth.destqp == 0x123456");
  packet_is("'RC_RDMA_WRITE_ONLY', psn = rc.own_psn(0), payload = 'abcd'",
            "p.reth.va == rc.remote_va and p.reth.r_key == rc.remote_r_key and p.reth.dmalen == 4");
  packet_is("'RC_ACKNOWLEDGE', psn = rc.psn(0), aeth = { syndrome = RNR(31), msn = 5 }", "p.aeth.syndrome == 0x3f");
  packet_is("0x15, psn = rc.own_psn(0)", "p.bth.opcode == 0x15");
  packet_is("'RC_RDMA_WRITE_ONLY', psn = rc.own_psn(0), headers = {}", "p.psn == rc.own_psn(0)");
  EXPECT_EQ(verdict(open + "send { 'RC_SEND_ONLY' }"),
            "error: t.lua:5: send: psn is missing; rc.own_psn(n) for requests, rc.psn(n) for responses");
}

TEST(Script, ViolationsOfTheDutFail) {
  const std::string body = std::string(one_read) + "expect {}\nrc:close()";
  EXPECT_EQ(verdict(body), "passed");
  EXPECT_EQ(verdict(body, "reserved-bits-set").substr(0, 38), "failed: t.lua: the DUT breaks rule F-1");
  EXPECT_EQ(verdict(body, "tver-one").substr(0, 38), "failed: t.lua: the DUT breaks rule F-0");
  EXPECT_EQ(verdict(body, "wrong-p-key").substr(0, 46), "failed: t.lua:5: infiniband.bth.p_key: expecte");
  // Not looked at by the script, but known to the rules.
  EXPECT_EQ(verdict(std::string(one_read) + "expect { p_key = any }", "wrong-p-key").substr(0, 39),
            "failed: t.lua: the DUT breaks rule F-13");
  EXPECT_EQ(verdict(body, "wrong-icrc").substr(0, 49), "failed: t.lua:5: infiniband.invariant.crc: expect");
}

TEST(Script, PartsHaveTheirOwnVerdicts) {
  EXPECT_EQ(verdict(R"(
sub("a", function() fail("no") end)
sub("b", function() open_rc() end)
sub("c", function() skip("later") end)
)"),
            "T/a failed: t.lua:3: no\nT/b passed\nT/c skipped: t.lua:5: later");
}

TEST(Script, NeedsThatAreNotMet) {
  ModelOnMemory bench = open_model(ModelOptions{});
  const ScriptRun got = run_script({"t.lua", "test { id = 'T', title = 't', needs = { initiator_depth = 200 } }"},
                                   *bench.wire, *bench.dut, {});
  EXPECT_EQ(verdict(got).substr(0, 56), "not applicable: t.lua:1: needs initiator depth 200: mode");
}

TEST(Script, TheFirstStatementIsTest) {
  ModelOnMemory bench = open_model(ModelOptions{});
  EXPECT_EQ(verdict(run_script({"t.lua", "open_rc()"}, *bench.wire, *bench.dut, {})),
            "error: t.lua:1: the first statement of a script is test{...}");
  EXPECT_EQ(verdict(run_script({"t.lua", ""}, *bench.wire, *bench.dut, {})),
            "error: t.lua: the first statement of a script is test{...}");
  const Result<ScriptHead> head = head_of({"t.lua", "test { id = 'A', title = 'b', covers = { 'c' } } nonsense()"});
  ASSERT_TRUE(head) << head.error();
  EXPECT_EQ(head->id + head->title + head->covers.at(0), "Abc");
}

// ---- the manual

TEST(Scripts, TheManualNamesEveryFunctionAndOption) {
  std::ifstream file(RDMASCOPE_SOURCE "/replay/SCRIPTS.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string manual = text.str();
  ASSERT_FALSE(manual.empty());
  for (const Vocabulary& word : script_vocabulary()) {
    const std::string mark = "`" + word.name + "`";
    EXPECT_NE(manual.find(mark), std::string::npos) << "SCRIPTS.md does not name " << word.name;
    for (const std::string& option : word.options)
      EXPECT_NE(manual.find("`" + option + "`"), std::string::npos)
          << "SCRIPTS.md does not name option " << option << " of " << word.name;
  }
}

}  // namespace
}  // namespace rdmascope::replay
