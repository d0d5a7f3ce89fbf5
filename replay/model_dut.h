// The model as a device under test: over the memory wire in virtual time, or over any other wire with a thread that
// runs it in real time (`--wire udp` against the model on 127.0.0.2).
#pragma once

#include <memory>

#include "base/result.h"
#include "replay/dut.h"
#include "replay/memory_wire.h"
#include "replay/model.h"
#include "replay/wire.h"

namespace rdmascope::replay {

// The tester's end of the wire, and what is behind it. The DUT must go first.
struct ModelOnMemory {
  std::unique_ptr<MemoryWire> wire;
  std::unique_ptr<Dut> dut;
};
ModelOnMemory open_model(const ModelOptions& options, const MemoryWireOptions& wire = {});

// `wire` is the model's own end: it sends from, and receives for, options.address, and has options.link_type. Its
// send() must bear to be called while another thread is in receive().
Result<std::unique_ptr<Dut>> open_model(ModelOptions options, std::unique_ptr<Wire> wire);

}  // namespace rdmascope::replay
