// UDP sockets between programs, for the CDI probe: any ports of this machine, IPv4. Frames have link type 101 and are
// rebuilt from what the sockets tell, which is addresses, ports and payload.
//
// And the other end: the model of the probe on sockets of its own, for testers of any make.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "replay/cdi_model.h"
#include "replay/endpoint.h"
#include "replay/wire.h"

namespace rdmascope::replay {

class CdiWire final : public Wire {
 public:
  // Sockets get the address `local`. 0: any; then frames have the address from which this machine reaches `towards`.
  static Result<std::unique_ptr<CdiWire>> open(std::uint32_t local, std::uint32_t towards);

  std::string_view name() const override { return "udp"; }
  std::uint16_t link_type() const override { return link_ip; }
  IpAddress address() const override { return mapped(shown_); }
  std::int64_t now_ns() override;
  bool has_ports() const override { return true; }
  Result<std::uint16_t> open_port(std::uint16_t port) override;
  void close_port(std::uint16_t port) override { sockets_.erase(port); }
  Result<void> send(std::span<const std::uint8_t> frame) override;
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override;

 private:
  CdiWire(std::uint32_t local, std::uint32_t shown) : local_(local), shown_(shown) {}

  std::uint32_t local_, shown_;
  std::map<std::uint16_t, Descriptor> sockets_;  // by port
};

class CdiServer {
 public:
  // Options as of the model. Port 0 of `own` is one that is free; of a transmitter it usually is.
  static Result<std::unique_ptr<CdiServer>> open(CdiModelOptions options);

  const UdpPlace& place() const { return place_; }
  // Until `stopped`, which is asked at least once in `slice_ns`. An error: the sockets gave out.
  Result<void> run(const std::function<bool()>& stopped, std::int64_t slice_ns);

  // From any thread.
  void deliver(std::uint32_t packets);
  CdiAdapter data_address();

 private:
  CdiServer(const CdiModelOptions& options, Descriptor socket);
  void send(const UdpPlace& to, std::span<const std::uint8_t> message, bool other_port);
  std::int64_t now_ns() const { return monotonic_ns() - start_ns_; }  // the model's time begins at 0

  std::int64_t start_ns_ = monotonic_ns();
  UdpPlace place_;
  Descriptor socket_, other_;
  std::mutex mutex_;  // model_
  std::unique_ptr<CdiModel> model_;
};

}  // namespace rdmascope::replay
