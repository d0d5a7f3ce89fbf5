// U-04: the Q_Key of a datagram is that of the queue pair it goes to. Known for QP 1; of another queue pair a capture
// only shows that the sender changed it.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

constexpr std::uint32_t q_key_gsi = 0x80010000;

void packet(const Context& c, Findings& out) {
  const auto deth = c.packet.find<dissect::Deth>();
  const auto qp = c.bth.get<"destqp">();
  if (!deth || qp == dissect::qp_smi) return;  // QP 0 has no Q_Key
  const auto q_key = static_cast<std::uint32_t>(deth->get<"q_key">());
  if (qp == dissect::qp_gsi) {
    if (q_key != q_key_gsi)
      out.mismatch(u04_q_key.info, c, "infiniband.deth.q_key", q_key_gsi, q_key, "the Q_Key of QP 1");
    return;
  }
  if (c.connection.id == 0) return;
  const std::optional<std::uint32_t> last = c.connection.ud_q_key;
  c.connection.ud_q_key = q_key;
  if (!last || *last == q_key) return;
  Finding f{&u04_q_key.info, Class::anomaly, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.side;
  f.field = "infiniband.deth.q_key";
  f.expected = *last;
  f.actual = q_key;
  f.text = "not the one of the packet before; one of them is dropped unless the receiver changed its Q_Key";
  out.add(&c.connection, std::move(f));
}

}  // namespace

const Rule u04_q_key{{.id = "U-04",
                      .title = "The Q_Key is that of the receiving queue pair",
                      .source = "IBTA vol. 1, sections 9.6.1.4.1, 9.6.1.5.1 and 10.2.5, as Linux hw/hfi1: ud.c cites "
                                "them; sw/rxe: rxe_recv.c",
                      .help = R"(A datagram carries the Q_Key of the queue pair it goes to; the receiver drops it
otherwise and counts a violation. QP 1 has the well-known Q_Key 0x80010000, so a packet to it is a violation with any
other. For other queue pairs a change between two packets of one sender is told as an anomaly.

Usual causes: a Q_Key learnt from another queue pair, a value with the top bit set from an application: the sender
then puts its own queue pair's Q_Key into the packet.

Look next at: where the sender learnt the Q_Key (CM SIDR REP, multicast join), and the receiver's Q_Key violation
counter.)"},
                     on_datagram,
                     packet};

}  // namespace rdmascope::check
