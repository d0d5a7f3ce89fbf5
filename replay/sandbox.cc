#include "replay/sandbox.h"

#include <fmt/format.h>
#include <time.h>

#include <cstdlib>
#include <lua.hpp>
#include <new>

namespace rdmascope::replay {
namespace {

constexpr int instructions_between_looks = 1000;
// The length of a table with holes can be anything up to 2^62, and these functions would walk all of it.
constexpr lua_Integer longest_table = 10'000'000;

std::int64_t thread_time_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// string.rep that does not count to 2^60 when there is nothing to repeat.
int bounded_rep(lua_State* state) {
  std::size_t length = 0, separator = 0;
  luaL_checklstring(state, 1, &length);
  luaL_optlstring(state, 3, "", &separator);
  luaL_checkinteger(state, 2);
  if (length + separator == 0) {
    lua_pushliteral(state, "");
    return 1;
  }
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, 1);
  return 1;
}

// table.insert and table.remove on tables of a length that can be true.
int bounded_table(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  if (luaL_len(state, 1) > longest_table) return luaL_error(state, "a table with holes has no length");
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, LUA_MULTRET);
  return lua_gettop(state);
}

constexpr const char* base_functions[] = {"assert", "error", "ipairs",   "next",    "pairs",
                                          "select", "type",  "tonumber", "tostring"};
constexpr const char* string_functions[] = {"byte", "char", "format",  "len",    "lower",    "rep",
                                            "pack", "sub",  "reverse", "unpack", "packsize", "upper"};
constexpr const char* table_functions[] = {"concat", "insert", "pack", "remove", "sort", "unpack"};

// Copies the named functions from the table on top of the stack into a new one, which takes its place.
template <std::size_t N>
void keep(lua_State* state, const char* const (&names)[N]) {
  lua_createtable(state, 0, N);
  for (const char* name : names) {
    lua_getfield(state, -2, name);
    lua_setfield(state, -2, name);
  }
  lua_remove(state, -2);
}

void wrap(lua_State* state, const char* name, lua_CFunction wrapper) {
  lua_getfield(state, -1, name);
  lua_pushcclosure(state, wrapper, 1);
  lua_setfield(state, -2, name);
}

}  // namespace

int Sandbox::open_libraries(lua_State* state) {
  luaL_requiref(state, LUA_GNAME, luaopen_base, 0);
  keep(state, base_functions);
  luaL_requiref(state, LUA_MATHLIBNAME, luaopen_math, 0);
  lua_setfield(state, -2, LUA_MATHLIBNAME);

  luaL_requiref(state, LUA_STRLIBNAME, luaopen_string, 0);
  keep(state, string_functions);
  wrap(state, "rep", bounded_rep);
  lua_pushliteral(state, "");  // methods: ("x"):rep(3)
  lua_getmetatable(state, -1);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_pop(state, 2);
  lua_setfield(state, -2, LUA_STRLIBNAME);

  luaL_requiref(state, LUA_TABLIBNAME, luaopen_table, 0);
  keep(state, table_functions);
  wrap(state, "insert", bounded_table);
  wrap(state, "remove", bounded_table);
  lua_setfield(state, -2, LUA_TABLIBNAME);

  // The new table becomes the globals; the full libraries are gone with the old one.
  lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  return 0;
}

Sandbox::Sandbox(SandboxLimits limits) : limits_(limits) {
  state_ = lua_newstate(allocate, this);
  if (!state_) throw std::bad_alloc();
  *static_cast<Sandbox**>(lua_getextraspace(state_)) = this;
  lua_pushcfunction(state_, open_libraries);
  if (lua_pcall(state_, 0, 0, 0) != LUA_OK) {
    lua_close(state_);
    throw std::bad_alloc();
  }
  start_ns_ = thread_time_ns();
  lua_sethook(state_, on_count, LUA_MASKCOUNT, instructions_between_looks);
}

Sandbox::~Sandbox() { lua_close(state_); }

void* Sandbox::allocate(void* self, void* block, std::size_t old_size, std::size_t new_size) {
  Sandbox& sandbox = *static_cast<Sandbox*>(self);
  if (!block) old_size = 0;  // then it is a kind of object
  if (new_size == 0) {
    std::free(block);
    sandbox.used_ -= old_size;
    return nullptr;
  }
  if (new_size > old_size && new_size - old_size > sandbox.limits_.bytes - sandbox.used_) return nullptr;
  void* const moved = std::realloc(block, new_size);
  if (moved) sandbox.used_ += new_size - old_size;
  return moved;
}

void Sandbox::on_count(lua_State* state, lua_Debug*) {
  Sandbox& sandbox = **static_cast<Sandbox**>(lua_getextraspace(state));
  if (thread_time_ns() - sandbox.start_ns_ <= sandbox.limits_.compute_ns) return;
  sandbox.stopped_ =
      fmt::format("script computes for more than {:g} s", static_cast<double>(sandbox.limits_.compute_ns) / 1e9);
  luaL_error(state, "%s", sandbox.stopped_.c_str());
}

Result<void> Sandbox::seed(std::uint64_t seed) {
  lua_pushcfunction(state_, [](lua_State* state) {
    lua_getglobal(state, "math");
    lua_getfield(state, -1, "randomseed");
    lua_pushvalue(state, 1);
    lua_call(state, 1, 0);
    return 0;
  });
  lua_pushinteger(state_, static_cast<lua_Integer>(seed));
  if (const int status = lua_pcall(state_, 1, 0, 0); status != LUA_OK) return Error{sentence(status)};
  return {};
}

Result<void> Sandbox::load(std::string_view source, const std::string& name) {
  // "t": source only. Compiled code could do anything.
  const int status = luaL_loadbufferx(state_, source.data(), source.size(), ("@" + name).c_str(), "t");
  if (status != LUA_OK) return Error{sentence(status)};
  return {};
}

Result<void> Sandbox::call() {
  if (const int status = lua_pcall(state_, 0, 0, 0); status != LUA_OK) return Error{sentence(status)};
  return {};
}

int Sandbox::protected_call(int arguments) {
  const int status = lua_pcall(state_, arguments, 0, 0);
  if (status == LUA_ERRMEM) sentence(status);
  return status;
}

std::string Sandbox::sentence(int status) {
  if (stopped_.empty() && status == LUA_ERRMEM)
    stopped_ = fmt::format("script uses more than {} MB", limits_.bytes >> 20);
  if (!stopped_.empty()) return stopped_;
  const char* text = lua_type(state_, -1) == LUA_TSTRING ? lua_tostring(state_, -1) : nullptr;
  return text ? text : "script raised an error that is no text";
}

}  // namespace rdmascope::replay
