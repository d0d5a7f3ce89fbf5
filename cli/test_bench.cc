#include "cli/test_bench.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <utility>

#include "cli/cdi_options.h"
#include "replay/agent_dut.h"
#include "replay/agent_protocol.h"
#include "replay/cdi_dut.h"
#include "replay/cdi_wire.h"
#include "replay/endpoint.h"
#include "replay/mad_dut.h"
#include "replay/mad_mutant.h"
#include "replay/model_dut.h"
#include "replay/udp_wire.h"

namespace rdmascope::cli {
namespace {

// Where the model listens when it is not in memory.
constexpr std::string_view model_on_udp = "127.0.0.2";

// "udp:10.77.0.2" is "udp" and "10.77.0.2".
std::pair<std::string, std::string> split(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t largest) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size() || value > largest)
    return std::nullopt;
  return value;
}

// Nobody takes orders at the other end: a queue pair that somebody has made by hand. Packets can be sent and looked at.
class NoDut final : public replay::Dut {
 public:
  NoDut(const replay::IpAddress& address, std::uint32_t qpn, std::optional<replay::MacAddress> mac) : qpn_(qpn) {
    info_.name = "none";
    info_.address = address;
    info_.mac = mac;
    info_.takes_orders = false;
  }
  const replay::DutInfo& info() const override { return info_; }
  Result<replay::Channel> open(const replay::ChannelOptions& options) override {
    replay::Channel channel;
    channel.id = ++channels_;
    channel.qpn = qpn_;
    channel.initiator_depth = options.initiator_depth;
    channel.responder_resources = options.responder_resources;
    return channel;
  }
  Result<void> post_send(const replay::Channel&, const replay::WorkRequest&) override { return nobody(); }
  Result<void> post_receive(const replay::Channel&, const replay::ReceiveRequest&) override { return nobody(); }
  Result<std::vector<replay::Completion>> poll(const replay::Channel&, std::int64_t) override {
    return std::vector<replay::Completion>{};
  }
  Result<std::vector<std::uint8_t>> read_memory(const replay::Channel&, replay::Region, std::uint32_t,
                                                std::uint32_t) override {
    return nobody();
  }
  Result<void> write_memory(const replay::Channel&, replay::Region, std::uint32_t,
                            std::span<const std::uint8_t>) override {
    return nobody();
  }
  Result<replay::QpState> state(const replay::Channel&) override { return nobody(); }
  Result<void> to_error(const replay::Channel&) override { return {}; }
  Result<void> close(const replay::Channel&) override { return {}; }

 private:
  static Error nobody() { return Error{"--dut none: there is no device that takes orders; the script needs one"}; }

  replay::DutInfo info_;
  std::uint32_t qpn_, channels_ = 0;
};

}  // namespace

Result<void> BenchMaker::parse_model(const std::string& words) {
  if (words.empty()) return {};
  constexpr std::string_view mutant_key = "mutant=", cap_key = "cap=";
  for (const std::string& word : words_of(words)) {
    if (word == "switch") {
      model_ = Model::switch_node;
    } else if (word == "hca") {
      model_ = Model::hca;
    } else if (word == "cdi-rx" || word == "cdi-tx") {
      model_ = word == "cdi-tx" ? Model::cdi_tx : Model::cdi_rx;
    } else if (word.starts_with(cap_key)) {
      const std::optional<std::uint64_t> cap = number(word.substr(cap_key.size()), 0xffff);
      if (!cap)
        return Error{
            fmt::format("--dut {}: write cap=N, the P_Keys of each external port of the switch", options_.dut)};
      cap_ = static_cast<std::uint16_t>(*cap);
    } else if (const Result<bool> of_cdi = read_cdi_word(word, cdi_model_); !of_cdi || *of_cdi) {
      if (!of_cdi) return Error{fmt::format("--dut {}: {}", options_.dut, of_cdi.error())};
      if (model_ == Model::of_script) model_ = Model::cdi;
      if (!is_cdi("")) return Error{fmt::format("--dut {}: {} is for the model of the CDI probe", options_.dut, word)};
    } else {
      const std::string name = word.starts_with(mutant_key) ? word.substr(mutant_key.size()) : "";
      const bool of_node = model_ == Model::switch_node || model_ == Model::hca || is_cdi("");
      if (const auto mutant = replay::mutant_by_name(replay::mad_mutants, name); mutant && !is_cdi("")) {
        mutant_ = *mutant;
        if (!of_node) model_ = Model::node;
      } else if (const auto other = replay::mutant_by_name(name); other && !of_node) {
        mutant_ = *other;
        model_ = Model::queue_pairs;
      } else {
        return Error{fmt::format("--dut {}: no such mutant of the model; `rdmascope test --list-mutants` shows them",
                                 options_.dut)};
      }
    }
  }
  return {};
}

