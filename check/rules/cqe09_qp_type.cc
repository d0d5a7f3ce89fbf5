// CQE-09: operation fits the queue pair type. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!is_success(c) || (!c.is_mlx4() && !c.is_mlx5())) return;
  const bool datagram = c.qp_type() == dissect::qpt_ud || c.qp_type() == dissect::qpt_raw;
  const bool unreliable = c.qp_type() == dissect::qpt_uc;
  if (!datagram && !unreliable) return;
  std::uint64_t operation = c.entry.opcode;
  bool misuse = false;
  if (c.entry.send) {
    if (c.is_mlx5()) operation = dissect::View<dissect::Mlx5Cqe>(c.entry.bytes).get<"send_opcode">();
    const bool write = operation == 0x08 || operation == 0x09;
    const bool read_or_atomic = operation >= 0x10 && operation <= 0x15 && operation != 0x13;
    misuse = read_or_atomic || (datagram && write);
  } else {
    misuse = datagram && operation == (c.is_mlx5() ? 1u : 0u);
  }
  if (misuse)
    out.wrong_in(cqe09_qp_type.info, c, c.is_mlx5() && c.entry.send ? "cqe.mlx5.send_opcode" : opcode_field(c),
                 operation,
                 fmt::format("{} on a queue pair of type {}", c.entry.operation,
                             dissect::name_of(dissect::cqe_qp_types, c.qp_type())));
}

}  // namespace

const Rule cqe09_qp_type{
    .info =
        {.id = "CQE-09",
         .title = "Operation fits the queue pair type",
         .source = "InfiniBand vol. 1 chapter 10, operations by transport service",
         .help =
             R"(Datagram and raw queue pairs carry neither RDMA nor atomic operations; unreliable connections no READ and no atomics. A
successful completion of such an operation contradicts the type of the queue pair.

Usual causes: a wrong type or a reused queue pair number in the capture, a damaged opcode.

Look next at: the type in the record, other completions of the queue pair.)"},
    .completion = completion};

}  // namespace rdmascope::check
