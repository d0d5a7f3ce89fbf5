#include "replay/udp_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "dissect/crc.h"
#include "dissect/headers.h"
#include "replay/build.h"

namespace rdmascope::replay {
namespace {

using dissect::Ipv4;
using dissect::Ipv6;
using dissect::put;
using dissect::Udp;
using dissect::View;

constexpr std::size_t largest_frame = 65536 + 64;
constexpr std::size_t most_senders = 64;

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

socklen_t make(SocketAddress& to, const IpAddress& address, std::uint16_t port) {
  std::memset(&to, 0, sizeof to);
  if (is_ipv4(address)) {
    to.v4.sin_family = AF_INET;
    to.v4.sin_port = htons(port);
    std::memcpy(&to.v4.sin_addr, address.data() + 12, 4);
    return sizeof to.v4;
  }
  to.v6.sin6_family = AF_INET6;
  to.v6.sin6_port = htons(port);
  std::memcpy(&to.v6.sin6_addr, address.data(), 16);
  return sizeof to.v6;
}

// What the kernel shall write and tell, as far as it can be asked to.
void set_options(int socket, bool v4) {
  const int on = 1, buffer = 1 << 22, dont_fragment = v4 ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO;
  const auto set = [socket](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_RCVBUF, buffer);
  set(SOL_SOCKET, SO_TIMESTAMPNS, on);
  if (v4) {
    set(SOL_SOCKET, SO_NO_CHECK, on);
    set(IPPROTO_IP, IP_MTU_DISCOVER, dont_fragment);
    set(IPPROTO_IP, IP_RECVTOS, on);
    set(IPPROTO_IP, IP_RECVTTL, on);
  } else {
    set(IPPROTO_UDP, UDP_NO_CHECK6_RX, on);  // RoCEv2 devices leave the checksum 0
    set(IPPROTO_IPV6, IPV6_V6ONLY, on);
    set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, dont_fragment);
    set(IPPROTO_IPV6, IPV6_RECVTCLASS, on);
    set(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, on);
  }
}

Result<int> open_socket(const IpAddress& local, std::uint16_t port) {
  const bool v4 = is_ipv4(local);
  const int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Error{fmt::format("udp wire: cannot open a socket: {}", std::strerror(errno))};
  set_options(fd, v4);
  SocketAddress address;
  const socklen_t length = make(address, local, port);
  if (bind(fd, &address.any, length) != 0) {
    const int error = errno;
    ::close(fd);
    const char* what = error == EADDRINUSE      ? "something else listens there (Soft-RoCE, another tester)"
                       : error == EADDRNOTAVAIL ? "this machine has no such address"
                                                : std::strerror(error);
    return Error{fmt::format("udp wire: cannot listen on {} port {}: {}", to_text(local), port, what)};
  }
  return fd;
}

// What of the header the kernel will not write that way; nullptr: nothing.
const char* unsendable(std::span<const std::uint8_t> frame, const IpAddress& local) {
  if (frame.empty()) return "it is empty";
  if (frame[0] >> 4 == 4) {
    if (frame.size() < Ipv4::bytes + Udp::bytes) return "the IP or UDP header is not whole";
    const View<Ipv4> ip(frame.data());
    const View<Udp> udp(frame.data() + Ipv4::bytes);
    if (!is_ipv4(local) || std::memcmp(frame.data() + 12, local.data() + 12, 4) != 0)
      return "ip.src is not the wire's address";
    if (ip.get<"hdr_len">() * 4 != Ipv4::bytes) return "ip.hdr_len is not 20";
    if (ip.get<"len">() != frame.size()) return "ip.len is not the frame's length";
    if (ip.get<"id">() != 0) return "ip.id is not 0";
    if (ip.get<"flags.rb">() != 0 || ip.get<"flags.df">() != 1 || ip.get<"flags.mf">() != 0 ||
        ip.get<"frag_offset">() != 0)
      return "of the IP flags more or less than DF is set";
    if (ip.get<"proto">() != dissect::ip_udp) return "ip.proto is not UDP";
    if (udp.get<"length">() != frame.size() - Ipv4::bytes) return "udp.length is not the datagram's length";
    if (udp.get<"checksum">() != 0) return "udp.checksum is not 0";
    return nullptr;
  }
  if (frame[0] >> 4 == 6) {
    if (frame.size() < Ipv6::bytes + Udp::bytes) return "the IP or UDP header is not whole";
    const View<Ipv6> ip(frame.data());
    const View<Udp> udp(frame.data() + Ipv6::bytes);
    if (is_ipv4(local) || std::memcmp(frame.data() + 8, local.data(), 16) != 0)
      return "ipv6.src is not the wire's address";
    if (ip.get<"plen">() != frame.size() - Ipv6::bytes) return "ipv6.plen is not the frame's length";
    if (ip.get<"nxt">() != dissect::ip_udp) return "ipv6.nxt is not UDP";
    if (udp.get<"length">() != frame.size() - Ipv6::bytes) return "udp.length is not the datagram's length";
    return nullptr;
  }
  return "ip.version is neither 4 nor 6";
}

template <class T>
void put_control(msghdr& message, cmsghdr*& at, int level, int type, T value) {
  at->cmsg_level = level;
  at->cmsg_type = type;
  at->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(at), &value, sizeof value);
  message.msg_controllen += CMSG_SPACE(sizeof value);
  at = reinterpret_cast<cmsghdr*>(reinterpret_cast<std::uint8_t*>(at) + CMSG_SPACE(sizeof value));
}

}  // namespace

