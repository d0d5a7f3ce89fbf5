// A conformance test as a Lua script (SCRIPTS.md), run against a device over a wire.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/report.h"
#include "replay/sandbox.h"
#include "replay/tester.h"

namespace rdmascope::replay {

struct Script {
  std::string name;  // "c09_060_05.lua"
  std::string source;
};
Result<Script> read_script(const std::string& path);

// What the first statement of a script, test{...}, says of it.
struct ScriptHead {
  std::string id, title;
  std::vector<std::string> covers;
  // What it is about, if not queue pairs. Management datagrams: "switch", "ca" or "any" node; the CDI probe: "cdi-tx" or
  // "cdi-rx".
  std::string node{};
};
Result<ScriptHead> head_of(const Script& script, SandboxLimits limits = {});

struct ScriptOptions {
  TesterOptions tester;
  SandboxLimits limits;
  std::function<bool(const std::string& id)> wants;  // parts with their own verdict ("ID/name"); empty: all
  std::function<void(const std::string& id)> begins{};  // a part with its own verdict
};

struct ScriptRun {
  ScriptReport report;
  std::vector<KeptFrame> frames;
  std::vector<KeptCompletion> completions;  // oldest first
};
// Never fails: what goes wrong is a verdict.
ScriptRun run_script(const Script& script, Wire& wire, Dut& dut, const ScriptOptions& options);

// Every function scripts can call with its options, and every constant, for the test that holds SCRIPTS.md against
// them.
struct Vocabulary {
  std::string name;  // "rc.dut:post_read", "expect", "ACK"
  std::vector<std::string> options;
};
std::vector<Vocabulary> script_vocabulary();

}  // namespace rdmascope::replay
