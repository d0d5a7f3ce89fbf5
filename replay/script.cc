#include "replay/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "dissect/aeth.h"
#include "replay/cdi_tester.h"
#include "replay/mad_tester.h"
#include "replay/script_call.h"

namespace rdmascope::replay {

extern const char* const prelude_source;  // prelude.lua

namespace {

using enum Function::Where;

constexpr std::size_t most_source_bytes = 1 << 20, most_data = 16 << 20, longest_print = 2000;
// The error value of a script that was ended by a Stop; the Stop itself is in Play.
char stop_mark;

// The line of the script that led here; what the prelude does happens at the line that called it.
int current_line(lua_State* state, const Play& play) {
  lua_Debug info;
  const std::string source = "@" + play.script.name;
  for (int level = 0; lua_getstack(state, level, &info); ++level)
    if (lua_getinfo(state, "Sl", &info) && source == info.source) return info.currentline;
  return 0;
}

std::string located(const Play& play, int line, std::string_view message) {
  return line > 0 ? fmt::format("{}:{}: {}", play.script.name, line, message)
                  : fmt::format("{}: {}", play.script.name, message);
}

// Runs a declared function; upvalues are the function and the connection. The only place where a Stop becomes a Lua
// error.
int invoke(lua_State* state) {
  const Function& function = *static_cast<const Function*>(lua_touserdata(state, lua_upvalueindex(1)));
  const auto connection = static_cast<std::uint32_t>(lua_tointeger(state, lua_upvalueindex(2)));
  Play& play = play_of(state);
  // rc:expect{} and rc.expect{} are the same.
  int first = 1;
  if (connection != 0 && lua_istable(state, 1) && lua_getmetatable(state, 1)) {
    lua_pop(state, 1);
    first = 2;
  }
  const int line = current_line(state, play);
  try {
    if (!play.tester && function.name != "test") wrong("the first statement of a script is test{...}");
    if (!play.has_head && function.name != "test" && function.name != "pattern")
      wrong("the first statement of a script is test{...}");
    if (play.tester) play.tester->at(line);
    Call call{state, play, connection, first};
    return function.run(call);
  } catch (Stop& stop) {
    stop.message = located(play, line, stop.message);
    play.stop = std::move(stop);
  }
  lua_pushlightuserdata(state, &stop_mark);
  return lua_error(state);
}

// FNV-1a: the same on every machine.
std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// What needs{} may ask for.
const std::vector<std::string_view> need_options = {
    "initiator_depth", "responder_resources", "mtu",  "atomics", "send_with_invalidate",
    "flush",           "atomic_write",        "wire", "mads",    "lid",
    "cdi"};

// What kind of node a test is about, of needs{ mads = }: true is any.
constexpr std::string_view any_node = "any";
std::optional<std::string> node_type_of(const Options& needs) {
  if (!needs.has("mads")) return std::nullopt;
  needs.push("mads");
  lua_State* const state = needs.state();
  std::string out(any_node);
  if (lua_type(state, -1) == LUA_TSTRING) out = lua_tostring(state, -1);
  lua_pop(state, 1);
  if (out != any_node && out != "switch" && out != "ca") wrong("needs: mads is true, \"switch\" or \"ca\"");
  return out;
}

// Which end of the CDI probe a test is about, of needs{ cdi = }.
std::optional<std::string> cdi_role_of(const Options& needs) {
  const std::optional<std::string> role = needs.text("cdi");
  if (role && *role != "tx" && *role != "rx") wrong("needs: cdi is \"tx\" or \"rx\"");
  return role;
}

std::optional<std::string> unmet(const Options& needs, Tester& tester) {
  const DutInfo& info = tester.dut().info();
  const auto at_least = [&](const char* option, std::uint32_t has, const char* what) -> std::optional<std::string> {
    const auto wanted = needs.number32(option);
    if (!wanted || *wanted <= has) return std::nullopt;
    return fmt::format("{} {}: {} has {}", what, *wanted, info.name, has);
  };
  if (auto why = at_least("initiator_depth", info.max_initiator_depth, "initiator depth")) return why;
  if (auto why = at_least("responder_resources", info.max_responder_resources, "responder resources")) return why;
  if (auto why = at_least("mtu", info.max_pmtu, "path MTU")) return why;
  const std::pair<const char*, bool> abilities[] = {{"atomics", info.atomics},
                                                    {"send_with_invalidate", info.send_with_invalidate},
                                                    {"flush", info.flush},
                                                    {"atomic_write", info.atomic_write}};
  for (const auto& [option, has] : abilities)
    if (needs.flag(option).value_or(false) && !has) return fmt::format("{}: {} cannot do it", option, info.name);
  if (const std::optional<std::string> type = node_type_of(needs)) {
    const MadTester::Node& node = tester.mads().node();
    const std::string_view is = node_type(node.type);
    if (*type != any_node && *type != is) return fmt::format("a {}: {} is a {}", *type, info.name, is);
  }
  if (const std::optional<std::string> role = cdi_role_of(needs)) {
    if (!info.cdi) return fmt::format("the CDI probe: {} does not speak it", info.name);
    if (info.cdi->transmits != (*role == "tx"))
      return fmt::format("a CDI {}: {} is the other end", *role == "tx" ? "transmitter" : "receiver", info.name);
  }
  if (needs.flag("lid").value_or(false) && tester.mads().lid() == 0)
    return fmt::format("a LID: {} has none; let a subnet manager run, or name it with --dut node:lid=N", info.name);
  const std::vector<std::string> wires = needs.texts("wire");
  if (!wires.empty() && std::find(wires.begin(), wires.end(), tester.wire().name()) == wires.end())
    return fmt::format("a wire that is {}, not {}", fmt::join(wires, " or "), tester.wire().name());
  return std::nullopt;
}

const std::vector<std::string_view> test_options = {"id", "title", "covers", "needs", "allow_rules"};

int test(Call& call) {
  Play& play = call.play;
  if (play.has_head) wrong("test{...} stands once, at the start");
  const Options options(call.state, call.first, "test", test_options);
  play.head.id = options.text("id").value_or("");
  play.head.title = options.text("title").value_or("");
  play.head.covers = options.texts("covers");
  if (play.head.id.empty() || play.head.title.empty()) wrong("test: id and title say what it proves");
  play.allowed_rules = options.texts("allow_rules");
  options.push("needs");
  const Options needs(call.state, -1, "needs", need_options);
  play.head.node = node_type_of(needs).value_or("");
  if (const std::optional<std::string> role = cdi_role_of(needs)) play.head.node = "cdi-" + *role;
  play.has_head = true;
  if (!play.tester) throw Stop{Verdict::passed, {}};
  if (const std::optional<std::string> why = unmet(needs, *play.tester))
    throw Stop{Verdict::not_applicable, "needs " + *why};
  return 0;
}

int skip(Call& call) { throw Stop{Verdict::skipped, luaL_optstring(call.state, call.first, "no reason given")}; }

int not_applicable(Call& call) {
  throw Stop{Verdict::not_applicable, luaL_optstring(call.state, call.first, "no reason given")};
}

int fail(Call& call) { throw Stop{Verdict::failed, luaL_optstring(call.state, call.first, "the script says so")}; }

int check_true(Call& call) {
  luaL_checkany(call.state, call.first);
  if (lua_toboolean(call.state, call.first)) return lua_gettop(call.state) - call.first + 1;
  throw Stop{Verdict::failed, luaL_optstring(call.state, call.first + 1, "assertion failed")};
}

std::string text_of(lua_State* state, int index) {
  std::size_t length = 0;
  const char* text = luaL_tolstring(state, index, &length);
  std::string out(text, std::min(length, longest_print));
  lua_pop(state, 1);
  return out;
}

// check("time until it is sent again", value, {min = 491.52}): unlike fields of packets, numbers may be fractions.
bool holds(lua_State* state, int value, int wanted, std::string& shown) {
  if (is_any(state, wanted)) return true;
  if (lua_istable(state, wanted)) {
    lua_getfield(state, wanted, "min");
    lua_getfield(state, wanted, "max");
    const int min = lua_gettop(state) - 1, max = min + 1;
    bool good = true;
    if (lua_isnil(state, min) && lua_isnil(state, max)) {  // a list: any of them
      good = false;
      for (lua_Integer i = 1; lua_geti(state, wanted, i) != LUA_TNIL && i <= 1000; ++i) {
        shown += (shown.empty() ? "" : " or ") + text_of(state, -1);
        good = good || lua_compare(state, value, -1, LUA_OPEQ) != 0;
        lua_pop(state, 1);
      }
      if (shown.empty()) wrong("check: a table is a range {min=, max=} or a list of values");
      lua_pop(state, 3);
      return good;
    }
    if (!lua_isnil(state, min)) {
      shown = "at least " + text_of(state, min);
      good = lua_compare(state, min, value, LUA_OPLE) != 0;
    }
    if (!lua_isnil(state, max)) {
      shown += (shown.empty() ? "" : " and ") + ("at most " + text_of(state, max));
      good = good && lua_compare(state, value, max, LUA_OPLE) != 0;
    }
    lua_pop(state, 2);
    return good;
  }
  shown = text_of(state, wanted);
  return lua_compare(state, value, wanted, LUA_OPEQ) != 0;
}

int check_value(Call& call) {
  lua_State* const state = call.state;
  const std::string what = luaL_checkstring(state, call.first);
  const int value = call.first + 1, wanted = call.first + 2;
  luaL_checkany(state, wanted);
  std::string shown;
  call.tester().tell(Event::Kind::step, "check " + what);
  if (holds(state, value, wanted, shown)) return 0;
  call.tester().events().back().good = false;
  throw Stop{Verdict::failed, fmt::format("{}: expected {}, got {}", what, shown, text_of(state, value))};
}

int print(Call& call) {
  std::string line;
  for (int i = call.first; i <= lua_gettop(call.state) && line.size() < longest_print; ++i)
    line += (i > call.first ? " " : "") + text_of(call.state, i);
  call.tester().tell(Event::Kind::printed, std::move(line));
  return 0;
}

// Stands below the verdict, whatever it is.
int note(Call& call) {
  call.play.notes.emplace_back(luaL_checkstring(call.state, call.first));
  return 0;
}

int sampled(Call& call) {
  lua_pushboolean(call.state, call.tester().options().sampled);
  return 1;
}

// Bytes that differ from place to place, so that any mix-up shows.
int pattern(Call& call) {
  const std::uint64_t count = number_at(call.state, call.first, "pattern: how many bytes");
  if (count > most_data) wrong(fmt::format("pattern: at most {} bytes", most_data));
  std::uint64_t x =
      0x9e3779b97f4a7c15ULL *
      (lua_isnoneornil(call.state, call.first + 1) ? 1 : number_at(call.state, call.first + 1, "pattern: seed") + 1);
  std::string out(count, '\0');
  for (char& c : out) {  // xorshift64
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    c = static_cast<char>(x >> 32);
  }
  lua_pushlstring(call.state, out.data(), out.size());
  return 1;
}

int wait(Call& call) {
  call.tester().wait(duration_at(call.state, call.first, "wait"));
  return 0;
}

int now(Call& call) {
  lua_pushnumber(call.state, static_cast<double>(call.tester().now_ns()) / 1e6);
  return 1;
}

std::uint64_t code_at(const Call& call, const char* what) {
  const std::uint64_t code = number_at(call.state, call.first, what);
  if (code > 31) wrong(fmt::format("{} is 0 to 31", what));
  return code;
}

int rnr(Call& call) {
  lua_pushinteger(call.state, static_cast<lua_Integer>(0x20 | code_at(call, "RNR timer code")));
  return 1;
}

int rnr_timer_ms(Call& call) {
  lua_pushnumber(call.state, dissect::rnr_timer_10us[code_at(call, "RNR timer code")] / 100.0);
  return 1;
}

int ack_timeout_ms(Call& call) {
  const std::uint64_t code = code_at(call, "ACK timeout code");
  lua_pushnumber(call.state, code == 0 ? HUGE_VAL : 0.004096 * static_cast<double>(1ULL << code));
  return 1;
}

// ---- verdicts

// Runs `body`, which says whether the Lua code went through, then looks at what is left over, and gives the verdict.
template <class Body>
void play_case(Play& play, Case& c, std::uint32_t first_connection, Body body) {
  Tester& tester = *play.tester;
  const std::int64_t begin_ns = tester.now_ns();
  const std::uint64_t first_frame = tester.frames().size() + 1;
  const std::uint32_t first_peer = tester.uses_cdi() ? tester.cdi().peers() : 0;
  std::vector<std::string> outer_notes = std::exchange(play.notes, {});
  play.stop.reset();
  std::optional<std::string> error = body();  // the sentence of what was no Stop
  std::optional<Stop> stop = std::move(play.stop);
  play.stop.reset();
  if (play.sandbox.stopped().empty() == false) {
    stop.reset();
    error = located(play, 0, play.sandbox.stopped());
  }
  if (!error && !stop) {
    tester.at(0);
    try {
      tester.close_all(first_connection);
      if (tester.uses_mads()) tester.mads().finish();
    } catch (Stop& left) {
      left.message = located(play, 0, left.message);
      stop = std::move(left);
    }
  }
  tester.abandon(first_connection);
  if (tester.uses_mads()) tester.mads().abandon();
  if (tester.uses_cdi()) tester.cdi().close(first_peer);
  if (stop) {
    c.verdict = stop->verdict;
    c.message = std::move(stop->message);
    c.details = std::move(stop->details);
  } else if (error) {
    c.verdict = Verdict::error;
    c.message = std::move(*error);
  }
  if (c.verdict == Verdict::passed || c.verdict == Verdict::failed) {
    std::vector<std::uint32_t> connections;
    for (std::uint32_t id = first_connection + 1; id <= tester.last_connection(); ++id)
      if (std::find(play.judged.begin(), play.judged.end(), id) == play.judged.end()) connections.push_back(id);
    std::vector<std::string> violations = tester.judge(connections, play.allowed_rules, first_frame);
    play.judged.insert(play.judged.end(), connections.begin(), connections.end());
    if (!violations.empty() && c.verdict == Verdict::passed) {
      c.verdict = Verdict::failed;
      c.message = located(play, 0, violations.front());
      violations.erase(violations.begin());
    }
    for (std::string& violation : violations) c.details.push_back(std::move(violation));
  }
  for (std::string& text : std::exchange(play.notes, std::move(outer_notes))) c.details.push_back(std::move(text));
  c.duration_ns = tester.now_ns() - begin_ns;
}

int sub(Call& call) {
  Play& play = call.play;
  lua_State* const state = call.state;
  if (play.in_sub) wrong("a sub inside a sub");
  const std::string part = luaL_checkstring(state, call.first);
  luaL_checktype(state, call.first + 1, LUA_TFUNCTION);
  Case c;
  c.id = play.head.id + "/" + part;
  c.title = play.head.title;
  c.covers = play.head.covers;
  for (const Case& earlier : play.finished)
    if (earlier.id == c.id) wrong(fmt::format("two parts are called {}", part));
  if (play.options.wants && !play.options.wants(c.id)) return 0;
  if (play.options.begins) play.options.begins(c.id);
  play.in_sub = part;
  Tester& tester = call.tester();
  const std::size_t events = tester.events().size();
  play_case(play, c, tester.last_connection(), [&]() -> std::optional<std::string> {
    lua_pushvalue(state, call.first + 1);
    const int status = play.sandbox.protected_call(0);
    if (status == LUA_OK) return std::nullopt;
    std::optional<std::string> error;
    if (!play.stop) error = play.sandbox.sentence(status);
    lua_pop(state, 1);
    return error;
  });
  play.in_sub.reset();
  const auto from = tester.events().begin() + static_cast<std::ptrdiff_t>(events);
  c.events.assign(std::make_move_iterator(from), std::make_move_iterator(tester.events().end()));
  tester.events().erase(from, tester.events().end());
  play.finished.push_back(std::move(c));
  if (!play.sandbox.stopped().empty()) wrong(play.sandbox.stopped());
  return 0;
}

const Function functions[] = {
    {"test", global, test, test_options},
    {"sub", global, sub, {}},
    {"skip", global, skip, {}},
    {"not_applicable", global, not_applicable, {}},
    {"fail", global, fail, {}},
    {"assert", global, check_true, {}},
    {"check", global, check_value, {}},
    {"print", global, print, {}},
    {"note", global, note, {}},
    {"sampled", global, sampled, {}},
    {"pattern", global, pattern, {}},
    {"wait", global, wait, {}},
    {"now", global, now, {}},
    {"RNR", global, rnr, {}},
    {"rnr_timer_ms", global, rnr_timer_ms, {}},
    {"ack_timeout_ms", global, ack_timeout_ms, {}},
};

int refuse_global(lua_State* state) {
  return luaL_error(state, "%s is not declared; write: local %s = ...", luaL_tolstring(state, 2, nullptr),
                    luaL_tolstring(state, 2, nullptr));
}

// Everything a script finds, into a fresh sandbox. Called under protection.
int furnish(lua_State* state) {
  register_values(state);
  lua_pushglobaltable(state);
  push_functions(state, test_functions(), global, 0);
  push_functions(state, dut_functions(), global, 0);
  push_functions(state, cdi_functions(), global, 0);
  push_functions(state, packet_functions(), packets, 0);
  lua_pop(state, 1);
  register_mads(state);
  if (luaL_loadbufferx(state, prelude_source, std::strlen(prelude_source), "=prelude", "t") != LUA_OK)
    return lua_error(state);
  lua_call(state, 0, 2);  // methods by name, and their options
  lua_setfield(state, LUA_REGISTRYINDEX, "rdmascope.method_options");
  lua_setfield(state, LUA_REGISTRYINDEX, "rdmascope.methods");
  // A misspelt name is an error, not nil.
  lua_pushglobaltable(state);
  make_strict(state, "this script");
  lua_getmetatable(state, -1);
  lua_pushcfunction(state, refuse_global);
  lua_setfield(state, -2, "__newindex");
  return 0;
}

void furnish(Play& play) {
  lua_State* const state = play.sandbox.state();
  lua_pushcfunction(state, [](lua_State* s) {
    lua_pushvalue(s, 1);
    lua_setfield(s, LUA_REGISTRYINDEX, "rdmascope.play");
    return furnish(s);
  });
  lua_pushlightuserdata(state, &play);
  if (const int status = lua_pcall(state, 1, 0, 0); status != LUA_OK)
    throw std::runtime_error(play.sandbox.sentence(status));
}

}  // namespace

Play& play_of(lua_State* state) {
  lua_getfield(state, LUA_REGISTRYINDEX, "rdmascope.play");
  Play& play = *static_cast<Play*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return play;
}

Tester& Call::tester() const { return *play.tester; }

Connection& Call::on() const { return connection == 0 ? tester().current() : tester().connection(connection); }

std::span<const Function> test_functions() { return functions; }

void push_functions(lua_State* state, std::span<const Function> all, Function::Where where, std::uint32_t connection) {
  for (const Function& function : all) {
    if (function.where != where) continue;
    lua_pushlightuserdata(state, const_cast<Function*>(&function));
    lua_pushinteger(state, connection);
    lua_pushcclosure(state, invoke, 2);
    lua_setfield(state, -2, std::string(function.name).c_str());
  }
}

Result<Script> read_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Error{fmt::format("cannot read {}: {}", path, std::strerror(errno ? errno : EIO))};
  Script script;
  script.name = path.substr(path.rfind('/') + 1);
  script.source = std::move(text).str();
  if (script.source.size() > most_source_bytes) return Error{fmt::format("{}: a script of more than 1 MB", path)};
  return script;
}

