// CQE-06: nothing succeeds on a queue that failed. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.entry.send || c.facts.failure_frame == 0 || !is_reliable(c.qp_type()) || c.facts.lost_before) return;
  // The next work request. Other steps may be those of a queue pair that was reset in between.
  if (!c.facts.previous_wqe || static_cast<std::uint16_t>(*c.entry.wqe - *c.facts.previous_wqe) != 1) return;
  const std::string_view failure = dissect::words_of(c.facts.failure).name;
  if (is_success(c))
    out.wrong_in(cqe06_after_failure.info, c, opcode_field(c), c.entry.opcode,
                 fmt::format("success after the {} of frame {}", failure, c.facts.failure_frame));
  else if (c.entry.failed() && c.entry.fault != Fault::flushed && c.facts.same_queue)
    out.wrong_in(cqe06_after_failure.info, c, syndrome_field(c), c.entry.status,
                 fmt::format("a second failure after the {} of frame {}", failure, c.facts.failure_frame),
                 Class::anomaly);
}

}  // namespace

const Rule cqe06_after_failure{
    .info =
        {.id = "CQE-06",
         .title = "Nothing succeeds on a queue that failed",
         .source = "InfiniBand vol. 1 chapter 10, queue pair states",
         .help =
             R"(A work request that fails moves a reliable queue pair to the error state: what follows on both of its queues is flushed
(syndrome 0x05) until the queue pair is reset. A success behind a failure means that the device went on; a second failure
other than a flush is suspect. Queue pairs of UD and UC may recover their send queue and are not judged, nor are
receives, whose counters may be those of a shared receive queue.

Usual causes: a damaged or doubled entry, a device or emulation that does not stop.

Look next at: the packets the queue pair sends after the failure, and whether the program reset it in between.)"},
    .completion = completion};

}  // namespace rdmascope::check
