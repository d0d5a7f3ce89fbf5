#include "capture/sniffer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "capture/cqe_record.h"
#include "capture/cqe_ring.h"
#include "capture/device_clock.h"
#include "capture/open.h"
#include "capture/pcapng_options.h"
#include "capture/verbs.h"

namespace rdmascope::capture {
namespace {

using verbs::Library;

const Library& library() { return **verbs::load(); }

constexpr std::uint32_t batch = 32;        // completions polled at once, then handed over
constexpr std::uint32_t most_posts = 256;  // receives posted with one call
constexpr int wait_ms = 100;               // longest sleep, of the poller and of read()
constexpr int idle_polls = 2000;           // before the poller sleeps: some tens of microseconds
constexpr std::int64_t anchor_interval_ns = 200'000'000;
// A packet may have waited for a program that was stopped, but comes not from the future.
constexpr std::int64_t past_ns = 3'000'000'000'000, future_ns = 1'000'000'000;
constexpr std::uint16_t connectx3_pro = 0x1007;

// A counter in the kernel that others can wait for.
class Event {
 public:
  Event() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  void set() const { static_cast<void>(!::eventfd_write(fd_, 1)); }
  void clear() const {
    eventfd_t value = 0;
    static_cast<void>(!::eventfd_read(fd_, &value));
  }

 private:
  int fd_;
};

bool is_readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&wanted, 1, 0) > 0;
}

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// A buffer that the device has filled, or given back unused.
struct Received {
  enum Flag : std::uint8_t {
    has_packet = 1,
    has_record = 2,
    both_ways = 4,
    all_in_use = 8,
    after_loss = 16,
    odd_time = 32,
  };
  std::int64_t time_ns = 0;
  std::uint32_t buffer = 0, bytes = 0;
  std::uint32_t lost_before = 0;  // packets, at least
  std::uint8_t flags = 0;
};

// One thread puts in, one takes out. As large as there are buffers, so it is never full.
class Handover {
 public:
  void resize(std::uint32_t buffers) { slots_.resize(std::bit_ceil(buffers)); }

  // Of the poller: put, then publish what was put.
  void put(const Received& received) { slots_[put_++ & (slots_.size() - 1)] = received; }
  void publish() { published_.store(put_, std::memory_order_seq_cst); }

  // Of the reader.
  const Received* next() {
    if (taken_ == seen_) seen_ = published_.load(std::memory_order_seq_cst);
    return taken_ == seen_ ? nullptr : &slots_[taken_ & (slots_.size() - 1)];
  }
  void take() { ++taken_; }

 private:
  std::vector<Received> slots_;
  alignas(64) std::uint64_t put_ = 0;
  alignas(64) std::atomic<std::uint64_t> published_ = 0;
  alignas(64) std::uint64_t taken_ = 0, seen_ = 0;
};

// The pcapng options of one frame.
class Options {
 public:
  void clear() { size_ = 0; }
  void add(std::uint16_t code, std::span<const std::uint8_t> value) {
    const std::size_t padded = (value.size() + 3) & ~std::size_t{3};
    if (size_ + 4 + padded > bytes_.size()) return;
    const std::uint16_t head[] = {code, static_cast<std::uint16_t>(value.size())};  // in the byte order of this machine
    std::memcpy(bytes_.data() + size_, head, 4);
    std::memset(bytes_.data() + size_ + 4, 0, padded);
    std::memcpy(bytes_.data() + size_ + 4, value.data(), value.size());
    size_ += 4 + padded;
  }
  void add(std::string_view comment) {
    add(option::comment, {reinterpret_cast<const std::uint8_t*>(comment.data()), comment.size()});
  }
  void add(std::uint16_t code, std::uint64_t value, std::size_t bytes) {
    std::array<std::uint8_t, 8> raw{};
    if constexpr (std::endian::native == std::endian::big) value <<= 8 * (8 - bytes);
    std::memcpy(raw.data(), &value, 8);
    add(code, std::span(raw).first(bytes));
  }
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(size_); }

 private:
  std::array<std::uint8_t, 256> bytes_;
  std::size_t size_ = 0;
};

class Sniffer final : public Source {
 public:
  static Result<std::unique_ptr<Source>> open(const SnifferOptions& options) {
    std::unique_ptr<Sniffer> sniffer(new Sniffer(options));
    const Result<void> opened = sniffer->open_all();
    if (!opened) return Error{opened.error()};
    return std::unique_ptr<Source>(std::move(sniffer));
  }
  ~Sniffer() override {
    stop();
    if (poller_.joinable()) poller_.join();
  }

  Result<std::size_t> read(std::span<Frame> out) override;
  bool at_end() const override { return ended_; }
  const std::vector<Interface>& interfaces() const override { return interfaces_; }
  std::optional<std::uint64_t> dropped() const override {
    const std::uint64_t lost = lost_.load(std::memory_order_relaxed);
    return lost > 0 || marks_losses_ ? std::optional(lost) : std::nullopt;
  }

