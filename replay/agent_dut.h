// A device under test behind an agent: passes what it is told over TCP.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "replay/agent_protocol.h"
#include "replay/dut.h"
#include "replay/endpoint.h"

namespace rdmascope::replay {

struct AgentDutOptions {
  Endpoint agent;
  std::string token;
  std::optional<IpAddress> tester_address;  // of the wire: info() then tells the DUT's address of the same family
  std::int64_t timeout_ns = 5'000'000'000;  // for the answer to each request, beside what a poll waits
};

class AgentDut final : public Dut {
 public:
  static Result<std::unique_ptr<AgentDut>> connect(const AgentDutOptions& options);

  const DutInfo& info() const override { return info_; }
  Result<Channel> open(const ChannelOptions& options) override;
  Result<void> post_send(const Channel& channel, const WorkRequest& request) override;
  Result<void> post_receive(const Channel& channel, const ReceiveRequest& request) override;
  Result<std::vector<Completion>> poll(const Channel& channel, std::int64_t wait_ns) override;
  Result<std::vector<std::uint8_t>> read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                std::uint32_t length) override;
  Result<void> write_memory(const Channel& channel, Region region, std::uint32_t offset,
                            std::span<const std::uint8_t> bytes) override;
  Result<QpState> state(const Channel& channel) override;
  Result<void> to_error(const Channel& channel) override;
  Result<void> close(const Channel& channel) override;

 private:
  AgentDut(const AgentDutOptions& options, Descriptor socket);

  // The agent's answer. After a failure of the connection every further call fails.
  Result<agent::Reply> ask(const agent::Request& request, std::int64_t wait_ns = 0);
  Result<void> tell(const agent::Request& request);
  Result<std::string> read_line(std::int64_t until_ns);

  std::string name_;  // "10.77.0.1:7471"
  std::int64_t timeout_ns_;
  Descriptor socket_;
  std::string input_;
  DutInfo info_;
};

}  // namespace rdmascope::replay
