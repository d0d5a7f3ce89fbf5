#include "capture/places.h"

#include <fmt/format.h>

#include <algorithm>

namespace rdmascope::capture {
namespace {

Place place_of(const LiveInterface& i, const std::vector<RdmaPort>& ports) {
  Place out;
  out.name = i.name;
  out.state = !i.up ? "down" : i.running ? "up" : "no carrier";
  out.ready = i.up && i.running;
  out.detail =
      fmt::format("{}{}", fmt::join(i.addresses, ", "),
                  i.description.empty() ? "" : (i.addresses.empty() ? "" : "  ") + ("(" + i.description + ")"));
  std::vector<std::string> hard, soft;
  for (const RdmaPort& port : ports)
    if (port.network_device == i.name) (in_software(port) ? soft : hard).push_back(port.device);
  if (!i.has_packets)
    out.sees = "no RDMA packets";
  else if (!hard.empty())
    out.sees = fmt::format("what passes the kernel; RDMA of {} passes it by", fmt::join(hard, ", "));
  else if (!soft.empty())
    out.sees =
        fmt::format("RDMA of {}, but for what two of its own queue pairs send each other", fmt::join(soft, ", "));
  else if (i.loopback)
    out.sees = "packets between programs of this machine";
  else
    out.sees = "RoCE and CDI that this machine or a mirror port brings here";
  return out;
}

Place place_of(const RdmaPort& port) {
  Place out;
  out.name = fmt::format("{}:{}", port.device, port.port);
  out.state = port.state;
  out.ready = port.state == "ACTIVE";
  out.detail = fmt::format("RDMA device, {}, {}{}", port.link_layer,
                           port.driver.empty() ? "in software" : "driver " + port.driver,
                           port.network_device.empty() ? "" : ", network interface " + port.network_device);
  out.sees =
      in_software(port)
          ? fmt::format("what {} sees: it is in software and has no sniffer", port.network_device)
          : "all that the port sends and receives, if the adapter has a sniffer (HARDWARE.md); also its completions";
  return out;
}

}  // namespace

std::vector<Place> places(const std::vector<LiveInterface>& interfaces, const std::vector<RdmaPort>& ports) {
  std::vector<Place> out;
  for (const LiveInterface& i : interfaces) out.push_back(place_of(i, ports));
  for (const RdmaPort& port : ports) out.push_back(place_of(port));
  return out;
}

Result<std::vector<Place>> places() {
  const Result<std::vector<LiveInterface>> interfaces = live_interfaces();
  if (!interfaces) return Error{interfaces.error()};
  return places(*interfaces, rdma_ports());
}

}  // namespace rdmascope::capture
