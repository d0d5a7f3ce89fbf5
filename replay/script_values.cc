// Values in scripts: numbers, durations, PSNs, ranges, packets, and the options of functions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dissect/headers.h"
#include "replay/script_call.h"

namespace rdmascope::replay {
namespace {

constexpr const char* psn_type = "rdmascope.psn";
// Addresses that stand for `any` and `none`.
char any_mark, none_mark;

constexpr Constant constants[] = {
    {"ACK", 0x1f},  // no credit information
    {"NAK_SEQUENCE", 0x60},
    {"NAK_INVALID_REQUEST", 0x61},
    {"NAK_REMOTE_ACCESS", 0x62},
    {"NAK_REMOTE_OPERATION", 0x63},
    {"NAK_INVALID_RD_REQUEST", 0x64},
};

// The declared word that is one or two typing errors away, for messages.
std::string_view near(std::string_view word, std::span<const std::string_view> known) {
  for (std::string_view k : known) {
    const std::size_t common =
        static_cast<std::size_t>(std::mismatch(word.begin(), word.end(), k.begin(), k.end()).first - word.begin());
    const std::size_t longer = std::max(word.size(), k.size());
    std::size_t tail = 0;
    while (tail < std::min(word.size(), k.size()) - common && word[word.size() - 1 - tail] == k[k.size() - 1 - tail])
      ++tail;
    if (longer - common - tail <= 2) return k;
  }
  return {};
}

int psn_add_values(lua_State* state) {
  const std::optional<Psn> a = psn_at(state, 1), b = psn_at(state, 2);
  if (a && b) return luaL_error(state, "a PSN cannot be added to a PSN");
  push_psn(state, a ? a->plus(luaL_checkinteger(state, 2)) : b->plus(luaL_checkinteger(state, 1)));
  return 1;
}

int psn_subtract(lua_State* state) {
  const std::optional<Psn> a = psn_at(state, 1), b = psn_at(state, 2);
  if (a && b)
    lua_pushinteger(state, check::psn_diff(a->value(), b->value()));
  else if (a)
    push_psn(state, a->plus(-luaL_checkinteger(state, 2)));
  else
    return luaL_error(state, "a PSN cannot be taken from a number");
  return 1;
}

int psn_equal(lua_State* state) {
  const std::optional<Psn> a = psn_at(state, 1), b = psn_at(state, 2);
  lua_pushboolean(state, a && b && a->value() == b->value());
  return 1;
}

int psn_less(lua_State* state) {
  const std::optional<Psn> a = psn_at(state, 1), b = psn_at(state, 2);
  if (!a || !b) return luaL_error(state, "a PSN can only be compared with a PSN");
  lua_pushboolean(state, check::psn_diff(a->value(), b->value()) < 0);
  return 1;
}

int psn_less_equal(lua_State* state) {
  const std::optional<Psn> a = psn_at(state, 1), b = psn_at(state, 2);
  if (!a || !b) return luaL_error(state, "a PSN can only be compared with a PSN");
  lua_pushboolean(state, check::psn_diff(a->value(), b->value()) <= 0);
  return 1;
}

int psn_text(lua_State* state) {
  const std::string text = to_text(*psn_at(state, 1));
  lua_pushlstring(state, text.data(), text.size());
  return 1;
}

int psn_index(lua_State* state) {
  const Psn psn = *psn_at(state, 1);
  const std::string_view key = luaL_checkstring(state, 2);
  if (key == "value")
    lua_pushinteger(state, psn.value());
  else if (key == "offset")
    lua_pushinteger(state, psn.offset);
  else
    return luaL_error(state, "a PSN has no '%s', only value and offset", key.data());
  return 1;
}

int refuse_unknown(lua_State* state) {
  const char* what = lua_tostring(state, lua_upvalueindex(1));
  return luaL_error(state, "no such name in %s: %s", what, luaL_tolstring(state, 2, nullptr));
}

// A header that a packet might have and does not is nil; anything else is a mistake.
int packet_index(lua_State* state) {
  const char* key = luaL_checkstring(state, 2);
  if (!dissect::find_header(key)) return luaL_error(state, "a packet has no '%s'", key);
  lua_pushnil(state);
  return 1;
}

void set_function(lua_State* state, const char* key, lua_CFunction function) {
  lua_pushcfunction(state, function);
  lua_setfield(state, -2, key);
}

void set_number(lua_State* state, const char* key, std::uint64_t value) {
  lua_pushinteger(state, static_cast<lua_Integer>(value));
  lua_setfield(state, -2, key);
}

void push_bytes(lua_State* state, std::span<const std::uint8_t> bytes) {
  lua_pushlstring(state, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void push_value(lua_State* state, const dissect::Value& value) {
  if (value.kind == dissect::Value::Kind::number)
    lua_pushinteger(state, static_cast<lua_Integer>(value.number));
  else if (value.kind == dissect::Value::Kind::text)
    lua_pushlstring(state, value.text.data(), value.text.size());
  else
    push_bytes(state, value.bytes);
}

}  // namespace

void wrong(std::string message) { throw Stop{Verdict::error, std::move(message)}; }

std::span<const Constant> script_constants() { return constants; }

// ---- options

Options::Options(const Call& call, const Function& function)
    : Options(call.state, call.first, function.name, function.options) {}

Options::Options(lua_State* state, int index, std::string_view name, std::span<const std::string_view> known)
    : state_(state), name_(name) {
  if (lua_isnoneornil(state, index)) return;
  if (!lua_istable(state, index)) wrong(fmt::format("{} takes a table: {}{{...}}", name, name));
  index_ = lua_absindex(state, index);
  for (const std::string& key : keys_of(state, index_)) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string_view other = near(key, known);
    wrong(fmt::format("{} has no option {}{}", name, key, other.empty() ? "" : fmt::format("; perhaps {}", other)));
  }
}

void Options::push(const char* name) const {
  if (index_ == 0)
    lua_pushnil(state_);
  else
    lua_getfield(state_, index_, name);
}

bool Options::has(const char* name) const {
  push(name);
  const bool is = !lua_isnil(state_, -1);
  lua_pop(state_, 1);
  return is;
}

std::optional<std::uint64_t> Options::number(const char* name, std::uint64_t largest) const {
  push(name);
  std::optional<std::uint64_t> out;
  if (!lua_isnil(state_, -1)) {
    out = number_at(state_, -1, name);
    if (*out > largest) wrong(fmt::format("{}: {} is at most {}", name_, name, largest));
  }
  lua_pop(state_, 1);
  return out;
}

std::optional<std::uint32_t> Options::number32(const char* name, std::uint32_t largest) const {
  const std::optional<std::uint64_t> n = number(name, largest);
  return n ? std::optional(static_cast<std::uint32_t>(*n)) : std::nullopt;
}

std::optional<bool> Options::flag(const char* name) const {
  push(name);
  std::optional<bool> out;
  if (!lua_isnil(state_, -1)) {
    if (!lua_isboolean(state_, -1)) wrong(fmt::format("{}: {} is true or false", name_, name));
    out = lua_toboolean(state_, -1) != 0;
  }
  lua_pop(state_, 1);
  return out;
}

std::optional<std::string> Options::text(const char* name) const {
  push(name);
  std::optional<std::string> out;
  if (!lua_isnil(state_, -1)) {
    std::size_t length = 0;
    if (lua_type(state_, -1) != LUA_TSTRING) wrong(fmt::format("{}: {} is a text", name_, name));
    const char* bytes = lua_tolstring(state_, -1, &length);
    out.emplace(bytes, length);
  }
  lua_pop(state_, 1);
  return out;
}

std::vector<std::string> Options::texts(const char* name) const {
  push(name);
  std::vector<std::string> out = texts_at(state_, -1, name);
  lua_pop(state_, 1);
  return out;
}

std::optional<std::int64_t> Options::duration_ns(const char* name) const {
  push(name);
  std::optional<std::int64_t> out;
  if (!lua_isnil(state_, -1)) out = duration_at(state_, -1, name);
  lua_pop(state_, 1);
  return out;
}

// ---- values

std::uint64_t number_at(lua_State* state, int index, std::string_view what) {
  if (const std::optional<Psn> psn = psn_at(state, index)) return psn->value();
  if (lua_isboolean(state, index)) return static_cast<std::uint64_t>(lua_toboolean(state, index));
  int is_integer = 0;
  const lua_Integer n = lua_type(state, index) == LUA_TNUMBER ? lua_tointegerx(state, index, &is_integer) : 0;
  if (!is_integer) wrong(fmt::format("{} is a whole number", what));
  return static_cast<std::uint64_t>(n);
}

std::vector<std::string> texts_at(lua_State* state, int index, std::string_view what) {
  index = lua_absindex(state, index);
  std::vector<std::string> out;
  if (lua_isnil(state, index)) return out;
  if (lua_type(state, index) == LUA_TSTRING) return {lua_tostring(state, index)};
  if (!lua_istable(state, index)) wrong(fmt::format("{} is a list of texts", what));
  for (lua_Integer i = 1; i <= 1000; ++i) {
    const int type = lua_geti(state, index, i);
    if (type == LUA_TSTRING) out.emplace_back(lua_tostring(state, -1));
    lua_pop(state, 1);
    if (type == LUA_TNIL) break;
    if (type != LUA_TSTRING) wrong(fmt::format("{} is a list of texts", what));
  }
  return out;
}

std::int64_t duration_at(lua_State* state, int index, std::string_view what) {
  double amount = 0, unit = 1e6;  // a number alone is in milliseconds, as times are in scripts
  if (lua_type(state, index) == LUA_TNUMBER) {
    amount = lua_tonumber(state, index);
  } else {
    const std::string_view text = lua_type(state, index) == LUA_TSTRING ? lua_tostring(state, index) : "";
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), amount);
    std::string_view word(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (word.starts_with(' ')) word.remove_prefix(1);
    static constexpr std::pair<std::string_view, double> units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const auto known = std::find_if(std::begin(units), std::end(units), [&](const auto& u) { return u.first == word; });
    if (problem != std::errc() || known == std::end(units))
      wrong(fmt::format("{}: no duration: \"{}\"; write \"10 ms\", with ns, us, ms or s", what, text));
    unit = known->second;
  }
  const double ns = amount * unit;
  if (!(ns >= 0 && ns <= 3.6e12)) wrong(fmt::format("{}: a duration is from 0 to 3600 s", what));
  return static_cast<std::int64_t>(std::llround(ns));
}

bool is_any(lua_State* state, int index) { return lua_touserdata(state, index) == &any_mark; }
bool is_none(lua_State* state, int index) { return lua_touserdata(state, index) == &none_mark; }

Allowed allowed_at(lua_State* state, int index, std::string_view what, bool inside_list) {
  index = lua_absindex(state, index);
  if (is_any(state, index)) return Allowed::anything();
  Allowed out;
  if (const std::optional<Psn> psn = psn_at(state, index)) {
    out.ranges.push_back({psn->value(), psn->value()});
    out.shown = to_text(*psn);
  } else if (lua_type(state, index) == LUA_TSTRING) {
    std::size_t length = 0;
    const char* bytes = lua_tolstring(state, index, &length);
    out.bytes.emplace_back(bytes, length);
  } else if (lua_istable(state, index)) {
    lua_getfield(state, index, "min");
    lua_getfield(state, index, "max");
    if (!lua_isnil(state, -1) || !lua_isnil(state, -2)) {
      const std::uint64_t low = lua_isnil(state, -2) ? 0 : number_at(state, -2, "min"),
                          high = lua_isnil(state, -1) ? ~0ULL : number_at(state, -1, "max");
      const std::optional<Psn> from = psn_at(state, -2), to = psn_at(state, -1);
      if (low <= high)
        out.ranges.push_back({low, high});
      else if (from && to)  // around the end of the PSNs
        out.ranges = {{low, check::psn_mask}, {0, high}};
      if (from && to) out.shown = to_text(*from) + " to " + to_text(*to);
    }
    lua_pop(state, 2);
    if (!out.ranges.empty()) return out;
    if (inside_list) wrong(fmt::format("{}: a list in a list", what));
    for (lua_Integer i = 1; i <= 1000; ++i) {
      if (lua_geti(state, index, i) == LUA_TNIL) {
        lua_pop(state, 1);
        break;
      }
      Allowed one = allowed_at(state, -1, what, true);
      if (!one.shown.empty()) out.shown += (out.shown.empty() ? "" : " or ") + one.shown;
      out.ranges.insert(out.ranges.end(), one.ranges.begin(), one.ranges.end());
      out.bytes.insert(out.bytes.end(), one.bytes.begin(), one.bytes.end());
      lua_pop(state, 1);
    }
    if (out.ranges.empty() && out.bytes.empty())
      wrong(fmt::format("{}: a table is a range {{min=, max=}} or a list of values", what));
  } else {
    const std::uint64_t n = number_at(state, index, what);
    out.ranges.push_back({n, n});
  }
  return out;
}

std::uint8_t opcode_at(lua_State* state, int index) {
  if (lua_type(state, index) == LUA_TNUMBER) {
    const std::uint64_t n = number_at(state, index, "opcode");
    if (n > 0xff) wrong(fmt::format("no such opcode: {}", n));
    return static_cast<std::uint8_t>(n);
  }
  const char* name = lua_type(state, index) == LUA_TSTRING ? lua_tostring(state, index) : "";
  const std::optional<std::uint8_t> opcode = opcode_by_name(name);
  if (!opcode) wrong(fmt::format("no such opcode: {}", name));
  return *opcode;
}

std::vector<std::string> keys_of(lua_State* state, int index) {
  index = lua_absindex(state, index);
  std::vector<std::string> keys;
  for (lua_pushnil(state); lua_next(state, index) != 0; lua_pop(state, 1))
    if (lua_type(state, -2) == LUA_TSTRING) keys.emplace_back(lua_tostring(state, -2));
  std::sort(keys.begin(), keys.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a != "psn", a) < std::pair(b != "psn", b);
  });
  return keys;
}

