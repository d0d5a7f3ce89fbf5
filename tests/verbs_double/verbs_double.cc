// A double of libibverbs, libmlx4 and libmlx5 at their public interface, for tests of the sniffer without an adapter.
// It plays two parts. The device copies packets of a capture file into posted buffers and writes completion queue
// entries as the hardware does. The driver polls that memory. Both hold the caller to the rules of verbs; a breach is
// told on standard error and ends the program. Nothing here uses code of rdmascope. README.md lists what can be set.
//
// The device works when its queue is polled, so runs are the same each time; buffers may be posted from another thread.
#include <fcntl.h>
#include <infiniband/mlx4dv.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#undef ibv_reg_mr
#undef ibv_query_port

namespace {

// What the caller did, for tests.

std::mutex books;  // guards everything but the data path
std::string trace_text;
std::atomic<int> breaches = 0;
std::atomic<std::uint64_t> packets_lost = 0, losses_marked = 0, packets_delivered = 0;

void trace(std::string_view what) {
  const std::lock_guard lock(books);
  trace_text += trace_text.empty() ? "" : " ";
  trace_text += what;
}

[[gnu::format(printf, 1, 2)]] void breach(const char* format, ...) {
  ++breaches;
  std::va_list arguments;
  va_start(arguments, format);
  std::fputs("verbs double: BREACH: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputs("\n", stderr);
  va_end(arguments);
  if (!std::getenv("VERBS_DOUBLE_KEEP_GOING")) std::abort();
}

// Settings

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}
std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const std::string text = setting(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 0);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

const std::map<std::string, int> errors = {
    {"EPERM", EPERM},   {"EACCES", EACCES}, {"EOPNOTSUPP", EOPNOTSUPP}, {"EINVAL", EINVAL}, {"ENXIO", ENXIO},
    {"ENOMEM", ENOMEM}, {"EBUSY", EBUSY},   {"ENOSYS", ENOSYS},         {"EIO", EIO},       {"EMFILE", EMFILE}};

// VERBS_DOUBLE_FAIL="create_qp=EPERM,...": the errno that this step fails with, or 0.
int failure(const char* step) {
  for (const std::string& entry : split(setting("VERBS_DOUBLE_FAIL"), ',')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || entry.substr(0, equals) != step) continue;
    const auto found = errors.find(entry.substr(equals + 1));
    if (found != errors.end()) return found->second;
    breach("VERBS_DOUBLE_FAIL: no such error: %s", entry.c_str());
  }
  return 0;
}
bool fails(const char* step) {
  const int error = failure(step);
  if (error != 0) errno = error;
  return error != 0;
}