 private:
  explicit Sniffer(SnifferOptions options) : options_(std::move(options)) {}

  // Opening, in this order.
  Result<void> open_all();
  Result<void> look_at_device();
  Result<void> size_buffers();
  Result<void> make_queue();
  Result<void> make_pair();
  Result<void> look_at_queue_memory();
  Result<void> post_all();
  Result<void> switch_on();
  void describe_interfaces();
  bool make_timed_queue(const ibv_device_attr_ex& device);
  Error refused(std::string_view what, int error, std::string_view help) const;
  Error no_sniffer(std::string_view what, int error, std::string_view why) const;

  // The poller.
  void run();
  Result<int> poll_batch();
  Result<int> poll_plain();
  Result<int> poll_timed();
  void take(std::uint64_t id, ibv_wc_status status, std::uint32_t bytes, std::int64_t time_ns, std::uint8_t flags = 0);
  void hand_over(std::uint32_t completions);
  void wait_for_event();
  void look_at_async_events();
  void drain();
  void set_anchor();
  void fail(std::string message) {
    if (!failed_) failed_ = Error{std::move(message)};
  }

  // The reader.
  std::size_t take_frames(std::span<Frame> out);
  void put_packet(const Received& received, Frame& frame, Options& options) const;
  void put_record(const Received& received, Frame& frame, Options& options) const;
  void give_back();
  int post(std::span<const std::uint32_t> buffers);  // 0, or an errno
  void stop() {
    stopping_.store(true);
    wake_poller_.set();
  }

  std::span<std::uint8_t> buffer(std::uint32_t index) const {
    return memory_->bytes().subspan(std::size_t{index} * distance_, options_.buffer_bytes);
  }
  std::span<std::uint8_t> record(std::uint32_t index) const {
    return {records_.get() + std::size_t{index} * record_bytes_, record_bytes_};
  }

  SnifferOptions options_;
  std::string name_;  // "mlx5_0 port 1"
  std::string driver_;
  ibv_device_attr device_{};
  ibv_port_attr port_{};
  bool ethernet_ = false;
  bool marks_losses_ = false;   // its completions tell of losses
  std::uint32_t distance_ = 0;  // bytes from one buffer to the next
  std::vector<Interface> interfaces_;

  // Handles; freed from the last to the first.
  verbs::Context context_;
  verbs::ProtectionDomain domain_;
  std::optional<verbs::Memory> memory_;
  verbs::EventChannel channel_;
  verbs::CompletionQueue queue_;
  verbs::QueuePair pair_;
  verbs::Flow flow_;

  // Of the poller, once it runs.
  ibv_cq_ex* timed_queue_ = nullptr;  // the same queue_, with times of the device
  std::optional<DeviceClock> clock_;
  bool correct_low_half_ = false;
  std::int64_t anchored_ns_ = 0;
  std::optional<CqeRing> ring_;
  CqeFront record_front_;
  std::uint32_t lost_before_next_ = 0;
  std::uint32_t unannounced_ = 0;  // handed over since the reader was woken
  bool all_in_use_ = false;
  std::optional<Error> failed_;  // of the reader, once finished_ is set

  // Shared.
  Handover handover_;
  std::unique_ptr<std::atomic<bool>[]> posted_;  // by buffer
  std::atomic<std::int64_t> posted_count_ = 0;
  std::size_t record_bytes_ = 0;
  std::unique_ptr<std::uint8_t[]> records_;  // by buffer, with `completions`
  std::atomic<std::uint64_t> lost_ = 0;
  std::atomic<int> post_error_ = 0;
  std::atomic<bool> stopping_ = false, finished_ = false, reader_waits_ = false;
  Event wake_poller_, wake_reader_;

  // Of the reader.
  std::vector<std::uint32_t> held_;  // buffers that frames were handed out of
  std::optional<Received> record_pending_;
  std::array<Options, 256> frame_options_;
  bool ended_ = false;

  std::thread poller_;
};

// Opening

Error Sniffer::refused(std::string_view what, int error, std::string_view help) const {
  return {fmt::format("cannot {} on {}: {}; {}", what, name_, std::strerror(error), help)};
}

Error Sniffer::no_sniffer(std::string_view what, int error, std::string_view why) const {
  for (const RdmaPort& port : rdma_ports())
    if (port.device == options_.device && port.port == options_.port && !port.network_device.empty())
      return refused(what, error,
                     fmt::format("{}; capture its network device {} instead{}", why, port.network_device,
                                 driver_.empty() ? "" : ", which does not show what the adapter does by itself"));
  return refused(what, error, why);
}

