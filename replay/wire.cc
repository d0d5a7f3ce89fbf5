#include "replay/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "replay/eth_wire.h"
#include "replay/ibsim_wire.h"
#include "replay/udp_wire.h"
#include "replay/umad_wire.h"

namespace rdmascope::replay {

Result<void> Wire::carries(std::span<const std::uint8_t>) const { return {}; }

Result<std::uint16_t> Wire::open_port(std::uint16_t) {
  return Error{fmt::format("wire {} has no UDP ports to talk from", name())};
}

Result<MacAddress> parse_mac(const std::string& text) {
  MacAddress out{};
  int end = 0;
  if (std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &out[0], &out[1], &out[2], &out[3], &out[4],
                  &out[5], &end) == 6 &&
      static_cast<std::size_t>(end) == text.size())
    return out;
  return Error{fmt::format("{}: no MAC address", text)};
}

Result<std::unique_ptr<Wire>> open_wire(const std::string& text) {
  const std::size_t end = std::min(text.find_first_of(":,"), text.size());
  const std::string kind = text.substr(0, end);
  const std::string rest = end < text.size() ? text.substr(end + (text[end] == ':' ? 1 : 0)) : "";
  if (kind == "udp") {
    const Result<IpAddress> local = parse_address(rest.empty() ? "127.0.0.1" : rest);
    if (!local) return Error{fmt::format("--wire {}: {}", text, local.error())};
    auto wire = UdpWire::open(*local);
    if (!wire) return Error{wire.error()};
    return std::unique_ptr<Wire>(std::move(*wire));
  }
  if (kind == "eth" && !rest.empty()) {
    // IPv6 addresses have colons, too: the interface ends at the first one.
    const std::size_t second = rest.find(':');
    std::optional<IpAddress> address;
    if (second != std::string::npos) {
      const Result<IpAddress> parsed = parse_address(rest.substr(second + 1));
      if (!parsed) return Error{fmt::format("--wire {}: {}", text, parsed.error())};
      address = *parsed;
    }
    auto wire = EthWire::open(rest.substr(0, second), address);
    if (!wire) return Error{wire.error()};
    return std::unique_ptr<Wire>(std::move(*wire));
  }
  // Behind the comma: a port of the device, or a node of the simulated fabric.
  const std::size_t comma = rest.find(',');
  const std::string object = rest.substr(0, comma), place = comma == std::string::npos ? "" : rest.substr(comma + 1);
  if (kind == "ibsim") {
    auto wire = IbsimWire::open(object, place);
    if (!wire) return Error{wire.error()};
    return std::unique_ptr<Wire>(std::move(*wire));
  }
  if (kind == "umad" && !object.empty()) {
    char* behind = nullptr;
    const unsigned long port = place.empty() ? 1 : std::strtoul(place.c_str(), &behind, 10);
    if ((behind && *behind != '\0') || port > 254)
      return Error{fmt::format("--wire {}: write umad:DEVICE,PORT as umad:mlx5_0,1", text)};
    auto wire = UmadWire::open(object, static_cast<std::uint8_t>(port));
    if (!wire) return Error{wire.error()};
    return std::unique_ptr<Wire>(std::move(*wire));
  }
  return Error{fmt::format("--wire {}: no such wire (there are: {})", text, wire_forms)};
}

}  // namespace rdmascope::replay
