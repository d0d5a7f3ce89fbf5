// CQE-16: source queue pair of a datagram is one. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!is_receive(c) || c.qp_type() != dissect::qpt_ud) return;
  if (!c.is_mlx4() && !c.is_mlx5()) return;
  const std::uint64_t qpn =
      c.is_mlx5() ? dissect::View<dissect::Mlx5Cqe>(c.entry.bytes).get<"rqpn">() : mlx4(c).get<"srq_rqpn">();
  if (qpn == dissect::qp_multicast)
    out.wrong_in(cqe16_source_qp.info, c,
                 c.is_mlx5() ? "cqe.mlx5.rqpn" : of_mlx4(c, "cqe.mlx4.srq_rqpn", "cqe.mlx4_ts.srq_rqpn"), qpn,
                 "the number of multicast is no sender's");
}

}  // namespace

const Rule cqe16_source_qp{
    .info =
        {.id = "CQE-16",
         .title = "Source queue pair of a datagram is one",
         .source = "InfiniBand vol. 1, DETH source QP",
         .help =
             R"(A datagram names the queue pair it came from, and programs answer to it. 0xffffff is the destination of multicast and
cannot be a source.

Usual causes: a sender that puts the wrong number into the DETH, a damaged entry.

Look next at: the DETH of the received packet.)"},
    .completion = completion};

}  // namespace rdmascope::check