Result<ScriptHead> head_of(const Script& script, SandboxLimits limits) {
  ScriptOptions options;
  options.limits = limits;
  Play play{script, options, Sandbox(options.limits)};
  furnish(play);
  if (const Result<void> loaded = play.sandbox.load(script.source, script.name); !loaded) return Error{loaded.error()};
  const Result<void> called = play.sandbox.call();
  if (play.stop && play.stop->verdict == Verdict::error) return Error{play.stop->message};
  if (play.has_head) return play.head;
  return Error{called ? fmt::format("{}: the first statement of a script is test{{...}}", script.name)
                      : called.error()};
}

ScriptRun run_script(const Script& script, Wire& wire, Dut& dut, const ScriptOptions& options) {
  // Two scripts one after the other must not use the same queue pair numbers: packets of the first may be late.
  TesterOptions tester_options = options.tester;
  tester_options.seed = options.tester.seed * 0x100000001b3 + name_hash(script.name);
  Tester tester(wire, dut, tester_options);
  tester.set_script(script.name);
  Play play{script, options, Sandbox(options.limits), &tester};
  Case whole;
  try {
    furnish(play);
    play_case(play, whole, 0, [&]() -> std::optional<std::string> {
      if (const Result<void> r = play.sandbox.seed(options.tester.seed); !r) return r.error();
      if (const Result<void> r = play.sandbox.load(script.source, script.name); !r) return r.error();
      const Result<void> r = play.sandbox.call();
      if (!r && !play.stop) return r.error();
      return std::nullopt;
    });
  } catch (const Stop& stop) {
    whole.verdict = stop.verdict;
    whole.message = stop.message;
  }
  whole.id = play.has_head ? play.head.id : script.name;
  whole.title = play.head.title;
  whole.covers = play.head.covers;
  if (whole.verdict == Verdict::passed && !play.has_head) {
    whole.verdict = Verdict::error;
    whole.message = located(play, 0, "the first statement of a script is test{...}");
  }
  whole.events = std::move(tester.events());

  ScriptRun run;
  run.report.script = script.name;
  // A script of parts has no verdict of its own, unless something went wrong between them.
  const bool only_parts = !play.finished.empty() && whole.verdict == Verdict::passed;
  if (!only_parts) run.report.cases.push_back(std::move(whole));
  for (Case& part : play.finished) run.report.cases.push_back(std::move(part));
  run.frames = tester.take_frames();
  run.completions = tester.take_kept_completions();
  std::ranges::stable_sort(run.completions, {}, &KeptCompletion::time_ns);
  return run;
}