// VERBS_DOUBLE_FAULTS="sd@10,error@20=0x11": at which packet what happens.
struct Fault {
  std::uint64_t at = 0;
  std::string what;
  std::uint64_t value = 0;
};
std::vector<Fault> read_faults() {
  std::vector<Fault> out;
  for (const std::string& entry : split(setting("VERBS_DOUBLE_FAULTS"), ',')) {
    const std::size_t at = entry.find('@'), equals = entry.find('=');
    Fault fault;
    fault.what = entry.substr(0, at);
    fault.at = std::strtoull(entry.c_str() + at + 1, nullptr, 0);
    if (equals != std::string::npos) fault.value = std::strtoull(entry.c_str() + equals + 1, nullptr, 0);
    out.push_back(fault);
  }
  std::stable_sort(out.begin(), out.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return out;
}

// Classic pcap in the byte order of a PC.
struct Packets {
  std::vector<std::uint8_t> bytes;
  std::vector<std::pair<std::size_t, std::uint32_t>> places;  // first byte and length
};
Packets read_packets() {
  Packets out;
  const std::string path = setting("VERBS_DOUBLE_PACKETS");
  if (path.empty()) return out;
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  out.bytes.assign(text.begin(), text.end());
  const auto load = [&](std::size_t at) {
    std::uint32_t value;
    std::memcpy(&value, out.bytes.data() + at, 4);
    return value;
  };
  if (out.bytes.size() < 24 || (load(0) != 0xa1b23c4d && load(0) != 0xa1b2c3d4)) {
    breach("VERBS_DOUBLE_PACKETS: %s is no pcap file of this byte order", path.c_str());
    return out;
  }
  for (std::size_t at = 24; at + 16 <= out.bytes.size(); at += 16 + load(at + 8)) {
    if (load(at + 8) > out.bytes.size() - at - 16) break;
    out.places.emplace_back(at + 16, load(at + 8));
  }
  return out;
}

// Objects. They are never freed, so that a use of one that was destroyed can be told.

struct Pd;
struct Device {
  ibv_device base{};
  bool mlx4 = false, mlx5 = false;
  std::uint32_t part = 0;
  std::uint64_t clock_khz = 0, clock_mask = 0;
};

struct Context {
  verbs_context extended{};  // its last member is what callers get
  Device* device = nullptr;
  bool live = true;
  int async_event = -1;
  std::deque<ibv_async_event> events;
  int objects = 0;  // alive
};

struct Pd {
  ibv_pd base{};
  bool live = true;
  int users = 0;
};
struct Mr {
  ibv_mr base{};
  bool live = true;
  int access = 0;
};
struct Channel {
  ibv_comp_channel base{};
  bool live = true;
  int users = 0;
};

struct Qp;
struct Cq {
  ibv_cq_ex base{};  // an ibv_cq at the front
  bool live = true, timed = false, extended = false;
  int users = 0, unacknowledged = 0;
  Channel* channel = nullptr;
  Qp* qp = nullptr;
  std::uint32_t count = 0, stride = 0, offset = 0, number = 0x85;
  std::vector<std::uint8_t> ring;
  std::array<std::uint32_t, 2> doorbell{};  // big-endian
  // Driver
  std::uint32_t consumed = 0;
  std::uint32_t wc_bytes = 0, wc_vendor = 0;
  std::uint64_t wc_time = 0;
  bool polling = false;
  // Device
  std::uint32_t produced = 0;
  bool failed = false;
  std::optional<std::pair<std::uint32_t, std::uint64_t>> wrong_id;  // which completion, what the driver says
  std::atomic<bool> armed = false;
};

struct Wqe {
  std::uint64_t id = 0, address = 0;
  std::uint32_t bytes = 0;
};
struct Flow {
  ibv_flow base{};
  bool live = true;
  Qp* qp = nullptr;
};
struct Qp {
  ibv_qp base{};
  bool live = true;
  Pd* pd = nullptr;
  std::uint8_t port = 0;
  std::uint32_t asked = 0;  // receives that it was made for
  std::vector<Wqe> queue;   // a power of two
  std::atomic<std::uint64_t> posted = 0;
  std::atomic<std::uint64_t> taken = 0;  // by the device
  std::uint64_t completed = 0;           // by the driver
  std::atomic<Flow*> flow = nullptr;
  // What it sends.
  Packets packets;
  std::vector<Fault> faults;
  std::size_t next_fault = 0;
  std::atomic<std::uint64_t> next_packet = 0;
  std::uint64_t total_packets = 0;
  bool checks = true, lost = false;
  std::uint64_t rate = 0;  // packets a second that do not wait for buffers; 0: as fast as buffers come
  std::int64_t begin_ns = 0;
  bool fails = false;  // VERBS_DOUBLE_FAIL is set; not asked for each packet
  std::uint64_t fail_post_after = ~std::uint64_t{0};
};

std::vector<std::unique_ptr<Context>> contexts;
std::vector<std::unique_ptr<Pd>> pds;
std::vector<std::unique_ptr<Mr>> mrs;
std::vector<std::unique_ptr<Channel>> channels;
std::vector<std::unique_ptr<Cq>> cqs;
std::vector<std::unique_ptr<Qp>> qps;
std::vector<std::unique_ptr<Flow>> flows;
std::set<std::uint64_t> posted_addresses;

template <class T>
T* keep(std::vector<std::unique_ptr<T>>& all, std::unique_ptr<T> one) {
  const std::lock_guard lock(books);
  all.push_back(std::move(one));
  return all.back().get();
}

// Every object begins with the structure that callers see.
template <class T, class Base>
T* living(Base* base, const char* what) {
  T* const object = reinterpret_cast<T*>(base);
  if (!object || !object->live) breach("%s was destroyed before this use", what);
  return object;
}

Context* context_of(ibv_context* base) {
  Context* const context =
      reinterpret_cast<Context*>(reinterpret_cast<std::uint8_t*>(base) - offsetof(verbs_context, context));
  if (!context->live) breach("the device was closed before this use");
  return context;
}

// The device's clock follows the wall clock.
std::uint64_t device_ticks(const Device& device) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::uint64_t seconds = static_cast<std::uint64_t>(now.tv_sec), ns = static_cast<std::uint64_t>(now.tv_nsec);
  return (seconds * device.clock_khz * 1000 + ns * device.clock_khz / 1000000) & device.clock_mask;
}

