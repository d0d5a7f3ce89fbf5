// The rules that judge a capture judge the test, too: what the device sent against the specification, whatever the
// script looked at. The tester's own packets are wrong on purpose; what is found in them is left out.
#include <fmt/format.h>

#include <algorithm>

#include "check/checker.h"
#include "replay/tester.h"

namespace rdmascope::replay {
namespace {

check::Address address_of(const IpAddress& ip) {
  check::Address out;
  out.bytes = ip;
  out.kind = check::Address::Kind::ip;
  return out;
}

class Judge final : public check::Listener {
 public:
  Judge(const IpAddress& device, const IpAddress& tester, std::vector<std::uint32_t> device_qpns,
        const std::vector<KeptFrame>& frames, const std::vector<std::string>& allowed)
      : device_(address_of(device)),
        tester_(address_of(tester)),
        device_qpns_(std::move(device_qpns)),
        frames_(frames),
        allowed_(allowed) {}

  void finding(const check::Finding& f, const check::Connection* connection) override {
    if (f.kind != check::Class::violation) return;
    // Packets that no receiver takes may belong to no connection; then whoever sent the frame is at fault.
    if (connection ? !by_device(*connection, f.side) : f.frame == 0 || frames_[f.frame - 1].from_tester) return;
    if (std::find(allowed_.begin(), allowed_.end(), f.rule->id) != allowed_.end()) return;
    std::string text = fmt::format("the DUT breaks rule {} ({})", f.rule->id, f.rule->title);
    if (f.frame != 0) text += fmt::format(" in frame {}", f.frame);
    if (!f.field.empty()) text += fmt::format(": {}", f.field);
    if (f.expected && f.actual) text += fmt::format(": expected {}, got {}", *f.expected, *f.actual);
    if (!f.text.empty()) text += fmt::format("{}{}", f.field.empty() ? ": " : "; ", f.text);
    found.push_back(std::move(text));
  }

  std::vector<std::string> found;

 private:
  bool by_device(const check::Connection& c, std::uint8_t side) const {
    if (c.address[side] != device_) return false;
    if (device_ != tester_) return true;
    return c.qpn[side] && std::find(device_qpns_.begin(), device_qpns_.end(), *c.qpn[side]) != device_qpns_.end();
  }

  check::Address device_, tester_;
  std::vector<std::uint32_t> device_qpns_;
  const std::vector<KeptFrame>& frames_;
  const std::vector<std::string>& allowed_;
};

}  // namespace

std::vector<std::string> Tester::judge(const std::vector<std::uint32_t>& connections,
                                       const std::vector<std::string>& allowed, std::uint64_t first_frame) const {
  const auto is_chosen = [&](std::uint32_t id) {
    return std::find(connections.begin(), connections.end(), id) != connections.end();
  };
  const IpAddress device = dut_.info().address, tester = wire_.address();
  check::CheckOptions options;
  std::vector<std::uint32_t> qpns;
  for (const std::unique_ptr<Connection>& c : connections_) {
    if (!is_chosen(c->id)) continue;
    qpns.push_back(c->channel.qpn);
    if (c->options.service != Service::ud)
      options.pairs.push_back(
          {.a = address_of(tester),
           .b = address_of(device),
           .qp_a = c->options.tester_qpn,
           .qp_b = c->channel.qpn,
           .transport = c->options.service == Service::uc ? dissect::Transport::uc : dissect::Transport::rc,
           .p_key = c->channel.p_key,
           .pmtu = c->options.pmtu,
           .psn_a = c->options.tester_psn,
           .psn_b = c->options.dut_psn});
  }
  Judge judge(device, tester, std::move(qpns), frames_, allowed);
  check::Checker checker(options, judge);
  std::vector<check::Frame> frames;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    // Of MADs only what stood on a link: a host interface shows them as programs write them.
    const bool is_mad = i + 1 >= first_frame && frames_[i].is_mad && wire_.mads() && wire_.mads()->on_link;
    const bool is_cdi = i + 1 >= first_frame && wire_.has_ports();  // whatever its sockets carried
    if (!is_mad && !is_cdi && !is_chosen(frames_[i].connection)) continue;
    check::Frame& frame = frames.emplace_back();
    frame.bytes = frames_[i].bytes;
    frame.info.number = i + 1;
    frame.info.time_ns = frames_[i].time_ns;
    frame.info.wire_bytes = static_cast<std::uint32_t>(frames_[i].bytes.size());
    frame.info.link_type = wire_.link_type();
  }
  checker.batch(frames);
  checker.finish();
  return std::move(judge.found);
}

}  // namespace rdmascope::replay
