// F-12: reserved bits of BTH and the extension headers are 0. Receivers ignore them. The six bits beside FECN and BECN
// are no sender's promise: the ICRC leaves them out, so that switches may change them, and real adapters set them. They
// are told as an anomaly, once.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

void zero(const Context& c, Findings& out, std::string_view field, std::uint64_t bits) {
  if (bits != 0) out.mismatch(f12_reserved.info, c, field, 0, bits);
}

void variant(const Context& c, Findings& out, std::uint8_t bits) {
  std::uint8_t& seen = c.connection.reserved6[c.side];
  if ((bits & ~seen) == 0 || c.connection.id == 0) return;
  seen |= bits;
  Finding f{&f12_reserved.info, Class::anomaly, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.side;
  f.field = "infiniband.bth.reserved6";
  f.expected = 0;
  f.actual = bits;
  f.text = "outside the ICRC: set by the sender or on the way; further packets with these bits are not listed";
  out.add(&c.connection, std::move(f));
}

void packet(const Context& c, Findings& out) {
  if (c.opcode.transport >= Transport::vendor6 || c.opcode.transport == Transport::rd) return;
  variant(c, out, static_cast<std::uint8_t>(c.bth.get<"reserved6">()));
  zero(c, out, "infiniband.bth.reserved7", c.bth.get<"reserved7">());
  constexpr unsigned wanted = ext_deth | ext_xrceth | ext_feth | ext_aeth;
  if (!(c.opcode.extensions & wanted)) return;
  if (c.opcode.extensions & ext_aeth) {
    if (const auto aeth = c.packet.find<Aeth>())
      zero(c, out, "infiniband.aeth.syndrome.reserved", aeth->get<"syndrome.reserved">());
    return;
  }
  if (const auto deth = c.opcode.extensions & ext_deth ? c.packet.find<Deth>() : std::nullopt)
    zero(c, out, "infiniband.deth.reserved8", deth->get<"reserved8">());
  if (const auto xrceth = c.opcode.extensions & ext_xrceth ? c.packet.find<Xrceth>() : std::nullopt)
    zero(c, out, "infiniband.xrceth.reserved8", xrceth->get<"reserved8">());
  if (const auto feth = c.opcode.extensions & ext_feth ? c.packet.find<Feth>() : std::nullopt) {
    zero(c, out, "infiniband.feth.reserved26", feth->get<"reserved26">());
    zero(c, out, "infiniband.feth.plt.reserved2", feth->get<"plt.reserved2">());
  }
}

}  // namespace

const Rule f12_reserved{{.id = "F-12",
                         .title = "Reserved bits of BTH and extension headers are 0",
                         .severity = Severity::warning,
                         .source = "IBTA annex A17 (RoCEv2), section A17.9.3: sent as 0, ignored on receipt",
                         .help = R"(Reserved bits are sent as 0 and ignored by receivers, so that a later version of
the specification can give them a meaning. Looked at are six bits beside FECN and BECN, seven beside AckReq, the
reserved bytes of DETH, XRCETH and FETH, and the top bit of the AETH syndrome.

Usual causes: header memory that is not cleared before use, shifted bit fields, a vendor's private use of the bits.

Look next at: whether every packet of the sender has them or only some. The bits beside FECN and BECN are outside
the ICRC, a switch may have changed them, and some adapters set one in every request: an anomaly, told once per
direction. All others are covered by the ICRC and come from the sender.)"},
                        on_good,
                        packet};

}  // namespace rdmascope::check
