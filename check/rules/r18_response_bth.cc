// R-18: responses have SE 0 and AckReq 0, and the P_Key of the connection.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.bth.get<"se">()) out.mismatch(r18_response_bth.info, c, "infiniband.bth.se", 0, 1);
  if (c.bth.get<"a">()) out.mismatch(r18_response_bth.info, c, "infiniband.bth.a", 0, 1);
}

}  // namespace

const Rule r18_response_bth{
    {.id = "R-18",
     .title = "Responses ask for nothing",
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c (prepare_ack_packet)",
     .help =
         R"(Solicited event and AckReq belong to requests. Responses carry 0 in both: nobody acknowledges an acknowledge, and no
receive completes. P_Keys that differ between the two directions are F-13's.

Usual causes: a responder that copies the BTH of the request into its response.

Look next at: whether the request had the same bits.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
