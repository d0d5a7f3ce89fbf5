// What scripts say to the device under test: open a connection, post, poll, look into its memory. SCRIPTS.md has the
// reference.
#include <fmt/format.h>

#include <algorithm>

#include "replay/script_call.h"

namespace rdmascope::replay {
namespace {

using enum Function::Where;

constexpr std::uint32_t most_region = 64 << 20, most_work = 10'000;
// Where the DUT is told to read and write when a script does not care; nobody needs to have it.
constexpr std::uint64_t default_va = 0x10000000;
constexpr std::uint32_t default_r_key = 0x1234;

const std::vector<std::string_view> open_options = {
    "mtu",           "ack_timeout",     "retry_count",         "rnr_retry",
    "min_rnr_timer", "initiator_depth", "responder_resources", "dut_psn",
    "tester_psn",    "q_key",           "remote_read",         "remote_write",
    "remote_atomic", "local_bytes",     "remote_bytes"};

int open(Call& call, Service service, std::string_view name) {
  const Options given(call.state, call.first, name, open_options);
  ChannelOptions options;
  options.service = service;
  const auto set = [&](const char* option, auto& value, std::uint64_t largest) {
    if (const auto n = given.number(option, largest)) value = static_cast<std::remove_reference_t<decltype(value)>>(*n);
  };
  set("mtu", options.pmtu, 4096);
  if (options.pmtu < 256 || (options.pmtu & (options.pmtu - 1)) != 0)
    wrong(fmt::format("{}: mtu is 256, 512, 1024, 2048 or 4096", name));
  set("ack_timeout", options.ack_timeout, 31);
  set("retry_count", options.retry_count, 7);
  set("rnr_retry", options.rnr_retry, 7);
  set("min_rnr_timer", options.min_rnr_timer, 31);
  set("initiator_depth", options.initiator_depth, 255);
  set("responder_resources", options.responder_resources, 255);
  set("dut_psn", options.dut_psn, 0xffffff);
  set("tester_psn", options.tester_psn, 0xffffff);
  set("q_key", options.q_key, 0xffffffff);
  set("local_bytes", options.local_bytes, most_region);
  set("remote_bytes", options.remote_bytes, most_region);
  options.allow_remote_read = given.flag("remote_read").value_or(options.allow_remote_read);
  options.allow_remote_write = given.flag("remote_write").value_or(options.allow_remote_write);
  options.allow_remote_atomic = given.flag("remote_atomic").value_or(options.allow_remote_atomic);
  bool psns_given[2] = {given.has("dut_psn"), given.has("tester_psn")};
  Connection& c = call.tester().open(options, psns_given, given.has("initiator_depth"));

  lua_State* const state = call.state;
  lua_newtable(state);
  const auto field = [state](const char* key, std::uint64_t value) {
    lua_pushinteger(state, static_cast<lua_Integer>(value));
    lua_setfield(state, -2, key);
  };
  static constexpr const char* services[] = {"RC", "UC", "UD"};
  lua_pushstring(state, services[static_cast<std::size_t>(service)]);
  lua_setfield(state, -2, "service");
  field("mtu", c.options.pmtu);
  field("qpn", c.channel.qpn);
  field("tester_qpn", c.options.tester_qpn);
  field("p_key", c.channel.p_key);
  field("q_key", c.options.q_key);
  field("remote_va", c.channel.remote_va);
  field("remote_r_key", c.channel.remote_r_key);
  field("remote_bytes", c.options.remote_bytes);
  field("initiator_depth", c.channel.initiator_depth);
  field("responder_resources", c.channel.responder_resources);
  push_functions(state, packet_functions(), packets, c.id);
  push_functions(state, packet_functions(), connection, c.id);
  lua_getfield(state, LUA_REGISTRYINDEX, "rdmascope.methods");  // those written in Lua
  for (lua_pushnil(state); lua_next(state, -2) != 0;) {
    lua_pushvalue(state, -2);
    lua_insert(state, -2);    // table, methods, key, key, value
    lua_settable(state, -5);  // leaves the key for lua_next
  }
  lua_pop(state, 1);
  lua_newtable(state);
  push_functions(state, dut_functions(), dut, c.id);
  make_strict(state, "rc.dut");
  lua_setfield(state, -2, "dut");
  make_strict(state, "a connection");
  return 1;
}

int open_rc(Call& call) { return open(call, Service::rc, "open_rc"); }
int open_uc(Call& call) { return open(call, Service::uc, "open_uc"); }
int open_ud(Call& call) { return open(call, Service::ud, "open_ud"); }

const std::vector<std::string_view> send_options = {"count",    "length",    "data",  "immediate", "invalidate",
                                                    "signaled", "solicited", "fence", "qpn",       "q_key"};
const std::vector<std::string_view> write_options = {"count",     "length",   "data",      "va",   "rkey",
                                                     "immediate", "signaled", "solicited", "fence"};
const std::vector<std::string_view> read_options = {"count", "length", "va", "rkey", "signaled", "fence"};
const std::vector<std::string_view> swap_options = {"count", "va", "rkey", "compare", "swap", "signaled", "fence"};
const std::vector<std::string_view> add_options = {"count", "va", "rkey", "add", "signaled", "fence"};

int post(Call& call, WorkRequest request, const Options& given) {
  Connection& c = call.on();
  request.va = given.number("va", ~0ULL).value_or(default_va);
  request.r_key = given.number32("rkey").value_or(default_r_key);
  request.length = given.number32("length", most_region).value_or(0);
  request.signaled = given.flag("signaled").value_or(true);
  request.solicited = given.flag("solicited").value_or(false);
  request.fence = given.flag("fence").value_or(false);
  request.remote_qpn = given.number32("qpn", 0xffffff).value_or(c.options.tester_qpn);
  request.remote_q_key = given.number32("q_key").value_or(c.options.q_key);
  const std::vector<std::uint64_t> ids =
      call.tester().post(c, request, given.number32("count", most_work).value_or(1), given.text("data"));
  luaL_checkstack(call.state, static_cast<int>(ids.size()) + 8, "too many requests");
  for (std::uint64_t id : ids) lua_pushinteger(call.state, static_cast<lua_Integer>(id));
  return static_cast<int>(ids.size());
}

int post_send(Call& call) {
  const Options given(call.state, call.first, "post_send", send_options);
  WorkRequest request;
  if (const auto immediate = given.number32("immediate")) {
    request.work = Work::send_with_immediate;
    request.immediate = *immediate;
  } else if (const auto key = given.number32("invalidate")) {
    request.work = Work::send_with_invalidate;
    request.immediate = *key;
  }
  return post(call, request, given);
}

int post_write(Call& call) {
  const Options given(call.state, call.first, "post_write", write_options);
  WorkRequest request;
  request.work = Work::write;
  if (const auto immediate = given.number32("immediate")) {
    request.work = Work::write_with_immediate;
    request.immediate = *immediate;
  }
  return post(call, request, given);
}

int post_read(Call& call) {
  const Options given(call.state, call.first, "post_read", read_options);
  WorkRequest request;
  request.work = Work::read;
  return post(call, request, given);
}

int post_compare_swap(Call& call) {
  const Options given(call.state, call.first, "post_compare_swap", swap_options);
  WorkRequest request;
  request.work = Work::compare_swap;
  request.compare = given.number("compare", ~0ULL).value_or(0);
  request.operand = given.number("swap", ~0ULL).value_or(0);
  return post(call, request, given);
}

int post_fetch_add(Call& call) {
  const Options given(call.state, call.first, "post_fetch_add", add_options);
  WorkRequest request;
  request.work = Work::fetch_add;
  request.operand = given.number("add", ~0ULL).value_or(0);
  return post(call, request, given);
}

int post_receive(Call& call) {
  static constexpr std::string_view known[] = {"count", "length"};
  const Options given(call.state, call.first, "post_receive", known);
  const std::vector<std::uint64_t> ids = call.tester().post_receive(
      call.on(), given.number32("count", most_work).value_or(1), given.number32("length", most_region).value_or(4096));
  luaL_checkstack(call.state, static_cast<int>(ids.size()) + 8, "too many requests");
  for (std::uint64_t id : ids) lua_pushinteger(call.state, static_cast<lua_Integer>(id));
  return static_cast<int>(ids.size());
}

const std::vector<std::string_view> completion_options = {"count",    "status", "receive",   "of",          "data",
                                                          "original", "bytes",  "immediate", "invalidated", "within"};

int take_completions(Call& call, const char* function, CompletionWanted wanted) {
  const Options given(call.state, call.first, function, completion_options);
  wanted.count = given.number32("count", most_work).value_or(1);
  given.push("status");
  if (is_any(call.state, -1)) {
    wanted.status.reset();
  } else if (const std::optional<std::string> status = given.text("status")) {
    wanted.status = status_by_name(*status);
    if (!wanted.status) wrong(fmt::format("{}: no such status: {}", function, *status));
  }
  lua_pop(call.state, 1);
  wanted.is_receive = given.flag("receive").value_or(false);
  wanted.id = given.number("of", ~0ULL);
  wanted.data = given.text("data");
  wanted.original = given.number("original", ~0ULL);
  wanted.bytes = given.number32("bytes");
  wanted.immediate = given.number32("immediate");
  wanted.invalidated_r_key = given.number32("invalidated");
  wanted.within_ns = given.duration_ns("within").value_or(wanted.within_ns);
  Connection& c = call.on();
  const std::vector<Completion> completions = call.tester().expect_completion(c, wanted);
  lua_State* const state = call.state;
  luaL_checkstack(state, static_cast<int>(completions.size()) + 8, "too many completions");
  for (const Completion& completion : completions) {
    lua_newtable(state);
    const std::string_view status = name(completion.status);
    lua_pushlstring(state, status.data(), status.size());
    lua_setfield(state, -2, "status");
    const auto field = [state](const char* key, std::uint64_t value) {
      lua_pushinteger(state, static_cast<lua_Integer>(value));
      lua_setfield(state, -2, key);
    };
    field("of", completion.id);
    field("bytes", completion.bytes);
    if (completion.immediate) field("immediate", *completion.immediate);
    if (completion.invalidated_r_key) field("invalidated", *completion.invalidated_r_key);
  }
  return static_cast<int>(completions.size());
}

int expect_completion(Call& call) { return take_completions(call, "expect_completion", {}); }

int maybe_completion(Call& call) {
  return take_completions(call, "maybe_completion", {.within_ns = 100'000'000, .must_come = false});
}

int expect_no_completion(Call& call) {
  static constexpr std::string_view known[] = {"within"};
  const Options given(call.state, call.first, "expect_no_completion", known);
  call.tester().expect_no_completion(call.on(), given.duration_ns("within").value_or(100'000'000));
  return 0;
}

int expect_state(Call& call) {
  const char* word = luaL_checkstring(call.state, call.first);
  static constexpr std::pair<std::string_view, QpState> states[] = {{"ready", QpState::ready},
                                                                    {"error", QpState::error}};
  const auto known = std::find_if(std::begin(states), std::end(states), [&](const auto& s) { return s.first == word; });
  if (known == std::end(states)) wrong(fmt::format("expect_state: no such state: {}; ready or error", word));
  call.tester().expect_state(call.on(), known->second, Tester::default_within_ns);
  return 0;
}

Region region_at(const Call& call, int index) {
  const std::string_view word = luaL_optstring(call.state, index, "remote");
  if (word == "remote") return Region::remote;
  if (word == "local") return Region::local;
  wrong(fmt::format("no such memory: {}; remote or local", word));
}

int memory(Call& call) {
  const std::uint64_t offset = number_at(call.state, call.first, "offset"),
                      length = number_at(call.state, call.first + 1, "length");
  const Region region = region_at(call, call.first + 2);
  if (offset > most_region || length > most_region) wrong("memory: offset or length is beyond any region");
  const std::string bytes = call.tester().read_memory(call.on(), region, static_cast<std::uint32_t>(offset),
                                                      static_cast<std::uint32_t>(length));
  lua_pushlstring(call.state, bytes.data(), bytes.size());
  return 1;
}

int write_memory(Call& call) {
  const std::uint64_t offset = number_at(call.state, call.first, "offset");
  std::size_t length = 0;
  const char* bytes = luaL_checklstring(call.state, call.first + 1, &length);
  const Region region = region_at(call, call.first + 2);
  if (offset > most_region) wrong("write_memory: offset is beyond any region");
  call.tester().write_memory(call.on(), region, static_cast<std::uint32_t>(offset), {bytes, length});
  return 0;
}

const Function functions[] = {
    {"open_rc", global, open_rc, open_options},
    {"open_uc", global, open_uc, open_options},
    {"open_ud", global, open_ud, open_options},
    {"post_send", dut, post_send, send_options},
    {"post_write", dut, post_write, write_options},
    {"post_read", dut, post_read, read_options},
    {"post_compare_swap", dut, post_compare_swap, swap_options},
    {"post_fetch_add", dut, post_fetch_add, add_options},
    {"post_receive", dut, post_receive, {"count", "length"}},
    {"expect_completion", dut, expect_completion, completion_options},
    {"maybe_completion", dut, maybe_completion, completion_options},
    {"expect_no_completion", dut, expect_no_completion, {"within"}},
    {"expect_state", dut, expect_state, {}},
    {"memory", dut, memory, {}},
    {"write_memory", dut, write_memory, {}},
};

}  // namespace

std::span<const Function> dut_functions() { return functions; }

}  // namespace rdmascope::replay
