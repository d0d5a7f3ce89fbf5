// Between Lua and the tester: how functions are declared, and how they read what a script gives them. Private to
// script*.cc.
//
// A function declares its name, where it is found and the options it takes; an option that is not declared is refused
// with the one that is near. What a script gets wrong is a Stop with Verdict::error.
#pragma once

#include <lua.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/script.h"

namespace rdmascope::replay {

struct Play;

// One call of a function by the script.
struct Call {
  lua_State* state;
  Play& play;
  std::uint32_t connection;  // it was called on, or the port of the CDI probe; 0: none
  int first;                 // stack index of the first argument

  Tester& tester() const;
  Connection& on() const;  // the connection it was called on, or the current one
};

struct Function {
  enum class Where : std::uint8_t {
    global,
    packets,     // expect{...} on the current connection, and rc:expect{...}
    connection,  // rc:close{...}
    dut,         // rc.dut:post_read{...}
    mad,         // mad.get{...}
    cdi,         // tx:send{...} on what open_cdi_tx returned
  };
  std::string_view name;
  Where where;
  int (*run)(Call&);  // results it left on the stack
  std::vector<std::string_view> options{};
};
std::span<const Function> test_functions();    // test, sub, skip, ...: script.cc
std::span<const Function> packet_functions();  // expect, send, ...: script_packets.cc
std::span<const Function> dut_functions();     // open_rc, post_read, ...: script_dut.cc
std::span<const Function> mad_functions();     // mad.get, mad.set, ...: script_mad.cc
std::span<const Function> cdi_functions();     // open_cdi_tx, send, ...: script_cdi.cc

// The state of a script that is being played.
struct Play {
  const Script& script;
  const ScriptOptions& options;
  Sandbox sandbox;
  Tester* tester = nullptr;  // nullptr: only the head is wanted
  ScriptHead head;
  bool has_head = false;
  std::vector<std::string> allowed_rules;
  std::vector<std::string> notes;     // of the present case
  std::vector<Case> finished;         // subs
  std::vector<std::uint32_t> judged;  // connections whose sub has looked at them
  std::optional<std::string> in_sub;  // its name
  std::optional<Stop> stop;           // why the script was ended
};

Play& play_of(lua_State* state);
[[noreturn]] void wrong(std::string message);  // Stop with Verdict::error

// The one table that a function was given; no table is an empty one.
class Options {
 public:
  Options(const Call& call, const Function& function);
  Options(lua_State* state, int index, std::string_view name, std::span<const std::string_view> known);

  bool has(const char* name) const;
  std::optional<std::uint64_t> number(const char* name, std::uint64_t largest) const;
  std::optional<std::uint32_t> number32(const char* name, std::uint32_t largest = 0xffffffff) const;
  std::optional<bool> flag(const char* name) const;
  std::optional<std::string> text(const char* name) const;
  std::optional<std::int64_t> duration_ns(const char* name) const;
  std::vector<std::string> texts(const char* name) const;  // a list of texts, or one
  void push(const char* name) const;                       // its value, or nil
  lua_State* state() const { return state_; }

 private:
  lua_State* state_;
  int index_ = 0;  // 0: no table
  std::string name_;
};

// Values.
std::uint64_t number_at(lua_State* state, int index, std::string_view what);            // integer, PSN or truth value
std::vector<std::string> texts_at(lua_State* state, int index, std::string_view what);  // a list of texts, or one
std::int64_t duration_at(lua_State* state, int index, std::string_view what);
Allowed allowed_at(lua_State* state, int index, std::string_view what, bool inside_list = false);
std::uint8_t opcode_at(lua_State* state, int index);
bool is_any(lua_State* state, int index);  // the constants `any` and `none`
bool is_none(lua_State* state, int index);
// Keys of a table that are texts, sorted with psn first: the order of Lua's own changes from run to run.
std::vector<std::string> keys_of(lua_State* state, int index);

void push_psn(lua_State* state, const Psn& psn);
std::optional<Psn> psn_at(lua_State* state, int index);
void push_packet(Call& call, const Connection& connection, const Seen& seen);
// The fields of a header as a table; arrays are lists.
void push_layer(lua_State* state, const dissect::Packet& packet, const dissect::Layer& layer);
void push_mad(Call& call, std::uint64_t frame);  // nil where there is none
// The table at `index`: opcodes by position, then fields. Keys in `others` are for the caller. Of packets on
// `connection` the P_Key must be right, since a receiver drops others; where nullptr it may be any.
Expectation expectation_at(Call& call, int index, std::string_view function, std::span<const std::string_view> others,
                           const Connection* connection);
void push_functions(lua_State* state, std::span<const Function> functions, Function::Where where,
                    std::uint32_t connection);  // into the table on top
// The table on top cannot be asked for what it does not have; `what` it is: "a connection".
void make_strict(lua_State* state, const char* what);
void register_values(lua_State* state);  // metatables, and the constants
void register_mads(lua_State* state);    // mad.get and its like

struct Constant {
  std::string_view name;
  std::int64_t value;
};
std::span<const Constant> script_constants();

}  // namespace rdmascope::replay