void push_psn(lua_State* state, const Psn& psn) {
  *static_cast<Psn*>(lua_newuserdatauv(state, sizeof(Psn), 0)) = psn;
  luaL_setmetatable(state, psn_type);
}

std::optional<Psn> psn_at(lua_State* state, int index) {
  const void* data = luaL_testudata(state, index, psn_type);
  return data ? std::optional(*static_cast<const Psn*>(data)) : std::nullopt;
}

void push_packet(Call& call, const Connection& connection, const Seen& seen) {
  lua_State* const state = call.state;
  if (seen.frame == 0) {
    lua_pushnil(state);
    return;
  }
  const Tester& tester = call.tester();
  dissect::Packet packet;
  tester.walk(seen.frame, packet);
  lua_newtable(state);
  const bool from_tester = tester.frames()[seen.frame - 1].from_tester;
  std::uint8_t opcode = 0;
  const auto put_psn = [&](const char* key, std::uint64_t psn) {
    push_psn(state, connection.starts.relative(opcode, static_cast<std::uint32_t>(psn), from_tester));
    lua_setfield(state, -2, key);
  };
  if (const auto bth = packet.find<dissect::Bth>()) {
    opcode = static_cast<std::uint8_t>(bth->get<"opcode">());
    put_psn("psn", bth->get<"psn">());
  }
  lua_pushstring(state, opcode_text(opcode).c_str());
  lua_setfield(state, -2, "opcode");
  lua_pushnumber(state, static_cast<double>(tester.frame_time_ns(seen.frame)) / 1e6);
  lua_setfield(state, -2, "time");
  set_number(state, "frame", seen.frame);
  push_bytes(state, payload_of(packet));
  lua_setfield(state, -2, "payload");
  for (const dissect::Layer& layer : packet.layers()) {
    const std::string key(layer.header->name.substr(layer.header->name.rfind('.') + 1));
    if (key == "payload" || key == "frame" || key == "rdmascope") continue;
    push_layer(state, packet, layer);
    if (layer.header == &dissect::header<dissect::Bth>) {
      lua_getfield(state, -1, "psn");
      const std::uint64_t psn = number_at(state, -1, "psn");
      lua_pop(state, 1);
      put_psn("psn", psn);
    }
    lua_setfield(state, -2, key.c_str());
  }
  luaL_setmetatable(state, "rdmascope.packet");
}

