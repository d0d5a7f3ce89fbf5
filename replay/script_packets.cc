// What scripts say of packets: expect, send, allow, quiet. SCRIPTS.md has the reference.
#include <fmt/format.h>

#include <algorithm>

#include "dissect/headers.h"
#include "replay/script_call.h"

namespace rdmascope::replay {
namespace {

using enum Function::Where;

constexpr std::uint32_t most_payload = 1 << 20;

const dissect::Header* header_key(const std::string& key) {
  // A field of the BTH is meant before a header of the same name.
  for (const dissect::Field& field : dissect::Bth::fields)
    if (field.name == key) return nullptr;
  return dissect::find_header(key);
}

void must(const Result<void>& result, std::string_view function) {
  if (!result) wrong(fmt::format("{}: {}", function, result.error()));
}

std::int64_t within(const Call& call, int index, std::int64_t otherwise) {
  lua_State* const state = call.state;
  if (!lua_istable(state, index)) return otherwise;
  lua_getfield(state, index, "within");
  const std::int64_t ns = lua_isnil(state, -1) ? otherwise : duration_at(state, -1, "within");
  lua_pop(state, 1);
  return ns;
}

const std::vector<std::string_view> expect_options = {"within", "payload", "payload_bytes"};

int expect(Call& call) {
  Connection& c = call.on();
  const Expectation e = expectation_at(call, call.first, "expect", expect_options, &c);
  push_packet(call, c, call.tester().expect(c, {e}, within(call, call.first, Tester::default_within_ns)));
  return 1;
}

std::vector<Expectation> list_at(Call& call, std::string_view function, const Connection& c) {
  std::vector<Expectation> all;
  lua_State* const state = call.state;
  if (!lua_istable(state, call.first))
    wrong(fmt::format("{} takes a list: {}{{ {{...}}, {{...}} }}", function, function));
  for (const std::string& key : keys_of(state, call.first))
    if (key != "within") wrong(fmt::format("{} has no option {}", function, key));
  for (lua_Integer i = 1; i <= 1000; ++i) {
    const bool more = lua_geti(state, call.first, i) != LUA_TNIL;
    if (more) all.push_back(expectation_at(call, -1, function, {}, &c));
    lua_pop(state, 1);
    if (!more) break;
  }
  if (all.empty()) wrong(fmt::format("{} takes a list of packets", function));
  return all;
}

int expect_one_of(Call& call) {
  Connection& c = call.on();
  const std::vector<Expectation> all = list_at(call, "expect_one_of", c);
  const Seen seen = call.tester().expect(c, all, within(call, call.first, Tester::default_within_ns));
  lua_pushinteger(call.state, static_cast<lua_Integer>(seen.alternative + 1));
  push_packet(call, c, seen);
  return 2;
}

int expect_any_order(Call& call) {
  Connection& c = call.on();
  const std::vector<Seen> seen = call.tester().expect_any_order(c, list_at(call, "expect_any_order", c),
                                                                within(call, call.first, Tester::default_within_ns));
  luaL_checkstack(call.state, static_cast<int>(seen.size()) + 8, "too many packets");
  for (const Seen& one : seen) push_packet(call, c, one);
  return static_cast<int>(seen.size());
}

int maybe(Call& call) {
  Connection& c = call.on();
  const Expectation e = expectation_at(call, call.first, "maybe", expect_options, &c);
  push_packet(call, c, call.tester().maybe(c, e, within(call, call.first, 100'000'000)));
  return 1;
}

const std::vector<std::string_view> allow_options = {"retransmission", "payload", "payload_bytes"};

int allow(Call& call) {
  Connection& c = call.on();
  bool retransmission = false;
  if (lua_istable(call.state, call.first)) {
    lua_getfield(call.state, call.first, "retransmission");
    retransmission = lua_toboolean(call.state, -1) != 0;
    lua_pop(call.state, 1);
  }
  if (retransmission)
    call.tester().allow_retransmissions(c);
  else
    call.tester().allow(c, expectation_at(call, call.first, "allow", allow_options, nullptr));
  return 0;
}

int quiet(Call& call) {
  Connection& c = call.on();
  static constexpr std::string_view known[] = {"within"};
  const Options options(call.state, call.first, "quiet", known);
  call.tester().quiet(c, options.duration_ns("within").value_or(100'000'000));
  return 0;
}

const std::vector<std::string_view> send_options = {"payload", "pad", "headers", "icrc_xor", "cut", "to"};

void set_field(Call& call, Draft& draft, const std::string& name) {
  lua_State* const state = call.state;
  Result<dissect::FieldRef> ref = script_field(name);
  if (!ref) wrong("send: " + ref.error());
  const std::string full = dissect::full_name(*ref->header, *ref->field);
  if (lua_type(state, -1) == LUA_TSTRING) {
    std::size_t length = 0;
    const char* bytes = lua_tolstring(state, -1, &length);
    must(draft.set(full, std::span(reinterpret_cast<const std::uint8_t*>(bytes), length)), "send");
  } else {
    must(draft.set(full, number_at(state, -1, name)), "send");
  }
}

// What a connection makes of a draft that leaves it open.
void complete(Draft& draft, const Connection& c) {
  const dissect::Opcode& opcode = dissect::opcodes[draft.opcode()];
  const auto fill = [&](std::string_view field, std::uint64_t value) {
    if (!draft.is_set(field)) must(draft.set(field, value), "send");
  };
  // Without AckReq a responder owes no answer. It is asked for where a message ends.
  if (opcode.transport == dissect::Transport::rc && opcode.defined && !opcode.response &&
      (opcode.position == dissect::Position::last || opcode.position == dissect::Position::only))
    fill("infiniband.bth.a", 1);
  if (opcode.extensions & dissect::ext_reth) {
    fill("infiniband.reth.va", c.channel.remote_va);
    fill("infiniband.reth.r_key", c.channel.remote_r_key);
    if (opcode.position == dissect::Position::only && opcode.payload != dissect::PayloadRule::none)
      fill("infiniband.reth.dmalen", draft.payload.size());
  }
  if (opcode.extensions & dissect::ext_atomiceth) {
    fill("infiniband.atomiceth.va", c.channel.remote_va);
    fill("infiniband.atomiceth.r_key", c.channel.remote_r_key);
  }
  if (opcode.extensions & dissect::ext_deth) {
    fill("infiniband.deth.q_key", c.options.q_key);
    fill("infiniband.deth.srcqp", c.options.tester_qpn);
  }
}

int send(Call& call) {
  lua_State* const state = call.state;
  Connection& c = call.on();
  const int index = call.first;
  if (!lua_istable(state, index)) wrong("send takes a table: send{\"RC_SEND_ONLY\", psn = ...}");
  lua_geti(state, index, 1);
  Draft draft(opcode_at(state, -1));
  lua_pop(state, 1);
  std::vector<std::string> headers;
  bool headers_given = false;
  std::optional<std::uint32_t> to;
  for (const std::string& key : keys_of(state, index)) {
    lua_getfield(state, index, key.c_str());
    if (key == "payload" || key == "pad") {
      std::size_t length = 0;
      if (lua_type(state, -1) != LUA_TSTRING) wrong(fmt::format("send: {} is a text", key));
      const char* bytes = lua_tolstring(state, -1, &length);
      if (length > most_payload) wrong("send: payload is larger than any packet");
      std::vector<std::uint8_t> copy(bytes, bytes + length);
      if (key == "payload")
        draft.payload = std::move(copy);
      else
        draft.pad = std::move(copy);
    } else if (key == "headers") {
      headers = texts_at(state, -1, "send: headers");
      headers_given = true;
    } else if (key == "icrc_xor") {
      draft.icrc_xor = static_cast<std::uint32_t>(number_at(state, -1, key));
    } else if (key == "cut") {
      draft.cut_bytes = static_cast<std::uint32_t>(number_at(state, -1, key));
    } else if (key == "to") {
      to = static_cast<std::uint32_t>(number_at(state, -1, key) & 0xffffff);
    } else if (header_key(key)) {
      if (!lua_istable(state, -1)) wrong(fmt::format("send: {} is a table of its fields", key));
      for (const std::string& field : keys_of(state, -1)) {
        lua_getfield(state, -1, field.c_str());
        set_field(call, draft, key + "." + field);
        lua_pop(state, 1);
      }
    } else {
      set_field(call, draft, key);
    }
    lua_pop(state, 1);
  }
  if (!draft.is_set("infiniband.bth.psn") && dissect::opcodes[draft.opcode()].transport != dissect::Transport::cnp)
    wrong("send: psn is missing; rc.own_psn(n) for requests, rc.psn(n) for responses");
  if (headers_given) {
    const std::vector<std::string_view> views(headers.begin(), headers.end());
    must(draft.headers(views), "send");
  } else {
    complete(draft, c);
  }
  push_packet(call, c, call.tester().send(c, draft, to));
  return 1;
}

int close(Call& call) {
  static constexpr std::string_view known[] = {"flushed", "flushed_receives"};
  const Options options(call.state, call.first, "close", known);
  Connection& c = call.on();
  call.tester().close(c, options.number32("flushed"), options.number32("flushed_receives"));
  return 0;
}

// The argument of rc.psn and rc.own_psn.
std::int64_t step_of(const Call& call, const char* what) {
  if (lua_isnoneornil(call.state, call.first)) return 0;
  return static_cast<std::int64_t>(number_at(call.state, call.first, what));
}

int psn(Call& call) {
  push_psn(call.state, call.on().starts.of_dut(step_of(call, "psn")));
  return 1;
}

int own_psn(Call& call) {
  push_psn(call.state, call.on().starts.of_tester(step_of(call, "own_psn")));
  return 1;
}

const Function functions[] = {
    {"expect", packets, expect, expect_options},
    {"expect_one_of", packets, expect_one_of, {"within"}},
    {"expect_any_order", packets, expect_any_order, {"within"}},
    {"maybe", packets, maybe, expect_options},
    {"allow", packets, allow, allow_options},
    {"quiet", packets, quiet, {"within"}},
    {"send", packets, send, send_options},
    {"close", connection, close, {"flushed", "flushed_receives"}},
    {"psn", connection, psn, {}},
    {"own_psn", connection, own_psn, {}},
};

}  // namespace

Expectation expectation_at(Call& call, int index, std::string_view function, std::span<const std::string_view> others,
                           const Connection* connection) {
  lua_State* const state = call.state;
  index = lua_absindex(state, index);
  bool looks_at_p_key = false;
  if (!lua_istable(state, index))
    wrong(fmt::format("{} takes a table: {}{{\"RC_SEND_ONLY\", psn = ...}}", function, function));
  Expectation out;
  for (lua_Integer i = 1; i <= 256; ++i) {
    const bool more = lua_geti(state, index, i) != LUA_TNIL;
    if (more) out.opcode(opcode_at(state, -1));
    lua_pop(state, 1);
    if (!more) break;
  }
  for (const std::string& key : keys_of(state, index)) {
    if (key != "payload" && key != "payload_bytes" && std::find(others.begin(), others.end(), key) != others.end())
      continue;
    lua_getfield(state, index, key.c_str());
    if (key == "payload") {
      std::size_t length = 0;
      if (lua_type(state, -1) != LUA_TSTRING) wrong("payload is a text; payload_bytes says how many bytes");
      const char* bytes = lua_tolstring(state, -1, &length);
      out.payload({bytes, length});
    } else if (key == "payload_bytes") {
      out.payload_bytes(allowed_at(state, -1, key));
    } else if (header_key(key)) {
      if (is_any(state, -1) || is_none(state, -1)) {
        must(out.header(key, is_any(state, -1)), function);
      } else if (lua_istable(state, -1)) {
        for (const std::string& field : keys_of(state, -1)) {
          lua_getfield(state, -1, field.c_str());
          looks_at_p_key = looks_at_p_key || field == "p_key";
          must(out.field(key + "." + field, allowed_at(state, -1, field)), function);
          lua_pop(state, 1);
        }
      } else {
        wrong(fmt::format("{}: {} is a table of its fields, any or none", function, key));
      }
    } else {
      looks_at_p_key = looks_at_p_key || key.ends_with("p_key");
      must(out.field(key, allowed_at(state, -1, key)), function);
    }
    lua_pop(state, 1);
  }
  if (connection && !looks_at_p_key) {
    const std::uint64_t key = connection->channel.p_key & 0x7fff;  // the top bit is the sender's membership
    must(
        out.field("p_key",
                  {{{key, key}, {key | 0x8000, key | 0x8000}}, {}, fmt::format("0x{:04x}", connection->channel.p_key)}),
        function);
  }
  return out;
}

std::span<const Function> packet_functions() { return functions; }

}  // namespace rdmascope::replay
