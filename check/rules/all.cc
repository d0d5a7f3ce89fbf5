#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

#define RDMASCOPE_ADDRESS(rule) &rule,
constexpr const Rule* rules[] = {RDMASCOPE_RULES(RDMASCOPE_ADDRESS)};
#undef RDMASCOPE_ADDRESS

}  // namespace

std::span<const Rule* const> all_rules() { return rules; }

}  // namespace rdmascope::check
