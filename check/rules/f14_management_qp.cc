// F-14: queue pairs 0 and 1 take management datagrams only: UD SEND Only with a MAD of 256 bytes; QP 0 on VL 15, and
// VL 15 for nothing else. The Q_Key of QP 1: U-04.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::uint8_t ud_send_only = 0x64, vl_management = 15;

void packet(const Context& c, Findings& out) {
  const RuleInfo& rule = f14_management_qp.info;
  const auto qp = static_cast<std::uint32_t>(c.bth.get<"destqp">());
  const Layer* lrh = lrh_of(c.packet);
  const auto vl = lrh ? View<Lrh>(c.packet.data(*lrh)).get<"vl">() : 0;
  if (qp != qp_smi && vl == vl_management)
    return out.mismatch(rule, c, "infiniband.bth.destqp", qp_smi, qp, "VL 15 is for QP 0");
  if (qp > qp_gsi) return;
  if (c.opcode_byte != ud_send_only)
    return out.mismatch(rule, c, "infiniband.bth.opcode", ud_send_only, c.opcode_byte, "to a management queue pair");
  if (qp == qp_smi && lrh && vl != vl_management)
    return out.mismatch(rule, c, "infiniband.lrh.vl", vl_management, vl, "to QP 0");
  if (qp == qp_smi && !lrh && (is_roce_v2(c.packet) || grh_of(c.packet)))
    return wrong(out, rule, c, "infiniband.bth.destqp", qp, "RoCE has no subnet management");
  if (c.packet.payload_bytes != mad_bytes && c.packet.find(header<Deth>)) {
    for (const Event& e : c.packet.events())  // a MAD that is too short leaves an event of its own
      if (e.problem == Problem::bad_length) return;
    out.mismatch(rule, c, payload_field, mad_bytes, c.packet.payload_bytes, "bytes of payload, a MAD");
  }
}

}  // namespace

const Rule f14_management_qp{{.id = "F-14",
                              .title = "QP 0 and QP 1 take management datagrams only",
                              .source = "Linux drivers/infiniband/sw/rxe: rxe_recv.c, rxe_hdr.h",
                              .help = R"(Queue pair 0 belongs to the subnet manager, queue pair 1 to all other
management (connection manager, subnet administration, counters). Both take one kind of packet: UD SEND Only with a
management datagram of 256 bytes. Packets to QP 0 travel on VL 15, which carries nothing else; RoCE has no QP 0.

Usual causes: a sender with an uninitialised destination queue pair number, a connection used before it was set up, a
generator that leaves the VL at 0.

Look next at: the CM exchange that should have told the queue pair number, and the opcode of the packet.)"},
                             on_good,
                             packet};

}  // namespace rdmascope::check
