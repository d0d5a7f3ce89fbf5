// CQE-21: no data integrity error. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.is_mlx4() || !is_success(c) || c.tunnel() || !mlx4(c).get<"dife">()) return;
  out.mismatch_in(cqe21_dife.info, c, of_mlx4(c, "cqe.mlx4.dife", "cqe.mlx4_ts.dife"), 0, 1);
}

}  // namespace

const Rule cqe21_dife{
    .info =
        {.id = "CQE-21",
         .title = "No data integrity error",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "hermon PRM, dife",
         .help =
             R"(The device found a wrong data integrity field (guard, application or reference tag) in this transfer.

Usual causes: data that was damaged on its way to or from storage; a queue pair set up for another block size; tunnel
offload that the record does not tell.

Look next at: the integrity setting of the queue pair on both sides.)"},
    .completion = completion};

}  // namespace rdmascope::check
