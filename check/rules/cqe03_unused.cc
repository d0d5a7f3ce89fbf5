// CQE-03: a consumed entry was written by the device. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (c.entry.kind == Completion::Kind::unused)
    out.wrong_in(cqe03_unused.info, c, opcode_field(c), c.entry.opcode,
                 "this is what a slot holds before the device writes to it");
}

}  // namespace

const Rule cqe03_unused{
    .info =
        {.id = "CQE-03",
         .title = "A consumed entry was written by the device",
         .source = "linux drivers/net/ethernet/mellanox/mlx4/cq.c, rdma-core mlx5dv.h",
         .help =
             R"(Software fills the ring before the device may write to it: mlx4 with bytes 0xcc, mlx5 with opcode INVALID. Such an entry
taken as a completion reads as a work request nobody posted (queue pair 0xcccccc).

Usual causes: a reader that trusts the owner bit alone (0xcc has it set), or a wrong slot size or offset.

Look next at: slot size and offset in the record (CQE-30), consumer index (CQE-01).)"},
    .completion = completion};

}  // namespace rdmascope::check
