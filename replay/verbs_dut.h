// A device under test on this machine: an RDMA device, through libibverbs. RoCEv2 only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "replay/dut.h"

namespace rdmascope::replay {

struct VerbsDutOptions {
  std::string device;
  std::uint8_t port = 1;
  // Not set: for each channel the first RoCEv2 address of the tester's family.
  std::optional<std::uint8_t> gid_index;
};

// info() tells the address a tester at `tester` reaches; without it an IPv4 one, if there is.
Result<std::unique_ptr<Dut>> open_verbs_dut(const VerbsDutOptions& options,
                                            const std::optional<IpAddress>& tester = std::nullopt);

}  // namespace rdmascope::replay
