// F-05: a GRH has IP version 6 and announces the InfiniBand transport.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const dissect::Layer* layer = grh_of(c.packet);
  if (!layer) return;
  const dissect::View<dissect::Grh> grh(c.packet.data(*layer));
  if (const auto version = grh.get<"ipver">(); version != 6)
    out.mismatch(f05_grh.info, c, "infiniband.grh.ipver", 6, version);
}

// Another next header: no BTH was looked for.
void frame(const dissect::Packet& p, Findings& out) {
  const auto grh = p.find<dissect::Grh>();
  if (!grh || bad_length_of(p, dissect::header<dissect::Lrh>) || is_damaged(p)) return;
  if (const auto version = grh->get<"ipver">(); version != 6)
    out.mismatch_in(f05_grh.info, p, "infiniband.grh.ipver", 6, version);
  if (const auto next = grh->get<"nxthdr">(); next != dissect::nxthdr_iba)
    out.mismatch_in(f05_grh.info, p, "infiniband.grh.nxthdr", dissect::nxthdr_iba, next);
}

}  // namespace

const Rule f05_grh{{.id = "F-05",
                    .title = "GRH has IP version 6 and next header 0x1B",
                    .ibta = "C8-7",
                    .source = "Linux drivers/infiniband/core/ud_header.c; Linux drivers/infiniband/hw/hfi1: ruc.c",
                    .help = R"(LNH 3 in the LRH, and EtherType 0x8915 of RoCEv1, announce a GRH and behind it an
InfiniBand transport packet. The GRH looks like an IPv6 header: version 6, next header 0x1B. With anything else a
receiver does not find the BTH and drops the packet.

Usual causes: RoCEv1 EtherType before a RoCEv2 packet (next header 17 is UDP, version 4 is IPv4), a GRH field written
in the wrong byte order.

Look next at: which RoCE version both ends are set to (GID type), and what made the packet.)"},
                   on_good,
                   packet,
                   nullptr,
                   frame};

}  // namespace rdmascope::check
