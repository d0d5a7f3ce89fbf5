// CQE-15: VLAN and source LID are possible on this port. cqe-sniffer.md 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

void completion(const CompletionContext& c, Findings& out) {
  if (!is_receive(c) || !c.is_mlx4()) return;
  const bool datagram = c.qp_type() == dissect::qpt_ud || c.qp_type() == dissect::qpt_raw;
  if (!datagram) return;
  const std::uint64_t vlan = mlx4(c).get<"vlan">();
  const std::string_view field = of_mlx4(c, "cqe.mlx4.vlan", "cqe.mlx4_ts.vlan");
  if (c.is_ethernet() && vlan == 3) out.wrong_in(cqe15_addresses.info, c, field, vlan, "not defined");
  if (!c.is_infiniband()) return;
  if (vlan != 0) out.mismatch_in(cqe15_addresses.info, c, field, 0, vlan, "InfiniBand has no VLANs");
  if (c.entry.format != CqeFormat::mlx4 || c.qp_type() != dissect::qpt_ud) return;
  const std::uint64_t slid = mlx4(c).get<"slid_smac47_32">();
  if (slid == 0 || (slid >= 0xc000 && slid != 0xffff))
    out.wrong_in(cqe15_addresses.info, c, "cqe.mlx4.slid_smac47_32", slid, "no unicast and no permissive LID",
                 Class::anomaly);
}

}  // namespace

const Rule cqe15_addresses{
    .info =
        {.id = "CQE-15",
         .title = "VLAN and source LID are possible on this port",
         .source = "hermon PRM, vlan and slid",
         .help =
             R"(The two VLAN bits tell an inner from an outer tag, never both, and mean something on Ethernet only. The source LID of a
datagram on InfiniBand is a unicast LID (0x0001 to 0xbfff) or the permissive one (0xffff).

Usual causes: a wrong link layer in the capture, a queue with time stamps read as one without (then LID and VLAN are part
of the time), a damaged entry.

Look next at: format and flags of the record.)"},
    .completion = completion};

}  // namespace rdmascope::check
