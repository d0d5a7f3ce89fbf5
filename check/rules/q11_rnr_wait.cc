// Q-11: after an RNR NAK the request is not sent again before the NAK's timer has run out.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || f.cause.kind != PendingNak::Kind::rnr || psn_diff(c.psn, f.cause.psn) < 0) return;
  const std::uint32_t timer_10us = dissect::rnr_timer_10us[f.cause.syndrome & 31];
  const std::int64_t timer_ns = std::int64_t{timer_10us} * 10'000;
  const std::int64_t waited_ns = c.packet.frame.time_ns - f.cause.time_ns;
  // Time stamps of a capturing host may be late by an interrupt; those of microsecond files are cut.
  constexpr std::int64_t granularity_ns = 20'000;
  if (waited_ns + waited_ns / 20 + granularity_ns >= timer_ns) return;
  out.mismatch(q11_rnr_wait.info, c, "infiniband.bth.psn", f.cause.psn, c.psn,
               fmt::format("sent again after {}; the RNR NAK in frame {} asks for {}", duration(waited_ns),
                           f.cause.frame, duration(timer_ns)));
}

}  // namespace

const Rule q11_rnr_wait{
    {.id = "Q-11",
     .title = "After an RNR NAK the requester waits as long as it was told",
     .ibta = "C9-130",
     .source = "InfiniBand Test Specification, C09_130_01; timer values: Linux include/rdma/ib_verbs.h",
     .help =
         R"(A responder without a receive buffer answers RNR NAK (receiver not ready) with a timer code. The requester waits at
least that long before it sends the request again. Coming back too early wastes the retries: with a limited RNR retry count
the connection breaks although the responder would have been ready in time.

Times are those of the capture; a tolerance of 5 % and 20 microseconds is taken off.

Usual causes: a requester that ignores the code, or uses its own retry timer.

Look next at: the RNR NAK named in the finding and its timer code.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
