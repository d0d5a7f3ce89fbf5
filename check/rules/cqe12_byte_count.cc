// CQE-12: a message has at most 2^31 bytes. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!is_success(c) || !c.entry.byte_count || (!c.is_mlx4() && !c.is_mlx5())) return;
  if (!is_reliable(c.qp_type()) && c.qp_type() != dissect::qpt_uc)
    return;  // raw: the top byte may be a length of its own
  if (*c.entry.byte_count > 0x80000000)
    out.wrong_in(cqe12_byte_count.info, c, byte_count_field(c), *c.entry.byte_count, "no message is that long");
}

}  // namespace

const Rule cqe12_byte_count{
    .info =
        {.id = "CQE-12",
         .title = "A message has at most 2^31 bytes",
         .source = "InfiniBand vol. 1, message size; hermon PRM, byte_cnt",
         .help =
             R"(The byte count of a READ or a receive is the length of the message, at most 2^31 bytes. Only connected queue pairs are
judged: receive queues of others may count two things in this field.

Usual causes: a damaged entry, a wrong layout.

Look next at: slot size and offset of the record (CQE-30), the length in the packets.)"},
    .completion = completion};

}  // namespace rdmascope::check
