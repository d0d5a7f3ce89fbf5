// What scripts say in CDI control messages: open_cdi_tx, open_cdi_rx, and what the ports they return can do. SCRIPTS.md
// has the reference.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dissect/headers.h"
#include "replay/cdi_tester.h"
#include "replay/script_call.h"

namespace rdmascope::replay {
namespace {

using enum Function::Where;

const std::vector<std::string_view> open_tx_options = {"port", "name", "ports"};
const std::vector<std::string_view> open_rx_options = {"port", "name"};
const std::vector<std::string_view> send_options = {"version",
                                                    "number",
                                                    "of",
                                                    "requires_ack",
                                                    "senders_ip_str",
                                                    "senders_gid_array",
                                                    "senders_stream_name_str",
                                                    "senders_stream_identifier",
                                                    "senders_control_dest_port",
                                                    "cut",
                                                    "extend",
                                                    "checksum_xor"};
const std::vector<std::string_view> expect_options = {"version",   "number", "of",     "bytes", "at",
                                                      "tolerance", "since",  "within", "cdi"};
const std::vector<std::string_view> within_options = {"within"};
const std::vector<std::string_view> deliver_options = {"packets"};

std::uint32_t command_at(lua_State* state, int index) {
  if (lua_type(state, index) == LUA_TNUMBER) {
    const std::uint64_t n = number_at(state, index, "command");
    if (n > 0xffffffff) wrong("command is at most 0xffffffff");
    return static_cast<std::uint32_t>(n);
  }
  const std::string_view wanted = lua_type(state, index) == LUA_TSTRING ? lua_tostring(state, index) : "";
  std::vector<std::string_view> all;
  for (const dissect::ValueName& n : dissect::cdi_commands) {
    if (n.name == wanted) return static_cast<std::uint32_t>(n.value);
    all.push_back(n.name);
  }
  wrong(fmt::format("no such command: {}; there are {}", wanted, fmt::join(all, ", ")));
}

std::vector<std::uint32_t> commands_at(lua_State* state, int index) {
  std::vector<std::uint32_t> out;
  for (lua_Integer i = 1; lua_geti(state, index, i) != LUA_TNIL && i <= 16; ++i) {
    out.push_back(command_at(state, -1));
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
  return out;
}

// The frame of a message that a function returned.
std::optional<std::uint64_t> frame_of(const Options& given, const char* option) {
  if (!given.has(option)) return std::nullopt;
  lua_State* const state = given.state();
  given.push(option);
  if (!lua_istable(state, -1)) wrong(fmt::format("{} is a message that was sent or received", option));
  lua_getfield(state, -1, "frame");
  const std::uint64_t frame = number_at(state, -1, option);
  lua_pop(state, 2);
  return frame;
}

CdiVersion version_of(const std::string& text) {
  const std::optional<CdiVersion> version = parse_cdi_version(text);
  if (!version) wrong(fmt::format("version: write \"2.3.5\", not \"{}\"", text));
  return *version;
}

void push_message(Call& call, std::uint64_t frame) {
  lua_State* const state = call.state;
  if (frame == 0) {
    lua_pushnil(state);
    return;
  }
  const CdiTester& cdi = call.tester().cdi();
  CdiMessage m;
  const bool good = cdi.message(frame, m) == CdiFault::none;
  const UdpOfFrame udp = cdi.datagram(frame);
  lua_createtable(state, 0, 10);
  const auto number = [state](const char* key, std::uint64_t value) {
    lua_pushinteger(state, static_cast<lua_Integer>(value));
    lua_setfield(state, -2, key);
  };
  number("frame", frame);
  number("bytes", udp.payload.size());
  number("source_port", udp.from.port);
  lua_pushnumber(state, static_cast<double>(call.tester().frame_time_ns(frame)) / 1e6);
  lua_setfield(state, -2, "time");
  if (good || call.tester().frames()[frame - 1].from_tester) {
    number("number", m.number);
    const std::string_view name = cdi_command_name(m.command);
    if (name.empty())
      lua_pushinteger(state, static_cast<lua_Integer>(m.command));
    else
      lua_pushlstring(state, name.data(), name.size());
    lua_setfield(state, -2, "command");
    lua_pushstring(state, to_text(m.version).c_str());
    lua_setfield(state, -2, "version");
    lua_pushlstring(state, reinterpret_cast<const char*>(m.adapter.data()), m.adapter.size());
    lua_setfield(state, -2, "senders_gid_array");
  }
  // All fields of its headers, in one table.
  dissect::Packet packet;
  call.tester().walk(frame, packet);
  lua_newtable(state);
  for (const dissect::Layer& layer : packet.layers()) {
    if (!layer.header->name.starts_with("cdi") || layer.header == &dissect::header<dissect::CdiAck>) continue;
    push_layer(state, packet, layer);
    for (lua_pushnil(state); lua_next(state, -2) != 0;) {
      lua_pushvalue(state, -2);
      lua_insert(state, -2);
      lua_settable(state, -5);
    }
    lua_pop(state, 1);
  }
  if (m.command == dissect::cdi_ack) {
    number("ack_command", m.ack_command);
    number("ack_control_packet_num", m.ack_number);
  }
  lua_setfield(state, -2, "cdi");
  make_strict(state, "a message");
}

CdiTester::Peer& peer_of(Call& call) { return call.tester().cdi().peer(call.connection); }

// ---- opening

int open(Call& call, const char* name, bool transmits) {
  lua_State* const state = call.state;
  const Options given(state, call.first, name, transmits ? open_tx_options : open_rx_options);
  std::optional<std::uint16_t> port;
  if (const auto p = given.number32("port", 0xffff)) port = static_cast<std::uint16_t>(*p);
  CdiTester& cdi = call.tester().cdi();
  const CdiTester::Peer& peer = cdi.open(transmits, port, given.text("name").value_or("rdmascope"),
                                         transmits ? given.number32("ports", 5).value_or(1) : 0);
  lua_createtable(state, 0, 16);
  lua_pushinteger(state, peer.own.port);
  lua_setfield(state, -2, "port");
  push_functions(state, cdi_functions(), Function::Where::cdi, peer.id);
  make_strict(state, "a CDI port");
  return 1;
}

int open_tx(Call& call) { return open(call, "open_cdi_tx", true); }
int open_rx(Call& call) { return open(call, "open_cdi_rx", false); }

// ---- sending

int send(Call& call) {
  lua_State* const state = call.state;
  const Options given(state, call.first, "send", send_options);
  const std::vector<std::uint32_t> commands =
      lua_istable(state, call.first) ? commands_at(state, call.first) : std::vector<std::uint32_t>{};
  if (commands.size() != 1) wrong("send takes one command, by name or number");
  CdiDraft draft;
  CdiMessage& m = draft.message;
  m.command = commands.front();
  const bool opens = m.command == dissect::cdi_reset;
  m.version = version_of(given.text("version").value_or(opens ? "1.0.5" : "2.3.5"));
  m.requires_ack = m.command == dissect::cdi_connected ? 0 : 1;
  CdiTester& cdi = call.tester().cdi();
  CdiTester::Peer& peer = peer_of(call);
  if (!peer.transmits) m.requires_ack = 0;
  if (const auto flag = given.number32("requires_ack", 0xff)) m.requires_ack = static_cast<std::uint8_t>(*flag);
  if (const auto n = given.number32("number", 0xffff)) draft.number = static_cast<std::uint16_t>(*n);
  if (const auto p = given.number32("senders_control_dest_port", 0xffff)) draft.port = static_cast<std::uint16_t>(*p);
  if (const auto s = given.number32("senders_stream_identifier")) m.stream = static_cast<std::int32_t>(*s);
  draft.ip = given.text("senders_ip_str");
  m.name = given.text("senders_stream_name_str").value_or("");
  if (const std::optional<std::string> gid = given.text("senders_gid_array")) {
    CdiAdapter adapter{};
    if (gid->size() != adapter.size()) wrong(fmt::format("senders_gid_array has 32 bytes, not {}", gid->size()));
    std::ranges::copy(*gid, adapter.begin());
    draft.adapter = adapter;
  }
  draft.cut = given.number32("cut", 1024).value_or(0);
  draft.extend = given.number32("extend", 1024).value_or(0);
  draft.checksum_xor = static_cast<std::uint16_t>(given.number32("checksum_xor", 0xffff).value_or(0));
  if (const std::optional<std::uint64_t> of = frame_of(given, "of")) {
    CdiMessage answered;
    if (cdi.message(*of, answered) != CdiFault::none) wrong("of: that is no message that could be answered");
    m.ack_command = answered.command;
    m.ack_number = answered.number;
    draft.to = *of;
    // A script may name another number or command than the message has.
    given.push("of");
    lua_getfield(state, -1, "number");
    m.ack_number = static_cast<std::uint16_t>(number_at(state, -1, "of.number"));
    lua_getfield(state, -2, "command");
    m.ack_command = command_at(state, -1);
    lua_pop(state, 3);
  } else if (m.command == dissect::cdi_ack) {
    wrong("an Ack needs `of`, the message it answers");
  }
  push_message(call, cdi.send(peer, draft));
  return 1;
}

// ---- expecting

void add(Expectation& fields, std::string_view name, Allowed allowed) {
  if (const Result<void> r = fields.field(name, std::move(allowed)); !r) wrong(r.error());
}

Allowed exactly(std::uint64_t n) { return Allowed{{{n, n}}, {}, {}}; }

CdiWanted wanted_at(Call& call, const char* function, std::int64_t within_ns) {
  lua_State* const state = call.state;
  const Options given(state, call.first, function, expect_options);
  CdiWanted out;
  out.within_ns = within_ns;
  Allowed commands;
  std::vector<std::uint32_t> named;
  if (lua_istable(state, call.first)) named = commands_at(state, call.first);
  for (const std::uint32_t command : named) {
    commands.ranges.push_back({command, command});
    const std::string_view name = cdi_command_name(command);
    out.text +=
        (out.text.empty() ? "" : " or ") + (name.empty() ? fmt::format("command {}", command) : std::string(name));
  }
  if (commands.ranges.empty())
    out.text = "a message";
  else
    add(out.fields, "cdi.command", commands);
  if (const std::optional<std::string> version = given.text("version")) {
    add(out.fields, "cdi.version", Allowed{{}, {to_text(version_of(*version))}, "\"" + *version + "\""});
    out.text += " " + *version;
  }
  if (given.has("number")) {
    given.push("number");
    add(out.fields, "cdi.control_packet_num", allowed_at(state, -1, "number"));
    lua_pop(state, 1);
  }
  if (const std::optional<std::uint64_t> of = frame_of(given, "of")) {
    CdiMessage m;
    if (call.tester().cdi().message(*of, m) != CdiFault::none) wrong("of: that is no message that could be answered");
    add(out.fields, "cdi.ack_command", exactly(m.command));
    add(out.fields, "cdi.ack_control_packet_num", exactly(m.number));
    out.text += fmt::format(" of {} #{}", cdi_command_name(m.command), m.number);
  }
  given.push("bytes");
  if (!lua_isnil(state, -1)) {
    Allowed bytes = allowed_at(state, -1, "bytes");
    constexpr std::uint64_t udp_header = 8;
    for (Allowed::Range& r : bytes.ranges) r = {r.low + udp_header, r.high + udp_header};
    add(out.fields, "udp.length", std::move(bytes));
  }
  lua_pop(state, 1);
  given.push("cdi");
  if (lua_istable(state, -1))
    for (const std::string& key : keys_of(state, -1)) {
      lua_getfield(state, -1, key.c_str());
      add(out.fields, "cdi." + key, allowed_at(state, -1, key));
      lua_pop(state, 1);
    }
  else if (!lua_isnil(state, -1))
    wrong(fmt::format("{}: cdi is a table of fields", function));
  lua_pop(state, 1);
  out.at_ns = given.duration_ns("at");
  out.tolerance_ns = given.duration_ns("tolerance");
  if (out.tolerance_ns && !out.at_ns) wrong(fmt::format("{}: tolerance goes with at", function));
  out.since = frame_of(given, "since");
  out.within_ns = given.duration_ns("within").value_or(out.within_ns);
  return out;
}

int expect(Call& call) {
  const CdiWanted wanted = wanted_at(call, "expect", Tester::default_within_ns);
  push_message(call, call.tester().cdi().expect(peer_of(call), wanted));
  return 1;
}

int maybe(Call& call) {
  constexpr std::int64_t within_ns = 100'000'000;
  const CdiWanted wanted = wanted_at(call, "maybe", within_ns);
  push_message(call, call.tester().cdi().maybe(peer_of(call), wanted));
  return 1;
}

int await(Call& call) {
  const CdiWanted wanted = wanted_at(call, "await", Tester::default_within_ns);
  push_message(call, call.tester().cdi().await(peer_of(call), wanted));
  return 1;
}

int allow(Call& call) {
  call.tester().cdi().allow(peer_of(call), wanted_at(call, "allow", 0));
  return 0;
}

int begin(Call& call) {
  push_message(call, call.tester().cdi().begin(peer_of(call)));
  return 1;
}

int quiet(Call& call) {
  const Options given(call.state, call.first, "quiet", within_options);
  call.tester().cdi().quiet(peer_of(call), given.duration_ns("within").value_or(1'000'000'000));
  return 0;
}

int wait(Call& call) {
  call.tester().cdi().wait(duration_at(call.state, call.first, "wait"));
  return 0;
}

// ---- the data path

int deliver(Call& call) {
  constexpr std::uint32_t all_packets = 1000;
  const Options given(call.state, call.first, "deliver", deliver_options);
  const std::uint32_t packets = given.number32("packets", 1'000'000).value_or(all_packets);
  CdiDataPath& path = call.tester().cdi().data_path();
  call.tester().tell(Event::Kind::posted, fmt::format("{} probe packets get through", packets));
  path.deliver(packets);
  return 0;
}

int data_address(Call& call) {
  const CdiAdapter address = call.tester().cdi().data_path().address();
  lua_pushlstring(call.state, reinterpret_cast<const char*>(address.data()), address.size());
  return 1;
}

const Function functions[] = {
    {"open_cdi_tx", global, open_tx, open_tx_options},
    {"open_cdi_rx", global, open_rx, open_rx_options},
    {"send", cdi, send, send_options},
    {"expect", cdi, expect, expect_options},
    {"maybe", cdi, maybe, expect_options},
    {"await", cdi, await, expect_options},
    {"allow", cdi, allow, expect_options},
    {"begin", cdi, begin, {}},
    {"quiet", cdi, quiet, within_options},
    {"wait", cdi, wait, {}},
    {"deliver", cdi, deliver, deliver_options},
    {"data_address", cdi, data_address, {}},
};

}  // namespace

std::span<const Function> cdi_functions() { return functions; }

}  // namespace rdmascope::replay
