#include "replay/umad_wire.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "replay/mad_frame.h"

namespace rdmascope::replay {
namespace {

#define RDMASCOPE_UMAD_FUNCTIONS(each) \
  each(umad_init);                     \
  each(umad_get_port);                 \
  each(umad_release_port);             \
  each(umad_open_port);                \
  each(umad_close_port);               \
  each(umad_register);                 \
  each(umad_unregister);               \
  each(umad_size);                     \
  each(umad_get_mad);                  \
  each(umad_get_mad_addr);             \
  each(umad_status);                   \
  each(umad_set_addr);                 \
  each(umad_send);                     \
  each(umad_recv);

struct Library {
#define RDMASCOPE_MEMBER(name) decltype(&::name) name = nullptr
  RDMASCOPE_UMAD_FUNCTIONS(RDMASCOPE_MEMBER)
#undef RDMASCOPE_MEMBER
};

constexpr const char* library_file = "libibumad.so.3";
// How long the kernel keeps a request that may still be answered; the tester's own patience is shorter.
constexpr int kernel_timeout_ms = 30'000;
constexpr unsigned window = 4;  // as many as opensm has under way

Result<Library> open_library() {
  void* const handle = dlopen(library_file, RTLD_NOW);
  if (!handle) return Error{fmt::format("umad wire: cannot load {}: install libibumad3 (rdma-core)", library_file)};
  Library library;
  const char* missing = nullptr;
#define RDMASCOPE_LOAD(name)                                                     \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #name)); \
  if (!library.name) missing = #name
  RDMASCOPE_UMAD_FUNCTIONS(RDMASCOPE_LOAD)
#undef RDMASCOPE_LOAD
  if (missing) return Error{fmt::format("umad wire: {} has no {}", library_file, missing)};
  if (library.umad_init() < 0)
    return Error{"umad wire: no InfiniBand management devices here: the kernel has not loaded ib_umad"};
  return library;
}

// Loaded once and never unloaded.
Result<const Library*> load() {
  static const Result<Library> library = open_library();
  if (!library) return Error{library.error()};
  return &*library;
}

const Library& loaded() { return **load(); }

}  // namespace

Error UmadWire::failed(const std::string& what, int error) const {
  return Error{fmt::format("umad wire: {} port {}: {}: {}", device_, port_, what, std::strerror(error))};
}

Result<std::unique_ptr<UmadWire>> UmadWire::open(const std::string& device, std::uint8_t port) {
  const Result<const Library*> library = load();
  if (!library) return Error{library.error()};
  std::unique_ptr<UmadWire> wire(new UmadWire);
  wire->device_ = device;
  wire->port_ = port;
  umad_port_t facts{};
  if ((*library)->umad_get_port(device.c_str(), port, &facts) < 0)
    return Error{fmt::format(
        "umad wire: {} port {}: no such InfiniBand port; `ls /sys/class/infiniband_mad` shows them", device, port)};
  wire->own_lid_ = static_cast<std::uint16_t>(facts.base_lid);
  (*library)->umad_release_port(&facts);
  wire->handle_ = (*library)->umad_open_port(device.c_str(), port);
  if (wire->handle_ < 0) {
    const int error = -wire->handle_;
    wire->handle_ = -1;
    return wire->failed(error == EACCES || error == EPERM ? "needs root, or the right to open /dev/infiniband/umad*"
                                                          : "cannot be opened",
                        error);
  }
  wire->buffer_.resize((*library)->umad_size() + dissect::mad_bytes);
  return wire;
}

UmadWire::~UmadWire() {
  if (handle_ < 0) return;
  for (const auto& [mgmt_class, id] : agents_) loaded().umad_unregister(handle_, id);
  loaded().umad_close_port(handle_);
}

std::uint16_t UmadWire::link_type() const { return link_infiniband; }

std::int64_t UmadWire::now_ns() { return real_time_ns(); }

std::optional<MadCarriage> UmadWire::mads() const {
  return MadCarriage{.on_link = false, .tid_bits = 32, .window = window, .own_lid = own_lid_};
}

Result<int> UmadWire::agent(std::uint8_t mgmt_class, std::uint8_t class_version) {
  if (const auto known = agents_.find(mgmt_class); known != agents_.end()) return known->second;
  // No methods: it sends requests and gets the answers to them.
  const int id = loaded().umad_register(handle_, mgmt_class, class_version, 0, nullptr);
  if (id < 0) return failed(fmt::format("cannot register for class 0x{:02x}", mgmt_class), -id);
  agents_[mgmt_class] = id;
  return id;
}

Result<void> UmadWire::carries(std::span<const std::uint8_t> frame) const {
  const std::optional<MadOfFrame> in = mad_of(frame);
  if (!in || in->mad.size() != dissect::mad_bytes) return Error{"umad carries MADs of 256 bytes only"};
  const MadAddress usual = MadAddress::of_class(class_of(in->mad), in->address.source_lid, in->address.destination_lid);
  if (in->address.vl != usual.vl || in->address.p_key != usual.p_key || in->address.source_qp != usual.source_qp)
    return Error{"umad has its own source queue pair, P_Key and VL"};
  if (std::vector<std::uint8_t> made = mad_frame(in->mad, in->address);
      made.size() != frame.size() || std::memcmp(made.data(), frame.data(), frame.size()) != 0)
    return Error{"umad makes LRH, BTH, DETH and CRCs itself"};
  const dissect::View<dissect::Mad> mad(in->mad.data());
  const std::uint64_t hops = mad.get<"classspecific">();
  if (mad.get<"mgmtclass">() == class_subn_directed && (hops >> 8 != 0 || (hops & 0xff) > 63))
    return Error{"the kernel begins directed routes itself: hop pointer 0, at most 63 hops"};
  return {};
}

Result<void> UmadWire::send(std::span<const std::uint8_t> frame) {
  const std::optional<MadOfFrame> in = mad_of(frame);
  if (!in || in->mad.size() != dissect::mad_bytes) return Error{"umad wire: carries MADs of 256 bytes only"};
  const dissect::View<dissect::Mad> mad(in->mad.data());
  // Agents are for classes as they are; a wrong version goes out all the same.
  const auto mgmt_class = static_cast<std::uint8_t>(mad.get<"mgmtclass">());
  const Result<int> id = agent(mgmt_class, mgmt_class == class_sa ? 2 : 1);
  if (!id) return Error{id.error()};
  void* const umad = buffer_.data();
  std::ranges::fill(buffer_, std::uint8_t{0});
  std::memcpy(loaded().umad_get_mad(umad), in->mad.data(), in->mad.size());
  loaded().umad_set_addr(umad, in->address.destination_lid, static_cast<int>(in->address.destination_qp),
                         in->address.sl, static_cast<int>(in->address.q_key));
  const int sent =
      loaded().umad_send(handle_, *id, umad, dissect::mad_bytes, is_response(in->mad) ? 0 : kernel_timeout_ms, 0);
  if (sent < 0) return failed("cannot send", -sent);
  return {};
}

Result<std::optional<Received>> UmadWire::receive(std::int64_t deadline_ns) {
  while (true) {
    const std::int64_t left = deadline_ns - real_time_ns();
    int length = dissect::mad_bytes;
    void* const umad = buffer_.data();
    const int got = loaded().umad_recv(
        handle_, umad, &length, static_cast<int>(std::clamp<std::int64_t>((left + 999'999) / 1'000'000, 0, 1000)));
    if (got < 0) {
      if (got != -ETIMEDOUT && got != -EWOULDBLOCK && got != -EINTR && got != -EAGAIN)
        return failed("cannot receive", -got);
      if (deadline_ns <= real_time_ns()) return std::optional<Received>();
      continue;
    }
    // What nobody answered comes back, marked.
    if (loaded().umad_status(umad) != 0 || length < static_cast<int>(dissect::mad_bytes)) continue;
    MadBytes mad{};
    std::memcpy(mad.data(), loaded().umad_get_mad(umad), mad.size());
    const ib_mad_addr_t& from = *loaded().umad_get_mad_addr(umad);
    MadAddress address = MadAddress::of_class(class_of(mad), be16toh(from.lid), own_lid_);
    address.source_qp = be32toh(from.qpn);
    if (is_response(mad))
      dissect::put<dissect::Mad, "transactionid">(
          mad.data(), dissect::View<dissect::Mad>(mad.data()).get<"transactionid">() & 0xffffffff);
    address.psn = received_++ & 0xffffff;
    return std::optional<Received>(Received{mad_frame(mad, address), real_time_ns()});
  }
}

}  // namespace rdmascope::replay
