// CQE-08: opcode is defined for its queue. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.is_mlx4() || c.entry.kind != Completion::Kind::unknown) return;
  const bool config = c.entry.opcode == dissect::mlx4_config;
  out.wrong_in(cqe08_opcode.info, c, opcode_field(c), c.entry.opcode,
               config ? "perhaps an error: the manual calls this one so, drivers 0x1e"
                      : fmt::format("not defined for a {} queue", c.entry.send ? "send" : "receive"),
               config ? Class::anomaly : Class::violation);
}

}  // namespace

const Rule cqe08_opcode{
    .info =
        {.id = "CQE-08",
         .title = "Opcode is defined for its queue",
         .source = "rdma-core providers/mlx4/mlx4dv.h",
         .help =
             R"(The five opcode bits mean different operations on send and receive queues, and most values are not defined. Drivers
treat an undefined one as a receive or a send with no type, so the program gets a completion it cannot interpret. 0x1f is
CONFIG_CMD, which the manual's comment calls the error code, and only suspect.

Usual causes: a damaged entry, a wrong slot size or offset, bytes that are no CQE.

Look next at: slot size and offset (CQE-30), reserved bits (CQE-17).)"},
    .completion = completion};

}  // namespace rdmascope::check
