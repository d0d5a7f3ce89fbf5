// H-RNR: the responder has no receive buffer posted.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (f.kind != ResponseFacts::Kind::rnr_nak || !f.judged || f.ahead) return;
  const auto aeth = c.packet.find<dissect::Aeth>();
  if (!aeth) return;
  const std::int64_t timer_ns =
      std::int64_t{dissect::rnr_timer_10us[static_cast<std::uint8_t>(aeth->get<"syndrome">()) & 31]} * 10'000;
  std::string text = fmt::format("no receive buffer for PSN {}, to be sent again after {}", c.psn, duration(timer_ns));
  if (c.flow->trouble->rnr_in_row > 1)
    text += fmt::format("; the {}. time for this request, {} since the first", c.flow->trouble->rnr_in_row,
                        duration(c.packet.frame.time_ns - c.flow->trouble->rnr_start_ns));
  if (const std::optional<std::uint8_t> retries = c.connection.facts[c.side ^ 1].rnr_retry_count;
      retries && *retries < 7)
    text += fmt::format("; the requester may try {} times", *retries);
  out.say(h_rnr.info, c, std::move(text));
}

}  // namespace

const Rule h_rnr{
    {.id = "H-RNR",
     .title = "Receiver not ready",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "timer values: Linux include/rdma/ib_verbs.h; hw/hfi1: rc.c",
     .help =
         R"(A SEND or WRITE with Immediate came, but the application has posted no receive buffer. The responder asks the
requester to wait and send it again. When that happens too often, the requester gives up (RNR_RETRY_EXC_ERR), unless its
RNR retry count is 7, which means for ever.

Usual causes: an application that posts receives too late or too few, a slow completion thread, a shared receive queue
that ran empty, a sender without flow control of its own.

Look next at: how long the row of RNR NAKs is, the credits before (H-CREDITS), and the receive queue depth.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
