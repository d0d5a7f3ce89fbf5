// Q-09: at most 2^23 PSNs are outstanding, those of expected READ responses included. Beyond, old and new PSNs look
// alike.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  constexpr std::uint32_t most = 1 << 23;
  if (f.order != Order::next || !c.connection.reliable() || c.flow->response_packets == 0) return;
  const std::uint32_t oldest = c.flow->has_acked ? psn_add(c.flow->acked_psn, 1) : c.flow->first_psn;
  const std::uint32_t ahead = (c.psn - oldest) & psn_mask;
  constexpr std::int32_t in_capture_order = 1 << 16;  // nearer behind: acknowledged before it was captured
  const std::int32_t behind = psn_diff(oldest, c.psn);
  if (ahead + f.psns <= most || (behind > 0 && behind < in_capture_order)) return;
  out.mismatch(q09_window.info, c, "infiniband.bth.psn", psn_add(oldest, most - 1), psn_add(c.psn, f.psns - 1),
               fmt::format("{} PSNs from {} on are outstanding", ahead + f.psns, oldest));
}

}  // namespace

const Rule q09_window{
    {.id = "Q-09",
     .title = "At most 2^23 PSNs are outstanding",
     .source = "the valid and the duplicate region of a responder are 2^23 PSNs each; Linux drivers/infiniband/sw/rxe: "
               "rxe_resp.c",
     .help =
         R"(PSNs have 24 bits and are compared modulo 2^24, so only half of them may be on the way at a time: from the oldest
one not acknowledged to the last one of the newest request, counting the PSNs of expected READ responses.

Expected is the last PSN that was allowed, actual the last one taken.

Usual causes: very long READs (2 GB at a path MTU of 256) posted one behind the other without a limit in the requester.

Look next at: DMALen of the READs that are open.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