void put_be(std::uint8_t* at, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i, value >>= 8) at[i] = static_cast<std::uint8_t>(value);
}
std::uint64_t get_be(const std::uint8_t* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

// The device

constexpr std::uint8_t untouched = 0xa5;
constexpr std::uint32_t checked_front = 512, checked_back = 64;

void mark_buffer(const Wqe& wqe) {
  std::uint8_t* const buffer = reinterpret_cast<std::uint8_t*>(wqe.address);
  std::memset(buffer, untouched, std::min(wqe.bytes, checked_front));
  const std::uint32_t back = std::min(wqe.bytes, checked_back);
  std::memset(buffer + wqe.bytes - back, untouched, back);
}
void check_buffer(const Wqe& wqe) {
  const std::uint8_t* const buffer = reinterpret_cast<const std::uint8_t*>(wqe.address);
  const auto is_touched = [](std::uint8_t byte) { return byte != untouched; };
  const std::uint32_t front = std::min(wqe.bytes, checked_front), back = std::min(wqe.bytes, checked_back);
  if (std::any_of(buffer, buffer + front, is_touched) ||
      std::any_of(buffer + wqe.bytes - back, buffer + wqe.bytes, is_touched))
    breach("somebody wrote into receive buffer %llu while it was posted", static_cast<unsigned long long>(wqe.id));
}

struct Entry {
  std::uint32_t bytes = 0;
  std::uint8_t syndrome = 0;  // not 0: an error
  bool sd = false, d2s = false;
  std::optional<std::uint64_t> ticks, id;  // wrong ones
};

void write_entry(Cq& cq, const Entry& entry, std::uint16_t wqe) {
  const Device& device = *context_of(cq.base.context)->device;
  std::uint8_t* const slot = cq.ring.data() + std::size_t{cq.produced & (cq.count - 1)} * cq.stride;
  std::uint8_t* const at = slot + cq.offset;
  const bool turn = (cq.produced & cq.count) != 0;
  const std::uint64_t ticks = cq.timed ? entry.ticks.value_or(device_ticks(device)) : 0;
  if (entry.id) cq.wrong_id = {cq.produced, *entry.id};
  std::uint8_t last = 0;
  std::size_t size = 32;
  if (device.mlx5) {
    size = 64;
    std::memset(at, 0, size - 1);
    put_be(at + 44, entry.bytes, 4);
    if (entry.syndrome == 0) {
      if (cq.timed) put_be(at + 48, ticks, 8);
    } else {
      at[54] = 0x99;
      at[55] = entry.syndrome;
    }
    put_be(at + 56, cq.qp->base.qp_num, 4);
    put_be(at + 60, wqe, 2);
    last = static_cast<std::uint8_t>((entry.syndrome == 0 ? 2 : 14) << 4 | (turn ? 1 : 0));
  } else {
    std::memset(at, 0, size - 1);
    put_be(at, cq.qp->base.qp_num | (entry.d2s ? 1u << 26 : 0) | (entry.sd ? 1u << 27 : 0), 4);
    put_be(at + 24, wqe, 2);
    if (entry.syndrome == 0) {
      put_be(at + 20, entry.bytes, 4);
      put_be(at + 26, 0xffff, 2);
      if (cq.timed) {
        put_be(at + 12, ticks >> 16, 4);
        put_be(at + 29, ticks & 0xffff, 2);
      }
    } else {
      at[26] = 0x99;
      at[27] = entry.syndrome;
    }
    last = static_cast<std::uint8_t>((turn ? 0x80 : 0) | (entry.syndrome == 0 ? 1 : 0x1e));
  }
  __atomic_store_n(at + size - 1, last, __ATOMIC_RELEASE);
  ++cq.produced;
}

void raise_async(Context& context, ibv_event_type type, Cq* cq) {
  const std::lock_guard lock(books);
  ibv_async_event event{};
  event.event_type = type;
  event.element.cq = reinterpret_cast<ibv_cq*>(cq);
  context.events.push_back(event);
  static_cast<void>(!::eventfd_write(context.async_event, 1));
}

bool has_space(const Cq& cq) {
  const std::uint32_t released = __builtin_bswap32(cq.doorbell[0]);
  return ((cq.produced - released) & 0xffffff) < cq.count;
}

std::int64_t steady_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

// True: there is something that the device does now.
bool has_work(const Qp& qp) {
  const std::uint64_t next = qp.next_packet.load();
  if (!qp.flow.load() || next >= qp.total_packets) return false;
  if (qp.rate == 0) return qp.posted.load() > qp.taken.load();
  return next < static_cast<std::uint64_t>(steady_ns() - qp.begin_ns) / 1000 * qp.rate / 1000000;
}

void advance(Cq& cq) {
  if (!cq.qp || cq.failed) return;
  Qp& qp = *cq.qp;
  Context& context = *context_of(cq.base.context);
  constexpr int at_once = 64;
  for (int i = 0; i < at_once && has_work(qp); ++i) {
    const std::uint64_t index = qp.next_packet.load(std::memory_order_relaxed);
    if (qp.posted.load(std::memory_order_acquire) == qp.taken.load(std::memory_order_relaxed)) {
      qp.next_packet.store(index + 1);
      qp.lost = true;
      ++packets_lost;
      continue;
    }
    const auto [first, length] = qp.packets.places[index % qp.packets.places.size()];
    Entry entry{length};
    if (qp.lost && !context.device->mlx5) {
      entry.sd = true;
      ++losses_marked;
    }
    qp.lost = false;
    bool skip = false;
    for (; qp.next_fault < qp.faults.size() && qp.faults[qp.next_fault].at <= index; ++qp.next_fault) {
      const Fault& fault = qp.faults[qp.next_fault];
      if (fault.what == "sd") {
        entry.sd = true;
        ++losses_marked;
      } else if (fault.what == "d2s") {
        entry.d2s = true;
      } else if (fault.what == "error") {
        entry.syndrome = static_cast<std::uint8_t>(fault.value);
      } else if (fault.what == "length") {
        entry.bytes = static_cast<std::uint32_t>(fault.value);
      } else if (fault.what == "time") {
        entry.ticks = fault.value;
      } else if (fault.what == "id") {
        entry.id = fault.value;
      } else if (fault.what == "overrun") {
        cq.failed = true;
        raise_async(context, IBV_EVENT_CQ_ERR, &cq);
      } else if (fault.what == "removed") {
        cq.failed = true;
        raise_async(context, IBV_EVENT_DEVICE_FATAL, nullptr);
      } else if (fault.what == "qpfatal") {
        cq.failed = true;
        raise_async(context, IBV_EVENT_QP_FATAL, nullptr);
      } else if (fault.what == "portdown") {
        raise_async(context, IBV_EVENT_PORT_ERR, nullptr);
      } else if (fault.what == "skip") {  // as many packets are lost here
        qp.next_packet.store(index + fault.value);
        packets_lost += fault.value;
        qp.lost = skip = true;
      } else {
        breach("VERBS_DOUBLE_FAULTS: no such fault: %s", fault.what.c_str());
      }
    }
    if (cq.failed) return;
    if (skip) continue;
    if (!has_space(cq)) {
      cq.failed = true;
      breach("the completion queue of %u entries overran", cq.count);
      raise_async(context, IBV_EVENT_CQ_ERR, &cq);
      return;
    }
    const std::uint64_t taken = qp.taken.load(std::memory_order_relaxed);
    const Wqe& wqe = qp.queue[taken & (qp.queue.size() - 1)];
    if (qp.checks) {
      check_buffer(wqe);
      const std::lock_guard lock(books);
      posted_addresses.erase(wqe.address);
    }
    if (length > wqe.bytes && entry.syndrome == 0) entry.syndrome = MLX4_CQE_SYNDROME_LOCAL_LENGTH_ERR;
    if (entry.syndrome == 0) {
      std::memcpy(reinterpret_cast<void*>(wqe.address), qp.packets.bytes.data() + first, length);
      ++packets_delivered;
    } else {
      ++packets_lost;
    }
    write_entry(cq, entry, static_cast<std::uint16_t>(taken));
    qp.taken.store(taken + 1, std::memory_order_release);
    qp.next_packet.store(index + 1, std::memory_order_release);
  }
}

// The driver

ibv_wc_status status_of(std::uint8_t syndrome) {
  switch (syndrome) {
    case 0x01:
      return IBV_WC_LOC_LEN_ERR;
    case 0x02:
      return IBV_WC_LOC_QP_OP_ERR;
    case 0x04:
      return IBV_WC_LOC_PROT_ERR;
    case 0x05:
      return IBV_WC_WR_FLUSH_ERR;
    case 0x11:
      return IBV_WC_LOC_ACCESS_ERR;
    default:
      return IBV_WC_GENERAL_ERR;
  }
}

bool poll_one(Cq& cq) {
  const bool mlx5 = context_of(cq.base.context)->device->mlx5;
  const std::uint8_t* const at = cq.ring.data() + std::size_t{cq.consumed & (cq.count - 1)} * cq.stride + cq.offset;
  const std::uint8_t last = __atomic_load_n(at + (mlx5 ? 63 : 31), __ATOMIC_ACQUIRE);
  const bool turn = (cq.consumed & cq.count) != 0;
  if (mlx5 ? last >> 4 == 15 || ((last & 1) != 0) != turn : ((last & 0x80) != 0) != turn) return false;
  const bool error = mlx5 ? last >> 4 == 14 : (last & 0x1f) == 0x1e;
  Qp& qp = *cq.qp;
  cq.base.wr_id = qp.queue[qp.completed & (qp.queue.size() - 1)].id;
  ++qp.completed;
  if (cq.wrong_id && cq.wrong_id->first == cq.consumed) cq.base.wr_id = cq.wrong_id->second;
  cq.base.status = error ? status_of(at[mlx5 ? 55 : 27]) : IBV_WC_SUCCESS;
  cq.wc_vendor = error ? at[mlx5 ? 54 : 26] : 0;
  cq.wc_bytes = static_cast<std::uint32_t>(get_be(at + (mlx5 ? 44 : 20), 4));
  cq.wc_time = mlx5 ? get_be(at + 48, 8) : get_be(at + 12, 4) << 16 | get_be(at + 29, 2);
  ++cq.consumed;
  return true;
}

void release(Cq& cq) { cq.doorbell[0] = __builtin_bswap32(cq.consumed & 0xffffff); }

int poll_cq(ibv_cq* base, int wanted, ibv_wc* out) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  if (cq.qp && cq.qp->fails && failure("poll_cq") != 0) return -1;
  advance(cq);
  int got = 0;
  while (got < wanted && poll_one(cq)) {
    ibv_wc& wc = out[got++];
    std::memset(&wc, 0x5a, sizeof wc);  // what the driver does not say must not be used
    wc.wr_id = cq.base.wr_id;
    wc.status = cq.base.status;
    wc.vendor_err = cq.wc_vendor;
    wc.qp_num = cq.qp->base.qp_num;
    if (wc.status != IBV_WC_SUCCESS) continue;
    wc.opcode = IBV_WC_RECV;
    wc.byte_len = cq.wc_bytes;
    wc.wc_flags = 0;
  }
  release(cq);
  return got;
}

