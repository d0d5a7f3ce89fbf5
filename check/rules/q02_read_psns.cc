// Q-02: a READ takes max(1, ceil(DMALen / PMTU)) PSNs; the next request stands behind all of them. Too few: the next
// request falls among the READ's responses. Too many: PSNs behind it are acknowledged with nobody there.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.response) {
    if (!c.response->skipped_gap || c.response->skipped_gap->behind != Operation::read) return;
    const Gap& gap = *c.response->skipped_gap;
    mismatch_at(out, q02_read_psns.info, c.connection, c.side ^ 1, gap.frame, gap.time_ns, "infiniband.bth.psn",
                gap.first, psn_add(gap.first, gap.count), "the READ before it takes fewer PSNs");
    return;
  }
  const RequestFacts& f = *c.request;
  const DataRequest* const read = f.earlier_read;
  if (!read || read->operation != Operation::read || !read->length_known || f.late || c.psn == read->psn) return;
  const std::uint32_t next = psn_add(read->psn, read->psns);
  if (f.inside_read) {
    out.mismatch(q02_read_psns.info, c, "infiniband.bth.psn", next, c.psn,
                 fmt::format("the READ of frame {} takes {} PSNs for its responses", read->frame, read->psns));
    return;
  }
  // A READ inside a READ is a retry of its rest. Out of the blue and for other memory it is a new one at a wrong PSN.
  const auto reth = c.packet.find<dissect::Reth>();
  if (!f.partial_read || !f.rewinds || f.back_by != BackBy::unknown || !reth || c.connection.pmtu == 0) return;
  const std::uint64_t offset =
      std::uint64_t{static_cast<std::uint32_t>(psn_diff(c.psn, read->psn))} * c.connection.pmtu;
  if (reth->get<"va">() == read->va + offset) return;
  out.mismatch(q02_read_psns.info, c, "infiniband.bth.psn", next, c.psn,
               fmt::format("the READ of frame {} takes {} PSNs for its responses", read->frame, read->psns));
}

}  // namespace

const Rule q02_read_psns{
    {.id = "Q-02",
     .title = "A READ takes one PSN for each response packet",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c (update_wqe_psn); hw/hfi1: rc.c",
     .help =
         R"(A READ request is one packet, but its responses carry the PSNs from the request's on: ceil(DMALen / path MTU) of
them, at least one. The next request has the PSN behind the last response.

Usual causes: a requester that counts a READ as one PSN, or with another path MTU than the responder; wrong rounding
when DMALen is a multiple of the path MTU; DMALen 0 counted as none.

Look next at: DMALen of the READ, the path MTU of the connection, and the PSN of the last READ response.)"},
    on_request | on_response,
    packet};

}  // namespace rdmascope::check
