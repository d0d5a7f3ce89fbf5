// R-15: an atomic that comes again is not executed again; its saved result is sent, with the same original data.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::atomic_ack || !f.original_data || f.late) return;
  const auto data = c.packet.find<dissect::Atomicacketh>();
  if (!data || data->get<"origremdt">() == *f.original_data) return;
  out.mismatch(r15_atomic_again.info, c, "infiniband.atomicacketh.origremdt", *f.original_data,
               data->get<"origremdt">(), "the first answer to this request was another one");
}

}  // namespace

const Rule r15_atomic_again{
    {.id = "R-15",
     .title = "A duplicate atomic gets its saved result",
     .ibta = "oA19-14, oA19-15",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c",
     .help =
         R"(An atomic must not be executed twice. The responder keeps the result, and when the request comes again (its answer
was lost) it sends the same original data once more.

Different data show that the responder has executed it again, or kept the result of another one: counters and locks in
that memory are wrong from then on.

Usual causes: fewer saved results than atomics outstanding, a responder without memory of them.

Look next at: the first answer with this PSN, and the operands of the request.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
