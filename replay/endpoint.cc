#include "replay/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <memory>

namespace rdmascope::replay {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<AddressList> resolve(const Endpoint& endpoint, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) return Error{fmt::format("no address for {}: {}", endpoint.host, gai_strerror(error))};
  return AddressList(found, &freeaddrinfo);
}

Descriptor tcp_socket(const addrinfo& address) {
  return Descriptor(socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
}

// 0, or an errno.
int finish_connecting(const Descriptor& socket, std::int64_t timeout_ns) {
  pollfd waiting{socket.number(), POLLOUT, 0};
  const int ready = poll(&waiting, 1, static_cast<int>(timeout_ns / 1'000'000));
  if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Result<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port, std::string_view what) {
  const Error wrong{fmt::format("{} {}: want ADDRESS:PORT, such as 127.0.0.1:{} or [::1]:{}", what, text, default_port,
                                default_port)};
  std::string_view host = text, port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong;
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  Endpoint endpoint{std::string(host), default_port};
  if (host.empty()) return wrong;
  if (port.empty()) return endpoint;
  const char* end = port.data() + port.size();
  const auto [stopped, error] = std::from_chars(port.data() + 1, end, endpoint.port);
  if (port[0] != ':' || port.size() == 1 || error != std::errc() || stopped != end) return wrong;
  return endpoint;
}

std::string text(const Endpoint& endpoint) {
  const bool bracketed = endpoint.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", bracketed ? "[" : "", endpoint.host, bracketed ? "]" : "", endpoint.port);
}

Result<Descriptor> listen_tcp(const Endpoint& endpoint) {
  const Result<AddressList> addresses = resolve(endpoint, true);
  if (!addresses) return Error{fmt::format("cannot listen: {}", addresses.error())};
  int error = 0;
  for (const addrinfo* a = addresses->get(); a; a = a->ai_next) {
    Descriptor socket = tcp_socket(*a);
    const int yes = 1;
    if (socket) setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (socket && bind(socket.number(), a->ai_addr, a->ai_addrlen) == 0 && listen(socket.number(), 8) == 0)
      return socket;
    error = errno;
  }
  return Error{fmt::format("cannot listen at {}: {}", text(endpoint), std::strerror(error))};
}

Result<Descriptor> connect_tcp(const Endpoint& endpoint, std::int64_t timeout_ns) {
  const Result<AddressList> addresses = resolve(endpoint, false);
  if (!addresses) return Error{addresses.error()};
  int error = 0;
  for (const addrinfo* a = addresses->get(); a; a = a->ai_next) {
    Descriptor socket = tcp_socket(*a);
    error = errno;
    if (!socket) continue;
    error = connect(socket.number(), a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = finish_connecting(socket, timeout_ns);
    if (error != 0) continue;
    tune_tcp(socket);
    return socket;
  }
  return Error{std::strerror(error)};
}

Endpoint endpoint_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  getsockname(socket.number(), generic, &size);
  getnameinfo(generic, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return {host, static_cast<std::uint16_t>(std::atoi(port))};
}

void tune_tcp(const Descriptor& socket) {
  const auto set = [&socket](int level, int option, int value) {
    setsockopt(socket.number(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace rdmascope::replay
