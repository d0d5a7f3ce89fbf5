#include "replay/ibsim_wire.h"

#include <endian.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "dissect/subn.h"
#include "replay/mad_frame.h"

namespace rdmascope::replay {
namespace {

// The two messages of ibsim's protocol, in the machine's byte order unless a comment says otherwise.
struct Control {
  std::uint32_t magic = 0xdeadbeef;
  std::uint32_t client = 0;
  std::uint32_t type = 0;
  std::uint32_t length = 0;
  std::uint8_t data[64] = {};
};
static_assert(sizeof(Control) == 80);
enum : std::uint32_t { control_connect = 1, control_disconnect = 2, control_port_info = 8 };

struct Client {  // data of a connect; of its answer: `id` is the number of the client
  std::uint32_t id = 0;
  std::uint32_t qp = 0;
  std::uint32_t is_sm = 0;
  char node[32] = {};
};

struct Datagram {
  // LIDs: 16 bits big-endian, then zeros. Queue pairs, status, length: big-endian.
  std::uint16_t dlid = 0, dlid_pad = 0;
  std::uint16_t slid = 0, slid_pad = 0;  // 0: the client's own
  std::uint32_t dqp = 0, sqp = 0;
  std::uint32_t status = 0;  // not 0: could not be delivered, the request comes back
  std::uint32_t pad = 0;
  std::uint64_t length = 0;
  std::uint8_t mad[dissect::mad_bytes] = {};
};
static_assert(sizeof(Datagram) == 288);

// Its queues hold ten datagrams on most machines, and it drops what does not fit.
constexpr unsigned window = 8;
constexpr int patience_ms = 2000;
constexpr std::uint8_t most_hops = 63;

// An abstract name: a zero, the text, and a zero that belongs to it.
struct SocketName {
  sockaddr_un address{};
  socklen_t bytes;