bool restore_identification(std::span<std::uint8_t> frame) {
  constexpr std::size_t bth = Ipv4::bytes + Udp::bytes;
  if (frame.size() < bth + dissect::Bth::bytes + dissect::Icrc::bytes) return false;
  std::uint8_t* const ip = frame.data();
  const std::span<const std::uint8_t> covered = frame.first(frame.size() - dissect::Icrc::bytes);
  constexpr dissect::Field crc_field = dissect::field<dissect::Icrc, "crc">();
  const std::uint32_t wire = static_cast<std::uint32_t>(dissect::load(ip + covered.size(), crc_field));
  const auto crc_with = [&](std::uint16_t id) {
    put<Ipv4, "id">(ip, id);
    std::uint32_t crc = 0;
    dissect::compute_icrc(dissect::Envelope::roce_v2_ipv4, covered, bth, crc);
    return crc;
  };
  bool found = false;
  for (const bool df : {true, false}) {
    put<Ipv4, "flags.df">(ip, df);
    // Which of 16 vectors (what one bit of the identification changes) add up to the difference? Gaussian elimination
    // over GF(2): each kept vector has a leading bit that no other kept one has as its own.
    const std::uint32_t base = crc_with(0);
    struct Vector {
      std::uint32_t change;
      std::uint16_t bits;
    };
    std::vector<Vector> kept;
    const auto reduce = [&kept](Vector v) {
      for (const Vector& k : kept)
        if ((v.change ^ k.change) < v.change) v = {v.change ^ k.change, static_cast<std::uint16_t>(v.bits ^ k.bits)};
      return v;
    };
    for (unsigned bit = 0; bit < 16; ++bit) {
      const std::uint16_t id = static_cast<std::uint16_t>(1u << bit);
      const Vector v = reduce({crc_with(id) ^ base, id});
      if (v.change == 0) continue;
      kept.push_back(v);
      std::ranges::sort(kept, std::greater<>(), &Vector::change);
    }
    const Vector left = reduce({wire ^ base, 0});
    if (left.change == 0) {
      put<Ipv4, "id">(ip, left.bits);
      found = true;
      break;
    }
    put<Ipv4, "id">(ip, 0);
    put<Ipv4, "flags.df">(ip, 1);
  }
  put<Ipv4, "checksum">(ip, 0);
  put<Ipv4, "checksum">(ip, internet_checksum({ip, Ipv4::bytes}));
  return found;
}

