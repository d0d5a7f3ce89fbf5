// CQE-05: counter of a receive queue grows by one. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (c.entry.send || !c.is_mlx4() || !c.facts.previous_wqe || c.facts.restarted || c.facts.lost_before) return;
  constexpr std::uint32_t enough = 16;  // in a row: this queue counts so
  if (c.facts.in_row < enough) return;
  const auto wqe = static_cast<std::uint16_t>(*c.entry.wqe);
  const auto step = static_cast<std::uint16_t>(wqe - *c.facts.previous_wqe);
  // Queue pairs of a shared receive queue take its entries in turns, so theirs may skip.
  const bool never_shared = c.sniffer() || c.qp_type() == dissect::qpt_raw;
  if (step == 0 || (never_shared && step >= 2 && step <= 8))
    out.mismatch_in(cqe05_receive_counter.info, c, counter_field(c),
                    static_cast<std::uint16_t>(*c.facts.previous_wqe + 1), wqe,
                    fmt::format("it was {} in frame {}", *c.facts.previous_wqe, c.facts.previous_wqe_frame));
}

}  // namespace

const Rule cqe05_receive_counter{
    .info =
        {.id = "CQE-05",
         .title = "Counter of a receive queue grows by one",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "derived from how the mlx4 driver counts; not confirmed for hermon devices",
         .help =
             R"(Receive buffers of a queue pair without a shared receive queue are used in the order in which they were posted. After at
least 16 steps of one, the counter of this queue stood still, or (sniffer and raw packet queue pairs, which share nothing)
passed entries over. No public document states this for hermon devices, so it is a hint.

Usual causes: an entry consumed twice, entries missing in the capture.

Look next at: consumer indexes (CQE-02).)"},
    .completion = completion};

}  // namespace rdmascope::check