  explicit SocketName(const std::string& name) {
    const std::size_t size = std::min(name.size(), sizeof address.sun_path - 2);
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), size);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size + 1);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

int bound(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const SocketName own(name);
  if (bind(fd, own.get(), own.bytes) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

bool connect_to(int fd, const std::string& name) {
  const SocketName other(name);
  return connect(fd, other.get(), other.bytes) == 0;
}

bool wait_for(int fd, short events, int ms) {
  pollfd wait{fd, events, 0};
  return poll(&wait, 1, ms) > 0;
}

std::string environment(const char* variable, std::string otherwise) {
  const char* const value = std::getenv(variable);
  return value && *value ? value : std::move(otherwise);
}

}  // namespace

Error IbsimWire::failed(const std::string& what, int error) const {
  return Error{fmt::format("ibsim wire: {}: {}: {}", name_, what, std::strerror(error))};
}

Result<std::unique_ptr<IbsimWire>> IbsimWire::open(std::string name, std::string node) {
  std::unique_ptr<IbsimWire> wire(new IbsimWire);
  wire->name_ = name.empty() ? environment("IBSIM_SOCKNAME", "sim") : std::move(name);
  if (node.empty()) node = environment("SIM_HOST", "");
  Client client;
  if (node.size() >= sizeof client.node)
    return Error{fmt::format("ibsim wire: {}: a node id has at most 31 characters", node)};
  std::memcpy(client.node, node.data(), node.size());
  // Sockets are told apart by the number a client calls itself, which is its process id; a second wire takes another.
  client.id = static_cast<std::uint32_t>(getpid());
  while ((wire->control_ = bound(fmt::format("{}:ctl{}", wire->name_, client.id))) < 0)
    if (errno != EADDRINUSE || (client.id += 0x400000) > 0x7fffffff) return wire->failed("cannot make a socket", errno);
  wire->data_ = bound(fmt::format("{}:in{}", wire->name_, client.id));
  if (wire->data_ < 0) return wire->failed("cannot make a socket", errno);
  if (!connect_to(wire->control_, wire->name_ + ":ctl"))
    return Error{fmt::format(
        "ibsim wire: no ibsim of the name {}: start `ibsim -s NETFILE`, with IBSIM_SOCKNAME for another name",
        wire->name_)};

  const auto ask = [&](Control& control) {
    return ::send(wire->control_, &control, sizeof control, MSG_NOSIGNAL) == sizeof control &&
           wait_for(wire->control_, POLLIN, patience_ms) &&
           recv(wire->control_, &control, sizeof control, 0) == sizeof control;
  };
  Control control;
  control.type = control_connect;
  control.length = sizeof client;
  std::memcpy(control.data, &client, sizeof client);
  if (!ask(control)) return Error{fmt::format("ibsim wire: {} does not answer", wire->name_)};
  if (control.type != control_connect)
    return Error{fmt::format("ibsim wire: {} refuses{}: no such node in its net file, or ten clients are connected",
                             wire->name_, node.empty() ? "" : " node " + node)};
  std::memcpy(&client, control.data, sizeof client);
  wire->client_ = client.id;
  wire->connected_ = true;
  if (!connect_to(wire->data_, fmt::format("{}:out{}", wire->name_, wire->client_)))
    return wire->failed("cannot reach its data socket", errno);
  Control port_info;  // of the port the tester is at
  port_info.client = wire->client_;
  port_info.type = control_port_info;
  if (ask(port_info) && port_info.type == control_port_info)
    wire->own_lid_ = static_cast<std::uint16_t>(dissect::View<dissect::PortInfo>(port_info.data).get<"lid">());
  return wire;
}

IbsimWire::~IbsimWire() {
  if (connected_) {
    Control control;
    control.client = client_;
    control.type = control_disconnect;
    // Its answer says that it has let go of the sockets.
    if (::send(control_, &control, sizeof control, MSG_NOSIGNAL) == sizeof control) wait_for(control_, POLLIN, 200);
  }
  if (data_ >= 0) ::close(data_);
  if (control_ >= 0) ::close(control_);
}

std::uint16_t IbsimWire::link_type() const { return link_infiniband; }

std::int64_t IbsimWire::now_ns() { return real_time_ns(); }

std::optional<MadCarriage> IbsimWire::mads() const {
  return MadCarriage{.on_link = false, .tid_bits = 32, .window = window, .own_lid = own_lid_};
}

Result<void> IbsimWire::carries(std::span<const std::uint8_t> frame) const {
  const std::optional<MadOfFrame> in = mad_of(frame);
  if (!in || in->mad.size() != dissect::mad_bytes) return Error{"ibsim carries MADs of 256 bytes only"};
  MadAddress usual = MadAddress::of_class(class_of(in->mad), in->address.source_lid, in->address.destination_lid);
  if (in->address.q_key != usual.q_key || in->address.vl != usual.vl || in->address.sl != usual.sl ||
      in->address.p_key != usual.p_key)
    return Error{"ibsim has no links: Q_Key, P_Key, VL and SL do not reach the device"};
  if (std::vector<std::uint8_t> made = mad_frame(in->mad, in->address);
      made.size() != frame.size() || std::memcmp(made.data(), frame.data(), frame.size()) != 0)
    return Error{"ibsim has no links: LRH, BTH, DETH and CRCs do not reach the device"};
  // What it does not look at and takes as an index.
  const dissect::View<dissect::Mad> mad(in->mad.data());
  if (mad.get<"mgmtclass">() == class_subn_directed && (mad.get<"classspecific">() & 0xff) > most_hops)
    return Error{"ibsim does not look at the hop count, and would read beyond the route"};
  if (mad.get<"attributeid">() > 0xfe) return Error{"ibsim knows no attribute beyond 0xfe, and does not look"};
  return {};
}

Result<void> IbsimWire::send(std::span<const std::uint8_t> frame) {
  const std::optional<MadOfFrame> in = mad_of(frame);
  if (!in || in->mad.size() != dissect::mad_bytes) return Error{"ibsim wire: carries MADs of 256 bytes only"};
  Datagram datagram;
  datagram.dlid = htobe16(in->address.destination_lid);
  datagram.slid = in->address.destination_lid == permissive_lid ? 0xffff : 0;
  datagram.dqp = htobe32(in->address.destination_qp);
  datagram.sqp = htobe32(in->address.source_qp);
  datagram.length = htobe64(in->mad.size());
  std::memcpy(datagram.mad, in->mad.data(), in->mad.size());
  while (::send(data_, &datagram, sizeof datagram, MSG_NOSIGNAL) != sizeof datagram) {
    if (errno == EAGAIN && wait_for(data_, POLLOUT, patience_ms)) continue;
    if (errno == ECONNREFUSED || errno == ECONNRESET)
      return Error{fmt::format("ibsim wire: {}: ibsim has ended; look whether it crashed", name_)};
    return failed("cannot send", errno);
  }
  return {};
}

Result<std::optional<Received>> IbsimWire::receive(std::int64_t deadline_ns) {
  while (true) {
    Datagram datagram;
    const ssize_t count = recv(data_, &datagram, sizeof datagram, 0);
    if (count == sizeof datagram) {
      if (datagram.status != 0) continue;  // nobody answers
      MadAddress address = MadAddress::of_class(class_of(datagram.mad), be16toh(datagram.slid), be16toh(datagram.dlid));
      address.source_qp = be32toh(datagram.sqp);
      address.destination_qp = be32toh(datagram.dqp);
      // Of an answer the upper half of the transaction ID is ibsim's.
      std::uint8_t* const mad = datagram.mad;
      if (is_response(datagram.mad))
        dissect::put<dissect::Mad, "transactionid">(
            mad, dissect::View<dissect::Mad>(mad).get<"transactionid">() & 0xffffffff);
      address.psn = received_++ & 0xffffff;
      return std::optional<Received>(Received{mad_frame(datagram.mad, address), real_time_ns()});
    }
    if (count >= 0) continue;
    if (errno != EAGAIN && errno != EINTR) return failed("cannot receive", errno);
    const std::int64_t left = deadline_ns - real_time_ns();
    if (left <= 0) return std::optional<Received>();
    pollfd wait{data_, POLLIN, 0};
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    ppoll(&wait, 1, &timeout, nullptr);
  }
}

}  // namespace rdmascope::replay
