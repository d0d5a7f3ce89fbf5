// H-TIMEOUT: a requester went back without being asked: its timer ran out.
#include <fmt/format.h>

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (!f.rewinds || f.cause.kind != PendingNak::Kind::none || !c.connection.reliable()) return;
  out.say(
      h_timeout.info, c,
      fmt::format("sent again from PSN {} after {:.3f} ms of silence", c.psn, static_cast<double>(f.silent_ns) / 1e6));
}

}  // namespace

const Rule h_timeout{{.id = "H-TIMEOUT",
                      .title = "Retransmission by timeout",
                      .kind = Class::anomaly,
                      .severity = Severity::warning,
                      .source = "ib-wire.md 6.0",
                      .help = "-"},
                     on_request,
                     packet};

}  // namespace rdmascope::check
