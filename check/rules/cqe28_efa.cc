// CQE-28: flags of an EFA descriptor fit each other. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (c.entry.format != CqeFormat::efa) return;
  const dissect::View<dissect::EfaCqe> efa(c.entry.bytes);
  const std::uint64_t queue = efa.get<"q_type">(), operation = efa.get<"op_type">(), status = efa.get<"status">();
  const bool receives = queue == dissect::efa_receive_queue, has_imm = efa.get<"has_imm">(),
             unsolicited = efa.get<"unsolicited">();
  if (queue != dissect::efa_send_queue && !receives)
    out.wrong_in(cqe28_efa.info, c, "cqe.efa.q_type", queue, "neither send nor receive");
  else if (operation > dissect::efa_write)
    out.wrong_in(cqe28_efa.info, c, "cqe.efa.op_type", operation, "not defined");
  else if (has_imm && !receives)
    out.mismatch_in(cqe28_efa.info, c, "cqe.efa.has_imm", 0, 1, "on a send queue");
  else if (unsolicited && (!receives || operation != dissect::efa_write || !has_imm))
    out.mismatch_in(cqe28_efa.info, c, "cqe.efa.unsolicited", 0, 1, "only an RDMA write with immediate data is");
  else if (!receives && efa.get<"reserved12">() != 0)
    out.mismatch_in(cqe28_efa.info, c, "cqe.efa.reserved12", 0, efa.get<"reserved12">());
  if (dissect::name_of(dissect::efa_status_names, status).empty())
    out.wrong_in(cqe28_efa.info, c, "cqe.efa.status", status, "not defined", Class::anomaly);
}

}  // namespace

const Rule cqe28_efa{
    .info =
        {.id = "CQE-28",
         .title = "Flags of an EFA descriptor fit each other",
         .source = "rdma-core providers/efa/efa_io_defs.h",
         .help =
             R"(A descriptor is of a send or a receive queue; only receives have immediate data, and only an RDMA write with immediate
data needs no posted receive. Unused bytes are zero. Unknown status values are an anomaly, since devices may get new ones.

Usual causes: a wrong entry size, a damaged descriptor, bytes that are no descriptor.

Look next at: slot size of the record (CQE-30), phase bit (CQE-01).)"},
    .completion = completion};

}  // namespace rdmascope::check
