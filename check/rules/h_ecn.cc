// H-ECN: switches marked packets (CE), and whether the receiver told the sender by CNPs. A17.9.
#include "check/packet_facts.h"
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  static_cast<void>(out);
  Connection& connection = c.connection;
  if (connection.id == 0) return;
  if (is_marked(c.packet) && connection.ce_marks[c.side]++ == 0)
    connection.first_ce_frame[c.side] = c.packet.frame.number;
  if (c.opcode.transport != dissect::Transport::cnp || c.bad_crc) return;
  const std::int64_t now = c.packet.frame.time_ns;
  if (connection.cnps[c.side]++ > 0) {
    const std::int64_t between = now - connection.last_cnp_ns[c.side];
    std::int64_t& shortest = connection.shortest_cnp_ns[c.side];
    shortest = connection.cnps[c.side] == 2 ? between : std::min(shortest, between);
  }
  connection.last_cnp_ns[c.side] = now;
}

void end(Connection& c, Findings& out) {
  for (std::uint8_t side = 0; side < 2; ++side) {
    const std::uint8_t other = side ^ 1;
    const std::uint64_t marks = c.ce_marks[side], cnps = c.cnps[other];
    if (marks == 0 && cnps == 0) continue;
    std::string text = fmt::format("{} marked by switches, {} sent back", count(marks, "packet"), count(cnps, "CNP"));
    if (cnps > 1) text += fmt::format(", the nearest two {} apart", duration(c.shortest_cnp_ns[other]));
    if (marks > 0 && cnps == 0) text += ": the sender is not told";
    if (marks == 0) text += ": marked behind the capture point";
    out.say_of(h_ecn.info, c, side, c.first_ce_frame[side], c.last_ns, std::move(text));
  }
}

}  // namespace

const Rule h_ecn{
    {.id = "H-ECN",
     .title = "Congestion was marked on the way",
     .kind = Class::anomaly,
     .severity = Severity::info,
     .source = "IBTA annex A17 (RoCEv2), section A17.9.3; RFC 3168 for the mark in the IP header",
     .help =
         R"(A switch whose queue fills marks packets (ECN "congestion experienced") instead of dropping them. The receiver sends
congestion notification packets (CNP) to the sender, which lowers its rate. Receivers send at most one CNP per queue pair
in some microseconds, so fewer CNPs than marks are normal.

Marks without any CNP: the receiver has congestion control switched off, or the CNPs are lost; then the queue grows until
packets are lost.

Look next at: DCQCN settings on both hosts, the priority CNPs are sent with, H-LOSS.)"},
    on_any,
    packet,
    end};

}  // namespace rdmascope::check
