// H-GO-BACK-N: a requester went back because a NAK asked for a PSN, or for no reason the capture shows: what that cost.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || !c.connection.reliable()) return;
  if (f.back_by != BackBy::sequence_nak && f.back_by != BackBy::unknown) return;
  const std::int32_t again = psn_diff(f.back_from, c.psn);
  std::string text =
      fmt::format("{} sent again from PSN {} on", again == 1 ? "1 PSN is" : fmt::format("{} PSNs are", again), c.psn);
  if (f.back_by == BackBy::sequence_nak)
    text += fmt::format(", {} after the NAK in frame {}", duration(c.packet.frame.time_ns - f.cause.time_ns),
                        f.cause.frame);
  else
    text += fmt::format(", {} after the last packet, and nothing in the capture asked for it", duration(f.silent_ns));
  if (f.original)
    text += fmt::format("; first sent in frame {}, {} before", f.original->frame,
                        duration(c.packet.frame.time_ns - f.original->time_ns));
  out.say(h_go_back_n.info, c, std::move(text));
}

}  // namespace

const Rule h_go_back_n{
    {.id = "H-GO-BACK-N",
     .title = "The requester goes back and sends again",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/hw/hfi1: rc.c; sw/rxe: rxe_comp.c",
     .help =
         R"(The responder missed a packet, threw away everything behind it and asked for it by a sequence NAK. The requester sends
again from that PSN on, all of it: one lost packet costs the whole window in flight.

Where the NAK is not in the capture, or was damaged, the finding says that nothing asked for it.

Usual causes: packets dropped by a full switch buffer (no priority flow control, or a wrong priority), damaged packets,
packets that changed places on the way.

Look next at: the PSN in the finding (F-01: is there a damaged packet with it?), H-LOSS, ECN marks and pause frames.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
