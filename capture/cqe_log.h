// Completion queue entries in pasted logs: what the kernel (mlx4, mlx5), libmlx5 and programs on top of it print when a
// work request fails. cqe-sniffer.md 2.4, row "text import".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "capture/hex_text.h"

namespace rdmascope::capture {

// nullopt: no entry in the text, or hex besides that a reader of hex dumps must see. Lines that are neither are left
// out.
std::optional<std::vector<HexPacket>> read_cqe_log(std::string_view text);

}  // namespace rdmascope::capture
