// F-08: the packet holds all headers its opcode needs, the pad bytes BTH counts, and the ICRC. What the capture cut off
// is no fault of the packet: the walker tells the two apart by the length on the wire.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

// Where the header should have been; empty: not a header of the transport.
std::string_view first_field(const Header& h) {
  static constexpr std::pair<const Header*, std::string_view> fields[] = {
      {&header<Deth>, "infiniband.deth.q_key"},
      {&header<Xrceth>, "infiniband.xrceth.xrcsrq"},
      {&header<Feth>, "infiniband.feth.plt"},
      {&header<Reth>, "infiniband.reth.va"},
      {&header<Atomiceth>, "infiniband.atomiceth.va"},
      {&header<Aeth>, "infiniband.aeth.syndrome"},
      {&header<Atomicacketh>, "infiniband.atomicacketh.origremdt"},
      {&header<Immdt>, "infiniband.immdt.data"},
      {&header<Ieth>, "infiniband.ieth.r_key"},
      {&header<Cnp>, "infiniband.cnp.reserved128"},
      {&header<Icrc>, "infiniband.invariant.crc"}};
  for (const auto& [where, field] : fields)
    if (where == &h) return field;
  return {};
}

// Otherwise F-03 tells.
bool lengths_of_envelope_agree(const Packet& p) {
  for (const Event& e : p.events())
    if (e.problem == Problem::bad_length) return false;
  const Layer* const udp = roce_udp(p);
  if (!udp) return true;
  const View<Udp> view(p.data(*udp));
  return ip_room(p, *udp) == view.get<"length">();
}

void packet(const Context& c, Findings& out) {
  if (c.packet.events().empty() || c.opcode.transport == Transport::rd) return;
  for (const Event& e : c.packet.events()) {
    if (e.problem == Problem::bad_length && e.where == &header<Bth>) {
      // Packets without room for pad bytes at all: F-10.
      if (c.opcode.payload == PayloadRule::none || c.opcode.position <= Position::middle) continue;
      return wrong(out, f08_complete.info, c, "infiniband.bth.padcnt", e.actual,
                   "more pad bytes than the " + std::to_string(e.expected) + " behind the headers");
    }
    if (e.problem != Problem::truncated) continue;
    const std::string_view field = first_field(*e.where);
    if (field.empty() || (e.where == &header<Cnp> && !is_roce_v2(c.packet))) continue;
    Finding f{&f08_complete.info, Class::violation, c.packet.frame.number, c.packet.frame.time_ns};
    f.side = c.side;
    f.field = field;
    f.expected = e.expected;
    f.actual = e.actual;
    f.text = "bytes left for the " + std::string(e.where->title);
    return out.add(&c.connection, std::move(f));
  }
}

// Not even the BTH: the length around it leaves no room. An empty datagram is more likely somebody who tries whether
// the port is open.
void frame(const Packet& p, Findings& out) {
  const Event* const e = lacks_bth(p);
  if (!e || !lengths_of_envelope_agree(p) || is_damaged(p)) return;
  constexpr std::uint32_t least = Bth::bytes + Icrc::bytes;
  Finding f{&f08_complete.info, Class::violation, p.frame.number, p.frame.time_ns};
  if (const Layer* udp = roce_udp(p)) {
    if (e->actual == 0) f.kind = Class::anomaly;
    f.field = "udp.length";
    f.expected = Udp::bytes + least;
    f.actual = View<Udp>(p.data(*udp)).get<"length">();
  } else if (p.find(header<Udp>)) {
    return;
  } else if (const auto grh = p.find<Grh>()) {
    f.field = "infiniband.grh.paylen";
    f.expected = least;
    f.actual = grh->get<"paylen">();
  } else if (const auto lrh = p.find<Lrh>()) {
    f.field = "infiniband.lrh.pktlen";
    f.expected = (Lrh::bytes + least) / 4;
    f.actual = lrh->get<"pktlen">();
  }
  f.text = f.kind == Class::anomaly ? "an empty datagram: a probe of the port, or a sender without a packet"
                                    : "or more; the packet ends in its " + std::string(Bth::title);
  out.add(nullptr, std::move(f));
}

}  // namespace

const Rule f08_complete{{.id = "F-08",
                         .title = "The packet holds all its headers, pad bytes and the ICRC",
                         .source = "Linux drivers/infiniband/sw/rxe: rxe_recv.c, rxe_opcode.c",
                         .help = R"(The opcode says which headers follow the BTH, PadCnt how many bytes behind the
payload are filling. Headers, payload, pad and the four bytes of ICRC must fit into the length that UDP, GRH or LRH
states. A receiver drops a packet that ends inside a header.

Usual causes: a generator that forgot a header or the ICRC (then the last four bytes of the packet are taken for it),
a length field that is too small, a wrong opcode.

Look next at: the lengths of the packet, and what stands where the missing header should be. A frame cut by the
snap length of the capture is never reported here.)"},
                        on_good,
                        packet,
                        nullptr,
                        frame};

}  // namespace rdmascope::check
