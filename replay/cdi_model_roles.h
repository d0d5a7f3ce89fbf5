// The two roles of the model. Private to cdi_model*.cc.
#pragma once

#include "replay/cdi_model.h"

namespace rdmascope::replay {

namespace cdi_time {
inline constexpr std::int64_t ms = 1'000'000;
}

class CdiRxModel final : public CdiModel {
 public:
  CdiRxModel(const CdiModelOptions& options, Send send) : CdiModel(options, std::move(send)) {}
  void deliver(std::uint32_t packets, std::int64_t now_ns) override;
  CdiAdapter data_address() const override;

 private:
  void take(const UdpPlace& from, const CdiMessage& message, std::int64_t now_ns) override;
  void step(Endpoint& endpoint, std::int64_t now_ns) override;
  void reset_ended(Endpoint& endpoint, std::int64_t now_ns) override;
  void start_ended(Endpoint& endpoint, std::int64_t now_ns) override;
  bool ignores(CdiFault fault) const override;
  Endpoint* endpoint_of(const UdpPlace& peer, std::int64_t now_ns);  // nullptr: there are enough
  void take_ping(Endpoint& endpoint, const Named& named, bool is_new, std::int64_t now_ns);
  void start(Endpoint& endpoint, std::int64_t now_ns);
  void connect(Endpoint& endpoint, std::int64_t now_ns);
  void look_for_life(Endpoint& endpoint, std::int64_t now_ns);
  std::int64_t ping_monitor() const;
};

class CdiTxModel final : public CdiModel {
 public:
  CdiTxModel(const CdiModelOptions& options, Send send);
  void deliver(std::uint32_t packets, std::int64_t now_ns) override;
  CdiAdapter data_address() const override;

 private:
  void take(const UdpPlace& from, const CdiMessage& message, std::int64_t now_ns) override;
  void step(Endpoint& endpoint, std::int64_t now_ns) override;
  void reset_ended(Endpoint& endpoint, std::int64_t now_ns) override;
  void start_ended(Endpoint& endpoint, std::int64_t now_ns) override;
  bool ignores(CdiFault fault) const override;
  bool is_of_receiver(const UdpPlace& from, const CdiMessage& message) const;
  void take_ack(Endpoint& endpoint, const CdiMessage& ack, std::int64_t now_ns);
  bool answers(const Endpoint& endpoint, const CdiMessage& ack) const;
  CdiVersion agreed(const CdiVersion& remote) const;
  void send_reset(Endpoint& endpoint, State next, std::int64_t now_ns, std::int64_t timer_ns);
  void repeat(Endpoint& endpoint, std::uint32_t command, std::int64_t now_ns);
  void efa_reset(Endpoint& endpoint, std::int64_t now_ns);
  void probe(Endpoint& endpoint, std::int64_t now_ns);

  std::uint32_t resets_ = 0;                // sent in a row
  CdiAdapter target_{};                     // of the probe packets
  std::optional<CdiAdapter> first_target_;  // of the Ack of Reset, which a mutant goes on with
  std::uint32_t waits_ = 0;                 // for acknowledgements of probe packets
};

}  // namespace rdmascope::replay
