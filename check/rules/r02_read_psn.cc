// R-02: READ response number i carries the request's PSN + i.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::read || f.late) return;
  if (f.again && c.psn == f.previous_psn) {
    out.mismatch(r02_read_psn.info, c, "infiniband.bth.psn", psn_add(c.psn, 1), c.psn,
                 "the response before has the same PSN");
    return;
  }
  if (!f.message || !f.position_known || f.expected_position == c.opcode.position) return;
  if (f.repeated || psn_diff(f.expected_psn, c.psn) != 0 || c.psn == f.previous_psn)
    out.mismatch(r02_read_psn.info, c, "infiniband.bth.psn", f.expected_psn, c.psn,
                 fmt::format("{} does not stand at this PSN", c.opcode.name));
}

}  // namespace

const Rule r02_read_psn{
    {.id = "R-02",
     .title = "READ responses carry consecutive PSNs from the request's on",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c (read_reply); hw/hfi1: rc.c",
     .help =
         R"(A READ request takes one PSN for each response packet. The first response carries the request's PSN, each further
one the next. A requester drops what stands elsewhere, and the READ never completes.

Usual causes: a responder that repeats the request's PSN in every response, or counts its own; one that cuts the data by
another path MTU than the requester.

Look next at: the READ request with this PSN, its DMALen and the path MTU.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
