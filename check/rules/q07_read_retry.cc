// Q-07: a READ that is sent again asks for the whole or for the rest: same R_Key, VA advanced by as many PMTUs as the
// PSN, DMALen reduced by as many.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  const DataRequest* const read = f.earlier_read;
  const auto reth = c.packet.find<dissect::Reth>();
  if (!read || !read->length_known || read->operation != Operation::read ||
      operation_of(c.opcode_byte) != Operation::read || !reth)
    return;
  const std::uint64_t offset =
      std::uint64_t{static_cast<std::uint32_t>(psn_diff(c.psn, read->psn))} * c.connection.pmtu;
  if (offset == 0 && f.partial_read) return;  // path MTU not known
  const std::uint64_t va = reth->get<"va">(), length = reth->get<"dmalen">(), r_key = reth->get<"r_key">();
  if (f.partial_read && f.rewinds && f.back_by == BackBy::unknown && va != read->va + offset) return;  // Q-02
  const std::string text =
      fmt::format("the READ of frame {} was for {}", read->frame, range(read->r_key, read->va, read->dma_length));
  if (r_key != read->r_key) out.mismatch(q07_read_retry.info, c, "infiniband.reth.r_key", read->r_key, r_key, text);
  if (va != read->va + offset) out.mismatch(q07_read_retry.info, c, "infiniband.reth.va", read->va + offset, va, text);
  if (length != read->dma_length - offset)
    out.mismatch(q07_read_retry.info, c, "infiniband.reth.dmalen", read->dma_length - offset, length, text);
}

}  // namespace

const Rule q07_read_retry{
    {.id = "Q-07",
     .title = "A READ sent again asks for the whole or the rest",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c, rxe_resp.c (duplicate_request); hw/hfi1: rc.c",
     .help =
         R"(When READ responses are lost, the requester sends the READ again, either as it was or for what is missing. PSN k
further on means VA k path MTUs further on and DMALen k path MTUs less, with the same R_Key; so every response PSN stands
for the same bytes as before.

Usual causes: a requester that advances VA but keeps DMALen, or counts with another path MTU.

Look next at: the READ named in the finding, the path MTU, and the first response that was missing.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
