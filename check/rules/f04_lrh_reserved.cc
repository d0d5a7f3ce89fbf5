// F-04: LRH version and reserved bits are 0.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const dissect::Layer* layer = lrh_of(c.packet);
  if (!layer) return;
  const dissect::View<dissect::Lrh> lrh(c.packet.data(*layer));
  if (const auto version = lrh.get<"lver">(); version != 0)
    out.mismatch(f04_lrh_reserved.info, c, "infiniband.lrh.lver", 0, version);
  if (const auto bits = lrh.get<"reserved2">(); bits != 0)
    out.mismatch(f04_lrh_reserved.info, c, "infiniband.lrh.reserved2", 0, bits);
  if (const auto bits = lrh.get<"reserved5">(); bits != 0)
    out.mismatch(f04_lrh_reserved.info, c, "infiniband.lrh.reserved5", 0, bits);
}

}  // namespace

const Rule f04_lrh_reserved{{.id = "F-04",
                             .title = "LRH version and reserved bits are 0",
                             .source = "Linux drivers/infiniband/core/ud_header.c",
                             .help = R"(A native InfiniBand packet starts with the LRH. Its version is 0, there is no
other one, and two groups of reserved bits are sent as 0. Ports drop packets of another link version.

Usual causes: bytes before the packet that are no LRH (a wrong link type of the capture, a vendor header), a generator
with shifted bit fields.

Look next at: whether the other LRH fields make sense (LNH 2 or 3, PktLen equal to the length). If they do not,
the capture does not start with an LRH.)"},
                            on_good,
                            packet};

}  // namespace rdmascope::check
