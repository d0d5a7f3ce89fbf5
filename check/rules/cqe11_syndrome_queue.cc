// CQE-11: syndrome can occur on its queue. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!c.entry.failed() || (!c.is_mlx4() && !(c.is_mlx5() && dissect::is_mlx5_error(c.entry.bytes)))) return;
  const std::uint32_t s = c.entry.status;
  const bool sends_only = s == 0x06 || s == 0x10 || (s >= 0x12 && s <= 0x16);
  const bool receives_only = s == 0x11;
  if (c.entry.send ? !receives_only : !sends_only) return;
  out.wrong_in(
      cqe11_syndrome_queue.info, c, syndrome_field(c), s,
      fmt::format("{} on a {} queue", dissect::words_of(c.entry.fault).name, c.entry.send ? "send" : "receive"),
      c.is_mlx5() ? Class::anomaly : Class::violation);
}

}  // namespace

const Rule cqe11_syndrome_queue{
    .info =
        {.id = "CQE-11",
         .title = "Syndrome can occur on its queue",
         .source = "InfiniBand vol. 1 chapter 10, completion return status",
         .help =
             R"(Some failures belong to one side. A requester runs out of retries, gets a NAK or a bad response, or cannot bind a memory
window; a responder cannot write to its own memory. On the other queue the syndrome has no meaning.

Usual causes: a damaged entry, an emulation that mixes the two up.

Look next at: the same work request in the packets: which side failed?)"},
    .completion = completion};

}  // namespace rdmascope::check
