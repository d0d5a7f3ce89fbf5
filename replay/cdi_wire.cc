#include "replay/cdi_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace rdmascope::replay {
namespace {

constexpr std::size_t longest_datagram = 65536;

sockaddr_in socket_address(const UdpPlace& place) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(place.ip);
  out.sin_port = htons(place.port);
  return out;
}

UdpPlace place_of(const sockaddr_in& address) { return {ntohl(address.sin_addr.s_addr), ntohs(address.sin_port)}; }

UdpPlace place_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &length);
  return place_of(address);
}

Result<Descriptor> open_socket(const UdpPlace& place) {
  Descriptor out(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out) return Error{fmt::format("udp: cannot open a socket: {}", std::strerror(errno))};
  const int on = 1;
  setsockopt(out.number(), IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  const sockaddr_in address = socket_address(place);
  if (bind(out.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Error{fmt::format("udp: cannot listen at {}: {}", to_text(place), std::strerror(errno))};
  return out;
}

Result<void> send_to(const Descriptor& socket, const UdpPlace& to, std::span<const std::uint8_t> payload) {
  const sockaddr_in address = socket_address(to);
  while (sendto(socket.number(), payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr*>(&address),
                sizeof address) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      pollfd wait{socket.number(), POLLOUT, 0};
      poll(&wait, 1, 1000);
      continue;
    }
    return Error{fmt::format("udp: cannot send to {}: {}", to_text(to), std::strerror(errno))};
  }
  return {};
}

struct Arrived {
  UdpPlace from;
  std::uint32_t to_ip = 0;
  std::vector<std::uint8_t> payload;
};
// nullopt: nothing is there.
Result<std::optional<Arrived>> receive_from(const Descriptor& socket) {
  Arrived out;
  out.payload.resize(longest_datagram);
  sockaddr_in from{};
  iovec part{out.payload.data(), out.payload.size()};
  alignas(cmsghdr) std::array<std::uint8_t, 128> control{};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = recvmsg(socket.number(), &message, 0);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED) return std::optional<Arrived>();
    return Error{fmt::format("udp: cannot receive: {}", std::strerror(errno))};
  }
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
    if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(c), sizeof info);
      out.to_ip = ntohl(info.ipi_addr.s_addr);
    }
  out.from = place_of(from);
  out.payload.resize(static_cast<std::size_t>(count));
  return std::optional(std::move(out));
}

void wait_for(std::span<pollfd> sockets, std::int64_t ns) {
  const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  ppoll(sockets.data(), sockets.size(), &timeout, nullptr);
}

}  // namespace

// ---- the tester's end

Result<std::unique_ptr<CdiWire>> CdiWire::open(std::uint32_t local, std::uint32_t towards) {
  std::uint32_t shown = local;
  if (shown == 0 && towards != 0) {
    // Nothing is sent: the kernel is asked which address it would take.
    const Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    constexpr std::uint16_t any_port = 9;
    const sockaddr_in address = socket_address({towards, any_port});
    if (!probe || connect(probe.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return Error{fmt::format("udp: no way to {}: {}", ip_text(towards), std::strerror(errno))};
    shown = place_of(probe).ip;
  }
  return std::unique_ptr<CdiWire>(new CdiWire(local, shown));
}

std::int64_t CdiWire::now_ns() { return real_time_ns(); }

Result<std::uint16_t> CdiWire::open_port(std::uint16_t port) {
  if (port != 0 && sockets_.contains(port)) return port;
  Result<Descriptor> opened = open_socket({local_, port});
  if (!opened) return Error{opened.error()};
  const std::uint16_t given = place_of(*opened).port;
  sockets_[given] = std::move(*opened);
  return given;
}

Result<void> CdiWire::send(std::span<const std::uint8_t> frame) {
  const std::optional<UdpOfFrame> udp = udp_of(frame);
  if (!udp) return Error{"udp: cannot send a frame that is no UDP datagram"};
  const auto from = sockets_.find(udp->from.port);
  if (from == sockets_.end()) return Error{fmt::format("udp: port {} is not open", udp->from.port)};
  return send_to(from->second, udp->to, udp->payload);
}

Result<std::optional<Received>> CdiWire::receive(std::int64_t deadline_ns) {
  while (true) {
    std::vector<pollfd> waiting;
    for (const auto& [port, socket] : sockets_) {
      Result<std::optional<Arrived>> arrived = receive_from(socket);
      if (!arrived) return Error{arrived.error()};
      if (*arrived) {
        Received received;
        received.time_ns = real_time_ns();
        received.bytes = udp_frame((*arrived)->from, {(*arrived)->to_ip, port}, (*arrived)->payload);
        return std::optional(std::move(received));
      }
      waiting.push_back({socket.number(), POLLIN, 0});
    }
    const std::int64_t left = deadline_ns - real_time_ns();
    if (left <= 0) return std::optional<Received>();
    wait_for(waiting, left);
  }
}

// ---- the model's end

CdiServer::CdiServer(const CdiModelOptions& options, Descriptor socket)
    : place_(options.own),
      socket_(std::move(socket)),
      model_(make_cdi_model(options, [this](const UdpPlace& to, std::span<const std::uint8_t> message,
                                            bool other_port) { send(to, message, other_port); })) {}

Result<std::unique_ptr<CdiServer>> CdiServer::open(CdiModelOptions options) {
  Result<Descriptor> socket = open_socket(options.own);
  if (!socket) return Error{socket.error()};
  options.own.port = place_of(*socket).port;
  return std::unique_ptr<CdiServer>(new CdiServer(options, std::move(*socket)));
}

// A peer that is not there is no trouble: the probe goes on all the same.
void CdiServer::send(const UdpPlace& to, std::span<const std::uint8_t> message, bool other_port) {
  if (other_port && !other_)
    if (Result<Descriptor> opened = open_socket({place_.ip, 0})) other_ = std::move(*opened);
  if (const Result<void> sent = send_to(other_port && other_ ? other_ : socket_, to, message); !sent) return;
}

Result<void> CdiServer::run(const std::function<bool()>& stopped, std::int64_t slice_ns) {
  while (!stopped()) {
    std::int64_t wait_ns = slice_ns;
    Result<std::optional<Arrived>> arrived = receive_from(socket_);
    if (!arrived) return Error{arrived.error()};
    {
      const std::lock_guard lock(mutex_);
      const std::int64_t now = now_ns();
      if (*arrived)
        model_->datagram((*arrived)->from, (*arrived)->payload, now);
      else
        model_->run(now);
      if (const std::optional<std::int64_t> next = model_->next_event_ns())
        wait_ns = std::clamp<std::int64_t>(*next - now, 0, slice_ns);
    }
    if (*arrived) continue;
    pollfd waiting{socket_.number(), POLLIN, 0};
    wait_for({&waiting, 1}, wait_ns);
  }
  return {};
}

void CdiServer::deliver(std::uint32_t packets) {
  const std::lock_guard lock(mutex_);
  model_->deliver(packets, now_ns());
}

CdiAdapter CdiServer::data_address() {
  const std::lock_guard lock(mutex_);
  return model_->data_address();
}

}  // namespace rdmascope::replay