std::vector<Vocabulary> script_vocabulary() {
  std::vector<Vocabulary> out;
  for (const std::span<const Function> some : {test_functions(), dut_functions(), packet_functions(), mad_functions(),
                                                cdi_functions()})
    for (const Function& f : some) {
      static constexpr std::string_view prefix[] = {"", "", "rc:", "rc.dut:", "mad.", "tx:"};
      Vocabulary v{std::string(prefix[static_cast<std::size_t>(f.where)]) + std::string(f.name), {}};
      v.options.assign(f.options.begin(), f.options.end());
      out.push_back(std::move(v));
    }
  out.push_back({"needs", {need_options.begin(), need_options.end()}});
  for (const Constant& c : script_constants()) out.push_back({std::string(c.name), {}});
  out.push_back({"any", {}});
  out.push_back({"none", {}});
  const Script none;
  const ScriptOptions options;
  Play play{none, options, Sandbox(options.limits)};
  furnish(play);
  lua_State* const state = play.sandbox.state();
  lua_getfield(state, LUA_REGISTRYINDEX, "rdmascope.method_options");
  for (const std::string& name : keys_of(state, -1)) {
    lua_getfield(state, -1, name.c_str());
    Vocabulary v{"rc:" + name, {}};
    for (lua_Integer i = 1; lua_geti(state, -1, i) != LUA_TNIL; ++i) {
      v.options.emplace_back(lua_tostring(state, -1));
      lua_pop(state, 1);
    }
    lua_pop(state, 2);
    out.push_back(std::move(v));
  }
  return out;
}

}  // namespace rdmascope::replay
