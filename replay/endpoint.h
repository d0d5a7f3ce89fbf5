// TCP between a tester and its agent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace rdmascope::replay {

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Where somebody listens: "127.0.0.1:7471", "[::1]:7471", "lab3:7471".
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};
// `what` names the text in the error. Without a port `default_port` is taken.
Result<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port, std::string_view what);
std::string text(const Endpoint& endpoint);

// Sockets do not block. Port 0 listens on a free one; endpoint_of() says which.
Result<Descriptor> listen_tcp(const Endpoint& endpoint);
Result<Descriptor> connect_tcp(const Endpoint& endpoint, std::int64_t timeout_ns);
Endpoint endpoint_of(const Descriptor& socket);

// No delay for small messages; a peer that vanished without a word is noticed within about 20 s.
void tune_tcp(const Descriptor& socket);

}  // namespace rdmascope::replay
