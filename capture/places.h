// Where packets can be captured on this machine, in words for people: network interfaces and RDMA devices.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "capture/live.h"
#include "capture/sniffer.h"

namespace rdmascope::capture {

struct Place {
  std::string name;    // as -i of `rdmascope capture` takes it: "eth0", "mlx5_0:1"
  std::string state;   // "up", "down", "no carrier"; of RDMA devices as the kernel shows it: "ACTIVE"
  std::string detail;  // addresses and description, or link layer, driver and network interface
  std::string sees;    // which RDMA packets can be captured there
  bool ready = false;  // packets can come
};

// Network interfaces first, then the ports of RDMA devices.
Result<std::vector<Place>> places();

// The same from what is known already, for tests.
std::vector<Place> places(const std::vector<LiveInterface>& interfaces, const std::vector<RdmaPort>& ports);

// Devices in software have no driver of an adapter, and the kernel sees what they send.
inline bool in_software(const RdmaPort& port) { return port.driver.empty() && !port.network_device.empty(); }

}  // namespace rdmascope::capture