constexpr std::string_view needs_raw =
    "it needs CAP_NET_RAW: run as root, or give it to the program with setcap cap_net_raw+ep";

Result<void> Sniffer::open_all() {
  if (wake_poller_.fd() < 0 || wake_reader_.fd() < 0)
    return Error{fmt::format("cannot make an event descriptor: {}; close some files", std::strerror(errno))};
  using Step = Result<void> (Sniffer::*)();
  for (const Step step : {&Sniffer::look_at_device, &Sniffer::size_buffers, &Sniffer::make_queue, &Sniffer::make_pair,
                          &Sniffer::look_at_queue_memory, &Sniffer::post_all, &Sniffer::switch_on}) {
    Result<void> done = (this->*step)();
    if (!done) return done;
  }
  describe_interfaces();
  // Signals are for the thread that reads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  poller_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {};
}

Result<void> Sniffer::look_at_device() {
  name_ = fmt::format("{} port {}", options_.device, options_.port);
  Result<verbs::Context> context = verbs::open_device(options_.device);
  if (!context) return Error{context.error()};
  context_ = std::move(*context);
  make_nonblocking(context_->async_fd);
  driver_ = verbs::driver_of(context_->device->ibdev_path);
  if (const int error = library().ibv_query_device(context_.get(), &device_); error != 0)
    return refused("ask for the limits of the device", error, "see whether the kernel's log says why");
  const Result<ibv_port_attr> port = verbs::query_port(context_.get(), options_.port);
  if (!port) {
    return Error{fmt::format("{} has no port {}; it has {}", options_.device, options_.port, device_.phys_port_cnt)};
  }
  port_ = *port;
  ethernet_ = port_.link_layer == IBV_LINK_LAYER_ETHERNET;
  if (options_.completions && driver_ != "mlx4_core" && driver_ != "mlx5_core")
    return Error{
        fmt::format("cannot capture completions of {}: its driver is {}, and only mlx4_core and mlx5_core show "
                    "them; leave them out",
                    options_.device, driver_.empty() ? "not known" : driver_)};
  return {};
}

Result<void> Sniffer::size_buffers() {
  constexpr std::uint32_t least = 256, most = 1 << 20;
  if (options_.buffer_bytes == 0) options_.buffer_bytes = ethernet_ ? 16384 : 8192;
  if (options_.buffer_bytes < least || options_.buffer_bytes > most)
    return Error{
        fmt::format("no receive buffer can have {} bytes; choose {} to {}", options_.buffer_bytes, least, most)};
  // An odd number of cache lines apart, so that the beginnings of the buffers do not all compete for the same few
  // lines.
  distance_ = (options_.buffer_bytes + 63) / 64 * 64;
  if (distance_ / 64 % 2 == 0) distance_ += 64;
  const std::int64_t limit = std::min(device_.max_qp_wr, device_.max_cqe);
  if (options_.memory_bytes > 0) {
    const std::uint64_t fit = options_.memory_bytes / distance_;
    options_.buffers = static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, static_cast<std::uint64_t>(limit)));
    if (fit == 0)
      return Error{fmt::format("not one receive buffer of {} bytes fits into {} bytes; give more memory",
                               options_.buffer_bytes, options_.memory_bytes)};
  }
  if (options_.buffers == 0 || options_.buffers > limit)
    return Error{fmt::format("cannot post {} receive buffers on {}: the device takes 1 to {}; choose another number",
                             options_.buffers, options_.device, limit)};
  handover_.resize(options_.buffers);
  posted_ = std::make_unique<std::atomic<bool>[]>(options_.buffers);
  held_.reserve(options_.buffers);
  return {};
}

// The queue has a slot for each receive, so it cannot overrun as long as the device keeps the rules.
Result<void> Sniffer::make_queue() {
  domain_.reset(library().ibv_alloc_pd(context_.get()));
  if (!domain_) return refused("make a protection domain", errno, "end other programs that use the device");
  channel_.reset(library().ibv_create_comp_channel(context_.get()));
  if (!channel_) return refused("make a completion channel", errno, "close some files");
  make_nonblocking(channel_->fd);
  const std::optional<ibv_device_attr_ex> extended = verbs::query_device_ex(context_.get());
  if (extended && make_timed_queue(*extended)) return {};
  queue_.reset(library().ibv_create_cq(context_.get(), static_cast<int>(options_.buffers), nullptr, channel_.get(), 0));
  if (!queue_)
    return refused(fmt::format("make a completion queue of {} entries", options_.buffers), errno,
                   "choose fewer buffers, or raise the limit on locked memory (ulimit -l)");
  return {};
}

