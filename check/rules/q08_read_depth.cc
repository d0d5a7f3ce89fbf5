// Q-08: no more READs and atomics outstanding than the responder offered when the connection was made.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (operation_of(c.opcode_byte) < Operation::read || !c.connection.reliable()) return;
  if (f.order != Order::first && f.order != Order::next) return;
  const std::optional<std::uint32_t> depth = read_depth(c.connection, c.side);
  if (!depth || c.flow->outstanding <= *depth || c.flow->missed_packets > 0) return;
  // A response that the capture lacks keeps a READ open; then nothing is certain.
  if (c.flow->trouble->lost_responses > 0) return;
  wrong(out, q08_read_depth.info, c, "infiniband.bth.opcode", c.opcode_byte,
        fmt::format("{} are outstanding with this one, agreed on when connecting: {}",
                    count(c.flow->outstanding, "READ or atomic request"), *depth));
}

}  // namespace

const Rule q08_read_depth{
    {.id = "Q-08",
     .title = "Outstanding READs and atomics keep to the depth agreed on",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c (check_init_depth); hw/hfi1: rc.c",
     .help =
         R"(A responder keeps resources for a limited number of READ and atomic requests (also FLUSH and ATOMIC WRITE). When
connecting, each side says how many it can answer (responder resources) and how many it will send (initiator depth). A
responder may answer one too many with NAK Invalid Request, and both queue pairs stop.

Judged only when the CM exchange is in the capture; see H-READ-DEPTH for the depth in use.

Usual causes: max_rd_atomic of the queue pair set without looking at the CM reply.

Look next at: initiator depth and responder resources in CM REQ and REP.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
