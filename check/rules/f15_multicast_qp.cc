// F-15: queue pair 0xFFFFFF stands for a multicast group: datagrams to a multicast address only.
#include <algorithm>

#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

bool is_multicast_ipv4(const std::uint8_t* address) { return address[0] >> 4 == 0xe; }
bool is_multicast_gid(const std::uint8_t* gid) {
  if (gid[0] == 0xff) return true;
  static constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(mapped, mapped + 12, gid) && is_multicast_ipv4(gid + 12);
}

void packet(const Context& c, Findings& out) {
  if (c.bth.get<"destqp">() != qp_multicast) return;
  const RuleInfo& rule = f15_multicast_qp.info;
  const Packet& p = c.packet;
  if (c.opcode.transport < Transport::vendor6 && c.opcode.transport != Transport::ud)
    return wrong(out, rule, c, "infiniband.bth.opcode", c.opcode_byte, "multicast is for UD");
  if (const Layer* ip = ip_of(p)) {
    const std::uint8_t* b = p.data(*ip);
    if (is<Ipv4>(ip) ? !is_multicast_ipv4(b + 16) : !is_multicast_gid(b + 24))
      wrong(out, rule, c, "infiniband.bth.destqp", qp_multicast, "the IP destination is no multicast address");
    return;
  }
  const Layer* lrh = lrh_of(p);
  if (const Layer* grh = grh_of(p)) {
    if (!is_multicast_gid(p.data(*grh) + 24))
      return wrong(out, rule, c, "infiniband.bth.destqp", qp_multicast, "the destination GID is no multicast address");
  } else if (lrh) {
    return wrong(out, rule, c, "infiniband.lrh.lnh", View<Lrh>(p.data(*lrh)).get<"lnh">(), "multicast needs a GRH");
  }
  if (!lrh) return;
  if (const auto dlid = View<Lrh>(p.data(*lrh)).get<"dlid">(); dlid < 0xc000)
    wrong(out, rule, c, "infiniband.lrh.dlid", dlid, "a unicast LID, though the queue pair is that of multicast");
}

}  // namespace

const Rule f15_multicast_qp{{.id = "F-15",
                             .title = "QP 0xFFFFFF is for multicast datagrams only",
                             .source = "Linux drivers/infiniband/sw/rxe: rxe_recv.c",
                             .help = R"(Queue pair number 0xFFFFFF means: all queue pairs that joined the multicast
group of the destination address. It needs UD, a multicast GID or IP address, on native InfiniBand also a GRH and a
multicast LID. Receivers drop such a packet when the address is that of one host.

Usual causes: an address handle of a unicast peer used with the multicast queue pair number, a destination queue pair
that was never set (all ones).

Look next at: the destination address of the packet, and how the sender learnt the queue pair number.)"},
                            on_good,
                            packet};

}  // namespace rdmascope::check
