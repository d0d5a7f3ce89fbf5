// Live capture from network interfaces, through libpcap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/source.h"

namespace rdmascope::capture {

struct LiveOptions {
  std::string interface;  // "eth0", "any"
  std::string filter;     // libpcap's language; empty: all
  std::uint32_t snap_length = 262144;   // bytes kept of each packet
  bool promiscuous = true;
  std::uint32_t buffer_bytes = 16 << 20;  // the kernel's; libpcap's own default is 2 MiB
  std::string timestamps;          // a type by libpcap's name, as "adapter_unsynced"; empty: the kernel's
  bool immediate = false;          // hand over packets within a millisecond, at some cost; else within 100
};

// A source whose read() waits at most 100 ms for a packet, and ends when stop_descriptor (capture/open.h) becomes
// readable, with all packets from before that. dropped() is what the kernel's buffer could not take.
class LiveSource : public Source {
 public:
  // Packets that the interface itself lost, of any kind, whatever the filter; nullopt: it does not say. Not part of
  // dropped(): drivers count packets there that no program would have wanted.
  virtual std::optional<std::uint64_t> dropped_by_interface() const = 0;
  // The interface went down after the start; packets come again when it is up.
  virtual bool is_down() const = 0;
  // What had to be done without: "eth0: promiscuous mode is not permitted".
  virtual const std::vector<std::string>& warnings() const = 0;
};
Result<std::unique_ptr<LiveSource>> open_live(const LiveOptions& options);

// Types of timestamps that an interface offers, by libpcap's names; the first is the default.
Result<std::vector<std::string>> timestamp_types(const std::string& interface);

// Whether libpcap understands a filter, before there is an interface (as on Ethernet). Names of hosts are looked up, which
// can take a while.
Result<void> check_filter(const std::string& filter);

struct LiveInterface {
  std::string name, description;
  std::vector<std::string> addresses;  // IPv4 and IPv6
  bool up = false, running = false, loopback = false;
  bool has_packets = true;  // false: something else that libpcap can read, as Bluetooth or D-Bus
};
Result<std::vector<LiveInterface>> live_interfaces();

}  // namespace rdmascope::capture
