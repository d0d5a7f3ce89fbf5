// CQE-23: a READ completes after its response came. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void early(const EarlyCompletion& e, Findings& out) {
  if (e.answered != 0) return;  // CQE-24
  out.add(nullptr,
          Finding{&cqe23_early_read.info, Class::violation, e.frame, e.time_ns, 0, nullptr, 0, "cqe.qpn", std::nullopt,
                  e.qpn, "a READ completed, but no READ response to this queue pair is complete"});
}

}  // namespace

const Rule cqe23_early_read{
    .info =
        {.id = "CQE-23",
         .title = "A READ completes after its response came",
         .source = "InfiniBand C9-60: a READ completes with its last response",
         .help =
             R"(A READ completes with success when its last response has arrived. Here the completion was in the capture and no response
with the last packet came for more than a second (from a model: afterwards), nothing else being missing. Judged where all of the queue pair's
completions from its first on and its packets are in the capture.

Usual causes: a device that completes too early, or a capture that lost packets without a trace.

Look next at: READ requests and responses of this queue pair, loss counters of the packet capture.)"},
    .early = early};

}  // namespace rdmascope::check