int start_poll(ibv_cq_ex* base, ibv_poll_cq_attr* attributes) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  if (cq.polling) breach("ibv_start_poll() twice without ibv_end_poll()");
  if (attributes->comp_mask != 0) return EINVAL;
  if (const int error = cq.qp && cq.qp->fails ? failure("poll_cq") : 0; error != 0) return error;
  advance(cq);
  if (!poll_one(cq)) return ENOENT;
  cq.polling = true;
  return 0;
}
int next_poll(ibv_cq_ex* base) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  if (!cq.polling) breach("ibv_next_poll() without ibv_start_poll()");
  return poll_one(cq) ? 0 : ENOENT;
}
void end_poll(ibv_cq_ex* base) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  if (!cq.polling) breach("ibv_end_poll() without ibv_start_poll()");
  cq.polling = false;
  release(cq);
}
const Cq& being_polled(ibv_cq_ex* base) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  if (!cq.polling) breach("a completion was read outside ibv_start_poll() and ibv_end_poll()");
  return cq;
}
std::uint32_t read_byte_len(ibv_cq_ex* base) {
  const Cq& cq = being_polled(base);
  if (cq.base.status != IBV_WC_SUCCESS) breach("the length of a failed completion was read");
  return cq.wc_bytes;
}
std::uint64_t read_completion_ts(ibv_cq_ex* base) {
  const Cq& cq = being_polled(base);
  if (!cq.timed) breach("a time was read that was not asked for");
  return cq.wc_time;
}
std::uint32_t read_vendor_err(ibv_cq_ex* base) { return being_polled(base).wc_vendor; }

void raise(Cq& cq) {
  if (cq.channel) static_cast<void>(!::eventfd_write(cq.channel->base.fd, 1));
}

