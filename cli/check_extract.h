// stats messages --extract: the payload of one message, out of the packets that carried it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/check_input.h"

namespace rdmascope::cli {

// Message `wanted` in the numbering of `stats messages`; "-" writes to standard output. Reads the capture twice. The
// exit status.
int extract_message(const CheckPlan& plan, std::uint64_t wanted, const std::string& output_file);

}  // namespace rdmascope::cli
