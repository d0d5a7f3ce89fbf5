// A wire to the model with a clock of its own. One thread: whoever waits on it makes time pass, from event to event, so
// that a second without packets costs nothing. The same calls give the same packets at the same times.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "replay/model.h"
#include "replay/wire.h"

namespace rdmascope::replay {

struct MemoryWireOptions {
  IpAddress address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};  // the tester's
  std::int64_t latency_ns = 1000;                                                // one way
};

class MemoryWire final : public Wire {
 public:
  MemoryWire(const ModelOptions& model, const MemoryWireOptions& options);
  MemoryWire(const MemoryWire&) = delete;
  MemoryWire& operator=(const MemoryWire&) = delete;

  std::string_view name() const override { return "memory"; }
  std::uint16_t link_type() const override { return link_type_; }
  IpAddress address() const override { return options_.address; }
  std::optional<MacAddress> mac() const override;
  std::int64_t now_ns() override { return now_ns_; }
  Result<void> send(std::span<const std::uint8_t> frame) override;
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override;

  // Lets time pass until `ready` holds or the deadline has come, and keeps what arrives for receive().
  void wait(std::int64_t deadline_ns, const std::function<bool()>& ready);
  Model& model() { return model_; }

 private:
  std::optional<std::int64_t> next_event_ns() const;
  void run_next();

  MemoryWireOptions options_;
  std::uint16_t link_type_;
  MacAddress mac_;
  std::int64_t now_ns_ = 0;
  std::deque<Received> to_model_, to_tester_;  // time_ns: when it arrives
  Model model_;
};

}  // namespace rdmascope::replay
