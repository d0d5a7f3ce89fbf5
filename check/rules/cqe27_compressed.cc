// CQE-27: a compressed block has a possible length. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.is_mlx5() || c.entry.kind != Completion::Kind::compressed) return;
  const std::uint64_t n = dissect::View<dissect::Mlx5Cqe>(c.entry.bytes).get<"byte_cnt">();
  const std::uint64_t slots = c.has_index() ? c.record.get<"cqe_cnt">() : 0;
  if (n == 0 || (slots != 0 && n > slots))
    out.wrong_in(cqe27_compressed.info, c, "cqe.mlx5.byte_cnt", n, "as many completions as the block has slots");
}

}  // namespace

const Rule cqe27_compressed{
    .info =
        {.id = "CQE-27",
         .title = "A compressed block has a possible length",
         .source = "linux drivers/net/ethernet/mellanox/mlx5/core/en_rx.c",
         .help =
             R"(The title of a compressed block says how many completions it holds: at least one, and no more than the ring has slots,
since it takes that many of them.

Usual causes: a damaged entry, a reader that lost its place and takes an array of mini entries for a title.

Look next at: owner bit and consumer index of the title (CQE-01, CQE-02).)"},
    .completion = completion};

}  // namespace rdmascope::check
