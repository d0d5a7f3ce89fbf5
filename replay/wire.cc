#include "replay/wire.h"

#include <fmt/format.h>

#include <cstdio>

#include "replay/eth_wire.h"
#include "replay/udp_wire.h"

namespace rdmascope::replay {

Result<void> Wire::carries(std::span<const std::uint8_t>) const { return {}; }

Result<MacAddress> parse_mac(const std::string& text) {
  MacAddress out{};
  int end = 0;
  if (std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &out[0], &out[1], &out[2], &out[3], &out[4], &out[5],
                  &end) == 6 &&
      static_cast<std::size_t>(end) == text.size())
    return out;
  return Error{fmt::format("{}: no MAC address", text)};
}

Result<std::unique_ptr<Wire>> open_wire(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
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
  return Error{fmt::format("--wire {}: no such wire (there are: {})", text, wire_forms)};
}

}  // namespace rdmascope::replay
