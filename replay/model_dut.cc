#include "replay/model_dut.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace rdmascope::replay {
namespace {

// In step with the memory wire, on the caller's thread. A call takes longer than a frame on the wire, as it does with a
// device in another process: what was sent before has arrived.
class VirtualRunner {
 public:
  explicit VirtualRunner(MemoryWire& wire) : wire_(wire) {}

  template <class Call>
  auto locked(Call&& call) {
    constexpr std::int64_t call_ns = 10'000;
    wire_.wait(wire_.now_ns() + call_ns, [] { return false; });
    return call(wire_.model(), wire_.now_ns());
  }
  Result<void> wait(std::int64_t wait_ns, const std::function<bool(Model&)>& ready) {
    wire_.wait(wire_.now_ns() + wait_ns, [&] { return ready(wire_.model()); });
    return {};
  }

 private:
  MemoryWire& wire_;
};

// A thread hands the frames of a wire to the model and runs its timers.
class ThreadRunner {
 public:
  ThreadRunner(const ModelOptions& options, std::unique_ptr<Wire> wire)
      : wire_(std::move(wire)),
        model_(options,
               [this](std::span<const std::uint8_t> frame) {
                 if (const Result<void> sent = wire_->send(frame); !sent) trouble_ = sent.error();
               }),
        thread_([this](std::stop_token stop) { loop(stop); }) {}

  template <class Call>
  auto locked(Call&& call) {
    const std::lock_guard lock(mutex_);
    return call(model_, wire_->now_ns());
  }
  Result<void> wait(std::int64_t wait_ns, const std::function<bool(Model&)>& ready) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(wait_ns), [&] { return ready(model_) || !trouble_.empty(); });
    if (!trouble_.empty()) return Error{"the model's wire: " + trouble_};
    return {};
  }

 private:
  void loop(const std::stop_token& stop) {
    // Timers that another thread starts meanwhile are at most that late.
    constexpr std::int64_t slice_ns = 1'000'000;
    while (!stop.stop_requested()) {
      std::int64_t until = wire_->now_ns() + slice_ns;
      {
        const std::lock_guard lock(mutex_);
        if (const auto next = model_.next_event_ns()) until = std::min(until, *next);
      }
      Result<std::optional<Received>> frame = wire_->receive(until);
      {
        const std::lock_guard lock(mutex_);
        if (!frame)
          trouble_ = frame.error();
        else if (*frame)
          model_.frame((*frame)->bytes, wire_->now_ns());
        if (const auto next = model_.next_event_ns(); next && *next <= wire_->now_ns()) model_.run(wire_->now_ns());
      }
      changed_.notify_all();
      if (!frame) return;
    }
  }

  std::unique_ptr<Wire> wire_;
  std::mutex mutex_;  // model_ and trouble_
  std::condition_variable changed_;
  std::string trouble_;
  Model model_;
  std::jthread thread_;  // last: stops before the rest goes
};

template <class Runner>
class ModelDut final : public Dut {
 public:
  template <class... Arguments>
  explicit ModelDut(Arguments&&... arguments)
      : runner_(std::forward<Arguments>(arguments)...),
        info_(runner_.locked([](Model& m, auto) { return m.info(); })) {}

  const DutInfo& info() const override { return info_; }
  Result<Channel> open(const ChannelOptions& options) override {
    return runner_.locked([&](Model& m, auto) { return m.open(options); });
  }
  Result<void> post_send(const Channel& channel, const WorkRequest& request) override {
    return runner_.locked([&](Model& m, std::int64_t now_ns) { return m.post_send(channel, request, now_ns); });
  }
  Result<void> post_receive(const Channel& channel, const ReceiveRequest& request) override {
    return runner_.locked([&](Model& m, auto) { return m.post_receive(channel, request); });
  }
  Result<std::vector<Completion>> poll(const Channel& channel, std::int64_t wait_ns) override {
    const Result<void> waited = runner_.wait(wait_ns, [&](Model& m) { return m.has_completions(channel); });
    if (!waited) return Error{waited.error()};
    return runner_.locked([&](Model& m, auto) { return m.poll(channel); });
  }
  Result<std::vector<std::uint8_t>> read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                std::uint32_t length) override {
    return runner_.locked([&](Model& m, auto) { return m.read_memory(channel, region, offset, length); });
  }
  Result<void> write_memory(const Channel& channel, Region region, std::uint32_t offset,
                            std::span<const std::uint8_t> bytes) override {
    return runner_.locked([&](Model& m, auto) { return m.write_memory(channel, region, offset, bytes); });
  }
  Result<QpState> state(const Channel& channel) override {
    return runner_.locked([&](Model& m, auto) { return m.state(channel); });
  }
  Result<void> to_error(const Channel& channel) override {
    return runner_.locked([&](Model& m, std::int64_t now_ns) { return m.to_error(channel, now_ns); });
  }
  Result<void> close(const Channel& channel) override {
    return runner_.locked([&](Model& m, auto) { return m.close(channel); });
  }

 private:
  Runner runner_;
  DutInfo info_;
};

}  // namespace

ModelOnMemory open_model(const ModelOptions& options, const MemoryWireOptions& wire) {
  ModelOnMemory out;
  out.wire = std::make_unique<MemoryWire>(options, wire);
  out.dut = std::make_unique<ModelDut<VirtualRunner>>(*out.wire);
  return out;
}

Result<std::unique_ptr<Dut>> open_model(ModelOptions options, std::unique_ptr<Wire> wire) {
  if (wire->link_type() != 1 && wire->link_type() != 101)
    return Error{"the model speaks Ethernet and IP only, not what wire " + std::string(wire->name()) + " carries"};
  options.address = wire->address();
  options.link_type = wire->link_type();
  options.counts_frames = false;
  if (const auto mac = wire->mac()) options.mac = *mac;
  return std::unique_ptr<Dut>(std::make_unique<ModelDut<ThreadRunner>>(options, std::move(wire)));
}

}  // namespace rdmascope::replay
