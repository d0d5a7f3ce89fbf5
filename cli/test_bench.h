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
#include "replay/dut.h"
#include "replay/wire.h"

namespace rdmascope::cli {

inline constexpr std::string_view dut_forms = "model, model:mutant=NAME, agent:HOST[:PORT] or none:ADDRESS,QP[,MAC]";

inline constexpr Choice<replay::Wrap> roce_choices[] = {{"v2", replay::Wrap::roce_v2}, {"v1", replay::Wrap::roce_v1}};

struct BenchOptions {
  std::string dut = "model", wire;  // wire empty: what the device needs
  std::string token_file;
  replay::Wrap roce = replay::Wrap::roce_v2;
};

struct Bench {
  std::unique_ptr<replay::Wire> wire;
  std::unique_ptr<replay::Dut> dut;  // goes first
};

class BenchMaker {
 public:
  static Result<BenchMaker> parse(const BenchOptions& options);

  // A model is made anew for each script, so that none sees what another has left; other devices are kept.
  Result<Bench*> next();
  const std::string& dut_name() const { return options_.dut; }

 private:
  explicit BenchMaker(BenchOptions options) : options_(std::move(options)) {}
  Result<Bench> make() const;

  BenchOptions options_;
  std::uint16_t mutant_ = 0;
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
