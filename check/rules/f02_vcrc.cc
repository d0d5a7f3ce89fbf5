// F-02: the variant CRC of a native packet, where the capture has one, is right. Each link computes it anew.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

std::uint64_t stored(const dissect::Packet& p) {
  const std::uint8_t* b = p.bytes.data() + p.vcrc().at;
  return std::uint64_t{b[0]} << 8 | b[1];
}

void packet(const Context& c, Findings& out) {
  const dissect::Crc& vcrc = c.packet.vcrc();
  if (vcrc.status != dissect::CrcStatus::bad) return;
  Finding f{&f02_vcrc.info, Class::violation, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.side;
  f.field = "infiniband.variant.crc";
  f.expected = vcrc.expected;
  f.actual = stored(c.packet);
  if (c.packet.icrc().status == dissect::CrcStatus::bad) {
    f.kind = Class::anomaly;
    f.text = "damaged on the way: the invariant CRC is wrong, too";
  }
  out.add(&c.connection, std::move(f));
}

// Raw packets have no other CRC that could tell damage from a wrong computation.
void frame(const dissect::Packet& p, Findings& out) {
  if (p.vcrc().status != dissect::CrcStatus::bad) return;
  Finding f{&f02_vcrc.info, Class::anomaly, p.frame.number, p.frame.time_ns};
  f.field = "infiniband.variant.crc";
  f.expected = p.vcrc().expected;
  f.actual = stored(p);
  f.text = "damaged on the way, or computed wrongly";
  out.add(nullptr, std::move(f));
}

}  // namespace

const Rule f02_vcrc{{.id = "F-02",
                     .title = "Variant CRC, where present, is correct",
                     .source = "Endace dagcrc.c and the VAPI packet generator (update_VCRC), which agree",
                     .help = R"(The VCRC covers a native InfiniBand packet from the LRH to the ICRC, header fields
that switches change included. Every port computes it for its own link; the next port drops a packet with a wrong one.
RoCE packets have none, and some captures leave it out: then nothing is judged.

Usual causes: a bad link (then the ICRC is often wrong, too), a tool that edited or replayed the packet, a generator
that stores the CRC in the wrong byte order or leaves the ICRC out of it.

Look next at: the error counters of the port before the capture point, and whether the ICRC of the packet is
right: then only the last hop, or the capture, is to blame.)"},
                    on_any,
                    packet,
                    nullptr,
                    frame};

}  // namespace rdmascope::check
