// Q-17: SENDs and WRITEs with Immediate beyond the credits of the responder wait, but for one that may probe.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  const Flow& flow = *c.flow;
  if (f.order != Order::next || !f.message || !c.connection.reliable()) return;
  const bool begins_send =
      operation_of(c.opcode_byte) == Operation::send &&
      (c.opcode.position == dissect::Position::first || c.opcode.position == dissect::Position::only);
  const bool immediate_write =
      operation_of(c.opcode_byte) == Operation::write && (c.opcode.extensions & dissect::ext_immdt);
  if (!begins_send && !immediate_write) return;
  if (flow.credit_code >= dissect::no_credit_limit || !flow.any_response || !flow.msn_low_known) return;
  // Counted from 1: this message, and the last one the responder has a buffer for.
  const std::uint32_t number = psn_add(flow.msn_low, f.message->index);
  const std::uint32_t limit = psn_add(flow.last_msn, dissect::credits_by_code[flow.credit_code]);
  if (psn_diff(number, psn_add(limit, 1)) <= 0) return;
  wrong(out, q17_credits.info, c, "infiniband.bth.opcode", c.opcode_byte,
        fmt::format("message {} of the queue pair; the acknowledge in frame {} allows up to {}, and one to probe",
                    number, flow.last_response_frame, limit));
}

}  // namespace

const Rule q17_credits{
    {.id = "Q-17",
     .title = "SENDs keep to the credits of the responder",
     .severity = Severity::warning,
     .source = "Linux drivers/infiniband/sw/rdmavt/rc.c; InfiniBand Network Architecture (2002), chapter 17",
     .help =
         R"(The AETH of each acknowledge says for how many further messages the responder has receive buffers. SENDs and WRITEs
with Immediate beyond MSN + credits wait; one of them may be sent to probe. READs, plain WRITEs and atomics are not held
back. Credit code 31 means that no limit is given, as with shared receive queues.

Usual causes: a requester without end-to-end flow control; legal for target adapters, which give code 31 themselves.

Look next at: RNR NAKs that follow, and the receive buffers the application posts.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
