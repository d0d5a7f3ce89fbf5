// Whole Ethernet frames through libpcap: any IP header, RoCEv1, VLANs. Needs the right to capture (root or
// CAP_NET_RAW). Only frames that arrive are seen, not those sent from this machine.
#pragma once

#include <memory>
#include <string>

#include "replay/wire.h"

struct pcap;

namespace rdmascope::replay {

class EthWire final : public Wire {
 public:
  // `address` stands in the frames as the tester's; nullopt: the interface's first IPv4 address, or else IPv6.
  static Result<std::unique_ptr<EthWire>> open(const std::string& interface, std::optional<IpAddress> address);
  ~EthWire() override;
  EthWire(const EthWire&) = delete;
  EthWire& operator=(const EthWire&) = delete;

  std::string_view name() const override { return "eth"; }
  std::uint16_t link_type() const override { return 1; }
  IpAddress address() const override { return address_; }
  std::optional<MacAddress> mac() const override { return mac_; }
  std::int64_t now_ns() override;
  Result<void> send(std::span<const std::uint8_t> frame) override;
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override;

 private:
  EthWire() = default;

  std::string interface_;
  pcap* handle_ = nullptr;
  IpAddress address_{};
  MacAddress mac_{};
};

}  // namespace rdmascope::replay
