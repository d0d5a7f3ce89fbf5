// A thin layer over libibverbs that loads the library when it is needed and frees what it made. The program starts, and
// everything else in it works, on machines without the library.
//
// Handles free themselves; members are declared in the order they are made, so the reverse order of freeing is right.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
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
using Context = std::unique_ptr<ibv_context, Free<&Library::ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, Free<&Library::ibv_dealloc_pd>>;
using MemoryRegion = std::unique_ptr<ibv_mr, Free<&Library::ibv_dereg_mr>>;
using EventChannel = std::unique_ptr<ibv_comp_channel, Free<&Library::ibv_destroy_comp_channel>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Free<&Library::ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, Free<&Library::ibv_destroy_qp>>;
using AddressHandle = std::unique_ptr<ibv_ah, Free<&Library::ibv_destroy_ah>>;

Result<std::vector<std::string>> device_names();
// "no such RDMA device rxe9 (have: rxe0, rxe1)"
Result<Context> open_device(const std::string& name);

Result<ibv_port_attr> query_port(ibv_context* context, std::uint8_t port);

// Memory on whole pages, zeroed, and registered.
class Memory {
 public:
  static Result<Memory> make(ibv_pd* pd, std::uint32_t bytes, int access);

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
