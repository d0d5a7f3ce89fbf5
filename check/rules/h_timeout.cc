// H-TIMEOUT: a requester went back without being asked: its timer ran out.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || f.back_by != BackBy::timeout || !c.connection.reliable()) return;
  std::string text = fmt::format("sent again from PSN {} on after {} of silence", c.psn, duration(f.silent_ns));
  if (const std::optional<std::int64_t> timer = ack_timeout_ns(c.connection, c.side))
    text += fmt::format("; the local ACK timeout is {} (one to four times that is usual)", duration(*timer));
  if (f.cause.kind == PendingNak::Kind::sequence)
    text += fmt::format("; it did not heed the NAK in frame {}", f.cause.frame);
  if (f.holes > 0) text += fmt::format("; {} had not come before", count(f.holes, "response"));
  if (c.flow->trouble->timeouts_in_row > 1)
    text += fmt::format("; timeout {} in a row", c.flow->trouble->timeouts_in_row);
  out.say(h_timeout.info, c, std::move(text));
}

}  // namespace

const Rule h_timeout{
    {.id = "H-TIMEOUT",
     .title = "Retransmission by timeout",
     .kind = Class::anomaly,
     .severity = Severity::warning,
     .source = "the local ACK timeout is 4.096 us * 2^t: Linux drivers/infiniband/hw/hfi1: rc.c",
     .help =
         R"(Nothing came back for a request, so the requester's timer ran out and it sent again. A timeout is the slowest way to
notice a loss: the local ACK timeout is 4.096 microseconds * 2^n, often 67 ms (n = 14) and more, and all that time the
connection stands still. After retry_count timeouts in a row it breaks (RETRY_EXC_ERR).

Usual causes: the last packet of a burst, or its acknowledge, was lost, so no later packet could reveal the gap; a
responder that died; a path that is broken in one direction.

Look next at: the last packets before the silence, H-LOSS for this connection, discards and pause frames on the switch
ports between.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
