// R-02: READ response number i carries the request's PSN + i.
#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::read || !f.message || !f.position_known ||
      f.expected_position == c.opcode.position)
    return;
  if (f.repeated || psn_diff(f.expected_psn, c.psn) != 0)
    out.mismatch(r02_read_psn.info, c, "infiniband.bth.psn", f.expected_psn, c.psn,
                 "a READ response of this kind does not stand at this PSN");
}

}  // namespace

const Rule r02_read_psn{
    {.id = "R-02",
     .title = "READ responses carry consecutive PSNs from the request's on",
     .source = "ib-wire.md 6.4; rxe read_reply",
     .help = R"(A READ request takes one PSN for each response packet. The first response carries the
request's PSN, each further one the next. A requester drops what stands elsewhere, and the READ never completes.

Usual causes: a responder that repeats the request's PSN in every response, or counts its own.

Look next at: the READ request with this PSN, its DMALen and the path MTU.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
