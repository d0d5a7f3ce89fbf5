#include "replay/mutant.h"

#include <iterator>

namespace rdmascope::replay {

std::optional<Mutant> mutant_by_name(std::string_view name) {
  for (Mutant i = 0; i < std::size(mutants); ++i)
    if (mutants[i].name == name) return static_cast<Mutant>(i + 1);
  return std::nullopt;
}

}  // namespace rdmascope::replay
