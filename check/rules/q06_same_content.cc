// Q-06: a retransmission repeats PSN, opcode and content of the original. READs may come back for the rest only: Q-07.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (f.order != Order::retransmission || !f.content_differs || !f.original || f.partial_read) return;
  if (f.original->opcode != c.opcode_byte)
    out.mismatch(q06_same_content.info, c, "infiniband.bth.opcode", f.original->opcode, c.opcode_byte,
                 fmt::format("the packet with this PSN was another one in frame {}", f.original->frame));
  else
    out.say(q06_same_content.info, c,
            fmt::format("headers or payload differ from the packet with this PSN in frame {}", f.original->frame));
}

}  // namespace

const Rule q06_same_content{
    {.id = "Q-06",
     .title = "A retransmission repeats the original",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c (req_retry)",
     .help =
         R"(When a requester sends a PSN again, opcode, extended headers and payload are those of the first time; only AckReq
and MigReq may differ. The responder may have executed the first copy already.

Usual causes: a requester that reuses PSNs (wrong PSN counting after an error), a send buffer changed by the application
before its completion, two queue pairs mixed up.

Look next at: the frame named in the finding, and what lies between the two (NAK, timeout).)"},
    on_request,
    packet};

}  // namespace rdmascope::check
