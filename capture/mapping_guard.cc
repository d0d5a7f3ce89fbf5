#include "capture/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace rdmascope::capture {
namespace {

// Read by a signal handler: fixed places, plain atomics.
struct Slot {
  std::atomic<bool> taken = false, cut = false;
  std::atomic<std::uintptr_t> begin = 0, end = 0;  // end is 0: nothing
};
std::array<Slot, 256> slots;
std::uintptr_t page_bytes = 4096;

void on_bus_error(int, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : slots) {
    if (at < slot.begin || at >= slot.end) continue;
    void* const page = reinterpret_cast<void*>(at - at % page_bytes);
    if (::mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    slot.cut = true;
    return;
  }
  // As without us: the instruction runs again, and the signal has its usual end.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGBUS, &usual, nullptr);
}

}  // namespace

void guard_mappings() {
  page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

GuardedMapping::GuardedMapping(const void* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < slots.size() && slot_ < 0; ++i) {
    if (slots[i].taken.exchange(true)) continue;
    slots[i].cut = false;
    slots[i].begin = reinterpret_cast<std::uintptr_t>(begin);
    slots[i].end = slots[i].begin + bytes;
    slot_ = static_cast<int>(i);
  }
}

GuardedMapping::GuardedMapping(GuardedMapping&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

GuardedMapping& GuardedMapping::operator=(GuardedMapping&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

GuardedMapping::~GuardedMapping() {
  if (slot_ < 0) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  slot.end = 0;
  slot.begin = 0;
  slot.taken = false;
}

bool GuardedMapping::was_cut() const { return slot_ >= 0 && slots[static_cast<std::size_t>(slot_)].cut; }

}  // namespace rdmascope::capture
