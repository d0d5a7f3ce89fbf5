// CQE-02: consumer index grows by one. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.facts.expected_ci || c.entry.format == CqeFormat::efa) return;  // EFA: one queue may be several rings
  const auto ci = static_cast<std::uint32_t>(c.record.get<"ci">());
  if (ci == *c.facts.expected_ci) return;
  if (c.facts.lost_before)
    mismatch_as(out, cqe02_index.info, c, "cqe.record.ci", *c.facts.expected_ci, ci,
                fmt::format("{} entries are missing since frame {}", ci - *c.facts.expected_ci, c.facts.previous_frame),
                Class::artifact);
  else
    out.mismatch_in(cqe02_index.info, c, "cqe.record.ci", *c.facts.expected_ci, ci,
                    fmt::format("not behind the entry of frame {}", c.facts.previous_frame));
}

}  // namespace

const Rule cqe02_index{
    .info =
        {.id = "CQE-02",
         .title = "Consumer index grows by one",
         .source = "how a ring is consumed: mlx4, mlx5 drivers of linux",
         .help =
             R"(Entries of a completion queue are consumed one after the other. A step of more than one means that the capture lacks
entries (an artifact). An index that stays or goes back means that an entry was consumed twice, or that two readers
consume one queue. An index of 0 is taken as a new queue of the same number.

Usual causes: a capture program that was too slow for the ring; two threads that poll without a lock.

Look next at: drop counters of the capture; the owner bits (CQE-01) and work queue counters (CQE-04) around the place.)"},
    .completion = completion};

}  // namespace rdmascope::check