bool Sniffer::make_timed_queue(const ibv_device_attr_ex& device) {
  if (device.completion_timestamp_mask == 0 || device.hca_core_clock == 0) return false;
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = options_.buffers;
  wanted.channel = channel_.get();
  wanted.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  timed_queue_ = ibv_create_cq_ex(context_.get(), &wanted);
  if (!timed_queue_) return false;
  queue_.reset(ibv_cq_ex_to_cq(timed_queue_));
  clock_.emplace(device.completion_timestamp_mask, device.hca_core_clock);
  set_anchor();
  if (anchored_ns_ != 0) {
    // ConnectX-3 takes the two halves of its counter at different moments: with a low half of 0 the high one is old.
    correct_low_half_ = driver_ == "mlx4_core";
    return true;
  }
  // Its clock cannot be read, so its times cannot be placed.
  timed_queue_ = nullptr;
  clock_.reset();
  queue_.reset();
  return false;
}

// InfiniBand ports of mlx4 know no raw packet queue pairs.
Result<void> Sniffer::make_pair() {
  const bool ud = !ethernet_ && driver_ == "mlx4_core";
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = queue_.get();
  wanted.cap.max_recv_wr = options_.buffers;
  wanted.cap.max_recv_sge = 1;
  wanted.qp_type = ud ? IBV_QPT_UD : IBV_QPT_RAW_PACKET;
  record_front_.set<"qp_type">(static_cast<std::uint8_t>(wanted.qp_type));
  pair_.reset(library().ibv_create_qp(domain_.get(), &wanted));
  if (!pair_) {
    const int error = errno;
    constexpr std::string_view what = "make a sniffer queue pair";
    if (error == EPERM || error == EACCES) return refused(what, error, needs_raw);
    if (error == EOPNOTSUPP || error == ENOSYS) return no_sniffer(what, error, "this device has no sniffer");
    if (error == EINVAL)
      return refused(what, error, "the driver's library may be too old for the device: update rdma-core");
    if (error == ENOMEM)
      return refused(what, error, "choose fewer buffers, or raise the limit on locked memory (ulimit -l)");
    return refused(what, error, "see whether the kernel's log says why");
  }
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = options_.port;
  attributes.qkey = 0x12345;  // any; the sniffer's copies are not held against it
  const int mask = IBV_QP_STATE | IBV_QP_PORT | (ud ? IBV_QP_PKEY_INDEX | IBV_QP_QKEY : 0);
  if (const int error = library().ibv_modify_qp(pair_.get(), &attributes, mask); error != 0) {
    constexpr std::string_view what = "bring up the sniffer queue pair";
    if (error == EINVAL && !ethernet_)
      return no_sniffer(what, error,
                        "the adapter takes no raw packets on an InfiniBand port; mlx4 can, others with ibdump");
    return refused(what, error, "see whether the port is up and the kernel's log says why");
  }
  return {};
}

Result<void> Sniffer::look_at_queue_memory() {
  const bool mlx4 = driver_ == "mlx4_core";
  if (!mlx4 && driver_ != "mlx5_core") return {};
  const Result<verbs::QueueMemory> memory =
      mlx4 ? verbs::mlx4_queue_memory(queue_.get()) : verbs::mlx5_queue_memory(queue_.get());
  // What CqeRing builds on, and the size of an entry.
  if (memory && memory->count >= options_.buffers && memory->stride >= (mlx4 ? 32u : 64u)) {
    ring_.emplace(*memory, !mlx4 ? CqeFormat::mlx5 : timed_queue_ ? CqeFormat::mlx4_timestamp : CqeFormat::mlx4);
  } else if (options_.completions) {
    return Error{fmt::format("cannot capture completions of {}: {}; leave them out", name_,
                             memory ? "its completion queue is smaller than asked for" : memory.error())};
  } else {
    return {};
  }
  // ConnectX-3 Pro uses the same bits for tunnels, too.
  const std::uint16_t part = static_cast<std::uint16_t>(device_.vendor_part_id);
  marks_losses_ = mlx4 && part != connectx3_pro;
  record_front_.set<"format">(static_cast<std::uint8_t>(ring_->format()));
  record_front_.set<"flags.link_known">(1);
  record_front_.set<"flags.ethernet">(ethernet_ ? 1 : 0);
  record_front_.set<"flags.index_valid">(1);
  record_front_.set<"flags.sniffer">(1);
  record_front_.set<"flags.tunnel">(part == connectx3_pro ? 1 : 0);
  record_front_.set<"stride">(memory->stride);
  record_front_.set<"cqe_off">(ring_->offset());
  record_front_.set<"cqn">(memory->number);
  record_front_.set<"cqe_cnt">(memory->count);
  record_front_.set<"port">(options_.port);
  record_front_.set<"pci_device">(part);
  return {};
}

