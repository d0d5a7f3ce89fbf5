// CQE-04: counter of the send queue goes forward. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.entry.send || !c.facts.previous_wqe || c.facts.restarted || c.facts.lost_before) return;
  if (!c.is_mlx4() && !c.is_mlx5()) return;
  const auto wqe = static_cast<std::uint16_t>(*c.entry.wqe);
  const auto step = static_cast<std::uint16_t>(wqe - *c.facts.previous_wqe);
  if (step == 0 || step >= 0x8000)
    out.wrong_in(cqe04_send_counter.info, c, counter_field(c), wqe,
                 fmt::format("it was {} in frame {}", *c.facts.previous_wqe, c.facts.previous_wqe_frame));
}

}  // namespace

const Rule cqe04_send_counter{
    .info =
        {.id = "CQE-04",
         .title = "Counter of the send queue goes forward",
         .source =
             "derived from how mlx4 and mlx5 drivers find the work request of a completion",
         .help =
             R"(Work requests of a send queue complete in the order in which they were posted. The counter modulo 65536 of a completion
is therefore ahead of the one before; the distance is how many requests asked for no completion, plus one. A counter that
starts anew from about 0 is taken as a queue pair that was reset or made anew.

Usual causes: an entry that was consumed twice, or read from the wrong slot.

Look next at: consumer indexes (CQE-02) and owner bits (CQE-01) of the two entries.)"},
    .completion = completion};

}  // namespace rdmascope::check