int req_notify_cq(ibv_cq* base, int) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  if (const int error = failure("req_notify"); error != 0) return error;
  cq.armed.store(true);
  // The device would go on by itself; with a rate, an event that comes too early makes the caller poll on.
  const bool goes_on = cq.qp && (has_work(*cq.qp) || (cq.qp->rate != 0 && cq.qp->next_packet < cq.qp->total_packets));
  if (!cq.failed && goes_on && cq.armed.exchange(false)) raise(cq);
  return 0;
}

int post_recv(ibv_qp* base, ibv_recv_wr* request, ibv_recv_wr** bad) {
  Qp& qp = *living<Qp>(base, "the queue pair");
  if (base->state == IBV_QPS_RESET) breach("a receive was posted in state RESET");
  int error = 0;
  std::uint64_t posted = qp.posted.load(std::memory_order_relaxed);
  for (; request; request = request->next) {
    error = posted >= qp.fail_post_after ? ENOMEM : qp.fails ? failure("post_recv") : 0;
    if (error != 0) break;
    if (posted - qp.taken.load(std::memory_order_acquire) >= qp.asked) {
      breach("more than %u receives were posted", qp.asked);
      error = ENOMEM;
      break;
    }
    if (request->num_sge != 1) breach("a receive has %d pieces, 1 was agreed on", request->num_sge);
    const ibv_sge& piece = *request->sg_list;
    const Wqe wqe{request->wr_id, piece.addr, piece.length};
    if (qp.checks) {
      const std::lock_guard lock(books);
      const bool covered = std::any_of(mrs.begin(), mrs.end(), [&](const std::unique_ptr<Mr>& mr) {
        const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(mr->base.addr);
        return mr->live && mr->base.lkey == piece.lkey && (mr->access & IBV_ACCESS_LOCAL_WRITE) != 0 &&
               mr->base.pd == &qp.pd->base && piece.addr >= begin && piece.length <= mr->base.length &&
               piece.addr - begin <= mr->base.length - piece.length;
      });
      if (!covered) breach("receive %llu is outside registered memory", static_cast<unsigned long long>(wqe.id));
      if (!posted_addresses.insert(wqe.address).second)
        breach("receive %llu was posted twice", static_cast<unsigned long long>(wqe.id));
    }
    if (qp.checks) mark_buffer(wqe);
    qp.queue[posted & (qp.queue.size() - 1)] = wqe;
    qp.posted.store(++posted);
  }
  if (error != 0) *bad = request;
  Cq& cq = *reinterpret_cast<Cq*>(base->recv_cq);
  if (has_work(qp) && cq.armed.exchange(false)) raise(cq);
  return error;
}

// Extended verbs

int query_port(ibv_context* base, std::uint8_t port, ibv_port_attr* out, std::size_t size) {
  const Context& context = *context_of(base);
  if (const int error = failure("query_port"); error != 0) return error;
  const std::uint8_t ports = context.device->mlx4 ? 2 : 1;
  if (port < 1 || port > ports) return EINVAL;
  ibv_port_attr attributes{};
  attributes.state = IBV_PORT_ACTIVE;
  attributes.max_mtu = attributes.active_mtu = IBV_MTU_4096;
  attributes.link_layer = port == 2 ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  std::memcpy(out, &attributes, std::min(size, sizeof attributes));
  return 0;
}

void fill_attributes(const Context& context, ibv_device_attr& out) {
  out = {};
  std::strcpy(out.fw_ver, context.device->mlx4 ? "2.42.5000" : "16.35.4030");
  out.vendor_id = context.device->mlx4 || context.device->mlx5 ? 0x2c9 : 0xffffff;
  out.vendor_part_id = static_cast<std::uint32_t>(number("VERBS_DOUBLE_PART", context.device->part));
  out.phys_port_cnt = context.device->mlx4 ? 2 : 1;
  out.max_qp_wr = 16384;
  out.max_cqe = 4194303;
}

int query_device_ex(ibv_context* base, const ibv_query_device_ex_input*, ibv_device_attr_ex* out, std::size_t size) {
  const Context& context = *context_of(base);
  if (const int error = failure("query_device"); error != 0) return error;
  ibv_device_attr_ex attributes{};
  fill_attributes(context, attributes.orig_attr);
  if (context.device->clock_khz != 0 && number("VERBS_DOUBLE_TIME", 1) != 0) {
    attributes.completion_timestamp_mask = context.device->clock_mask;
    attributes.hca_core_clock = context.device->clock_khz;
  }
  std::memcpy(out, &attributes, std::min(size, sizeof attributes));
  return 0;
}

int query_rt_values(ibv_context* base, ibv_values_ex* values) {
  const Context& context = *context_of(base);
  if (const int error = failure("query_rt_values"); error != 0) return error;
  values->raw_clock.tv_sec = 0;
  values->raw_clock.tv_nsec = static_cast<long>(device_ticks(*context.device));
  return 0;
}

