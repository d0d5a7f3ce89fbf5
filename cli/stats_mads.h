// rdmascope stats mads and fabric: management datagrams as questions and answers, and the fabric as its nodes have
// described it.
#pragma once

#include <cstdint>
#include <string>

#include "check/checker.h"
#include "cli/check_table.h"
#include "cli/output.h"

namespace rdmascope::cli {

// One row for each question, when its answer is complete; then those without one.
class MadQuestions final : public check::Listener {
 public:
  explicit MadQuestions(TableForm form);

  void mad(const check::MadContext& c) override;
  void end_of_mads(const check::Mads& mads) override;
  Output& finish() {
    table_.end();
    return output_;
  }

 private:
  void row(const check::MadQuestion& q, std::string_view outcome);

  Output output_;
  Table table_;
  std::uint64_t count_ = 0;
};

// One row for each port that a node or a link has told of.
class FabricPorts final : public check::Listener {
 public:
  explicit FabricPorts(TableForm form);

  void end_of_mads(const check::Mads& mads) override;
  Output& finish() {
    table_.end();
    return output_;
  }

 private:
  Output output_;
  Table table_;
};

}  // namespace rdmascope::cli
