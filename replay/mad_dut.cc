#include "replay/mad_dut.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace rdmascope::replay {
namespace {

// The link to the model. Its time passes only while somebody waits.
class MadMemoryWire final : public Wire {
 public:
  explicit MadMemoryWire(const MadModelOptions& options)
      : own_lid_(options.tester_lid), model_(options, [this](std::span<const std::uint8_t> frame) {
          to_tester_.push_back({{frame.begin(), frame.end()}, now_ns_ + 2 * latency_ns});
        }) {}

  std::string_view name() const override { return "memory"; }
  std::uint16_t link_type() const override { return link_infiniband; }
  IpAddress address() const override { return {}; }
  std::int64_t now_ns() override { return now_ns_; }
  std::optional<MadCarriage> mads() const override {
    return MadCarriage{.on_link = true, .tid_bits = 64, .window = 16, .own_lid = own_lid_};
  }
  Result<void> send(std::span<const std::uint8_t> frame) override {
    model_.frame(frame, now_ns_ + latency_ns);
    return {};
  }
  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override {
    if (to_tester_.empty() || to_tester_.front().time_ns > std::max(deadline_ns, now_ns_)) {
      now_ns_ = std::max(now_ns_, deadline_ns);
      return std::optional<Received>();
    }
    Received frame = std::move(to_tester_.front());
    to_tester_.pop_front();
    now_ns_ = std::max(now_ns_, frame.time_ns);
    return std::optional<Received>(std::move(frame));
  }

 private:
  static constexpr std::int64_t latency_ns = 1000;  // one way

  std::uint16_t own_lid_;
  std::int64_t now_ns_ = 0;
  std::deque<Received> to_tester_;  // time_ns: when it arrives
  MadModel model_;
};

}  // namespace

std::unique_ptr<Dut> make_mad_dut(std::string name, MadTarget target) {
  DutInfo info;
  info.name = std::move(name);
  info.mads = std::move(target);
  return make_dut_without_queue_pairs(std::move(info), "is reached by management datagrams, and has no queue pairs");
}

MadModelOnMemory open_mad_model(const MadModelOptions& options) {
  MadModelOnMemory out;
  out.wire = std::make_unique<MadMemoryWire>(options);
  // One hop: out of the tester's port 1.
  out.dut = make_mad_dut(options.is_switch ? "model of a switch" : "model of an HCA", {.route = {1}});
  return out;
}

}  // namespace rdmascope::replay
