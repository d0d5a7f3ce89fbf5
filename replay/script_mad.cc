// What scripts say in management datagrams: get, set, send, expect, pipeline. SCRIPTS.md has the reference.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dissect/headers.h"
#include "replay/mad_attributes.h"
#include "replay/mad_tester.h"
#include "replay/script_call.h"

namespace rdmascope::replay {
namespace {

using enum Function::Where;

constexpr const char* mad_type = "rdmascope.mad";
constexpr std::uint8_t method_get = 0x01, method_set = 0x02;
constexpr std::uint64_t most_loop = 1 << 24;

const std::vector<std::string_view> send_options = {"class", "method", "attribute", "modifier", "route", "lid",
                                                    "m_key", "tid",    "data",      "bytes",    "count"};
const std::vector<std::string_view> ask_options = {"class", "attribute", "modifier", "route", "lid",
                                                   "m_key", "tid",       "data",     "bytes", "status",
                                                   "echo",  "expect",    "within",   "tries"};
const std::vector<std::string_view> expect_options = {"to", "status", "echo", "within"};
const std::vector<std::string_view> pipeline_options = {"count", "request", "answer", "window"};

// Those keys of the table at `index` that name headers.
std::vector<std::string> headers_in(lua_State* state, int index, std::span<const std::string_view> options) {
  std::vector<std::string> out;
  for (std::string& key : keys_of(state, index))
    if (std::find(options.begin(), options.end(), key) == options.end() && dissect::find_header(key))
      out.push_back(std::move(key));
  return out;
}

// A number, or a name as the tables of `dissect` have it, in any case.
std::uint64_t value_at(lua_State* state, std::span<const dissect::ValueName> names, std::uint64_t largest,
                       std::string_view what) {
  if (lua_type(state, -1) != LUA_TSTRING) {
    const std::uint64_t n = number_at(state, -1, what);
    if (n > largest) wrong(fmt::format("{} is at most {}", what, largest));
    return n;
  }
  const std::string_view wanted = lua_tostring(state, -1);
  const auto same = [&](std::string_view name) {
    return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  };
  std::vector<std::string_view> all;
  for (const dissect::ValueName& n : names) {
    if (same(n.name)) return n.value;
    all.push_back(n.name);
  }
  wrong(fmt::format("no such {}: {}; there are {}", what, wanted, fmt::join(all, ", ")));
}

void add_setting(lua_State* state, MadRequest& request, const std::string& name) {
  const Result<dissect::FieldRef> ref = script_field(name);
  if (!ref) wrong(ref.error());
  const dissect::Field& field = *ref->field;
  MadSetting setting{ref->header, ref->field, 0, {}};
  const auto add_number = [&](unsigned n) {
    setting.number = number_at(state, -1, name);
    if (setting.number > field.mask())
      wrong(fmt::format("{}: {} does not fit into its {} bits", name, setting.number, field.width));
    setting.index = n;
    request.settings.push_back(setting);
  };
  if (field.kind == dissect::Field::Kind::generated) wrong(fmt::format("{}: is computed, and no part of a MAD", name));
  if (lua_istable(state, -1)) {
    for (unsigned n = 0; n < field.count; ++n) {
      const bool more = lua_geti(state, -1, n + 1) != LUA_TNIL;
      if (more) add_number(n);
      lua_pop(state, 1);
      if (!more) return;
    }
    lua_geti(state, -1, field.count + 1);
    if (!lua_isnil(state, -1)) wrong(fmt::format("{}: has {} values", name, field.count));
    lua_pop(state, 1);
  } else if (lua_type(state, -1) == LUA_TSTRING) {
    std::size_t length = 0;
    const char* const bytes = lua_tolstring(state, -1, &length);
    const std::size_t size = std::size_t{field.width} * field.count / 8;
    if (field.at % 8 != 0 || length != size) wrong(fmt::format("{}: needs {} bytes, not {}", name, size, length));
    setting.bytes.assign(bytes, bytes + length);
    request.settings.push_back(setting);
  } else {
    add_number(0);
  }
}

MadRequest request_at(lua_State* state, int index, const char* function, std::span<const std::string_view> options,
                      std::uint8_t method) {
  index = lua_absindex(state, index);
  const std::vector<std::string> headers =
      lua_istable(state, index) ? headers_in(state, index, options) : std::vector<std::string>{};
  std::vector<std::string_view> known(options.begin(), options.end());
  known.insert(known.end(), headers.begin(), headers.end());
  const Options given(state, index, function, known);
  MadRequest out;
  out.method = method;
  const auto named = [&](const char* option, std::span<const dissect::ValueName> names, std::uint64_t largest) {
    given.push(option);
    std::optional<std::uint64_t> value;
    if (!lua_isnil(state, -1)) value = value_at(state, names, largest, option);
    lua_pop(state, 1);
    return value;
  };
  if (const auto c = named("class", dissect::mad_classes, 0xff)) out.mgmt_class = static_cast<std::uint8_t>(*c);
  if (const auto m = named("method", dissect::mad_methods, 0xff)) out.method = static_cast<std::uint8_t>(*m);
  const std::optional<std::uint64_t> attribute =
      named("attribute", attribute_names(out.mgmt_class.value_or(class_subn_lid)), 0xffff);
  if (!attribute) wrong(fmt::format("{}: attribute is missing", function));
  out.attribute = static_cast<std::uint16_t>(*attribute);
  out.modifier = given.number32("modifier").value_or(0);
  if (given.has("route")) {
    out.route.emplace();
    given.push("route");
    if (!lua_istable(state, -1)) wrong(fmt::format("{}: route is a list of ports, as {{ 0, 1 }}", function));
    for (lua_Integer i = 1; i <= 256; ++i) {
      const bool more = lua_geti(state, -1, i) != LUA_TNIL;
      const std::uint64_t port = more ? number_at(state, -1, "port of a route") : 0;
      lua_pop(state, 1);
      if (!more) break;
      if (port > 255 || (i == 1 && port != 0))
        wrong(fmt::format("{}: a route begins with 0, the tester's own node, and ports are at most 255", function));
      if (i > 1) out.route->push_back(static_cast<std::uint8_t>(port));
    }
    lua_pop(state, 1);
  }
  if (const auto lid = given.number32("lid", 0xffff)) out.lid = static_cast<std::uint16_t>(*lid);
  out.m_key = given.number("m_key", ~0ULL);
  out.tid = given.number("tid", ~0ULL);
  out.data = given.text("data").value_or("");
  out.bytes = given.number32("bytes", dissect::mad_bytes);
  for (const std::string& header : headers) {
    lua_getfield(state, index, header.c_str());
    if (!lua_istable(state, -1)) wrong(fmt::format("{}: {} is a table of its fields", function, header));
    for (const std::string& field : keys_of(state, -1)) {
      lua_getfield(state, -1, field.c_str());
      add_setting(state, out, header + "." + field);
      lua_pop(state, 1);
    }
    lua_pop(state, 1);
  }
  return out;
}

void read_status(lua_State* state, const Options& given, MadWanted& out) {
  given.push("status");
  if (!lua_isnil(state, -1)) out.status.push_back(allowed_at(state, -1, "status"));
  lua_pop(state, 1);
  out.echo = given.flag("echo").value_or(out.echo);
  out.within_ns = given.duration_ns("within").value_or(out.within_ns);
}

MadWanted wanted_of_ask(Call& call, int index, const char* function) {
  lua_State* const state = call.state;
  index = lua_absindex(state, index);
  std::vector<std::string> headers;
  if (lua_istable(state, index)) headers = headers_in(state, index, ask_options);
  std::vector<std::string_view> known(ask_options.begin(), ask_options.end());
  known.push_back("method");  // of a pipeline
  known.insert(known.end(), headers.begin(), headers.end());
  const Options given(state, index, function, known);
  MadWanted out;
  read_status(state, given, out);
  out.tries = std::max(1U, given.number32("tries", 100).value_or(out.tries));
  given.push("expect");
  if (!lua_isnil(state, -1)) out.fields = expectation_at(call, -1, function, {}, nullptr);
  lua_pop(state, 1);
  return out;
}

void push_sent(lua_State* state, const MadSent& sent) {
  lua_createtable(state, 0, 2);
  lua_pushinteger(state, static_cast<lua_Integer>(sent.tid));
  lua_setfield(state, -2, "tid");
  lua_pushinteger(state, static_cast<lua_Integer>(sent.frame));
  lua_setfield(state, -2, "frame");
}

// What was meant by `to`, or the request sent last.
MadSent sent_of(lua_State* state, const Options& given, const MadTester& mads) {
  given.push("to");
  MadSent out;
  if (lua_isnil(state, -1)) {
    out = mads.last();
  } else {
    if (!lua_istable(state, -1)) wrong("to is what mad.send returned");
    lua_getfield(state, -1, "tid");
    lua_getfield(state, -2, "frame");
    out = {number_at(state, -2, "to.tid"), number_at(state, -1, "to.frame")};
    lua_pop(state, 2);
  }
  lua_pop(state, 1);
  return out;
}

int ask(Call& call, const char* name, std::uint8_t method) {
  MadTester& mads = call.tester().mads();
  const MadRequest request = request_at(call.state, call.first, name, ask_options, method);
  const MadWanted wanted = wanted_of_ask(call, call.first, name);
  const std::uint64_t answer = mads.exchange(request, wanted);
  mads.check(mads.last(), answer, wanted);
  push_mad(call, answer);
  return 1;
}

int get(Call& call) { return ask(call, "mad.get", method_get); }
int set(Call& call) { return ask(call, "mad.set", method_set); }

int send(Call& call) {
  MadTester& mads = call.tester().mads();
  const MadRequest request = request_at(call.state, call.first, "mad.send", send_options, method_get);
  lua_getfield(call.state, call.first, "count");
  const std::uint64_t count = lua_isnil(call.state, -1) ? 1 : number_at(call.state, -1, "count");
  if (count < 1 || count > most_loop) wrong(fmt::format("mad.send: count is 1 to {}", most_loop));
  if (count > 1) call.tester().tell(Event::Kind::step, fmt::format("send {} times", count));
  for (std::uint64_t i = 1; i < count; ++i) mads.send(request, false);
  push_sent(call.state, mads.send(request));
  return 1;
}

// What was sent, to look at like an answer.
int sent(Call& call) {
  if (!lua_istable(call.state, call.first)) wrong("mad.sent takes what mad.send returned");
  lua_getfield(call.state, call.first, "frame");
  push_mad(call, number_at(call.state, -1, "frame"));
  return 1;
}

int take_answer(Call& call, const char* name, bool must_come) {
  MadTester& mads = call.tester().mads();
  lua_State* const state = call.state;
  std::vector<std::string> headers;
  if (lua_istable(state, call.first)) headers = headers_in(state, call.first, expect_options);
  std::vector<std::string_view> known(expect_options.begin(), expect_options.end());
  known.insert(known.end(), headers.begin(), headers.end());
  const Options given(state, call.first, name, known);
  MadWanted wanted;
  wanted.tries = 1;
  read_status(state, given, wanted);
  if (!headers.empty()) wanted.fields = expectation_at(call, call.first, name, expect_options, nullptr);
  const MadSent sent = sent_of(state, given, mads);
  const std::uint64_t answer = mads.wait_for(sent.tid, wanted.within_ns);
  if (answer != 0 || must_come) mads.check(sent, answer, wanted);
  if (answer != 0) mads.show(answer);
  push_mad(call, answer);
  return 1;
}

int expect(Call& call) { return take_answer(call, "mad.expect", true); }
int maybe(Call& call) { return take_answer(call, "mad.maybe", false); }

int expect_no_answer(Call& call) {
  static constexpr std::string_view known[] = {"to", "within"};
  const Options given(call.state, call.first, "mad.expect_no_answer", known);
  MadTester& mads = call.tester().mads();
  mads.expect_no_answer(sent_of(call.state, given, mads), given.duration_ns("within").value_or(500'000'000));
  return 0;
}

int pipeline(Call& call) {
  lua_State* const state = call.state;
  MadTester& mads = call.tester().mads();
  const Options given(state, call.first, "mad.pipeline", pipeline_options);
  MadTester::Pipeline out;
  out.count = given.number("count", most_loop).value_or(0);
  out.window = given.number32("window", 1024).value_or(0);
  given.push("request");
  if (!lua_isfunction(state, -1))
    wrong("mad.pipeline: request is a function of 0, 1, ... that returns what mad.get takes");
  const int request = lua_gettop(state);
  given.push("answer");
  const int answer = lua_gettop(state);
  if (!lua_isnil(state, answer) && !lua_isfunction(state, answer))
    wrong("mad.pipeline: answer is a function of the number and the answer");
  std::vector<std::string_view> options = ask_options;
  options.push_back("method");
  out.request = [&](std::uint64_t i) {
    lua_pushvalue(state, request);
    lua_pushinteger(state, static_cast<lua_Integer>(i));
    lua_call(state, 1, 1);
    std::pair made(request_at(state, -1, "mad.pipeline", options, method_get), wanted_of_ask(call, -1, "mad.pipeline"));
    lua_pop(state, 1);
    return made;
  };
  if (!lua_isnil(state, answer))
    out.answer = [&](std::uint64_t i, std::uint64_t frame) {
      lua_pushvalue(state, answer);
      lua_pushinteger(state, static_cast<lua_Integer>(i));
      push_mad(call, frame);
      lua_call(state, 2, 0);
    };
  call.tester().tell(Event::Kind::step, fmt::format("pipeline of {} requests", out.count));
  mads.run(out);
  return 0;
}

int node(Call& call) {
  MadTester& mads = call.tester().mads();
  const MadTester::Node& node = mads.node();
  lua_State* const state = call.state;
  static constexpr const char* types[] = {"unknown", "ca", "switch", "router"};
  lua_createtable(state, 0, 3);
  lua_pushstring(state, types[node.type < std::size(types) ? node.type : 0]);
  lua_setfield(state, -2, "type");
  lua_pushinteger(state, static_cast<lua_Integer>(node.ports));
  lua_setfield(state, -2, "ports");
  lua_pushinteger(state, static_cast<lua_Integer>(node.local_port));
  lua_setfield(state, -2, "local_port");
  lua_pushboolean(state, call.tester().wire().mads()->on_link);
  lua_setfield(state, -2, "on_link");
  lua_pushinteger(state, mads.lid());
  lua_setfield(state, -2, "lid");
  lua_pushinteger(state, static_cast<lua_Integer>(call.tester().wire().mads()->tid_bits));
  lua_setfield(state, -2, "tid_bits");
  lua_newtable(state);  // the tester's node is 0
  const std::vector<std::uint8_t>& route = call.tester().dut().info().mads->route;
  lua_pushinteger(state, 0);
  lua_seti(state, -2, 1);
  for (std::size_t i = 0; i < route.size(); ++i) {
    lua_pushinteger(state, route[i]);
    lua_seti(state, -2, static_cast<lua_Integer>(i) + 2);
  }
  lua_setfield(state, -2, "route");
  make_strict(state, "mad.node()");
  return 1;
}

// A header of an answer, when it is asked for.
int mad_index(lua_State* state) {
  const char* const key = luaL_checkstring(state, 2);
  const dissect::Header* const header = dissect::find_header(key);
  if (!header) return luaL_error(state, "an answer has no '%s'", key);
  lua_pushliteral(state, "frame");
  lua_rawget(state, 1);
  const auto frame = static_cast<std::uint64_t>(lua_tointeger(state, -1));
  lua_pop(state, 1);
  dissect::Packet packet;
  play_of(state).tester->walk(frame, packet);
  const dissect::Layer* const layer = packet.find(*header);
  if (layer)
    push_layer(state, packet, *layer);
  else
    lua_pushnil(state);
  return 1;
}

const Function functions[] = {
    {"get", mad, get, ask_options},
    {"set", mad, set, ask_options},
    {"send", mad, send, send_options},
    {"sent", mad, sent, {}},
    {"expect", mad, expect, expect_options},
    {"maybe", mad, maybe, expect_options},
    {"expect_no_answer", mad, expect_no_answer, {"to", "within"}},
    {"pipeline", mad, pipeline, pipeline_options},
    {"node", mad, node, {}},
};

}  // namespace

std::span<const Function> mad_functions() { return functions; }

void push_mad(Call& call, std::uint64_t frame) {
  lua_State* const state = call.state;
  if (frame == 0) {
    lua_pushnil(state);
    return;
  }
  const std::span<const std::uint8_t> bytes = call.tester().mads().mad(frame);
  lua_createtable(state, 0, 12);
  const auto number = [state](const char* key, std::uint64_t value) {
    lua_pushinteger(state, static_cast<lua_Integer>(value));
    lua_setfield(state, -2, key);
  };
  const dissect::View<dissect::Mad> mad(bytes.data());
  number("frame", frame);
  number("status", MadTester::status_code(bytes));
  number("status_word", MadTester::status_word(bytes));
  number("method", mad.get<"method">());
  number("attribute", mad.get<"attributeid">());
  number("modifier", mad.get<"attributemodifier">());
  number("tid", mad.get<"transactionid">());
  const std::span<const std::uint8_t> data = attribute_data(bytes);
  lua_pushlstring(state, reinterpret_cast<const char*>(data.data()), data.size());
  lua_setfield(state, -2, "data");
  lua_pushnumber(state, static_cast<double>(call.tester().frame_time_ns(frame)) / 1e6);
  lua_setfield(state, -2, "time");
  luaL_setmetatable(state, mad_type);
}

void register_mads(lua_State* state) {
  luaL_newmetatable(state, mad_type);
  lua_pushcfunction(state, mad_index);
  lua_setfield(state, -2, "__index");
  lua_pop(state, 1);
  lua_newtable(state);
  push_functions(state, functions, mad, 0);
  make_strict(state, "mad");
  lua_setglobal(state, "mad");
}

}  // namespace rdmascope::replay