Result<IpAddress> parse_address(const std::string& text) {
  IpAddress out{};
  if (inet_pton(AF_INET, text.c_str(), out.data() + 12) == 1) {
    out[10] = out[11] = 0xff;
    return out;
  }
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return out;
  return Error{fmt::format("{}: no IPv4 or IPv6 address", text)};
}

std::string to_text(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN];
  if (is_ipv4(address)) return inet_ntop(AF_INET, address.data() + 12, text, sizeof text);
  return inet_ntop(AF_INET6, address.data(), text, sizeof text);
}

Result<std::unique_ptr<UdpWire>> UdpWire::open(const IpAddress& local) {
  const Result<int> fd = open_socket(local, dissect::port_roce_v2);
  if (!fd) return Error{fd.error()};
  std::unique_ptr<UdpWire> wire(new UdpWire(local, *fd));
  wire->buffer_.resize(largest_frame);
  return wire;
}

UdpWire::~UdpWire() {
  for (const auto& [port, fd] : senders_) ::close(fd);
  ::close(socket_);
}

std::int64_t UdpWire::now_ns() { return real_time_ns(); }

Result<int> UdpWire::sender(std::uint16_t source_port) {
  if (source_port == dissect::port_roce_v2) return socket_;
  const auto known = senders_.find(source_port);
  if (known != senders_.end()) return known->second;
  if (senders_.size() == most_senders) {
    ::close(senders_.begin()->second);
    senders_.erase(senders_.begin());
  }
  const Result<int> fd = open_socket(local_, source_port);
  if (fd) senders_[source_port] = *fd;
  return fd;
}

Result<void> UdpWire::carries(std::span<const std::uint8_t> frame) const {
  if (const char* why = unsendable(frame, local_))
    return Error{
        fmt::format("udp wire: cannot send this frame, for the kernel writes its IP header: {}; use --wire eth", why)};
  return {};
}

Result<void> UdpWire::send(std::span<const std::uint8_t> frame) {
  if (const Result<void> able = carries(frame); !able) return able;
  const bool v4 = frame[0] >> 4 == 4;
  const std::size_t header = v4 ? Ipv4::bytes : Ipv6::bytes;
  const View<Udp> udp(frame.data() + header);
  const Result<int> fd = sender(static_cast<std::uint16_t>(udp.get<"srcport">()));
  if (!fd) return Error{fd.error()};

  IpAddress destination{};
  if (v4) {
    destination[10] = destination[11] = 0xff;
    std::memcpy(destination.data() + 12, frame.data() + 16, 4);
  } else {
    std::memcpy(destination.data(), frame.data() + 24, 16);
  }
  SocketAddress to;
  const socklen_t to_length = make(to, destination, static_cast<std::uint16_t>(udp.get<"dstport">()));
  const std::span<const std::uint8_t> payload = frame.subspan(header + Udp::bytes);
  iovec part{const_cast<std::uint8_t*>(payload.data()), payload.size()};
  alignas(cmsghdr) std::uint8_t control[128] = {};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = to_length;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  cmsghdr* at = reinterpret_cast<cmsghdr*>(control);
  if (v4) {
    const View<Ipv4> ip(frame.data());
    put_control(message, at, IPPROTO_IP, IP_TOS, static_cast<int>(ip.get<"dsfield">()));
    put_control(message, at, IPPROTO_IP, IP_TTL, static_cast<int>(std::max<std::uint64_t>(1, ip.get<"ttl">())));
  } else {
    const View<Ipv6> ip(frame.data());
    put_control(message, at, IPPROTO_IPV6, IPV6_TCLASS, static_cast<int>(ip.get<"tclass">()));
    put_control(message, at, IPPROTO_IPV6, IPV6_HOPLIMIT, static_cast<int>(ip.get<"hlim">()));
  }
  while (sendmsg(*fd, &message, 0) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {  // the socket's buffer is full: the device drains it
      pollfd wait{*fd, POLLOUT, 0};
      poll(&wait, 1, 1000);
      continue;
    }
    if (errno == EMSGSIZE)
      return Error{fmt::format("udp wire: a frame of {} bytes is longer than the MTU towards {}", frame.size(),
                               to_text(destination))};
    return Error{fmt::format("udp wire: cannot send to {}: {}", to_text(destination), std::strerror(errno))};
  }
  return {};
}

