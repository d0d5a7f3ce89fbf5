// CQE-14: bit 23 of the queue pair number is for XRC. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (c.entry.send || !c.is_mlx4() || !c.entry.qpn || (*c.entry.qpn & 0x800000) == 0) return;
  const std::uint8_t type = c.qp_type();
  if (type != dissect::qpt_rc && type != dissect::qpt_uc && type != dissect::qpt_ud && type != dissect::qpt_raw) return;
  out.wrong_in(cqe14_xrc_qpn.info, c, of_mlx4(c, "cqe.mlx4.qpn", "cqe.mlx4_ts.qpn"), *c.entry.qpn,
               fmt::format("on a receive queue of type {}", dissect::name_of(dissect::cqe_qp_types, type)));
}

}  // namespace

const Rule cqe14_xrc_qpn{
    .info =
        {.id = "CQE-14",
         .title = "Bit 23 of the queue pair number is for XRC",
         .source = "rdma-core providers/mlx4/cq.c",
         .help =
             R"(mlx4 drivers take a receive completion with bit 23 set in its queue pair number as one of XRC and look the shared receive
queue up instead of the queue pair. With any other type of queue pair they report an error for the whole queue.

Usual causes: a damaged entry, a wrong type in the capture.

Look next at: numbers of the queue pairs attached to this completion queue.)"},
    .completion = completion};

}  // namespace rdmascope::check
