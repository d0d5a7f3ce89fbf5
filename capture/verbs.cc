#include "capture/verbs.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace rdmascope::capture::verbs {
namespace {

constexpr const char* library_file = "libibverbs.so.1";

Result<Library> open_library() {
  // The devices' drivers are libraries that look for their symbols in this one: it stays loaded.
  void* handle = dlopen(library_file, RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return Error{fmt::format("cannot load {}: install libibverbs1 and ibverbs-providers (rdma-core)", library_file)};
  Library library;
  const char* missing = nullptr;
#define RDMASCOPE_LOAD(name)                                                     \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #name)); \
  if (!library.name) missing = #name
  RDMASCOPE_VERBS_FUNCTIONS(RDMASCOPE_LOAD)
#undef RDMASCOPE_LOAD
  if (missing) return Error{fmt::format("{} has no {}: rdma-core 29 or newer is needed", library_file, missing)};
  return library;
}

struct FreeDevices {
  void operator()(ibv_device** list) const { (*load())->ibv_free_device_list(list); }
};
using Devices = std::unique_ptr<ibv_device*, FreeDevices>;  // ends with a null pointer

Result<Devices> devices() {
  const Result<const Library*> library = load();
  if (!library) return Error{library.error()};
  Devices list((*library)->ibv_get_device_list(nullptr));
  if (!list && errno == ENOSYS) return Error{"no RDMA devices here: the kernel has not loaded ib_uverbs"};
  if (!list) return failed("list the RDMA devices", errno);
  return list;
}

}  // namespace

Result<const Library*> load() {
  static const Result<Library> library = open_library();
  if (!library) return Error{library.error()};
  return &*library;
}

Error failed(std::string_view what, int error) {
  std::string_view help;
  if (error == ENOMEM) help = "; the limit on locked memory may be too low (ulimit -l)";
  if (error == EACCES || error == EPERM) help = "; check the rights on /dev/infiniband";
  return {fmt::format("cannot {}: {}{}", what, std::strerror(error), help)};
}

Result<std::vector<std::string>> device_names() {
  const Result<Devices> list = devices();
  if (!list) return Error{list.error()};
  std::vector<std::string> names;
  for (ibv_device** device = list->get(); *device; ++device)
    names.emplace_back((*load())->ibv_get_device_name(*device));
  return names;
}

Result<Context> open_device(const std::string& name) {
  const Result<Devices> list = devices();
  if (!list) return Error{list.error()};
  std::vector<std::string_view> names;
  for (ibv_device** device = list->get(); *device; ++device) {
    names.emplace_back((*load())->ibv_get_device_name(*device));
    if (names.back() != name) continue;
    Context context((*load())->ibv_open_device(*device));
    if (!context) return failed(fmt::format("open RDMA device {}", name), errno);
    return context;
  }
  return Error{fmt::format("no such RDMA device {} (have: {})", name,
                           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
}

// Some names are macros, too, which stand for functions that are not in the library. Parentheses keep them out.
Result<ibv_port_attr> query_port(ibv_context* context, std::uint8_t port) {
  ibv_port_attr out{};
  // The exported function fills the members that were there in the beginning, up to the link layer.
  const int error = ((*load())->ibv_query_port)(context, port, reinterpret_cast<_compat_ibv_port_attr*>(&out));
  if (error != 0) return failed(fmt::format("ask for port {}", port), error);
  return out;
}

void Memory::FreeBuffer::operator()(std::uint8_t* buffer) const { std::free(buffer); }

Result<Memory> Memory::make(ibv_pd* pd, std::uint32_t bytes, int access) {
  constexpr std::size_t page = 4096;
  Memory memory;
  memory.size_ = bytes;
  const std::size_t whole = (bytes / page + 1) * page;
  memory.buffer_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(page, whole)));
  if (!memory.buffer_) return failed(fmt::format("get {} bytes of memory", bytes), ENOMEM);
  std::memset(memory.buffer_.get(), 0, whole);
  memory.region_.reset(((*load())->ibv_reg_mr)(pd, memory.buffer_.get(), bytes, access));
  if (!memory.region_) return failed(fmt::format("register {} bytes of memory", bytes), errno);
  return memory;
}

}  // namespace rdmascope::capture::verbs