Cq* make_cq(ibv_context* base, std::uint32_t entries, ibv_comp_channel* channel, bool extended, bool timed) {
  Context& context = *context_of(base);
  auto cq = std::make_unique<Cq>();
  cq->base.context = base;
  cq->base.channel = channel;
  cq->count = std::bit_ceil(entries + 1);
  cq->base.cqe = static_cast<int>(cq->count - 1);
  cq->extended = extended;
  cq->timed = timed;
  const bool mlx5 = context.device->mlx5;
  cq->stride = static_cast<std::uint32_t>(number("VERBS_DOUBLE_CQE_BYTES", mlx5 ? 64 : 32));
  cq->offset = mlx5 ? (cq->stride == 128 ? 64 : 0) : (cq->stride == 64 ? 32 : 0);
  cq->ring.assign(std::size_t{cq->count} * cq->stride, 0xcc);
  if (mlx5)
    for (std::uint32_t i = 0; i < cq->count; ++i) cq->ring[std::size_t{i} * cq->stride + cq->offset + 63] = 0xf0;
  if (channel) {
    cq->channel = living<Channel>(channel, "the completion channel");
    ++cq->channel->users;
  }
  cq->base.start_poll = start_poll;
  cq->base.next_poll = next_poll;
  cq->base.end_poll = end_poll;
  cq->base.read_byte_len = read_byte_len;
  cq->base.read_vendor_err = read_vendor_err;
  cq->base.read_completion_ts = timed ? read_completion_ts : nullptr;
  ++context.objects;
  trace(extended ? "create_cq_ex" : "create_cq");
  return keep(cqs, std::move(cq));
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* wanted) {
  if (fails("create_cq_ex")) return nullptr;
  const bool timed = (wanted->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) != 0;
  const bool has_time = context_of(context)->device->clock_khz != 0 && number("VERBS_DOUBLE_TIME", 1) != 0;
  if ((timed && !has_time) || (wanted->wc_flags & (IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL)) != 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return &make_cq(context, wanted->cqe, wanted->channel, true, timed)->base;
}

ibv_flow* create_flow(ibv_qp* base, ibv_flow_attr* wanted) {
  Qp& qp = *living<Qp>(base, "the queue pair");
  if (fails("create_flow")) return nullptr;
  if (wanted->type != IBV_FLOW_ATTR_SNIFFER || wanted->size != sizeof *wanted || wanted->num_of_specs != 0 ||
      wanted->port != qp.port) {
    errno = EINVAL;
    return nullptr;
  }
  if (base->state != IBV_QPS_RTR) breach("the sniffer was switched on before the queue pair was ready to receive");
  if (qp.posted != qp.asked)
    breach("the sniffer was switched on with %llu of %u receives posted",
           static_cast<unsigned long long>(qp.posted.load()), qp.asked);
  if (qp.flow.load()) breach("the sniffer was switched on twice");
  auto flow = std::make_unique<Flow>();
  flow->base.context = base->context;
  flow->qp = &qp;
  ++context_of(base->context)->objects;
  trace("create_flow");
  Flow* const kept = keep(flows, std::move(flow));
  qp.begin_ns = steady_ns();
  qp.flow = kept;
  return &kept->base;
}

int destroy_flow(ibv_flow* base) {
  // ibv_flow begins with another member than the others; it is first here, too.
  Flow& flow = *living<Flow>(base, "the flow");
  if (!flow.qp->live) breach("the flow was destroyed after its queue pair");
  flow.live = false;
  flow.qp->flow = nullptr;
  --context_of(base->context)->objects;
  trace("destroy_flow");
  return 0;
}

Device* make_device(const char* name, std::uint32_t part) {
  Device* const device = new Device;
  std::snprintf(device->base.name, sizeof device->base.name, "%s", name);
  std::snprintf(device->base.ibdev_path, sizeof device->base.ibdev_path, "%s/%s", VERBS_DOUBLE_SYSFS, name);
  device->part = part;
  device->mlx4 = std::strncmp(name, "mlx4", 4) == 0;
  device->mlx5 = std::strncmp(name, "mlx5", 4) == 0;
  if (device->mlx4) device->clock_khz = 427000, device->clock_mask = 0xffffffffffff;
  if (device->mlx5) device->clock_khz = 156250, device->clock_mask = 0x7fffffffffffffff;
  return device;
}

Device* const devices[] = {make_device("mlx4_0", 0x1003), make_device("mlx5_0", 0x1017),
                           make_device("bnxt_re0", 0x1750), make_device("soft0", 0)};

}  // namespace

extern "C" {

// For tests.
int verbs_double_breaches() { return breaches; }
const char* verbs_double_trace() { return trace_text.c_str(); }
std::uint64_t verbs_double_lost() { return packets_lost; }
std::uint64_t verbs_double_marked() { return losses_marked; }
std::uint64_t verbs_double_delivered() { return packets_delivered; }

ibv_device** ibv_get_device_list(int* count) {
  if (fails("get_device_list")) return nullptr;
  ibv_device** const list = new ibv_device*[std::size(devices) + 1]();
  for (std::size_t i = 0; i < std::size(devices); ++i) list[i] = &devices[i]->base;
  if (count) *count = static_cast<int>(std::size(devices));
  return list;
}
void ibv_free_device_list(ibv_device** list) { delete[] list; }
const char* ibv_get_device_name(ibv_device* device) { return device->name; }

ibv_context* ibv_open_device(ibv_device* base) {
  if (fails("open_device")) return nullptr;
  auto context = std::make_unique<Context>();
  context->device = reinterpret_cast<Device*>(base);
  verbs_context& extended = context->extended;
  extended.sz = sizeof extended;
  extended.query_port = query_port;
  extended.query_device_ex = query_device_ex;
  extended.query_rt_values = query_rt_values;
  extended.create_cq_ex = create_cq_ex;
  extended.ibv_create_flow = create_flow;
  extended.ibv_destroy_flow = destroy_flow;
  extended.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  extended.context.device = base;
  extended.context.ops.poll_cq = poll_cq;
  extended.context.ops.req_notify_cq = req_notify_cq;
  extended.context.ops.post_recv = post_recv;
  extended.context.num_comp_vectors = 1;
  context->async_event = extended.context.async_fd = ::eventfd(0, EFD_CLOEXEC);
  trace("open");
  return &keep(contexts, std::move(context))->extended.context;
}

int ibv_close_device(ibv_context* base) {
  Context& context = *context_of(base);
  if (context.objects != 0) breach("the device was closed with %d objects alive", context.objects);
  context.live = false;
  ::close(context.async_event);
  trace("close");
  return 0;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* out) {
  if (const int error = failure("query_device"); error != 0) return error;
  fill_attributes(*context_of(context), *out);
  return 0;
}

int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* out) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(out), offsetof(ibv_port_attr, flags));
}

