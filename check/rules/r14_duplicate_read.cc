// R-14: a READ that comes again is executed again when it asks for the whole or a part of what it asked before;
// otherwise it is dropped without an answer.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::read || !f.judged || f.ahead || !f.request || !f.request->asked_too_much) return;
  if (c.opcode.position != dissect::Position::first && c.opcode.position != dissect::Position::only) return;
  if (c.psn == f.request->psn && !f.request->answered) return;  // may be the answer to the first one
  out.say(r14_duplicate_read.info, c,
          fmt::format("answers a retry that asks for more than the READ of frame {}, {}", f.request->frame,
                      range(f.request->r_key, f.request->va, f.request->dma_length)));
}

}  // namespace

const Rule r14_duplicate_read{
    {.id = "R-14",
     .title = "A duplicate READ is answered within its first range only",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c (duplicate_request); hw/hfi1: rc.c",
     .help =
         R"(A responder remembers the READs it has answered. When one comes again, with PSNs already used, it answers from memory
anew, provided it asks for the same range or a part of it. A request that goes beyond is not a duplicate: it would read
memory nobody was allowed to ask for at that PSN. It is dropped silently.

Usual causes: a responder that executes every READ it gets without looking at what was asked before.

Look next at: Q-07 at the retry.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
