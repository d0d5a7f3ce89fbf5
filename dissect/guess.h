// What pasted bytes start with, when nobody says.
#pragma once

#include <cstdint>
#include <span>

#include "dissect/walk.h"

namespace rdmascope::dissect {

// The start whose lengths and marks fit best, or nullptr when none does. Never certain: say what was guessed.
const Start* guess_start(std::span<const std::uint8_t> bytes);

}  // namespace rdmascope::dissect
