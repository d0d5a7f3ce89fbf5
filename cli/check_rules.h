// Rules by the ids people type.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "check/rule.h"

namespace rdmascope::cli {

// In any case: "q-06". An error names the nearest id; `where` is what it was given to: "--rule q-6".
Result<const check::Rule*> rule_by_id(const std::string& where, const std::string& id);

// Those of `only`, or all, without those of `ignored`; in the order of the catalogue.
Result<std::vector<const check::Rule*>> choose_rules(const std::vector<std::string>& only,
                                                     const std::vector<std::string>& ignored);

}  // namespace rdmascope::cli
