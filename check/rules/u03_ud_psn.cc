// U-03: a UD sender counts its packets. Receivers may ignore the PSN, and packets to other receivers take numbers, too,
// so only a PSN that does not grow can be seen.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  // To QP 0, directed routes give every port the same address.
  if (c.connection.id == 0 || c.bth.get<"destqp">() == dissect::qp_smi) return;
  const std::optional<std::uint32_t> last = c.connection.ud_psn;
  c.connection.ud_psn = c.psn;
  if (last && psn_diff(c.psn, *last) <= 0)
    out.mismatch(u03_ud_psn.info, c, "infiniband.bth.psn", psn_add(*last, 1), c.psn, "or later");
}

}  // namespace

const Rule u03_ud_psn{{.id = "U-03",
                       .title = "The PSN of a UD sender does not grow",
                       .kind = Class::anomaly,
                       .severity = Severity::info,
                       .source = "InfiniBand Network Architecture (2002), chapter 20",
                       .help = R"(A UD queue pair numbers the packets it sends. Nobody acknowledges them and a
receiver may ignore the number, so nothing breaks when it repeats or goes back.

Usual causes: a frame captured twice (a mirror port that copies both directions), packets that overtook each other on
the way, a sender that was restarted, one that always writes 0.

Look next at: whether the packet with the same PSN before has the same content: then the capture doubled it.)"},
                      on_datagram,
                      packet};

}  // namespace rdmascope::check
