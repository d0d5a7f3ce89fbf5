// rdmascope stats cdi: the connections that CDI's control messages speak of, and where both ends stand.
#pragma once

#include <cstdint>

#include "check/checker.h"
#include "cli/check_table.h"
#include "cli/output.h"

namespace rdmascope::cli {

// One row for each flow.
class CdiConnections final : public check::Listener {
 public:
  explicit CdiConnections(TableForm form);

  void end_of_cdi(const check::CdiFlows& flows, std::int64_t begin_ns, std::int64_t end_ns) override;
  Output& finish() {
    table_.end();
    return output_;
  }

 private:
  Output output_;
  Table table_;
};

}  // namespace rdmascope::cli
