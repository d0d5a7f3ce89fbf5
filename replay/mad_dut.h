// A node of an InfiniBand fabric as a device under test: it answers management datagrams, and nobody tells it what to
// post. The model in memory, with a clock of its own, and whatever a wire reaches look the same from here.
#pragma once

#include <memory>
#include <string>

#include "replay/dut.h"
#include "replay/mad_model.h"
#include "replay/wire.h"

namespace rdmascope::replay {

std::unique_ptr<Dut> make_mad_dut(std::string name, MadTarget target);

struct MadModelOnMemory {
  std::unique_ptr<Wire> wire;  // ends at the model
  std::unique_ptr<Dut> dut;
};
MadModelOnMemory open_mad_model(const MadModelOptions& options);

}  // namespace rdmascope::replay
