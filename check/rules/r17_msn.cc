// R-17: the MSN counts completed messages: never fewer than the acknowledged ones, never more than were received, and
// it does not go back.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (c.request) {
    if (const MsnDoubt* d = c.request->msn_too_high)
      mismatch_at(
          out, r17_msn.info, c.connection, c.side ^ 1, d->frame, d->time_ns, "infiniband.aeth.msn", d->most, d->msn,
          d->repeated ? "more than the messages received; duplicates do not count" : "more than the messages received");
    return;
  }
  const ResponseFacts& f = *c.response;
  const auto aeth = c.packet.find<dissect::Aeth>();
  if (!f.judged || f.ahead || !aeth) return;
  const std::uint32_t msn = static_cast<std::uint32_t>(aeth->get<"msn">());
  if (f.msn_low_known && psn_diff(msn, f.msn_low) < 0)
    out.mismatch(r17_msn.info, c, "infiniband.aeth.msn", f.msn_low, msn, "fewer than the messages acknowledged");
  else if (f.msn_high_known && psn_diff(msn, f.msn_high) > 0 && is_nak(f) &&
           f.kind != ResponseFacts::Kind::fatal_nak)  // R-10
    out.mismatch(r17_msn.info, c, "infiniband.aeth.msn", f.msn_high, msn,
                 "a NAK counts what is complete before its PSN");
  else if (f.msn_decreases)
    out.mismatch(r17_msn.info, c, "infiniband.aeth.msn", f.previous_msn, msn, "less than in the response before");
}

}  // namespace

const Rule r17_msn{
    {.id = "R-17",
     .title = "The MSN counts completed messages",
     .ibta = "C9-148",
     .source = "InfiniBand Network Architecture (2002), chapter 17; Linux drivers/infiniband/sw/rxe: rxe_resp.c; "
               "hw/hfi1: rc.c",
     .help =
         R"(The responder counts the request messages it has completed and puts the count into every AETH. SENDs and WRITEs
count with their last packet, READs when they are accepted, duplicates not at all; a NAK carries the count before the
failing message. The requester uses it for flow control and, in some devices, for completion.

The count before the capture is not known; it is worked out from the first responses. Responses that were overtaken on
their way are judged by their PSN only. Too high a count is reported when the next request shows that the capture lacks none.

Usual causes: a responder that counts packets, counts duplicates, or counts a READ when it ends instead of when it is
accepted.

Look next at: the messages acknowledged by this packet, and whether one of them was sent twice.)"},
    on_request | on_response,
    packet};

}  // namespace rdmascope::check
