// CQE-17: reserved bits are zero. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.is_mlx4() || (!is_success(c) && c.entry.kind != Completion::Kind::unknown)) return;
  const std::uint64_t high = mlx4(c).get<"reserved0">(), byte28 = mlx4(c).get<"reserved2">();
  if (high != 0 && !c.tunnel())
    out.mismatch_in(cqe17_reserved.info, c, of_mlx4(c, "cqe.mlx4.reserved0", "cqe.mlx4_ts.reserved0"), 0, high);
  if (byte28 != 0)
    out.mismatch_in(cqe17_reserved.info, c, of_mlx4(c, "cqe.mlx4.reserved2", "cqe.mlx4_ts.reserved2"), 0, byte28);
  if (c.entry.format != CqeFormat::mlx4) return;
  if (const std::uint64_t low = mlx4(c).get<"reserved1">(); low != 0)
    out.mismatch_in(cqe17_reserved.info, c, "cqe.mlx4.reserved1", 0, low,
                    "part of the time in queues with time stamps");
}

}  // namespace

const Rule cqe17_reserved{
    .info =
        {.id = "CQE-17",
         .title = "Reserved bits are zero",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "hermon PRM",
         .help =
             R"(Bits without a meaning are zero. Set ones mean that the entry is of another form than the capture says: with time stamps
(bytes 29 and 30), or of a device that uses the high bits for tunnel offload. Error entries are not judged.

Usual causes: a wrong format in the record; tunnel offload that the record does not tell.

Look next at: format and flags of the record, how the completion queue was created.)"},
    .completion = completion};

}  // namespace rdmascope::check
