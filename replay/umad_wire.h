// MADs through the kernel's umad interface: any InfiniBand port of this machine, HCA or switch. libibumad is loaded
// when this wire is opened; the program starts, and everything else in it works, on machines without it.
//
// The kernel walks a directed route over the port's own node: hop pointers are 0 in what goes in and comes out. It
// keeps the upper 32 bits of transaction IDs for itself. A request that nobody answers is not sent again.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "replay/wire.h"

namespace rdmascope::replay {

class UmadWire final : public Wire {
 public:
  static Result<std::unique_ptr<UmadWire>> open(const std::string& device, std::uint8_t port);
  ~UmadWire() override;
  UmadWire(const UmadWire&) = delete;
  UmadWire& operator=(const UmadWire&) = delete;

  std::string_view name() const override { return "umad"; }
  std::uint16_t link_type() const override;
  IpAddress address() const override { return {}; }
  std::int64_t now_ns() override;
  std::optional<MadCarriage> mads() const override;
  Result<void> carries(std::span<const std::uint8_t> frame) const override;
  Result<void> send(std::span<const std::uint8_t> frame) override;
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override;

 private:
  UmadWire() = default;
  Result<int> agent(std::uint8_t mgmt_class, std::uint8_t class_version);
  Error failed(const std::string& what, int error) const;

  std::string device_;
  std::uint8_t port_ = 1;
  std::uint16_t own_lid_ = 0;
  int handle_ = -1;
  std::map<std::uint8_t, int> agents_;  // by management class
  std::vector<std::uint8_t> buffer_;
  std::uint32_t received_ = 0;  // packets, which is their PSN
};

}  // namespace rdmascope::replay