int ibv_query_pkey(ibv_context*, std::uint8_t, int, __be16*) { return ENOSYS; }
int _ibv_query_gid_ex(ibv_context*, std::uint32_t, std::uint32_t, ibv_gid_entry*, std::uint32_t, std::size_t) {
  return ENOSYS;
}

int ibv_get_async_event(ibv_context* base, ibv_async_event* event) {
  Context& context = *context_of(base);
  eventfd_t value = 0;
  if (::eventfd_read(context.async_event, &value) != 0) return -1;
  const std::lock_guard lock(books);
  *event = context.events.front();
  context.events.pop_front();
  if (!context.events.empty()) static_cast<void>(!::eventfd_write(context.async_event, 1));
  return 0;
}
void ibv_ack_async_event(ibv_async_event*) {}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (fails("alloc_pd")) return nullptr;
  auto pd = std::make_unique<Pd>();
  pd->base.context = context;
  ++context_of(context)->objects;
  trace("alloc_pd");
  return &keep(pds, std::move(pd))->base;
}
int ibv_dealloc_pd(ibv_pd* base) {
  Pd& pd = *living<Pd>(base, "the protection domain");
  if (pd.users != 0) breach("the protection domain was freed with %d users", pd.users);
  pd.live = false;
  --context_of(base->context)->objects;
  trace("dealloc_pd");
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* base, void* address, std::size_t bytes, int access) {
  Pd& pd = *living<Pd>(base, "the protection domain");
  if (fails("reg_mr")) return nullptr;
  auto mr = std::make_unique<Mr>();
  mr->base.context = base->context;
  mr->base.pd = base;
  mr->base.addr = address;
  mr->base.length = bytes;
  mr->base.lkey = static_cast<std::uint32_t>(0x1000 + mrs.size());
  mr->access = access;
  ++pd.users;
  ++context_of(base->context)->objects;
  trace("reg_mr");
  return &keep(mrs, std::move(mr))->base;
}
int ibv_dereg_mr(ibv_mr* base) {
  Mr& mr = *living<Mr>(base, "the memory region");
  const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(base->addr), end = begin + base->length;
  for (const auto& qp : qps) {
    if (!qp->live) continue;
    for (std::uint64_t i = qp->taken; i < qp->posted; ++i) {
      const std::uint64_t at = qp->queue[i & (qp->queue.size() - 1)].address;
      if (at < begin || at >= end) continue;
      breach("memory was deregistered while receives in it were posted");
      break;
    }
  }
  mr.live = false;
  --reinterpret_cast<Pd*>(base->pd)->users;
  --context_of(base->context)->objects;
  trace("dereg_mr");
  return 0;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  if (fails("create_comp_channel")) return nullptr;
  auto channel = std::make_unique<Channel>();
  channel->base.context = context;
  channel->base.fd = ::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  ++context_of(context)->objects;
  trace("create_channel");
  return &keep(channels, std::move(channel))->base;
}
int ibv_destroy_comp_channel(ibv_comp_channel* base) {
  Channel& channel = *living<Channel>(base, "the completion channel");
  if (channel.users != 0) {
    breach("the completion channel was destroyed before its completion queue");
    return EBUSY;
  }
  channel.live = false;
  ::close(base->fd);
  --context_of(base->context)->objects;
  trace("destroy_channel");
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void*, ibv_comp_channel* channel, int) {
  if (fails("create_cq")) return nullptr;
  return reinterpret_cast<ibv_cq*>(&make_cq(context, static_cast<std::uint32_t>(entries), channel, false, false)->base);
}
int ibv_destroy_cq(ibv_cq* base) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  if (cq.users != 0) {
    breach("the completion queue was destroyed before its queue pair");
    return EBUSY;
  }
  if (cq.unacknowledged != 0) breach("the completion queue was destroyed with events not acknowledged: it would hang");
  if (cq.polling) breach("the completion queue was destroyed while it was polled");
  cq.live = false;
  std::fill(cq.ring.begin(), cq.ring.end(), 0xdd);
  if (cq.channel) --cq.channel->users;
  --context_of(base->context)->objects;
  trace("destroy_cq");
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* base, ibv_cq** out, void** context) {
  Channel& channel = *living<Channel>(base, "the completion channel");
  eventfd_t value = 0;
  if (::eventfd_read(channel.base.fd, &value) != 0) return -1;
  for (const auto& cq : cqs) {
    if (!cq->live || cq->channel != &channel) continue;
    ++cq->unacknowledged;
    *out = reinterpret_cast<ibv_cq*>(&cq->base);
    *context = nullptr;
    return 0;
  }
  return -1;
}
void ibv_ack_cq_events(ibv_cq* base, unsigned count) {
  Cq& cq = *living<Cq>(base, "the completion queue");
  cq.unacknowledged -= static_cast<int>(count);
  if (cq.unacknowledged < 0) breach("more events were acknowledged than came");
}

