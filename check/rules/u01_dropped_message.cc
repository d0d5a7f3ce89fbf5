// U-01: on UC a missing packet costs the message: the receiver drops what it has of it and goes on with the next First
// or Only. Nobody says so on the wire, and a capture may have missed the packet itself.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (f.order != Order::after_gap || c.connection.transport != dissect::Transport::uc || !f.expected_known) return;
  const auto missing = static_cast<std::uint32_t>(psn_diff(c.psn, f.expected_psn));
  out.mismatch(u01_dropped_message.info, c, "infiniband.bth.psn", f.expected_psn, c.psn,
               std::to_string(missing) + (missing == 1 ? " packet is" : " packets are") +
                   " missing; the receiver drops the message they belong to, unless only the capture missed them");
}

}  // namespace

const Rule u01_dropped_message{{.id = "U-01",
                                .title = "Packets of a UC message are missing",
                                .kind = Class::anomaly,
                                .severity = Severity::warning,
                                .source = "Linux drivers/infiniband/hw/hfi1: uc.c; sw/rxe: rxe_resp.c",
                                .help = R"(UC is not acknowledged and never repeats. When a PSN is missing the
receiver drops the rest of that message without a word and waits for the next First or Only packet. The application
sees nothing, or a receive buffer that never completes.

Usual causes: congestion or a receiver without buffers, bit errors; or the capture itself lost frames, which looks the
same here.

Look next at: drop counters of the switches and of the capture, and the receiver's count of completed messages.)"},
                               on_request,
                               packet};

}  // namespace rdmascope::check