Result<std::optional<Received>> UdpWire::receive(std::int64_t deadline_ns) {
  while (true) {
    SocketAddress from{};
    const bool v4 = is_ipv4(local_);
    const std::size_t header = v4 ? Ipv4::bytes : Ipv6::bytes;
    iovec part{buffer_.data() + header + Udp::bytes, buffer_.size() - header - Udp::bytes};
    alignas(cmsghdr) std::uint8_t control[256];
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t count = recvmsg(socket_, &message, 0);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR)
        return Error{fmt::format("udp wire: cannot receive: {}", std::strerror(errno))};
      const std::int64_t left = deadline_ns - real_time_ns();
      if (left <= 0) return std::optional<Received>();
      pollfd wait{socket_, POLLIN, 0};
      const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
      ppoll(&wait, 1, &timeout, nullptr);
      continue;
    }
    Received received;
    received.time_ns = real_time_ns();
    int tos = 0, ttl = 64;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
      const auto number = [c] {
        int value = 0;  // IP_TOS comes as one byte
        std::memcpy(&value, CMSG_DATA(c), std::min<std::size_t>(sizeof value, c->cmsg_len - CMSG_LEN(0)));
        return value;
      };
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
        timespec t{};
        std::memcpy(&t, CMSG_DATA(c), sizeof t);
        received.time_ns = static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
      } else if (c->cmsg_level == (v4 ? IPPROTO_IP : IPPROTO_IPV6)) {
        if (c->cmsg_type == (v4 ? IP_TOS : IPV6_TCLASS)) tos = number();
        if (c->cmsg_type == (v4 ? IP_TTL : IPV6_HOPLIMIT)) ttl = number();
      }
    }
    const std::size_t size = header + Udp::bytes + static_cast<std::size_t>(count);
    std::memset(buffer_.data(), 0, header + Udp::bytes);
    std::uint8_t* const ip = buffer_.data();
    std::uint8_t* const udp = ip + header;
    if (v4) {
      put<Ipv4, "version">(ip, 4);
      put<Ipv4, "hdr_len">(ip, Ipv4::bytes / 4);
      put<Ipv4, "dsfield">(ip, static_cast<std::uint64_t>(tos));
      put<Ipv4, "len">(ip, size);
      put<Ipv4, "ttl">(ip, static_cast<std::uint64_t>(ttl));
      put<Ipv4, "proto">(ip, dissect::ip_udp);
      std::memcpy(ip + 12, &from.v4.sin_addr, 4);
      std::memcpy(ip + 16, local_.data() + 12, 4);
    } else {
      put<Ipv6, "version">(ip, 6);
      put<Ipv6, "tclass">(ip, static_cast<std::uint64_t>(tos));
      put<Ipv6, "plen">(ip, size - Ipv6::bytes);
      put<Ipv6, "nxt">(ip, dissect::ip_udp);
      put<Ipv6, "hlim">(ip, static_cast<std::uint64_t>(ttl));
      std::memcpy(ip + 8, &from.v6.sin6_addr, 16);
      std::memcpy(ip + 24, local_.data(), 16);
    }
    put<Udp, "srcport">(udp, ntohs(v4 ? from.v4.sin_port : from.v6.sin6_port));
    put<Udp, "dstport">(udp, dissect::port_roce_v2);
    put<Udp, "length">(udp, size - header);
    if (v4) restore_identification({buffer_.data(), size});
    received.bytes.assign(buffer_.data(), buffer_.data() + size);
    return std::optional<Received>(std::move(received));
  }
}

}  // namespace rdmascope::replay