Result<void> Sniffer::post_all() {
  const std::size_t bytes = std::size_t{options_.buffers} * distance_;
  Result<verbs::Memory> memory = verbs::Memory::make(domain_.get(), bytes, IBV_ACCESS_LOCAL_WRITE);
  if (!memory)
    return Error{fmt::format("{}; {} receive buffers of {} bytes were asked for on {}", memory.error(),
                             options_.buffers, options_.buffer_bytes, name_)};
  memory_.emplace(std::move(*memory));
  if (options_.completions) {
    record_bytes_ = cqe_front_bytes + ring_->memory().stride;
    records_ = std::make_unique<std::uint8_t[]>(std::size_t{options_.buffers} * record_bytes_);
  }
  for (std::uint32_t i = 0; i < options_.buffers; ++i) held_.push_back(i);
  if (const int error = post(held_); error != 0)
    return refused(fmt::format("post {} receive buffers", options_.buffers), error, "choose fewer buffers");
  held_.clear();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  if (const int error = library().ibv_modify_qp(pair_.get(), &attributes, IBV_QP_STATE); error != 0)
    return refused("make the sniffer queue pair receive", error, "see whether the kernel's log says why");
  return {};
}

Result<void> Sniffer::switch_on() {
  ibv_flow_attr wanted{};
  wanted.type = IBV_FLOW_ATTR_SNIFFER;
  wanted.size = sizeof wanted;
  wanted.port = options_.port;
  flow_.reset(ibv_create_flow(pair_.get(), &wanted));
  if (flow_) return {};
  const int error = errno;
  constexpr std::string_view what = "switch on the sniffer";
  const bool mlx4 = driver_ == "mlx4_core";
  constexpr std::string_view steering =
      "device-managed flow steering is off: load mlx4_core with log_num_mgm_entry_size=-1";
  switch (error) {
    case EPERM:
    case EACCES:
      return refused(what, error, "it needs CAP_NET_RAW (older kernels: CAP_NET_ADMIN, too): run as root");
    case ENXIO:
      return no_sniffer(what, error, steering);
    case EOPNOTSUPP:
    case ENOSYS:
      return no_sniffer(what, error, mlx4 ? steering : "neither the adapter nor its driver has a sniffer");
    case EINVAL:
      return refused(what, error,
                     mlx4 ? "a virtual function cannot sniff: capture on the physical function"
                          : "the driver takes no sniffer on this port: choose another port or device");
    case ENOMEM:
      return refused(what, error, "the adapter's steering table is full: end other captures on it");
    case EBUSY:
    case EEXIST:
      return refused(what, error, "another program sniffs on this port: end it");
    default:
      return refused(what, error, "see whether the kernel's log says why");
  }
}

void Sniffer::describe_interfaces() {
  const std::string firmware(device_.fw_ver, ::strnlen(device_.fw_ver, sizeof device_.fw_ver));
  const std::string hardware = fmt::format("{:04x}:{:04x}{}{}", device_.vendor_id, device_.vendor_part_id & 0xffff,
                                           firmware.empty() ? "" : ", firmware ", firmware);
  Interface packets;
  packets.name = fmt::format("{}:{}", options_.device, options_.port);
  packets.description = fmt::format("RDMA sniffer of {} ({}, {}), {} buffers of {} bytes, time of the {}", name_,
                                    driver_.empty() ? "driver not known" : driver_, hardware, options_.buffers,
                                    options_.buffer_bytes, timed_queue_ ? "adapter" : "computer");
  packets.link_type = ethernet_ ? 1 : 247;
  packets.snap_length = options_.snap_length;
  packets.units_per_second = 1'000'000'000;
  if (ethernet_) packets.fcs_bytes = 0;
  interfaces_.push_back(packets);
  if (!options_.completions) return;
  Interface completions;
  completions.name = fmt::format("{}#cq0x{:x}", packets.name, ring_->memory().number);
  completions.description = fmt::format("RDMA completion queue of the sniffer, format {}, {} bytes, {}",
                                        dissect::cqe_formats[static_cast<std::size_t>(ring_->format())].name,
                                        ring_->memory().stride, hardware);
  completions.link_type = link_type_upper_pdu;
  completions.units_per_second = 1'000'000'000;
  interfaces_.push_back(completions);
}

// The poller

void Sniffer::run() {
  int idle = 0;
  while (!stopping_.load(std::memory_order_relaxed) && !failed_) {
    const Result<int> got = poll_batch();
    if (!got) {
      fail(got.error());
    } else if (*got > 0) {
      idle = 0;
    } else if (++idle >= idle_polls) {
      idle = 0;
      // What comes between the last look and the arming raises no event: one more look.
      if (const int error = ibv_req_notify_cq(queue_.get(), 0); error != 0) {
        fail(fmt::format("cannot wait for packets on {}: {}", name_, std::strerror(error)));
        continue;
      }
      const Result<int> more = poll_batch();
      if (!more) fail(more.error());
      if (more && *more == 0) wait_for_event();
    }
    if (const int error = post_error_.load(std::memory_order_relaxed); error != 0)
      fail(fmt::format("cannot give receive buffers back to {}: {}; capturing stopped", name_, std::strerror(error)));
    if (clock_ && real_time_ns() - anchored_ns_ > anchor_interval_ns) set_anchor();
  }
  flow_.reset();
  drain();
  finished_.store(true, std::memory_order_seq_cst);
  wake_reader_.set();
}