// "0,1" is the port to leave by at the tester's node 0, as in smpquery -D.
Result<void> BenchMaker::parse_node(const std::string& place) {
  const Error wrong{fmt::format("--dut {}: write node:ROUTE as node:0,1, or node:lid=LID as node:lid=2", options_.dut)};
  constexpr std::string_view lid_key = "lid=";
  node_.emplace();
  node_->m_key = options_.m_key;
  if (options_.wire == "memory") return Error{"--wire memory leads to the model only"};
  if (options_.wire.empty() || options_.wire == "udp")
    return Error{
        fmt::format("--dut {} goes with --wire umad:DEVICE[,PORT] or --wire ibsim[:NAME][,NODE]", options_.dut)};
  if (place.starts_with(lid_key)) {
    const std::optional<std::uint64_t> lid = number(std::string_view(place).substr(lid_key.size()), 0xbfff);
    if (!lid || *lid == 0) return wrong;
    node_->lid = static_cast<std::uint16_t>(*lid);
    return {};
  }
  const std::vector<std::string> hops = words_of(place);
  if (hops.size() > 64 || hops.front() != "0") return wrong;
  for (std::size_t i = 1; i < hops.size(); ++i) {
    const std::optional<std::uint64_t> port = number(hops[i], 254);
    if (!port) return wrong;
    node_->route.push_back(static_cast<std::uint8_t>(*port));
  }
  return {};
}

// "10.0.0.1:2000,scale=0.1"; of a transmitter the address may be missing.
Result<void> BenchMaker::parse_cdi(const std::string& place, bool transmits) {
  const std::vector<std::string> words = words_of(place);
  const bool plain_port = transmits && words.front().find(':') == std::string::npos;
  const Result<replay::UdpPlace> at =
      replay::parse_udp_place(plain_port ? "0.0.0.0:" + words.front() : words.front(), "--dut " + options_.dut);
  if (!at) return Error{at.error()};
  if (at->port == 0) return Error{fmt::format("--dut {}: say which port", options_.dut)};
  cdi_.emplace();
  cdi_->transmits = transmits;
  cdi_->port = at->port;
  if (transmits)
    cdi_listen_ = at->ip;
  else
    cdi_->ip = at->ip;
  if (!transmits) cdi_->left = std::make_shared<std::vector<std::int64_t>>();
  constexpr std::string_view scale_key = "scale=";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].starts_with(scale_key)) return Error{fmt::format("--dut {}: {} is no scale=X", options_.dut, words[i])};
    const Result<double> scale = parse_scale(words[i].substr(scale_key.size()));
    if (!scale) return Error{fmt::format("--dut {}: {}", options_.dut, scale.error())};
    cdi_->scale = *scale;
  }
  const auto [wire, address] = split(options_.wire);
  if (wire != "udp")
    return Error{fmt::format("--dut {} goes with --wire udp[:ADDRESS], the address of this machine to send from",
                             options_.dut)};
  if (address.empty()) return {};
  const Result<replay::UdpPlace> own = replay::parse_udp_place(address + ":0", "--wire " + options_.wire);
  if (!own) return Error{fmt::format("--wire {}: {} is no IPv4 address", options_.wire, address)};
  if (transmits && cdi_listen_ != 0 && cdi_listen_ != own->ip)
    return Error{fmt::format("--wire {}: --dut {} says another address", options_.wire, options_.dut)};
  cdi_listen_ = own->ip;
  return {};
}

