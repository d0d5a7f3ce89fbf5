// The agent: serves a device under test over TCP, one tester at a time, in the words of agent_protocol.h. What the
// device is, it does not know: somebody makes a Dut for each tester.
//
// Nothing a tester sends ends the agent. A tester that goes, however it goes, takes its channels and its Dut with it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "replay/dut.h"
#include "replay/endpoint.h"

namespace rdmascope::replay {

struct AgentOptions {
  Endpoint listen;
  std::string token;
  std::int64_t hello_ns = 5'000'000'000;  // a connection that has not shown the token by then is closed
  // Told when testers come and go; may be empty.
  std::function<void(std::string_view)> log;
};

// The address is the tester's on the wire, if it told one.
using MakeDut = std::function<Result<std::unique_ptr<Dut>>(const std::optional<IpAddress>& tester)>;

class Agent {
 public:
  static Result<Agent> listen(AgentOptions options, MakeDut make_dut);

  Endpoint endpoint() const { return endpoint_of(listener_); }
  // Serves until the descriptor `stop` can be read.
  void run(int stop);

 private:
  Agent(AgentOptions options, MakeDut make_dut, Descriptor listener);

  AgentOptions options_;
  MakeDut make_dut_;
  Descriptor listener_;
};

}  // namespace rdmascope::replay
