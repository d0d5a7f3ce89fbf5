// Captures through an RDMA sniffer queue pair: the adapter copies what its port sends and receives, also what passes
// the kernel by, to the receive queue of a raw packet queue pair (UD on InfiniBand ports of mlx4). Needs an adapter and
// a driver with the sniffer flow, CAP_NET_RAW, and locked memory for the buffers. HARDWARE.md says what is proven.
//
// A thread of the source polls the completion queue. Frames lie in the receive buffers, which the device gets again at
// the next read().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/source.h"

namespace rdmascope::capture {

struct SnifferOptions {
  std::string device;  // "mlx5_0"
  std::uint8_t port = 1;
  std::uint32_t snap_length = 0;   // bytes kept of each packet; 0: all
  std::uint32_t buffers = 4096;    // receives posted at the device; it loses packets when all are in use
  std::uint64_t memory_bytes = 0;  // not 0: as many buffers as fit into it, and at most what the device takes
  std::uint32_t buffer_bytes = 0;  // of one; longer packets are lost. 0: 16 KiB on Ethernet, 8 KiB on InfiniBand
  bool completions = false;        // the entries of the sniffer's own completion queue, too, as frames (mlx4 and mlx5)
};

// Interface 0 is "DEVICE:PORT" with Ethernet (1) or InfiniBand (247) frames; with `completions`, interface 1 is
// "DEVICE:PORT#cq0xN" with records of cqe_record.h. read() ends for good once capture::stop_descriptor is readable and
// all that had arrived was handed out. dropped() is a lower bound, since devices mark a loss and do not count it;
// nullopt from devices that do not even mark it, as long as no loss was seen. Errors are one sentence with what to do;
// when the device has no sniffer they name the network device to capture instead.
Result<std::unique_ptr<Source>> open_sniffer(const SnifferOptions& options);

// A port of an RDMA device as the kernel shows it; empty or 0: it does not say.
struct RdmaPort {
  std::string device;  // "mlx5_0"
  std::uint8_t port = 0;
  std::string driver;          // kernel module: "mlx5_core", "mlx4_core"
  std::string state;           // "ACTIVE", "DOWN"
  std::string link_layer;      // "Ethernet", "InfiniBand"
  std::string network_device;  // "eth0"
};

// In the order of names. Needs neither libibverbs nor any rights. Empty: no RDMA devices.
std::vector<RdmaPort> rdma_ports();

}  // namespace rdmascope::capture
