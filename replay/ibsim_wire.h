// MADs to a fabric that ibsim simulates, by the datagrams it exchanges with its clients: no preloaded library, no
// kernel module, no privileges. The tester sits at a node of the fabric, as a management program at an HCA. mad.md
// section 10.4.
//
// ibsim walks a directed route itself: hop pointers are 0 in what goes in and comes out. It keeps 32 bits of a
// transaction ID for itself. What it cannot deliver comes back marked, and is taken as not answered.
#pragma once

#include <memory>
#include <string>

#include "replay/wire.h"

namespace rdmascope::replay {

class IbsimWire final : public Wire {
 public:
  // `name` is what the ibsim was started with in IBSIM_SOCKNAME; empty: that variable here, or "sim". `node` is an id
  // of its net file; empty: the one in SIM_HOST, or the first of the file, which may be a switch.
  static Result<std::unique_ptr<IbsimWire>> open(std::string name, std::string node);
  ~IbsimWire() override;
  IbsimWire(const IbsimWire&) = delete;
  IbsimWire& operator=(const IbsimWire&) = delete;

  std::string_view name() const override { return "ibsim"; }
  std::uint16_t link_type() const override;
  IpAddress address() const override { return {}; }
  std::int64_t now_ns() override;
  std::optional<MadCarriage> mads() const override;
  Result<void> carries(std::span<const std::uint8_t> frame) const override;
  Result<void> send(std::span<const std::uint8_t> frame) override;
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override;

 private:
  IbsimWire() = default;
  Error failed(const std::string& what, int error) const;

  std::string name_;
  int control_ = -1, data_ = -1;
  std::uint32_t client_ = 0;
  bool connected_ = false;
  std::uint16_t own_lid_ = 0;   // when it was opened
  std::uint32_t received_ = 0;  // packets, which is their PSN
};

}  // namespace rdmascope::replay
