// A wire carries whole frames between the tester and the device under test (DUT). One file behind one small interface.
//
// Time is the wire's, too: the memory wire has a virtual clock, so that waiting for nothing costs nothing; all others
// follow the machine's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace rdmascope::replay {

using IpAddress = std::array<std::uint8_t, 16>;  // IPv4 as ::ffff:a.b.c.d, which is its GID, too
using MacAddress = std::array<std::uint8_t, 6>;

struct Received {
  std::vector<std::uint8_t> bytes;
  std::int64_t time_ns = 0;  // since 1970-01-01 UTC; on the memory wire since its start
};

// How a wire carries management datagrams (MADs). Their frames start with LRH (replay/mad_frame.h).
struct MadCarriage {
  // False: between the tester and the link stands a host interface, which moves the hop pointer of a directed route,
  // and makes everything before the MAD but addresses. Frames then show the MAD as the interface takes and gives it.
  bool on_link = true;
  unsigned tid_bits = 64;     // low bits of a transaction ID that are the tester's; the host uses the others
  unsigned window = 16;       // requests that may be outstanding at a time
  std::uint16_t own_lid = 0;  // 0: none, or the host knows
};

class Wire {
 public:
  virtual ~Wire() = default;

  virtual std::string_view name() const = 0;  // "udp"
  // What a frame starts with, as a LINKTYPE_ number: 1 Ethernet, 101 IP.
  virtual std::uint16_t link_type() const = 0;
  // The tester's own addresses; the MAC address of wires with Ethernet.
  virtual IpAddress address() const = 0;
  virtual std::optional<MacAddress> mac() const { return std::nullopt; }
  virtual std::int64_t now_ns() = 0;
  virtual std::optional<MadCarriage> mads() const { return std::nullopt; }  // nullopt: it carries none
  // Wires between programs have UDP ports: what is sent to one that is open arrives. Port 0: one that is free.
  virtual bool has_ports() const { return false; }
  virtual Result<std::uint16_t> open_port(std::uint16_t port);
  virtual void close_port(std::uint16_t) {}

  // An error when the wire cannot carry the frame as it is, whatever the device may be.
  virtual Result<void> carries(std::span<const std::uint8_t> frame) const;
  // The whole frame as built, or an error when the wire cannot carry it as it is.
  virtual Result<void> send(std::span<const std::uint8_t> frame) = 0;
  // The next frame for the tester, or nullopt when none comes until `deadline_ns`, or is there, when that has passed.
  virtual Result<std::optional<Received>> receive(std::int64_t deadline_ns) = 0;
};

// "02:00:00:00:00:01".
Result<MacAddress> parse_mac(const std::string& text);

// A wire by what the user calls it: "udp:10.77.0.2", "udp" (127.0.0.1), "eth:IF", "eth:IF:ADDRESS". The memory wire is
// made together with its model.
inline constexpr std::string_view wire_forms =
    "udp[:ADDRESS], eth:INTERFACE[:ADDRESS], umad:DEVICE[,PORT], ibsim[:NAME][,NODE]";
Result<std::unique_ptr<Wire>> open_wire(const std::string& text);

}  // namespace rdmascope::replay
