// A thin layer over libibverbs that loads the library when it is needed and frees what it made. The program starts, and
// everything else in it works, on machines without the library.
//
// Handles free themselves; members are declared in the order they are made, so the reverse order of freeing is right.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rdmascope::capture::verbs {

// The functions of the library that we call; those that the header defines inline, like ibv_post_send(), need none.
#define RDMASCOPE_VERBS_FUNCTIONS(each) \
  each(ibv_get_device_list);            \
  each(ibv_free_device_list);           \
  each(ibv_get_device_name);            \
  each(ibv_open_device);                \
  each(ibv_close_device);               \
  each(ibv_get_async_event);            \
  each(ibv_ack_async_event);            \
  each(ibv_query_device);               \
  each(ibv_query_port);                 \
  each(ibv_query_pkey);                 \
  each(_ibv_query_gid_ex);              \
  each(ibv_alloc_pd);                   \
  each(ibv_dealloc_pd);                 \
  each(ibv_reg_mr);                     \
  each(ibv_dereg_mr);                   \
  each(ibv_create_comp_channel);        \
  each(ibv_destroy_comp_channel);       \
  each(ibv_create_cq);                  \
  each(ibv_destroy_cq);                 \
  each(ibv_get_cq_event);               \
  each(ibv_ack_cq_events);              \
  each(ibv_create_qp);                  \
  each(ibv_modify_qp);                  \
  each(ibv_query_qp);                   \
  each(ibv_destroy_qp);                 \
  each(ibv_create_ah);                  \
  each(ibv_destroy_ah);

struct Library {
#define RDMASCOPE_MEMBER(name) decltype(&::name) name = nullptr
  RDMASCOPE_VERBS_FUNCTIONS(RDMASCOPE_MEMBER)
#undef RDMASCOPE_MEMBER
};

// Loaded once and never unloaded.
Result<const Library*> load();

// Calls a function of the library, which is there whenever a handle is.
template <auto Library::*function>
struct Free {
  template <class T>
  void operator()(T* handle) const {
    ((*load())->*function)(handle);
  }
};
// Flows are no functions of the library but of the device's driver.
struct FreeFlow {
  void operator()(ibv_flow* flow) const { static_cast<void>(ibv_destroy_flow(flow)); }
};
using Context = std::unique_ptr<ibv_context, Free<&Library::ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, Free<&Library::ibv_dealloc_pd>>;
using MemoryRegion = std::unique_ptr<ibv_mr, Free<&Library::ibv_dereg_mr>>;
using EventChannel = std::unique_ptr<ibv_comp_channel, Free<&Library::ibv_destroy_comp_channel>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Free<&Library::ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, Free<&Library::ibv_destroy_qp>>;
using Flow = std::unique_ptr<ibv_flow, FreeFlow>;
using AddressHandle = std::unique_ptr<ibv_ah, Free<&Library::ibv_destroy_ah>>;

// What libmlx4 or libmlx5 tells of a completion queue's memory. Both believe that the queue is theirs and do not look:
// ask only when driver_of() says "mlx4_core" or "mlx5_core".
struct QueueMemory {
  const std::uint8_t* slots = nullptr;
  std::uint32_t count = 0, stride = 0;  // slots, a power of two; bytes of each
  std::uint32_t number = 0;             // of the queue, as the hardware calls it
};
Result<QueueMemory> mlx4_queue_memory(ibv_cq* queue);
Result<QueueMemory> mlx5_queue_memory(ibv_cq* queue);

// Folders of the RDMA devices in sysfs. Asks the library, or the kernel where there is no library.
std::vector<std::string> device_folders();
// Kernel module that drives the device in this folder, "mlx5_core"; empty: unknown.
std::string driver_of(const std::string& folder);

// Properties that came with the extended interface; nullopt: the driver has none.
std::optional<ibv_device_attr_ex> query_device_ex(ibv_context* context);

Result<std::vector<std::string>> device_names();
// "no such RDMA device rxe9 (have: rxe0, rxe1)"
Result<Context> open_device(const std::string& name);

Result<ibv_port_attr> query_port(ibv_context* context, std::uint8_t port);

// Memory on whole pages, large ones where it is large, zeroed, and registered.
class Memory {
 public:
  static Result<Memory> make(ibv_pd* pd, std::size_t bytes, int access);

  std::span<std::uint8_t> bytes() const { return {buffer_.get(), size_}; }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(buffer_.get()); }
  std::uint32_t local_key() const { return region_->lkey; }
  std::uint32_t remote_key() const { return region_->rkey; }

 private:
  struct FreeBuffer {
    void operator()(std::uint8_t* buffer) const;
  };
  std::size_t size_ = 0;
  std::unique_ptr<std::uint8_t, FreeBuffer> buffer_;
  MemoryRegion region_;
};

// "cannot WHAT: reason of errno", with what helps where that is known.
Error failed(std::string_view what, int error);

}  // namespace rdmascope::capture::verbs
