#include "capture/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/clock.h"
#include "capture/open.h"

namespace rdmascope::capture {
namespace {

constexpr int wait_ms = 100;
// Room for a batch grows with what arrives; a batch ends when it is that large.
constexpr std::size_t first_room = 1 << 20, largest_batch = std::size_t{16} << 20;

struct Close {
  void operator()(pcap_t* p) const { pcap_close(p); }
};
using Handle = std::unique_ptr<pcap_t, Close>;

// libpcap's numbers are those of capture files but for this one.
std::uint16_t link_type_of(pcap_t* handle) {
  const int type = pcap_datalink(handle);
  return static_cast<std::uint16_t>(type == DLT_RAW ? 101 : type);
}

Error bad_filter(const std::string& filter, pcap_t* handle) {
  return {fmt::format("cannot use the capture filter '{}': {}", filter, pcap_geterr(handle))};
}

class PcapSource final : public LiveSource {
 public:
  PcapSource(Handle handle, Interface interface, std::vector<std::string> warnings)
      : handle_(std::move(handle)),
        name_(interface.name),
        interfaces_{std::move(interface)},
        warnings_(std::move(warnings)),
        units_ns_(pcap_get_tstamp_precision(handle_.get()) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000) {}

  Result<std::size_t> read(std::span<Frame> out) override {
    const Result<std::size_t> got = at_end_ ? std::size_t{0} : wait_and_take(out);
    count_losses();
    return got;
  }
  bool at_end() const override { return at_end_; }
  const std::vector<Interface>& interfaces() const override { return interfaces_; }
  std::optional<std::uint64_t> dropped() const override { return known(dropped_); }
  std::optional<std::uint64_t> dropped_by_interface() const override { return known(dropped_by_interface_); }
  const std::vector<std::string>& warnings() const override { return warnings_; }
  bool is_down() const override { return is_down_; }
  bool give_memory(Memory& memory, std::size_t) override {
    std::swap(memory, room_);
    return true;
  }

 private:
  Result<std::size_t> wait_and_take(std::span<Frame> out) {
    if (failed_) return Error{*failed_};
    if (Result<std::size_t> got = take(out); !got || *got > 0 || at_end_) return got;
    if (stop_ns_) {  // all that was in the buffer is out
      at_end_ = true;
      return std::size_t{0};
    }
    // A socket whose interface went down is in error until it is up again; looking at it then and now is enough.
    const int socket = is_down_ ? -1 : pcap_get_selectable_fd(handle_.get());
    std::array<pollfd, 2> watched{{{socket, POLLIN, 0}, {stop_descriptor, POLLIN, 0}}};
    const bool any = ::poll(watched.data(), watched.size(), wait_ms) > 0;
    if (any && watched[1].revents != 0) {
      stop_ns_ = real_time_ns();
    }
    if (is_down_ || (any && (watched[0].revents & ~POLLIN) != 0)) look_at_interface();
    Result<std::size_t> got = take(out);
    if (got && *got == 0 && gone_) failed_ = cannot_go_on("the interface is gone");
    if (got && *got == 0 && failed_) return Error{*failed_};
    return got;
  }

  std::string cannot_go_on(std::string_view why) const {
    return fmt::format("cannot go on capturing on {}: {}", name_, why);
  }

  void look_at_interface() {
    if (index_ == 0) return;  // "any"
    gone_ = if_nametoindex(name_.c_str()) != index_;
    ifreq request{};
    name_.copy(request.ifr_name, sizeof request.ifr_name - 1);
    is_down_ = !gone_ && ::ioctl(pcap_get_selectable_fd(handle_.get()), SIOCGIFFLAGS, &request) == 0 &&
               (request.ifr_flags & IFF_UP) == 0;
  }

  // Others ask from other threads; libpcap's handle is for one.
  void count_losses() {
    pcap_stat s{};
    if (pcap_stats(handle_.get(), &s) != 0) return;  // an interface that is gone counts no more
    dropped_ = s.ps_drop;
    dropped_by_interface_ = s.ps_ifdrop;
  }
  static std::optional<std::uint64_t> known(const std::atomic<std::int64_t>& count) {
    const std::int64_t n = count;
    return n < 0 ? std::nullopt : std::optional<std::uint64_t>(static_cast<std::uint64_t>(n));
  }

