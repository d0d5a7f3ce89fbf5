// CQE-10: syndrome of an error is defined. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.entry.failed() || (!c.is_mlx4() && !(c.is_mlx5() && dissect::is_mlx5_error(c.entry.bytes)))) return;
  const bool known = !dissect::name_of(dissect::syndrome_names, c.entry.status).empty();
  if (known && !dissect::is_rd_syndrome(c.entry.status)) return;
  out.wrong_in(cqe10_syndrome.info, c, syndrome_field(c), c.entry.status,
               c.entry.status == 0 ? "an error without a syndrome"
               : known             ? "of reliable datagrams, which no device has"
                                   : "not defined",
               (known || (c.is_mlx5() && c.entry.status != 0)) ? Class::anomaly : Class::violation);
}

}  // namespace

const Rule cqe10_syndrome{
    .info =
        {.id = "CQE-10",
         .title = "Syndrome of an error is defined",
         .source = "rdma-core providers/mlx4/mlx4dv.h; hermon PRM",
         .help =
             R"(The syndrome says why a work request failed. 0 is no syndrome: some vendor drivers do not believe such an entry. Values
of reliable datagrams are defined but no device has that service. Newer mlx5 firmware may have values that are not
public, so there an unknown one is an anomaly.

Usual causes: a damaged entry, bytes that are no CQE, an entry of another operation with the same opcode.

Look next at: vendor syndrome, log of the driver, slot size and offset of the capture.)"},
    .completion = completion};

}  // namespace rdmascope::check
