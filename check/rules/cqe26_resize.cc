// CQE-26: nothing follows in a ring that was resized. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (c.facts.behind_resize)
    out.wrong_in(cqe26_resize.info, c, "cqe.record.cqe_cnt", c.record.get<"cqe_cnt">(),
                 fmt::format("frame {} ended the ring of this size", c.facts.previous_frame));
}

}  // namespace

const Rule cqe26_resize{
    .info =
        {.id = "CQE-26",
         .title = "Nothing follows in a ring that was resized",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "linux mlx4 and mlx5 drivers, resize of completion queues",
         .help =
             R"(A resize ends the old ring with one entry of its own kind; what follows is in the new one, which has another number of
slots. A further entry with the same number of slots stands in a ring that is over.

Usual causes: a program that does not change to the new ring; a capture that keeps counting in the old one.

Look next at: number of slots and consumer index of the records around.)"},
    .completion = completion};

}  // namespace rdmascope::check
