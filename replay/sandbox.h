// A Lua state that can compute and nothing else: no files, no programs, no clock, no loading of code. What could run
// for ever inside one C function (string patterns, moving of tables, finalizers) is not there either, so that the time
// limit holds. Debian's Lua built as C++: its errors are exceptions, and destructors run.
//
// A script cannot catch errors (no pcall, no coroutines): a test that failed cannot go on as if it had not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

struct lua_State;
struct lua_Debug;

namespace rdmascope::replay {

struct SandboxLimits {
  std::size_t bytes = 64 << 20;
  std::int64_t compute_ns = 10'000'000'000;  // of this thread; waiting for packets does not count
};

class Sandbox {
 public:
  explicit Sandbox(SandboxLimits limits = {});
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  lua_State* state() { return state_; }

  // math.random gives the same numbers for the same seed.
  Result<void> seed(std::uint64_t seed);

  // Compiles source text and leaves the function on the stack. `name` is what messages call it: "c09.lua".
  Result<void> load(std::string_view source, const std::string& name);

  // Calls what load() left there. On failure the error value is on the stack for whoever threw it, and the sentence
  // says what it says as text.
  Result<void> call();

  // Why the script was stopped for what it used up, or empty. Once stopped, it stays stopped.
  const std::string& stopped() const { return stopped_; }

  // The sentence for a status of lua_pcall that is not LUA_OK, with the error value on the stack.
  std::string sentence(int status);

  // Like lua_pcall without results, for use inside a script's function.
  int protected_call(int arguments);

 private:
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);
  static void on_count(lua_State* state, lua_Debug*);
  static int open_libraries(lua_State* state);

  SandboxLimits limits_;
  std::size_t used_ = 0;
  std::int64_t start_ns_ = 0;
  std::string stopped_;
  lua_State* state_ = nullptr;
};

}  // namespace rdmascope::replay
