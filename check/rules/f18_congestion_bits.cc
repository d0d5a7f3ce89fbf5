// F-18: RoCEv2 marks congestion in the IP header, so FECN and BECN of data packets are 0; a congestion notification has
// BECN and nothing else. A17.9.3.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::uint8_t cnp_native = 0x80;  // of native InfiniBand; what it should look like in RoCEv2 nobody says

void packet(const Context& c, Findings& out) {
  if (!is_roce_v2(c.packet) || c.opcode.transport >= Transport::vendor6 || c.opcode_byte == cnp_native) return;
  const RuleInfo& rule = f18_congestion_bits.info;
  const bool notification = c.opcode.transport == Transport::cnp;
  if (const auto fecn = c.bth.get<"fecn">(); fecn != 0) out.mismatch(rule, c, "infiniband.bth.fecn", 0, fecn);
  if (const auto becn = c.bth.get<"becn">(); becn != (notification ? 1 : 0))
    out.mismatch(rule, c, "infiniband.bth.becn", notification ? 1 : 0, becn);
  if (!notification) return;
  if (c.psn != 0) out.mismatch(rule, c, "infiniband.bth.psn", 0, c.psn);
  const Layer* cnp = c.packet.find(header<Cnp>);
  if (!cnp) return;
  for (std::uint32_t i = 0; i < cnp->bytes; ++i)
    if (const std::uint8_t byte = c.packet.data(*cnp)[i]; byte != 0)
      return wrong(out, rule, c, "infiniband.cnp.reserved128", byte,
                   "reserved byte " + std::to_string(i) + " is not 0");
}

}  // namespace

const Rule f18_congestion_bits{{.id = "F-18",
                                .title = "RoCEv2 congestion bits: BECN in notifications only",
                                .severity = Severity::warning,
                                .source = "IBTA annex A17 (RoCEv2), section A17.9.3",
                                .help = R"(In RoCEv2 a congested switch marks the two ECN bits of the IP header, and
the receiver answers with a congestion notification packet (CNP). FECN and BECN of data packets stay 0. The CNP has
BECN 1, FECN 0, PSN 0 and 16 reserved bytes of 0.

Usual causes: a sender that sets FECN and BECN as on native InfiniBand, a CNP built from a copy of another header,
vendor data in the reserved bytes.

Look next at: the ECN bits of the IP headers in the other direction, and whether the sender slows down after the
CNP.)"},
                               on_good,
                               packet};

}  // namespace rdmascope::check