  // What is in the kernel's buffer.
  Result<std::size_t> take(std::span<Frame> out) {
    out_ = out;
    count_ = used_ = 0;
    const int n =
        pcap_dispatch(handle_.get(), static_cast<int>(out.size()), on_packet, reinterpret_cast<u_char*>(this));
    if (n < 0 && n != PCAP_ERROR_BREAK) {
      look_at_interface();
      failed_ = cannot_go_on(gone_ ? "the interface is gone" : pcap_geterr(handle_.get()));
    }
    const std::uint8_t* at = room_.data();
    for (Frame& frame : out.first(count_)) {
      frame.bytes = {at, frame.bytes.size()};
      at += frame.bytes.size();
    }
    if (count_ == 0 && failed_) return Error{*failed_};
    return count_;
  }

  // libpcap takes the bytes back when it returns; room_ may still move, so places are filled in later.
  static void on_packet(u_char* self, const pcap_pkthdr* header, const u_char* bytes) {
    reinterpret_cast<PcapSource*>(self)->keep(*header, bytes);
  }
  void keep(const pcap_pkthdr& header, const std::uint8_t* bytes) {
    if (at_end_) return;
    const std::int64_t time_ns = header.ts.tv_sec * std::int64_t{1'000'000'000} + header.ts.tv_usec * units_ns_;
    if (stop_ns_ && time_ns > *stop_ns_) {
      at_end_ = true;
      pcap_breakloop(handle_.get());
      return;
    }
    if (used_ + header.caplen > room_.size())
      room_.grow(std::max(2 * room_.size(), used_ + header.caplen + first_room));
    std::memcpy(room_.data() + used_, bytes, header.caplen);
    used_ += header.caplen;
    Frame& frame = out_[count_++];
    frame = {};
    frame.bytes = {bytes, header.caplen};  // the length; the place comes later
    frame.time_ns = time_ns;
    frame.wire_bytes = header.len;
    frame.link_type = interfaces_[0].link_type;
    if (used_ >= largest_batch) pcap_breakloop(handle_.get());
  }

  Handle handle_;
  std::string name_;
  unsigned index_ = if_nametoindex(name_.c_str());
  std::vector<Interface> interfaces_;
  std::vector<std::string> warnings_;
  std::int64_t units_ns_;
  Memory room_;
  std::size_t used_ = 0, count_ = 0;
  std::span<Frame> out_;
  std::optional<std::int64_t> stop_ns_;
  std::optional<std::string> failed_;
  bool at_end_ = false, gone_ = false;
  std::atomic<bool> is_down_ = false;
  std::atomic<std::int64_t> dropped_ = -1, dropped_by_interface_ = -1;  // -1: unknown
};

Error cannot_open(const std::string& name, int code, pcap_t* handle) {
  const char* const more = pcap_geterr(handle);
  switch (code) {
    case PCAP_ERROR_NO_SUCH_DEVICE:
      return {fmt::format("cannot capture on {}: no such interface; `rdmascope interfaces` shows what there is", name)};
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED:
      return {
          fmt::format("cannot capture on {}: not permitted; run as root, or once: setcap cap_net_raw,cap_net_admin=ep "
                      "$(which rdmascope)",
                      name)};
    case PCAP_ERROR_IFACE_NOT_UP:
      return {fmt::format("cannot capture on {}: it is down; ip link set {} up", name, name)};
    default:
      return {fmt::format("cannot capture on {}: {}", name, more[0] != '\0' ? more : pcap_statustostr(code))};
  }
}

Result<Handle> create(const std::string& interface) {
  char text[PCAP_ERRBUF_SIZE] = "";
  Handle handle(pcap_create(interface.c_str(), text));
  if (!handle) return Error{fmt::format("cannot capture on {}: {}", interface, text)};
  return handle;
}

}  // namespace

Result<std::unique_ptr<LiveSource>> open_live(const LiveOptions& options) {
  Result<Handle> created = create(options.interface);
  if (!created) return Error{created.error()};
  pcap_t* const handle = created->get();
  pcap_set_snaplen(handle, static_cast<int>(options.snap_length));
  pcap_set_promisc(handle, options.promiscuous ? 1 : 0);
  // libpcap's immediate mode takes room for the largest packet for every one: 8 packets fill 2 MiB. A short timeout is
  // almost as soon, and loses nothing.
  pcap_set_timeout(handle, options.immediate ? 1 : wait_ms);
  pcap_set_buffer_size(handle, static_cast<int>(options.buffer_bytes));
  pcap_set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO);  // or microseconds where that cannot be
  if (!options.timestamps.empty()) {
    const int type = pcap_tstamp_type_name_to_val(options.timestamps.c_str());
    if (type < 0 || pcap_set_tstamp_type(handle, type) != 0) {
      const Result<std::vector<std::string>> types = timestamp_types(options.interface);
      return Error{
          fmt::format("{} has no timestamps of type {}; it offers {}", options.interface, options.timestamps,
                      types && !types->empty() ? fmt::format("{}", fmt::join(*types, ", ")) : "the default only")};
    }
  }
  const int status = pcap_activate(handle);
  if (status < 0) return cannot_open(options.interface, status, handle);
  std::vector<std::string> warnings;
  if (status == PCAP_WARNING_PROMISC_NOTSUP)
    warnings.push_back(
        fmt::format("{} has no promiscuous mode; it shows this machine's own traffic", options.interface));
  else if (status > 0)
    warnings.push_back(fmt::format("{}: {}", options.interface, pcap_geterr(handle)));

