// CQE-01: owner bit of a consumed entry fits its index. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.has_index() || c.entry.kind == Completion::Kind::unused) return;
  const std::uint64_t count = c.record.get<"cqe_cnt">(), pass = c.record.get<"ci">();
  if (count == 0 || (count & (count - 1)) != 0) return;
  std::uint64_t expected = pass / count % 2;
  std::string_view field;
  if (c.is_mlx4()) {
    field = of_mlx4(c, "cqe.mlx4.owner", "cqe.mlx4_ts.owner");
  } else if (c.is_mlx5()) {
    field = "cqe.mlx5.owner";
  } else if (c.entry.format == CqeFormat::efa) {
    field = "cqe.efa.phase";
    expected = 1 - expected;  // the first pass is 1
  } else {
    return;
  }
  if (c.entry.owner != expected) out.mismatch_in(cqe01_owner.info, c, field, expected, c.entry.owner);
}

}  // namespace

const Rule cqe01_owner{
    .info =
        {.id = "CQE-01",
         .title = "Owner bit of a consumed entry fits its index",
         .source = "mlx4 and mlx5 drivers of rdma-core and linux, efa provider of rdma-core; hermon PRM, owner",
         .help =
             R"(The device turns the owner bit (EFA: phase bit) over at each pass through the ring, and software takes an entry only when
the bit is that of its own pass: index divided by the number of slots, modulo 2. An entry with the other bit was not
written yet, or was overwritten, when it was read.

Usual causes: a reader that takes entries before they are there (a missing barrier), a ring that ran over, a wrong number
of slots in the capture.

Look next at: consumer index and number of slots of the record, the entries around it (CQE-02), whether the program
counts its consumer index right after a resize.)"},
    .completion = completion};

}  // namespace rdmascope::check
