// CQE-18: the sniffer bit is of a sniffer. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.is_mlx4() || !is_success(c) || c.tunnel() || !mlx4(c).get<"d2s">()) return;
  if (c.sniffer() && !c.entry.send && c.entry.opcode == 1) return;
  out.mismatch_in(cqe18_d2s.info, c, of_mlx4(c, "cqe.mlx4.d2s", "cqe.mlx4_ts.d2s"), 0, 1,
                  c.sniffer() ? "on what is no received packet" : "on a queue that is not a sniffer's");
}

}  // namespace

const Rule cqe18_d2s{
    .info =
        {.id = "CQE-18",
         .title = "The sniffer bit is of a sniffer",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "hermon PRM, d2s",
         .help =
             R"(d2s marks a packet that the sniffer got once although it was both sent and received by this adapter. It belongs to
receives of a sniffer queue pair. ConnectX-3 Pro uses the same bit for tunnel offload.

Usual causes: tunnel offload that the record does not tell, or a record that does not say that the queue is a sniffer's.

Look next at: flags of the record.)"},
    .completion = completion};

}  // namespace rdmascope::check