Result<BenchMaker> BenchMaker::parse(const BenchOptions& options) {
  BenchMaker maker(options);
  std::string dut = options.dut;
  if (dut.starts_with("model,")) dut[dut.find(',')] = ':';  // as its help may be read
  const auto [device, rest] = split(dut);
  if (maker.options_.wire.empty() && device != "node") maker.options_.wire = device == "model" ? "memory" : "udp";
  if (options.roce == replay::Wrap::roce_v1) {
    if (split(maker.options_.wire).first == "udp")
      return Error{"--roce v1 has no UDP: go over --wire eth:INTERFACE, or memory for the model"};
    if (device == "agent") return Error{"--roce v1: the agent makes RoCEv2 queue pairs only"};
  }
  if (device == "model") {
    if (const Result<void> parsed = maker.parse_model(rest); !parsed) return Error{parsed.error()};
    return maker;
  }
  maker.fresh_ = false;
  if (device == "node") {
    if (const Result<void> parsed = maker.parse_node(rest); !parsed) return Error{parsed.error()};
    return maker;
  }
  if (device == "cdi-rx" || device == "cdi-tx") {
    if (const Result<void> parsed = maker.parse_cdi(rest, device == "cdi-tx"); !parsed) return Error{parsed.error()};
    return maker;
  }
  if (device == "agent") {
    const Result<replay::Endpoint> agent = replay::parse_endpoint(rest, replay::agent::default_port, "--dut agent");
    if (!agent) return Error{agent.error()};
    if (options.token_file.empty())
      return Error{"--dut agent goes with --token-file FILE, the secret that the agent knows, too"};
    const Result<std::string> token = replay::agent::read_token(options.token_file);
    if (!token) return Error{token.error()};
    maker.agent_ = replay::AgentDutOptions{.agent = *agent, .token = *token};
    return maker;
  }
  if (device == "none") {
    auto part = [&rest = rest, at = std::size_t{0}]() mutable {
      const std::size_t begin = std::min(at, rest.size()), comma = std::min(rest.find(',', begin), rest.size());
      at = comma + 1;
      return rest.substr(begin, comma - begin);
    };
    const Result<replay::IpAddress> address = replay::parse_address(part());
    const std::string number = part(), mac = part();
    char* end = nullptr;
    const unsigned long qpn = std::strtoul(number.c_str(), &end, 0);
    const Result<replay::MacAddress> parsed = mac.empty() ? replay::MacAddress{} : replay::parse_mac(mac);
    if (!address || number.empty() || *end != '\0' || qpn > 0xffffff || !parsed || !part().empty())
      return Error{fmt::format("--dut {}: write none:ADDRESS,QP[,MAC] as none:10.77.0.1,0x11", options.dut)};
    if (mac.empty() && split(maker.options_.wire).first == "eth")
      return Error{fmt::format(
          "--dut {}: on --wire eth also say where frames go, as none:10.77.0.1,0x11,02:00:00:00:00:01", options.dut)};
    maker.none_ =
        QueuePair{*address, static_cast<std::uint32_t>(qpn), mac.empty() ? std::nullopt : std::optional(*parsed)};
    return maker;
  }
  return Error{fmt::format("--dut {}: no such device; choose {}", options.dut, dut_forms)};
}

bool BenchMaker::is_cdi(const std::string& node) const {
  return model_ == Model::cdi || model_ == Model::cdi_rx || model_ == Model::cdi_tx ||
         (model_ == Model::of_script && fresh_ && node.starts_with("cdi-"));
}

