// A mapped file that another program makes shorter has pages without bytes: touching them would end the program
// (SIGBUS). With the guard such a page reads as zeros instead, and the mapping says so.
#pragma once

#include <cstddef>

namespace rdmascope::capture {

// For programs that keep frames of mapped files; once, at the start. Other causes of SIGBUS end the program as before.
void guard_mappings();

// Of one mapping. When the table is full it is not guarded.
class GuardedMapping {
 public:
  GuardedMapping() = default;
  GuardedMapping(const void* begin, std::size_t bytes);
  GuardedMapping(GuardedMapping&& other) noexcept;
  GuardedMapping& operator=(GuardedMapping&& other) noexcept;
  ~GuardedMapping();

  bool was_cut() const;  // something was read that is not there

 private:
  int slot_ = -1;
};

}  // namespace rdmascope::capture
