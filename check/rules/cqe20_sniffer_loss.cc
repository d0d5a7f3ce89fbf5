// CQE-20: the sniffer skipped packets. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.is_mlx4() || !c.sniffer() || !is_receive(c) || c.tunnel() || !mlx4(c).get<"fcrc_sd">()) return;
  out.wrong_in(cqe20_sniffer_loss.info, c, of_mlx4(c, "cqe.mlx4.fcrc_sd", "cqe.mlx4_ts.fcrc_sd"), 1,
               "packets before this one are not in the capture");
}

}  // namespace

const Rule cqe20_sniffer_loss{
    .info =
        {.id = "CQE-20",
         .title = "The sniffer skipped packets",
         .kind = Class::artifact,
         .severity = Severity::info,
         .source = "hermon PRM, SD",
         .help =
             R"(The device had no receive buffer for at least one packet before this one: the capture has a gap here, and how long it is
nobody knows. Packets that seem to be missing around this time were most probably on the wire.

Usual causes: too few or too slowly reposted buffers of the capture program.

Look next at: findings about missing packets at this time (H-LOSS, H-MISSED), the number of buffers of the capture.)"},
    .completion = completion};

}  // namespace rdmascope::check