Result<Bench> BenchMaker::make_cdi(const std::string& node) const {
  const auto [wire, address] = split(options_.wire);
  if (cdi_) {
    Result<std::unique_ptr<replay::CdiWire>> own = replay::CdiWire::open(cdi_listen_, cdi_->ip);
    if (!own) return Error{own.error()};
    return Bench{std::move(*own), replay::make_cdi_dut(options_.dut, *cdi_)};
  }
  replay::CdiModelOptions model = cdi_model_;
  model.transmits = model_ == Model::cdi_tx || (model_ != Model::cdi_rx && node == "cdi-tx");
  if (wire == "memory") {
    replay::CdiModelBench made = replay::open_cdi_model(model);
    return Bench{std::move(made.wire), std::move(made.dut)};
  }
  if (wire != "udp" || !address.empty())
    return Error{fmt::format("--wire {}: the model of the CDI probe is reached over memory or udp", options_.wire)};
  Result<replay::CdiModelBench> made = replay::open_cdi_model_on_udp(model);
  if (!made) return Error{made.error()};
  return Bench{std::move(made->wire), std::move(made->dut)};
}

Result<Bench> BenchMaker::make(const std::string& node) const {
  const std::string wire = options_.wire.substr(0, options_.wire.find_first_of(",:"));
  if (cdi_ || is_cdi(node)) return make_cdi(node);
  const bool models_node = model_ == Model::switch_node || model_ == Model::hca || model_ == Model::node ||
                           (model_ == Model::of_script && fresh_ && !node.empty());
  if (models_node) {
    if (wire != "memory")
      return Error{fmt::format("--wire {}: the model of a node is reached over memory", options_.wire)};
    replay::MadModelOptions model;
    model.mutant = mutant_;
    model.partition_enforcement_cap = cap_;
    model.is_switch = model_ == Model::switch_node || (model_ != Model::hca && node != "ca");
    replay::MadModelOnMemory made = replay::open_mad_model(model);
    return Bench{std::move(made.wire), std::move(made.dut)};
  }
  if (node_) {
    Result<std::unique_ptr<replay::Wire>> own = replay::open_wire(options_.wire);
    if (!own) return Error{own.error()};
    if (!(*own)->mads())
      return Error{fmt::format("--wire {}: carries no management datagrams; choose umad or ibsim", options_.wire)};
    return Bench{std::move(*own), replay::make_mad_dut(options_.dut, *node_)};
  }
  replay::ModelOptions model;
  model.mutant = mutant_;
  model.wrap = options_.roce;
  if (options_.roce == replay::Wrap::roce_v1) model.link_type = 1;
  if (wire == "memory") {
    if (none_ || agent_ || node_) return Error{"--wire memory leads to the model only"};
    replay::ModelOnMemory made = replay::open_model(model);
    return Bench{std::move(made.wire), std::move(made.dut)};
  }
  Result<std::unique_ptr<replay::Wire>> own = replay::open_wire(options_.wire);
  if (!own) return Error{own.error()};
  if (agent_) {
    replay::AgentDutOptions agent = *agent_;
    agent.tester_address = (*own)->address();
    Result<std::unique_ptr<replay::AgentDut>> dut = replay::AgentDut::connect(agent);
    if (!dut) return Error{dut.error()};
    return Bench{std::move(*own), std::move(*dut)};
  }
  if (none_) return Bench{std::move(*own), std::make_unique<NoDut>(none_->address, none_->qpn, none_->mac)};
  if (wire != "udp")
    return Error{fmt::format("--wire {}: the model is reached over memory or udp[:ADDRESS]", options_.wire)};
  const Result<replay::IpAddress> there = replay::parse_address(std::string(model_on_udp));
  if (!there) return Error{there.error()};
  Result<std::unique_ptr<replay::Wire>> other = replay::open_wire(fmt::format("udp:{}", model_on_udp));
  if (!other) return Error{other.error()};
  model.address = *there;
  Result<std::unique_ptr<replay::Dut>> dut = replay::open_model(model, std::move(*other));
  if (!dut) return Error{dut.error()};
  return Bench{std::move(*own), std::move(*dut)};
}

Result<Bench*> BenchMaker::next(const std::string& node) {
  if (bench_ && !fresh_) return bench_.get();
  bench_.reset();  // before the next one, which may need the same address
  Result<Bench> made = make(node);
  if (!made) return Error{made.error()};
  bench_ = std::make_unique<Bench>(std::move(*made));
  return bench_.get();
}

}  // namespace rdmascope::cli
