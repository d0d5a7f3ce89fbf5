#include "replay/cdi_dut.h"

#include <algorithm>
#include <deque>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include "replay/cdi_wire.h"

namespace rdmascope::replay {
namespace {

// The network between tester and model. Time passes only while somebody waits.
class CdiMemoryWire final : public Wire {
 public:
  explicit CdiMemoryWire(const CdiModelOptions& options)
      : own_ip_(options.remote.ip),
        model_place_(options.own),
        model_(
            make_cdi_model(options, [this](const UdpPlace& to, std::span<const std::uint8_t> message, bool other_port) {
              UdpPlace from = model_place_;
              if (other_port) ++from.port;
              to_tester_.push_back({udp_frame(from, to, message), now_ns_ + latency_ns});
            })) {}

  std::string_view name() const override { return "memory"; }
  std::uint16_t link_type() const override { return link_ip; }
  IpAddress address() const override { return mapped(own_ip_); }
  std::int64_t now_ns() override { return now_ns_; }
  bool has_ports() const override { return true; }
  Result<std::uint16_t> open_port(std::uint16_t port) override {
    if (port == 0) port = next_port_++;
    ports_.insert(port);
    return port;
  }
  void close_port(std::uint16_t port) override { ports_.erase(port); }

  Result<void> send(std::span<const std::uint8_t> frame) override {
    if (!udp_of(frame)) return Error{"the memory wire carries UDP datagrams here"};
    to_model_.push_back({{frame.begin(), frame.end()}, now_ns_ + latency_ns});
    return {};
  }

  Result<std::optional<Received>> receive(std::int64_t deadline_ns) override {
    deadline_ns = std::max(deadline_ns, now_ns_);
    while (true) {
      std::optional<std::int64_t> next = model_->next_event_ns();
      if (!to_model_.empty()) next = std::min(next.value_or(to_model_.front().time_ns), to_model_.front().time_ns);
      const bool arrives = !to_tester_.empty() && (!next || to_tester_.front().time_ns <= *next);
      const std::optional<std::int64_t> when = arrives ? std::optional(to_tester_.front().time_ns) : next;
      if (!when || *when > deadline_ns) {
        now_ns_ = deadline_ns;
        return std::optional<Received>();
      }
      now_ns_ = std::max(now_ns_, *when);
      if (!arrives) {
        run_model();
        continue;
      }
      Received frame = std::move(to_tester_.front());
      to_tester_.pop_front();
      if (const auto udp = udp_of(frame.bytes); udp && ports_.contains(udp->to.port))
        return std::optional(std::move(frame));
    }
  }

  CdiModel& model() { return *model_; }

 private:
  static constexpr std::int64_t latency_ns = 1000;  // one way

  void run_model() {
    if (to_model_.empty() || to_model_.front().time_ns > now_ns_) return model_->run(now_ns_);
    const Received frame = std::move(to_model_.front());
    to_model_.pop_front();
    if (const auto udp = udp_of(frame.bytes); udp && udp->to == model_place_)
      model_->datagram(udp->from, udp->payload, now_ns_);
  }

  std::uint32_t own_ip_;
  UdpPlace model_place_;
  std::int64_t now_ns_ = 0;
  std::deque<Received> to_model_, to_tester_;  // time_ns: when it arrives
  std::set<std::uint16_t> ports_;
  std::uint16_t next_port_ = 49152;
  std::unique_ptr<CdiModel> model_;
};

class MemoryDataPath final : public CdiDataPath {
 public:
  explicit MemoryDataPath(CdiMemoryWire& wire) : wire_(wire) {}
  void deliver(std::uint32_t packets) override { wire_.model().deliver(packets, wire_.now_ns()); }
  CdiAdapter address() override { return wire_.model().data_address(); }

 private:
  CdiMemoryWire& wire_;
};

// The server and the thread that runs it.
class ServedDataPath final : public CdiDataPath {
 public:
  explicit ServedDataPath(std::unique_ptr<CdiServer> server)
      : server_(std::move(server)), thread_([this](const std::stop_token& stop) {
          constexpr std::int64_t slice_ns = 1'000'000;
          // Sockets that give out show as silence of the device.
          if (!server_->run([&stop] { return stop.stop_requested(); }, slice_ns)) return;
        }) {}
  void deliver(std::uint32_t packets) override { server_->deliver(packets); }
  CdiAdapter address() override { return server_->data_address(); }

 private:
  std::unique_ptr<CdiServer> server_;
  std::jthread thread_;  // last: stops before the rest goes
};

CdiTarget target_of(const CdiModelOptions& options) {
  CdiTarget target;
  target.transmits = options.transmits;
  target.ip = options.transmits ? 0 : options.own.ip;
  target.port = options.transmits ? options.remote.port : options.own.port;
  target.scale = options.scale;
  return target;
}

std::string name_of(const CdiModelOptions& options) {
  return options.transmits ? "model of a CDI transmitter" : "model of a CDI receiver";
}

}  // namespace

std::unique_ptr<Dut> make_cdi_dut(std::string name, CdiTarget target) {
  DutInfo info;
  info.name = std::move(name);
  info.address = mapped(target.ip);
  info.cdi = std::move(target);
  return make_dut_without_queue_pairs(std::move(info), "speaks CDI over UDP, and has no queue pairs");
}

CdiModelBench open_cdi_model(const CdiModelOptions& options) {
  auto wire = std::make_unique<CdiMemoryWire>(options);
  CdiTarget target = target_of(options);
  target.data = std::make_shared<MemoryDataPath>(*wire);
  CdiModelBench out;
  out.wire = std::move(wire);
  out.dut = make_cdi_dut(name_of(options), std::move(target));
  return out;
}

Result<CdiModelBench> open_cdi_model_on_udp(CdiModelOptions options) {
  constexpr std::uint32_t tester = 0x7f000001, model = 0x7f000002;
  Result<std::unique_ptr<CdiWire>> wire = CdiWire::open(tester, 0);
  if (!wire) return Error{wire.error()};
  options.own = {model, 0};
  if (options.transmits) {
    // Which port is free for the tester is known once it has one.
    const Result<std::uint16_t> port = (*wire)->open_port(0);
    if (!port) return Error{port.error()};
    options.remote = {tester, *port};
  }
  Result<std::unique_ptr<CdiServer>> server = CdiServer::open(options);
  if (!server) return Error{server.error()};
  options.own = (*server)->place();
  CdiTarget target = target_of(options);
  target.data = std::make_shared<ServedDataPath>(std::move(*server));
  CdiModelBench out;
  out.wire = std::move(*wire);
  out.dut = make_cdi_dut(name_of(options), std::move(target));
  return out;
}

}  // namespace rdmascope::replay