// The flow is off; what the adapter has taken in before still comes.
void Sniffer::drain() {
  constexpr int quiet_polls = 3;
  std::int64_t most = options_.buffers;  // no more is posted
  for (int quiet = 0; quiet < quiet_polls && most > 0;) {
    const Result<int> got = poll_batch();
    if (!got) return fail(got.error());
    most -= *got;
    quiet = *got > 0 ? 0 : quiet + 1;
    if (*got == 0) ::poll(nullptr, 0, 1);
  }
}

Result<int> Sniffer::poll_batch() {
  Result<int> got = timed_queue_ ? poll_timed() : poll_plain();
  if (got && *got > 0) hand_over(static_cast<std::uint32_t>(*got));
  // Waking costs more than a few packets: many at once, or when there is nothing else to do.
  constexpr std::uint32_t many = 256;
  if (unannounced_ >= many || (unannounced_ > 0 && (!got || *got == 0))) {
    unannounced_ = 0;
    if (reader_waits_.load(std::memory_order_seq_cst) && reader_waits_.exchange(false)) wake_reader_.set();
  }
  return got;
}

Result<int> Sniffer::poll_plain() {
  std::array<ibv_wc, batch> done;
  const int got = ibv_poll_cq(queue_.get(), static_cast<int>(batch), done.data());
  if (got < 0) return Error{fmt::format("cannot read the completion queue of {}: the driver gave {}", name_, got)};
  if (got == 0) return 0;
  const std::int64_t now = real_time_ns();
  for (int i = 0; i < std::min(got, static_cast<int>(batch)); ++i)
    take(done[i].wr_id, done[i].status, done[i].byte_len, now);
  return got;
}

Result<int> Sniffer::poll_timed() {
  ibv_poll_cq_attr none{};
  int error = ibv_start_poll(timed_queue_, &none);
  if (error == ENOENT) return 0;
  int got = 0;
  if (error == 0) {
    const std::int64_t now = real_time_ns();
    do {
      if (timed_queue_->status != IBV_WC_SUCCESS) {
        take(timed_queue_->wr_id, timed_queue_->status, 0, now);
      } else {
        std::uint64_t ticks = ibv_wc_read_completion_ts(timed_queue_);
        if (correct_low_half_ && (ticks & 0xffff) == 0) ticks += 0x10000;
        const std::int64_t time_ns = clock_->wall_ns(ticks);
        const bool odd = time_ns > now + future_ns || time_ns < now - past_ns;
        take(timed_queue_->wr_id, IBV_WC_SUCCESS, ibv_wc_read_byte_len(timed_queue_), odd ? now : time_ns,
             static_cast<std::uint8_t>(odd ? Received::odd_time : 0));
      }
      ++got;
    } while (got < static_cast<int>(batch) && (error = ibv_next_poll(timed_queue_)) == 0);
    ibv_end_poll(timed_queue_);
  }
  // What was polled before the error is handed over first.
  if (error != 0 && error != ENOENT)
    fail(fmt::format("cannot read the completion queue of {}: {}", name_, std::strerror(error)));
  return got;
}

