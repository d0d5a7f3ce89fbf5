// A program that speaks the CDI probe as a device under test: the model in memory with a clock of its own, the model on
// real sockets, or whatever is at an address.
#pragma once

#include <memory>
#include <string>

#include "replay/cdi_model.h"
#include "replay/dut.h"
#include "replay/wire.h"

namespace rdmascope::replay {

std::unique_ptr<Dut> make_cdi_dut(std::string name, CdiTarget target);

struct CdiModelBench {
  std::unique_ptr<Wire> wire;  // ends at the model
  std::unique_ptr<Dut> dut;    // goes first
};
CdiModelBench open_cdi_model(const CdiModelOptions& options);
// The same, served by a thread on the loopback interface.
Result<CdiModelBench> open_cdi_model_on_udp(CdiModelOptions options);

}  // namespace rdmascope::replay