ibv_qp* ibv_create_qp(ibv_pd* base, ibv_qp_init_attr* wanted) {
  Pd& pd = *living<Pd>(base, "the protection domain");
  if (fails("create_qp")) return nullptr;
  const Context& context = *context_of(base->context);
  const bool sniffs = std::strcmp(context.device->base.name, "soft0") != 0;
  if (wanted->qp_type != IBV_QPT_RAW_PACKET && wanted->qp_type != IBV_QPT_UD) {
    errno = EINVAL;
    return nullptr;
  }
  if (!sniffs) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto qp = std::make_unique<Qp>();
  qp->base.context = base->context;
  qp->base.pd = base;
  qp->base.send_cq = wanted->send_cq;
  qp->base.recv_cq = wanted->recv_cq;
  qp->base.qp_num = 0x4c;
  qp->base.qp_type = wanted->qp_type;
  qp->base.state = IBV_QPS_RESET;
  qp->pd = &pd;
  qp->asked = wanted->cap.max_recv_wr;
  qp->queue.resize(std::bit_ceil(qp->asked));
  qp->packets = read_packets();
  qp->total_packets = qp->packets.places.size() * number("VERBS_DOUBLE_REPEAT", 1);
  qp->faults = read_faults();
  qp->fails = !setting("VERBS_DOUBLE_FAIL").empty();
  qp->fail_post_after = number("VERBS_DOUBLE_FAIL_POST_AFTER", ~std::uint64_t{0});
  qp->rate = number("VERBS_DOUBLE_RATE", 0);
  qp->checks = number("VERBS_DOUBLE_CHECK", 1) != 0;
  Cq& cq = *living<Cq>(wanted->recv_cq, "the completion queue");
  ++cq.users;
  ++pd.users;
  ++context_of(base->context)->objects;
  trace("create_qp");
  cq.qp = keep(qps, std::move(qp));
  return &cq.qp->base;
}

int ibv_modify_qp(ibv_qp* base, ibv_qp_attr* attributes, int mask) {
  Qp& qp = *living<Qp>(base, "the queue pair");
  if ((mask & IBV_QP_STATE) == 0) return EINVAL;
  const Context& context = *context_of(base->context);
  if (attributes->qp_state == IBV_QPS_INIT && base->state == IBV_QPS_RESET) {
    if (const int error = failure("modify_init"); error != 0) return error;
    const bool raw = base->qp_type == IBV_QPT_RAW_PACKET;
    const int wanted = IBV_QP_STATE | IBV_QP_PORT | (raw ? 0 : IBV_QP_PKEY_INDEX | IBV_QP_QKEY);
    if (mask != wanted) return EINVAL;
    if (raw && context.device->mlx4 && attributes->port_num == 2) return EINVAL;
    qp.port = attributes->port_num;
    trace("init");
  } else if (attributes->qp_state == IBV_QPS_RTR && base->state == IBV_QPS_INIT) {
    if (const int error = failure("modify_rtr"); error != 0) return error;
    if (mask != IBV_QP_STATE) return EINVAL;
    trace("rtr");
  } else {
    return EINVAL;
  }
  base->state = attributes->qp_state;
  return 0;
}
int ibv_query_qp(ibv_qp*, ibv_qp_attr*, int, ibv_qp_init_attr*) { return ENOSYS; }

int ibv_destroy_qp(ibv_qp* base) {
  Qp& qp = *living<Qp>(base, "the queue pair");
  if (qp.flow.load()) breach("the queue pair was destroyed before its flow");
  qp.live = false;
  {
    const std::lock_guard lock(books);
    posted_addresses.clear();
  }
  --qp.pd->users;
  --reinterpret_cast<Cq*>(base->recv_cq)->users;
  --context_of(base->context)->objects;
  trace("destroy_qp");
  return 0;
}

ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*) {
  errno = ENOSYS;
  return nullptr;
}
int ibv_destroy_ah(ibv_ah*) { return ENOSYS; }

int mlx4dv_init_obj(mlx4dv_obj* object, std::uint64_t type) {
  if (const int error = failure("init_obj"); error != 0) return error;
  if (type != MLX4DV_OBJ_CQ) return EINVAL;
  Cq& cq = *living<Cq>(object->cq.in, "the completion queue");
  if (!context_of(cq.base.context)->device->mlx4) breach("mlx4dv_init_obj() for a device of another driver");
  mlx4dv_cq& out = *object->cq.out;
  out.buf.buf = cq.ring.data();
  out.buf.length = cq.ring.size();
  out.cqe_cnt = cq.count;
  out.cqn = cq.number;
  out.set_ci_db = cq.doorbell.data();
  out.arm_db = cq.doorbell.data() + 1;
  out.cqe_size = static_cast<int>(cq.stride);
  return 0;
}

int mlx5dv_init_obj(mlx5dv_obj* object, std::uint64_t type) {
  if (const int error = failure("init_obj"); error != 0) return error;
  if (type != MLX5DV_OBJ_CQ) return EINVAL;
  Cq& cq = *living<Cq>(object->cq.in, "the completion queue");
  if (!context_of(cq.base.context)->device->mlx5) return EOPNOTSUPP;
  mlx5dv_cq& out = *object->cq.out;
  out.buf = cq.ring.data();
  out.dbrec = cq.doorbell.data();
  out.cqe_cnt = cq.count;
  out.cqe_size = cq.stride;
  out.cqn = cq.number;
  return 0;
}

}  // extern "C"
