// The device under test and the wire to it, from the words of --dut and --wire.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "cli/choice.h"
#include "replay/agent_dut.h"
#include "replay/build.h"
#include "replay/cdi_model.h"
#include "replay/dut.h"
#include "replay/wire.h"

namespace rdmascope::cli {

inline constexpr std::string_view dut_forms =
    "model[:switch|:hca|:cdi-rx|:cdi-tx][,mutant=NAME], agent:HOST[:PORT], none:ADDRESS,QP[,MAC], by management "
    "datagrams node:ROUTE (as node:0,1) or node:lid=LID, or by the CDI probe cdi-rx:ADDRESS:PORT, a receiver, or "
    "cdi-tx:[ADDRESS:]PORT, a transmitter that sends to that port of this machine";

inline constexpr Choice<replay::Wrap> roce_choices[] = {{"v2", replay::Wrap::roce_v2}, {"v1", replay::Wrap::roce_v1}};

struct BenchOptions {
  std::string dut = "model", wire;  // wire empty: what the device needs
  std::string token_file;
  std::uint64_t m_key = 0;  // of a node
  replay::Wrap roce = replay::Wrap::roce_v2;
};

struct Bench {
  std::unique_ptr<replay::Wire> wire;
  std::unique_ptr<replay::Dut> dut;  // goes first
};

class BenchMaker {
 public:
  static Result<BenchMaker> parse(const BenchOptions& options);

  // A model is made anew for each script, so that none sees what another has left; other devices are kept. `node`: the
  // kind a test of management datagrams or of the CDI probe asks for (ScriptHead); the model is then one of that kind.
  Result<Bench*> next(const std::string& node);
  const std::string& dut_name() const { return options_.dut; }

 private:
  // What the model is a model of.
  enum class Model : std::uint8_t { of_script, queue_pairs, node, switch_node, hca, cdi, cdi_rx, cdi_tx };

  explicit BenchMaker(BenchOptions options) : options_(std::move(options)) {}
  Result<void> parse_model(const std::string& words);
  Result<void> parse_node(const std::string& place);
  Result<void> parse_cdi(const std::string& place, bool transmits);
  Result<Bench> make_cdi(const std::string& node) const;
  bool is_cdi(const std::string& node) const;  // the model
  Result<Bench> make(const std::string& node) const;

  BenchOptions options_;
  Model model_ = Model::of_script;
  std::uint16_t mutant_ = 0;
  std::uint16_t cap_ = 0;  // PartitionEnforcementCap of a model switch
  std::optional<replay::MadTarget> node_;
  replay::CdiModelOptions cdi_model_;
  std::optional<replay::CdiTarget> cdi_;
  std::uint32_t cdi_listen_ = 0;  // address of this machine where a transmitter sends to; 0: any
  bool fresh_ = true;
  std::optional<replay::AgentDutOptions> agent_;
  struct QueuePair {
    replay::IpAddress address;
    std::uint32_t qpn;
    std::optional<replay::MacAddress> mac;
  };
  std::optional<QueuePair> none_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace rdmascope::cli
