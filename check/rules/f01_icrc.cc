// F-01: the invariant CRC is there and right. A receiver drops a packet with a wrong one without a word.
// One wrong among right ones was damaged on its way; a sender whose every packet is wrong computes it wrongly. Which of
// the two it is shows at the end.
#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

constexpr std::uint64_t enough_packets = 3;  // damage does not hit so many in a row and no other

void packet(const Context& c, Findings& out) {
  const dissect::Crc& icrc = c.packet.icrc();
  if (icrc.status != dissect::CrcStatus::bad) return;
  const std::uint8_t* b = c.packet.bytes.data() + icrc.at;
  const std::uint32_t actual = std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  Finding finding{&f01_icrc.info, Class::anomaly, c.packet.frame.number, c.packet.frame.time_ns};
  finding.side = c.side;
  finding.field = "infiniband.invariant.crc";
  finding.expected = icrc.expected;
  finding.actual = actual;
  finding.text = c.connection.good_icrc[c.side] > 0 ? "damaged on the way: other packets of this sender are right"
                                                    : "damaged on the way, or computed wrongly";
  out.add(&c.connection, std::move(finding));
}

void end(Connection& connection, Findings& out) {
  for (std::uint8_t side = 0; side < 2; ++side)
    if (connection.good_icrc[side] == 0 && connection.bad_icrc[side] >= enough_packets)
      out.say_of(f01_icrc.info, connection, side, 0, connection.last_ns,
                 "all " + std::to_string(connection.bad_icrc[side]) +
                     " packets of this sender are wrong: it computes the ICRC wrongly");
}

}  // namespace

const Rule f01_icrc{{.id = "F-01",
                     .title = "Invariant CRC is present and correct",
                     .ibta = "C7-47, C7-48",
                     .source = "IBTA vol. 1, section 7.8.1; Linux drivers/infiniband/sw/rxe: rxe_icrc.c",
                     .help = R"(The ICRC covers everything between the addresses and the end of the payload. A
receiver drops a packet with a wrong ICRC silently, so the sender sees a loss and sends again.

Usual causes: a cable, switch or adapter that damages packets; a middlebox that rewrites IP identification, DF or
total length; a sender (emulator, FPGA) that computes the ICRC wrongly, then every packet of it is wrong; a capture on
the sending host, taken before the adapter filled it in.

Look next at: how many packets of this sender are wrong (all, or some), and whether a retransmission follows.)"},
                    on_any,
                    packet,
                    end};

}  // namespace rdmascope::check