  if (!options.filter.empty()) {
    bpf_program program{};
    if (pcap_compile(handle, &program, options.filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
      return bad_filter(options.filter, handle);
    const int set = pcap_setfilter(handle, &program);
    pcap_freecode(&program);
    if (set != 0) return bad_filter(options.filter, handle);
  }
  char text[PCAP_ERRBUF_SIZE] = "";
  if (pcap_setnonblock(handle, 1, text) != 0)
    return Error{fmt::format("cannot capture on {}: {}", options.interface, text)};

  Interface interface;
  interface.name = options.interface;
  interface.filter = options.filter;
  interface.link_type = link_type_of(handle);
  interface.snap_length = options.snap_length;
  interface.units_per_second =
      pcap_get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO ? 1'000'000'000 : 1'000'000;
  return std::unique_ptr<LiveSource>(
      std::make_unique<PcapSource>(std::move(*created), std::move(interface), std::move(warnings)));
}

Result<std::vector<std::string>> timestamp_types(const std::string& interface) {
  const Result<Handle> handle = create(interface);
  if (!handle) return Error{handle.error()};
  int* types = nullptr;
  const int count = pcap_list_tstamp_types(handle->get(), &types);
  if (count < 0) return cannot_open(interface, count, handle->get());
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i)
    if (const char* const name = pcap_tstamp_type_val_to_name(types[i])) out.emplace_back(name);
  pcap_free_tstamp_types(types);
  return out;
}

Result<void> check_filter(const std::string& filter) {
  constexpr int snap_length = 262144;
  const Handle handle(pcap_open_dead(DLT_EN10MB, snap_length));
  if (!handle) return Error{"libpcap gives no handle to compile the filter with"};
  bpf_program program{};
  if (pcap_compile(handle.get(), &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
    return bad_filter(filter, handle.get());
  pcap_freecode(&program);
  return {};
}

Result<std::vector<LiveInterface>> live_interfaces() {
  char text[PCAP_ERRBUF_SIZE] = "";
  pcap_if_t* first = nullptr;
  if (pcap_findalldevs(&first, text) != 0) return Error{fmt::format("cannot list the interfaces: {}", text)};
  std::vector<LiveInterface> out;
  for (const pcap_if_t* i = first; i; i = i->next) {
    LiveInterface interface {
      i->name, i->description ? i->description : "", {}
    };
    interface.up = (i->flags & PCAP_IF_UP) != 0;
    interface.running = (i->flags & PCAP_IF_RUNNING) != 0;
    interface.loopback = (i->flags & PCAP_IF_LOOPBACK) != 0;
    interface.has_packets = interface.name == "any" || ::if_nametoindex(i->name) != 0;
    for (const pcap_addr* a = i->addresses; a; a = a->next) {
      char shown[INET6_ADDRSTRLEN];
      if (!a->addr) continue;
      const void* address = nullptr;
      if (a->addr->sa_family == AF_INET) address = &reinterpret_cast<const sockaddr_in*>(a->addr)->sin_addr;
      if (a->addr->sa_family == AF_INET6) address = &reinterpret_cast<const sockaddr_in6*>(a->addr)->sin6_addr;
      if (address && inet_ntop(a->addr->sa_family, address, shown, sizeof shown))
        interface.addresses.emplace_back(shown);
    }
    out.push_back(std::move(interface));
  }
  pcap_freealldevs(first);
  return out;
}

}  // namespace rdmascope::capture
