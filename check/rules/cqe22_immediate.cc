// CQE-22: immediate data or key is that of the packet. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.facts.immediate) return;
  const std::uint64_t actual = c.is_mlx5() ? dissect::View<dissect::Mlx5Cqe>(c.entry.bytes).get<"imm_inval_pkey">()
                                           : mlx4(c).get<"immediate_rssvalue_invalidatekey">();
  out.mismatch_in(
      cqe22_immediate.info, c,
      c.is_mlx5()
          ? "cqe.mlx5.imm_inval_pkey"
          : of_mlx4(c, "cqe.mlx4.immediate_rssvalue_invalidatekey", "cqe.mlx4_ts.immediate_rssvalue_invalidatekey"),
      *c.facts.immediate, actual, fmt::format("frame {} has it for this queue pair", c.facts.immediate_frame));
}

}  // namespace

const Rule cqe22_immediate{
    .info =
        {.id = "CQE-22",
         .title = "Immediate data or key is that of the packet",
         .source = "hermon PRM; ImmDt and IETH of the packet capture",
         .help =
             R"(A receive completion carries the immediate data, or the key to invalidate, of the message as it came in the last packet.
The packets to this queue pair were captured, none of those that wait has this value, and nothing is missing in between.

Usual causes: a program or driver that swaps bytes, a device that mixes messages up.

Look next at: the packet named, byte order (immediate data is not swapped), entries of the other queue pairs.)"},
    .completion = completion};

}  // namespace rdmascope::check
