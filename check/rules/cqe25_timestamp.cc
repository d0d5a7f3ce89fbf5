// CQE-25: time stamps do not go back. cqe-sniffer.md 6.1.
#include "check/cqe_time.h"
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (c.entry.format != CqeFormat::mlx4_timestamp || !c.facts.previous_timestamp) return;
  const std::uint64_t now = corrected_timestamp(c.entry.bytes);
  const std::uint64_t back = (*c.facts.previous_timestamp - now) & 0xffffffffffff;
  constexpr std::uint64_t half = std::uint64_t{1} << 47, tick_of_high_part = 1 << 16;
  if (back < half && back > tick_of_high_part)
    out.wrong_in(cqe25_timestamp.info, c, "cqe.mlx4_ts.timestamp", now,
                 fmt::format("{} ticks before frame {}", back, c.facts.previous_frame));
}

}  // namespace

const Rule cqe25_timestamp{
    .info =
        {.id = "CQE-25",
         .title = "Time stamps do not go back",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "linux drivers/net/ethernet/mellanox/mlx4/en_clock.c",
         .help =
             R"(Entries of one completion queue are written one after the other, so their time stamps (48 bits, running round) do not go
back by more than the device's own uncertainty: one tick of the upper 32 bits, since it latches the halves apart.

Usual causes: entries captured out of order, a queue without time stamps read as one with.

Look next at: consumer indexes (CQE-02), format of the record.)"},
    .completion = completion};

}  // namespace rdmascope::check
