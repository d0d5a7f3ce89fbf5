// The list of rules: one line each, in the order of the catalogue. A rule is defined in the file of its name.
#pragma once

#include "check/rule.h"

#define RDMASCOPE_RULES(RULE) \
  RULE(f01_icrc)              \
  RULE(q01_next_psn)          \
  RULE(q06_same_content)      \
  RULE(r02_read_psn)          \
  RULE(r17_msn)               \
  RULE(h_timeout)

namespace rdmascope::check {

#define RDMASCOPE_DECLARE(rule) extern const Rule rule;
RDMASCOPE_RULES(RDMASCOPE_DECLARE)
#undef RDMASCOPE_DECLARE

}  // namespace rdmascope::check
