#include "capture/verbs.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <infiniband/mlx4dv.h>
#include <infiniband/mlx5dv.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
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

namespace {

// A function of a driver's library, which is loaded already when one of its devices is open.
Result<void*> driver_function(const char* file, const char* name) {
  void* handle = dlopen(file, RTLD_NOW);
  if (!handle) return Error{fmt::format("cannot load {}: install ibverbs-providers (rdma-core)", file)};
  void* const function = dlsym(handle, name);
  if (!function) return Error{fmt::format("{} has no {}: rdma-core 29 or newer is needed", file, name)};
  return function;
}

Result<QueueMemory> checked(const QueueMemory& memory, const char* file) {
  const bool strides = memory.stride >= 32 && memory.stride <= 256 && std::has_single_bit(memory.stride);
  if (memory.slots && std::has_single_bit(memory.count) && memory.count <= 1u << 24 && strides) return memory;
  return Error{fmt::format("{} describes a completion queue of {} slots of {} bytes, which no such device has", file,
                           memory.count, memory.stride)};
}

}  // namespace

Result<QueueMemory> mlx4_queue_memory(ibv_cq* queue) {
  constexpr const char* file = "libmlx4.so.1";
  const auto function = driver_function(file, "mlx4dv_init_obj");
  if (!function) return Error{function.error()};
  mlx4dv_cq out{};
  mlx4dv_obj object{};
  object.cq = {queue, &out};
  const auto init = reinterpret_cast<decltype(&mlx4dv_init_obj)>(*function);
  if (const int error = init(&object, MLX4DV_OBJ_CQ); error != 0) return failed("look at the completion queue", error);
  const QueueMemory memory{static_cast<const std::uint8_t*>(out.buf.buf), out.cqe_cnt,
                           static_cast<std::uint32_t>(out.cqe_size), out.cqn};
  if (out.buf.length < std::uint64_t{memory.count} * memory.stride)
    return Error{fmt::format("{} describes a completion queue larger than its memory", file)};
  return checked(memory, file);
}

Result<QueueMemory> mlx5_queue_memory(ibv_cq* queue) {
  constexpr const char* file = "libmlx5.so.1";
  const auto function = driver_function(file, "mlx5dv_init_obj");
  if (!function) return Error{function.error()};
  mlx5dv_cq out{};
  mlx5dv_obj object{};
  object.cq = {queue, &out};
  const auto init = reinterpret_cast<decltype(&mlx5dv_init_obj)>(*function);
  if (const int error = init(&object, MLX5DV_OBJ_CQ); error != 0) return failed("look at the completion queue", error);
  return checked({static_cast<const std::uint8_t*>(out.buf), out.cqe_cnt, out.cqe_size, out.cqn}, file);
}

std::vector<std::string> device_folders() {
  std::vector<std::string> out;
  if (const Result<Devices> list = devices()) {
    for (ibv_device** device = list->get(); *device; ++device) out.emplace_back((*device)->ibdev_path);
  } else {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband", error))
      out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string driver_of(const std::string& folder) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(folder + "/device/driver", error);
  return error ? std::string() : target.filename().string();
}

std::optional<ibv_device_attr_ex> query_device_ex(ibv_context* context) {
  // ibv_query_device_ex() of the header needs a function of the library while linking.
  verbs_context* const extended = verbs_get_ctx(context);
  if (!extended || extended->sz < sizeof *extended - offsetof(verbs_context, query_device_ex)) return std::nullopt;
  ibv_device_attr_ex out{};
  if (!extended->query_device_ex || extended->query_device_ex(context, nullptr, &out, sizeof out) != 0)
    return std::nullopt;
  return out;
}

void Memory::FreeBuffer::operator()(std::uint8_t* buffer) const { std::free(buffer); }

Result<Memory> Memory::make(ibv_pd* pd, std::size_t bytes, int access) {
  constexpr std::size_t small_page = 4096, large_page = 2 << 20;
  const std::size_t page = bytes >= 2 * large_page ? large_page : small_page;
  Memory memory;
  memory.size_ = bytes;
  const std::size_t whole = (bytes / page + 1) * page;
  memory.buffer_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(page, whole)));
  if (!memory.buffer_) return failed(fmt::format("get {} bytes of memory", bytes), ENOMEM);
  if (page == large_page) ::madvise(memory.buffer_.get(), whole, MADV_HUGEPAGE);  // a wish; slower without
  std::memset(memory.buffer_.get(), 0, whole);
  memory.region_.reset(((*load())->ibv_reg_mr)(pd, memory.buffer_.get(), bytes, access));
  if (!memory.region_) return failed(fmt::format("register {} bytes of memory", bytes), errno);
  return memory;
}

}  // namespace rdmascope::capture::verbs
