// R-17: the MSN counts completed messages: never fewer than the acknowledged ones, never more than were received, and
// it does not go back. ib-wire.md 4.5.
#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  const auto aeth = c.packet.find<dissect::Aeth>();
  if (!f.judged || !f.msn_known || !aeth) return;
  const std::uint32_t msn = static_cast<std::uint32_t>(aeth->get<"msn">());
  if (psn_diff(msn, f.msn_low) < 0)
    out.mismatch(r17_msn.info, c, "infiniband.aeth.msn", f.msn_low, msn, "fewer than the messages acknowledged");
  else if (psn_diff(msn, f.msn_high) > 0)
    out.mismatch(r17_msn.info, c, "infiniband.aeth.msn", f.msn_high, msn, "more than the messages sent");
}

}  // namespace

const Rule r17_msn{{.id = "R-17",
                    .title = "The MSN counts completed messages",
                    .source = "ib-wire.md 4.5, 6.4",
                    .help = R"(The responder counts the request messages it has completed and puts the count into every
AETH. Duplicates do not count, a NAK carries the count before the failing message. The requester uses it for flow control
and, in some devices, for completion.

Usual causes: a responder that counts packets, counts duplicates, or counts a READ when it ends instead of when it is
accepted.

Look next at: the messages acknowledged by this packet, and whether one of them was sent twice.)"},
                   on_response,
                   packet};

}  // namespace rdmascope::check
