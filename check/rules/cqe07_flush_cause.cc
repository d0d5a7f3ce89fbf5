// CQE-07: a flush has a cause. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (c.entry.failed() && c.facts.first_flush)
    out.wrong_in(cqe07_flush_cause.info, c, c.is_mlx4() || c.is_mlx5() ? syndrome_field(c) : "cqe.qpn",
                 c.is_mlx4() || c.is_mlx5() ? c.entry.status : *c.entry.qpn,
                 "the first failure of this queue pair in the capture is a flush: its cause is not here");
}

}  // namespace

const Rule cqe07_flush_cause{
    .info =
        {.id = "CQE-07",
         .title = "A flush has a cause",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "InfiniBand vol. 1 chapter 10, queue pair states",
         .help =
             R"(Work requests are flushed when the queue pair is in the error state. The failure that brought it there is not in the
capture: it was on another completion queue or before the capture, or nothing failed and the program, the connection
manager or a queue pair event moved it to the error state, as at the end of every connection.

Usual causes: a disconnect; a capture of one of two completion queues.

Look next at: the completion queue of the other direction, DREQ messages of the connection manager, asynchronous events.)"},
    .completion = completion};

}  // namespace rdmascope::check