// Everything here comes from the device and its driver, and is not believed.
void Sniffer::take(std::uint64_t id, ibv_wc_status status, std::uint32_t bytes, std::int64_t time_ns,
                   std::uint8_t flags) {
  if (id >= options_.buffers || !posted_[id].exchange(false, std::memory_order_relaxed)) {
    // Where the packet lies is not known.
    ++lost_before_next_;
    lost_.fetch_add(1, std::memory_order_relaxed);
    return fail(
        fmt::format("the driver of {} completed receive {}, which was not posted; capturing stopped", name_, id));
  }
  const bool good = status == IBV_WC_SUCCESS;
  Received received;
  received.buffer = static_cast<std::uint32_t>(id);
  received.bytes = bytes;
  received.time_ns = time_ns;
  received.flags = flags;
  if (ring_) {
    const std::span<const std::uint8_t> slot = ring_->take(good, bytes);
    if (!slot.empty() && marks_losses_ && good) {
      const std::span<const std::uint8_t> entry = slot.subspan(ring_->offset());
      if (CqeRing::is_after_loss(entry)) {
        ++lost_before_next_;
        lost_.fetch_add(1, std::memory_order_relaxed);
        received.flags |= Received::after_loss;
      }
      if (CqeRing::is_both_ways(entry)) received.flags |= Received::both_ways;
    }
    if (!slot.empty() && options_.completions) {
      const std::span<std::uint8_t> to = record(received.buffer);
      record_front_.set<"ci">(ring_->index() - 1);
      std::memcpy(to.data(), record_front_.bytes().data(), cqe_front_bytes);
      std::memcpy(to.data() + cqe_front_bytes, slot.data(), slot.size());
      received.flags |= Received::has_record;
    }
  }
  if (good) {
    received.flags |= Received::has_packet;
    if (all_in_use_) received.flags |= Received::all_in_use;
    received.lost_before = std::exchange(lost_before_next_, 0);
    all_in_use_ = false;
  } else if (status == IBV_WC_WR_FLUSH_ERR) {
    if (!stopping_.load(std::memory_order_relaxed))
      fail(
          fmt::format("the adapter stopped receiving on {}: its queue pair is in the error state; capture again, with "
                      "larger buffers if packets were too long",
                      name_));
  } else {
    // A packet came and could not be stored.
    ++lost_before_next_;
    lost_.fetch_add(1, std::memory_order_relaxed);
  }
  handover_.put(received);
}

void Sniffer::hand_over(std::uint32_t completions) {
  if (posted_count_.fetch_sub(completions, std::memory_order_relaxed) == completions) all_in_use_ = true;
  handover_.publish();
  unannounced_ += completions;
}

