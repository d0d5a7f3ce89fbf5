#include "replay/memory_wire.h"

#include <algorithm>

namespace rdmascope::replay {

// A tester that does not listen loses frames, as it would on any wire.
constexpr std::size_t most_frames = 1 << 16;

MemoryWire::MemoryWire(const ModelOptions& model, const MemoryWireOptions& options)
    : options_(options),
      link_type_(model.link_type),
      mac_(model.tester_mac),
      model_(model, [this](std::span<const std::uint8_t> frame) {
        if (to_tester_.size() >= most_frames) return;
        to_tester_.push_back({{frame.begin(), frame.end()}, now_ns_ + options_.latency_ns});
      }) {}

std::optional<MacAddress> MemoryWire::mac() const {
  if (link_type_ != 1) return std::nullopt;
  return mac_;
}

Result<void> MemoryWire::send(std::span<const std::uint8_t> frame) {
  if (to_model_.size() >= most_frames) return Error{"the memory wire is full: receive between sends"};
  to_model_.push_back({{frame.begin(), frame.end()}, now_ns_ + options_.latency_ns});
  return {};
}

std::optional<std::int64_t> MemoryWire::next_event_ns() const {
  std::optional<std::int64_t> next = model_.next_event_ns();
  if (!to_model_.empty() && (!next || to_model_.front().time_ns < *next)) next = to_model_.front().time_ns;
  return next;
}

// A frame before a timer that is due at the same time.
void MemoryWire::run_next() {
  now_ns_ = std::max(now_ns_, *next_event_ns());
  if (to_model_.empty() || to_model_.front().time_ns > now_ns_) return model_.run(now_ns_);
  const Received frame = std::move(to_model_.front());
  to_model_.pop_front();
  model_.frame(frame.bytes, now_ns_);
}

void MemoryWire::wait(std::int64_t deadline_ns, const std::function<bool()>& ready) {
  while (!ready()) {
    const std::optional<std::int64_t> event = next_event_ns();
    if (!event || *event > std::max(deadline_ns, now_ns_)) {
      now_ns_ = std::max(now_ns_, deadline_ns);
      return;
    }
    run_next();
  }
}

Result<std::optional<Received>> MemoryWire::receive(std::int64_t deadline_ns) {
  // What happens before the next frame arrives may not send an earlier one, since all take equally long.
  const auto arrived = [this] {
    const std::optional<std::int64_t> event = next_event_ns();
    return !to_tester_.empty() && (!event || to_tester_.front().time_ns <= *event);
  };
  wait(deadline_ns, arrived);
  if (to_tester_.empty() || to_tester_.front().time_ns > std::max(deadline_ns, now_ns_))
    return std::optional<Received>();
  Received frame = std::move(to_tester_.front());
  to_tester_.pop_front();
  now_ns_ = std::max(now_ns_, frame.time_ns);
  return std::optional<Received>(std::move(frame));
}

}  // namespace rdmascope::replay
