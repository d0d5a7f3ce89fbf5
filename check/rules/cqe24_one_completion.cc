// CQE-24: one READ response completes one READ. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void early(const EarlyCompletion& e, Findings& out) {
  if (e.answered == 0) return;  // CQE-23
  out.add(nullptr, Finding{&cqe24_one_completion.info, Class::violation, e.frame, e.time_ns, 0, nullptr, 0, "cqe.qpn",
                           std::nullopt, e.qpn,
                           fmt::format("{} READs completed, but only {} were answered", e.completions, e.answered)});
}

}  // namespace

const Rule cqe24_one_completion{
    .info =
        {.id = "CQE-24",
         .title = "One READ response completes one READ",
         .source = "InfiniBand C9-60: a READ completes with its last response",
         .help =
             R"(When the first of several READs is answered, one completion appears, and the next READ stays open until its own last
response. More READs of this queue pair completed than were answered, and for more than a second no answer came.

Usual causes: a device that takes an acknowledge for the answer to a READ, or a capture that lost packets without a trace.

Look next at: READ requests and responses of this queue pair, loss counters of the packet capture.)"},
    .early = early};

}  // namespace rdmascope::check