void Sniffer::wait_for_event() {
  pollfd wanted[] = {{channel_->fd, POLLIN, 0}, {wake_poller_.fd(), POLLIN, 0}, {context_->async_fd, POLLIN, 0}};
  if (::poll(wanted, 3, wait_ms) <= 0) return;
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (wanted[0].revents != 0) {
    // Freeing the queue waits until every event was acknowledged.
    if (library().ibv_get_cq_event(channel_.get(), &queue, &context) == 0)
      library().ibv_ack_cq_events(queue, 1);
    else if ((wanted[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
      fail(fmt::format("the device of {} is gone; capturing stopped", name_));
  }
  if (wanted[2].revents != 0) look_at_async_events();
}

void Sniffer::look_at_async_events() {
  ibv_async_event event{};
  while (library().ibv_get_async_event(context_.get(), &event) == 0) {
    library().ibv_ack_async_event(&event);
    switch (event.event_type) {
      case IBV_EVENT_CQ_ERR:
        // How many is not known.
        lost_.fetch_add(1, std::memory_order_relaxed);
        fail(fmt::format("the completion queue of {} overran, and packets were lost; capture again, with more buffers",
                         name_));
        break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_ACCESS_ERR:
      case IBV_EVENT_QP_REQ_ERR:
        fail(fmt::format("the adapter stopped receiving on {}: its queue pair failed; capture again", name_));
        break;
      case IBV_EVENT_DEVICE_FATAL:
        fail(fmt::format("the device of {} failed or was removed; capturing stopped", name_));
        break;
      default:  // ports going down and up again, addresses: the sniffer goes on
        break;
    }
  }
}

// Reads both clocks together; the closest of a few tries counts.
void Sniffer::set_anchor() {
  verbs_context* const extended = verbs_get_ctx(context_.get());
  std::int64_t best = -1, wall_ns = 0;
  std::uint64_t ticks = 0;
  for (int i = 0; i < 3; ++i) {
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    const std::int64_t before = real_time_ns();
    if (!extended || extended->sz < sizeof *extended - offsetof(verbs_context, query_rt_values) ||
        !extended->query_rt_values || extended->query_rt_values(context_.get(), &values) != 0)
      return;
    const std::int64_t after = real_time_ns();
    if (best >= 0 && after - before >= best) continue;
    best = after - before;
    wall_ns = before + best / 2;
    ticks = static_cast<std::uint64_t>(values.raw_clock.tv_nsec);  // drivers put the whole counter there
  }
  clock_->anchor(ticks, wall_ns);
  anchored_ns_ = wall_ns;
}

// The reader

Result<std::size_t> Sniffer::read(std::span<Frame> out) {
  if (out.empty() || ended_) return std::size_t{0};
  if (is_readable(stop_descriptor)) stop();
  give_back();
  for (;;) {
    const bool finished = finished_.load(std::memory_order_seq_cst);  // before the look, so that the look sees all
    const std::size_t got = take_frames(out);
    if (got > 0) return got;
    if (finished) {
      ended_ = true;
      if (failed_) return *failed_;
      return std::size_t{0};
    }
    wake_reader_.clear();
    reader_waits_.store(true, std::memory_order_seq_cst);
    if (handover_.next() || finished_.load(std::memory_order_seq_cst)) continue;
    pollfd wanted[] = {{wake_reader_.fd(), POLLIN, 0}, {stopping_ ? -1 : stop_descriptor.load(), POLLIN, 0}};
    const int events = ::poll(wanted, 2, wait_ms);
    if (events > 0 && wanted[1].revents != 0) stop();
    if (events == 0 && !stopping_) return std::size_t{0};
  }
}

std::size_t Sniffer::take_frames(std::span<Frame> out) {
  out = out.first(std::min(out.size(), frame_options_.size()));
  std::size_t frames = 0;
  const auto put_record_of = [&](const Received& received) {
    put_record(received, out[frames], frame_options_[frames]);
    ++frames;
  };
  if (record_pending_) {
    put_record_of(*record_pending_);
    held_.push_back(record_pending_->buffer);
    record_pending_.reset();
  }
  while (frames < out.size()) {
    const Received* const next = handover_.next();
    if (!next) break;
    const Received received = *next;
    handover_.take();
    if ((received.flags & Received::has_packet) != 0) {
      put_packet(received, out[frames], frame_options_[frames]);
      ++frames;
    }
    if ((received.flags & Received::has_record) != 0) {
      if (frames == out.size()) {
        record_pending_ = received;  // its buffer stays here, and the record with it
        break;
      }
      put_record_of(received);
    }
    held_.push_back(received.buffer);
  }
  return frames;
}

void Sniffer::put_packet(const Received& received, Frame& frame, Options& options) const {
  const std::uint32_t snap = options_.snap_length > 0 ? options_.snap_length : options_.buffer_bytes;
  frame = Frame{};
  frame.bytes = buffer(received.buffer).first(std::min({received.bytes, snap, options_.buffer_bytes}));
  frame.time_ns = received.time_ns;
  frame.wire_bytes = received.bytes;
  frame.link_type = interfaces_[0].link_type;
  constexpr std::uint8_t remarkable = Received::both_ways | Received::all_in_use | Received::odd_time;
  if (received.lost_before == 0 && (received.flags & remarkable) == 0) return;
  options.clear();
  if (received.lost_before > 0) {
    options.add(option::epb_dropcount, received.lost_before, 8);
    options.add((received.flags & Received::after_loss) != 0
                    ? "sniffer SD: at least as many packets were lost before this one"
                    : "as many packets before this one could not be stored");
  }
  if ((received.flags & Received::all_in_use) != 0)
    options.add("all receive buffers were in use before this packet; some may be missing");
  if ((received.flags & Received::both_ways) != 0) options.add("sniffer d2s: sent and received by the same adapter");
  if ((received.flags & Received::odd_time) != 0)
    options.add("the adapter's time made no sense; this is the computer's");
  frame.options = options.bytes();
}

void Sniffer::put_record(const Received& received, Frame& frame, Options& options) const {
  frame = Frame{};
  frame.bytes = record(received.buffer);
  frame.time_ns = received.time_ns;
  frame.wire_bytes = static_cast<std::uint32_t>(record_bytes_);
  frame.interface_id = 1;
  frame.link_type = link_type_upper_pdu;
  options.clear();
  constexpr std::uint32_t inbound = 1;
  options.add(option::epb_flags, inbound, 4);
  // The count is with the packet, so that nobody counts it twice.
  if ((received.flags & Received::after_loss) != 0) options.add("sniffer SD");
  frame.options = options.bytes();
}

// Posts the buffers of the frames that the reader has had; after the end nobody needs them.
void Sniffer::give_back() {
  if (!stopping_.load(std::memory_order_relaxed) && !finished_.load(std::memory_order_relaxed)) {
    const int error = post(held_);
    // The poller has the say about ending; without this buffer there are fewer.
    if (error != 0) post_error_.store(error, std::memory_order_relaxed);
  }
  held_.clear();
}

int Sniffer::post(std::span<const std::uint32_t> buffers) {
  std::array<ibv_recv_wr, most_posts> requests;
  std::array<ibv_sge, most_posts> pieces;
  while (!buffers.empty()) {
    const std::size_t count = std::min<std::size_t>(buffers.size(), most_posts);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t index = buffers[i];
      pieces[i] = {memory_->address() + std::uint64_t{index} * distance_, options_.buffer_bytes, memory_->local_key()};
      requests[i] = {index, i + 1 < count ? &requests[i + 1] : nullptr, &pieces[i], 1};
      posted_[index].store(true, std::memory_order_relaxed);
    }
    posted_count_.fetch_add(static_cast<std::int64_t>(count), std::memory_order_relaxed);
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_recv(pair_.get(), requests.data(), &refused); error != 0) return error;
    buffers = buffers.subspan(count);
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<Source>> open_sniffer(const SnifferOptions& options) { return Sniffer::open(options); }

}  // namespace rdmascope::capture
