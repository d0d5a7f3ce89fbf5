// CQE-29: send opcode of an mlx5 completion is known. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.is_mlx5() || !dissect::has_mlx5_send_opcode(c.entry.bytes) || c.entry.kind == Completion::Kind::compressed)
    return;
  const std::uint64_t opcode = dissect::View<dissect::Mlx5Cqe>(c.entry.bytes).get<"send_opcode">();
  if (dissect::name_of(dissect::mlx5_send_opcodes, opcode).empty())
    out.wrong_in(cqe29_send_opcode.info, c, "cqe.mlx5.send_opcode", opcode, "not defined in public sources");
}

}  // namespace

const Rule cqe29_send_opcode{
    .info =
        {.id = "CQE-29",
         .title = "Send opcode of an mlx5 completion is known",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "rdma-core providers/mlx5/mlx5dv.h",
         .help =
             R"(The completion of a send names the operation of its work request. Drivers decide by it what to report; with an unknown
one the program gets a completion without a type.

Usual causes: an operation of newer devices, a damaged entry.

Look next at: the work request that was posted, slot size and offset of the record.)"},
    .completion = completion};

}  // namespace rdmascope::check
