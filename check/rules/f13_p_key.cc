// F-13: P_Key: low 15 bits are not 0, the same in both directions of a connection, and not both ends limited members.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

constexpr std::string_view field = "infiniband.bth.p_key";
constexpr std::uint16_t partition = 0x7fff, full = 0x8000;

void packet(const Context& c, Findings& out) {
  const auto p_key = static_cast<std::uint16_t>(c.bth.get<"p_key">());
  if ((p_key & partition) == 0) return wrong(out, f13_p_key.info, c, field, p_key, "this partition does not exist");
  if (!c.flow) return;  // datagrams may take turns
  Connection& connection = c.connection;
  if (!connection.p_key) connection.p_key = p_key;
  if (((*connection.p_key ^ p_key) & partition) != 0)
    return out.mismatch(f13_p_key.info, c, field, *connection.p_key, p_key, "the connection has another partition");
  const auto member = p_key & full ? Membership::full : Membership::limited;
  if (connection.member[c.side] != member) {  // said once, not for every packet
    connection.member[c.side] = member;
    if (member == Membership::limited && connection.member[c.side ^ 1] == Membership::limited)
      out.mismatch(f13_p_key.info, c, field, p_key | full, p_key, "both ends are limited members");
  }
}

}  // namespace

const Rule f13_p_key{{.id = "F-13",
                      .title = "P_Key is valid and the same at both ends",
                      .source = "Linux drivers/infiniband/sw/rxe: rxe_recv.c",
                      .help = R"(The P_Key names the partition, a network inside the network. Its low 15 bits are
never 0 and are the same for both ends of a connection. The top bit says whether the sender is a full member; two
limited members may not talk to each other. A receiver drops a packet with a foreign P_Key, counts it, and may send a
trap.

Usual causes: queue pairs set up with another P_Key index at one end, a partition table the subnet manager changed
while the connection lived, an emulator that sends 0.

Look next at: the partition tables of both ports (smpquery pkeys, or /sys/class/infiniband/*/ports/*/pkeys), and
the P_Key in the CM REQ.)"},
                     on_good,
                     packet};

}  // namespace rdmascope::check