void push_layer(lua_State* state, const dissect::Packet& packet, const dissect::Layer& layer) {
  dissect::Value value;
  lua_newtable(state);
  for (const dissect::Field& field : layer.header->fields) {
    if (!dissect::read(packet, layer, field, 0, value)) continue;
    if (field.count > 1) {
      lua_newtable(state);
      for (unsigned n = 0; dissect::read(packet, layer, field, n, value); ++n) {
        push_value(state, value);
        lua_seti(state, -2, static_cast<lua_Integer>(n) + 1);
      }
    } else {
      push_value(state, value);
    }
    lua_setfield(state, -2, std::string(field.name).c_str());
  }
}

void make_strict(lua_State* state, const char* what) {
  lua_createtable(state, 0, 1);
  lua_pushstring(state, what);
  lua_pushcclosure(state, refuse_unknown, 1);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
}

void register_values(lua_State* state) {
  luaL_newmetatable(state, psn_type);
  set_function(state, "__add", psn_add_values);
  set_function(state, "__sub", psn_subtract);
  set_function(state, "__eq", psn_equal);
  set_function(state, "__lt", psn_less);
  set_function(state, "__le", psn_less_equal);
  set_function(state, "__tostring", psn_text);
  set_function(state, "__index", psn_index);
  lua_pop(state, 1);
  luaL_newmetatable(state, "rdmascope.packet");
  set_function(state, "__index", packet_index);
  lua_pop(state, 1);
  lua_pushlightuserdata(state, &any_mark);
  lua_setglobal(state, "any");
  lua_pushlightuserdata(state, &none_mark);
  lua_setglobal(state, "none");
  for (const Constant& c : constants) {
    lua_pushinteger(state, c.value);
    lua_setglobal(state, std::string(c.name).c_str());
  }
}

}  // namespace rdmascope::replay
