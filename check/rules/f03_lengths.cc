// F-03: the lengths in LRH, GRH, IP and UDP agree with each other and with the packet on the wire.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

std::uint32_t u16(const std::uint8_t* p) { return static_cast<std::uint32_t>(p[0] << 8 | p[1]); }

// The outermost header that the packet's transport hangs on: tunnels around it have their own rules.
std::uint32_t envelope_start(const Packet& p) {
  if (const Layer* ip = ip_of(p)) return ip->at;
  if (const Layer* lrh = lrh_of(p)) return lrh->at;
  const Layer* before = before_bth(p, 1);
  return before ? before->at : 0;
}

void report(const Context& c, Findings& out, std::string_view field, std::uint64_t expected, std::uint64_t actual) {
  Finding f{&f03_lengths.info, Class::violation, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.side;
  f.field = field;
  f.expected = expected;
  f.actual = actual;
  if (c.bad_crc) {
    f.kind = Class::anomaly;
    f.text = "the CRC is wrong, too: perhaps damaged on the way";
  }
  out.add(&c.connection, std::move(f));
}

void packet(const Context& c, Findings& out) {
  const Packet& p = c.packet;
  for (const Event& e : p.events()) {
    if (e.problem != Problem::bad_length || e.byte < envelope_start(p)) continue;
    if (e.where == &header<Lrh>)  // the event counts bytes
      return report(c, out, "infiniband.lrh.pktlen", e.expected / 4, e.actual / 4);
    if (e.where == &header<Grh>) return report(c, out, "infiniband.grh.paylen", e.expected, e.actual);
    if (e.where == &header<Udp>) return report(c, out, "udp.length", e.expected, e.actual);
    if (e.where == &header<Ipv6>) return report(c, out, "ipv6.plen", e.expected, e.actual);
    if (e.where == &header<Ipv4> && e.actual != 0)  // 0: the sending host left segmentation to its adapter
      return report(c, out, "ip.len", e.expected, e.actual);
  }
  const Layer* udp = before_bth(p, 1);
  if (is<Udp>(udp)) {  // UDP smaller than IP: the walker takes the tighter bound
    const Layer* ip = ip_of(p);
    if (!ip) return;
    const std::uint8_t* b = p.data(*ip);
    const std::uint32_t end = is<Ipv4>(ip) ? ip->at + u16(b + 2) : ip->at + Ipv6::bytes + u16(b + 4);
    const std::uint32_t length = u16(p.data(*udp) + 4);
    if (end > udp->at && udp->at + length < end) report(c, out, "udp.length", end - udp->at, length);
  } else if (p.icrc().status == CrcStatus::bad) {
    // Bytes behind the packet may be the capture's, unless the ICRC is not where it should be. A mirror has some of its
    // own.
    const Layer* lrh = p.find(header<IbMirror>) ? nullptr : lrh_of(p);
    const Layer* trailer = lrh ? p.find(header<IbTrailer>) : nullptr;
    if (trailer)
      report(c, out, "infiniband.lrh.pktlen", (trailer->at + trailer->bytes - lrh->at) / 4,
             (trailer->at - lrh->at) / 4);
  }
}

// UDP lengths that leave no room for a BTH; and lengths that do not agree in packets that end before it.
void frame(const Packet& p, Findings& out) {
  if (p.events().empty() || is_damaged(p)) return;
  const auto report = [&](std::string_view field, std::uint64_t expected, std::uint64_t actual) {
    out.mismatch_in(f03_lengths.info, p, field, expected, actual);
  };
  if (const Layer* udp = roce_udp(p)) {
    const std::optional<std::uint32_t> room = ip_room(p, *udp);
    const std::uint32_t length = u16(p.data(*udp) + 4);
    if (bad_length_of(p, header<Ipv4>) || bad_length_of(p, header<Ipv6>)) return;  // then who knows what is right
    if (room && *room >= Udp::bytes && length != *room) report("udp.length", *room, length);
  } else if (lacks_bth(p)) {
    if (const Event* e = bad_length_of(p, header<Lrh>))  // the event counts bytes
      report("infiniband.lrh.pktlen", e->expected / 4, e->actual / 4);
    else if (const Event* g = bad_length_of(p, header<Grh>))
      report("infiniband.grh.paylen", g->expected, g->actual);
  }
}

}  // namespace

const Rule f03_lengths{{.id = "F-03",
                        .title = "The lengths of all headers agree",
                        .source = "Linux include/rdma/ib_pack.h; RFC 791, RFC 8200 and RFC 768 for the lengths of IP "
                                  "and UDP",
                        .help = R"(LRH PktLen counts words from the LRH to the ICRC, GRH PayLen counts bytes behind
the GRH to the ICRC, UDP length is what IP has for it. They all say where the packet ends, and so where payload and
ICRC are. A receiver drops a packet whose lengths do not agree; its CRC cannot be verified here either.

Usual causes: a generator that counts a header or a CRC twice or not at all (VCRC counted in PktLen, GRH counted in
PayLen), a middlebox that added bytes, a capture tool that writes a wrong original length.

Look next at: all lengths of the packet in one view, and the captured and original length of the frame.)"},
                       on_any,
                       packet,
                       nullptr,
                       frame};

}  // namespace rdmascope::check
