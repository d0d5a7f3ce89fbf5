// RoCEv2 from a plain UDP socket: no privileges, any machine, loopback too. The kernel writes the IP and UDP headers;
// the ICRC covers them, so frames are built with the values that it will write (IPv4: DF set, identification 0).
//
// Frames have link type 101 and start with the IP header. Of received ones it is rebuilt from what the socket tells:
// addresses, ports, TOS, TTL. It does not tell the identification, which the ICRC covers: the one value with which
// the ICRC is right is solved for, since a CRC is linear. If there is none the ICRC is wrong and 0 stands there.
// A wrong packet passes for a right one in 1 of 32768 cases this way.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "replay/wire.h"

namespace rdmascope::replay {

// An IPv4 or IPv6 address in text; IPv4 becomes ::ffff:a.b.c.d.
Result<IpAddress> parse_address(const std::string& text);
std::string to_text(const IpAddress& address);

// The identification (and DF) with which the ICRC of an IPv4 frame is right, written into the frame with the header
// checksum. False: there is none; the frame then has identification 0. `frame` starts with the IP header.
bool restore_identification(std::span<std::uint8_t> frame);

class UdpWire final : public Wire {
 public:
  // Listens on that address of this machine, port 4791.
  static Result<std::unique_ptr<UdpWire>> open(const IpAddress& local);
  ~UdpWire() override;
  UdpWire(const UdpWire&) = delete;
  UdpWire& operator=(const UdpWire&) = delete;

  std::string_view name() const override { return "udp"; }
  std::uint16_t link_type() const override { return 101; }
  IpAddress address() const override { return local_; }
  std::int64_t now_ns() override;
  // Errors: an IP header other than the kernel writes; no route; longer than the path's MTU.
  Result<void> carries(std::span<const std::uint8_t> frame) const override;
  Result<void> send(std::span<const std::uint8_t> frame) override;
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override;

 private:
  UdpWire(const IpAddress& local, int socket) : local_(local), socket_(socket) {}
  Result<int> sender(std::uint16_t source_port);

  IpAddress local_;
  int socket_;
  std::map<std::uint16_t, int> senders_;  // by source port
  std::vector<std::uint8_t> buffer_;
};

}  // namespace rdmascope::replay
