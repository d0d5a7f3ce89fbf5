#!/usr/bin/env python3
"""Writes tests/golden/captures/: small captures, made by hand, one subject per file.

Deterministic and independent of the project's own code: headers, CRCs and file formats are built here from
the published layouts, and before anything is written the builder must reproduce known packets (check_builder).
To add a capture, write a function with @capture(name, what it holds); README.md there is made from the same line.
"""
import hashlib
import os
import struct
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "captures")

# ---------------------------------------------------------------------------------------------------- bytes


def be(value, size):
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "big")


def bits(*pairs):
    """Bit fields, most significant first: bits((value, width), ...)."""
    word = width = 0
    for value, w in pairs:
        word = word << w | (value & ((1 << w) - 1))
        width += w
    assert width % 8 == 0, width
    return be(word, width // 8)


def pattern(size):
    return bytes((i * 7 + 0x51) & 0xff for i in range(size))


def ip4(text):
    return bytes(int(part) for part in text.split("."))


def ip6(last):
    return bytes.fromhex("20010db8") + bytes(11) + bytes([last])


def gid4(text):
    return bytes(10) + b"\xff\xff" + ip4(text)


# ---------------------------------------------------------------------------------------------------- CRCs


def icrc(covered):
    """Invariant CRC: CRC-32 of the masked bytes, stored little-endian."""
    return struct.pack("<I", zlib.crc32(covered))


def crc16(data):
    """x^16+x^12+x^3+x+1, reflected, complemented; ASCII 123456789 gives 0x0a3d."""
    register = 0xffff
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0xd008 if register & 1 else 0)
    return register ^ 0xffff


def vcrc(data):
    return struct.pack("<H", crc16(data))


def inet_sum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def ones(data, *ranges):
    """Masking for the ICRC: whole bytes to ones."""
    out = bytearray(data)
    for first, last in ranges:
        out[first:last] = b"\xff" * (last - first)
    return bytes(out)


def mask_ipv4(header):
    # TOS, TTL and checksum. Options, if any, are covered as they are: UNCONFIRMED, no public sample.
    return ones(header, (1, 2), (8, 9), (10, 12))


def mask_ipv6(header):
    """Traffic class, flow label, hop limit; also fits the GRH."""
    return bytes([header[0] | 0x0f]) + ones(header[1:], (0, 3), (6, 7))


def mask_udp(header):
    return ones(header, (6, 8))


def mask_bth(transport):
    return ones(transport, (4, 5))  # FECN, BECN and six reserved bits


# ---------------------------------------------------------------------------------------------------- IB transport

PMTU = 256

# operation: classes that define it, headers after BTH as in RC, payload bytes of the example packet
OPERATIONS = {
    0x00: ("rc uc rd xrc", "", PMTU),
    0x01: ("rc uc rd xrc", "", PMTU),
    0x02: ("rc uc rd xrc", "", 5),
    0x03: ("rc uc rd xrc", "immdt", 6),
    0x04: ("rc uc rd ud xrc", "", 16),
    0x05: ("rc uc rd ud xrc", "immdt", 7),
    0x06: ("rc uc rd xrc", "reth", PMTU),
    0x07: ("rc uc rd xrc", "", PMTU),
    0x08: ("rc uc rd xrc", "", 8),
    0x09: ("rc uc rd xrc", "immdt", 1),
    0x0a: ("rc uc rd xrc", "reth", 13),
    0x0b: ("rc uc rd xrc", "reth immdt", 14),
    0x0c: ("rc rd xrc", "reth", 0),
    0x0d: ("rc rd xrc", "aeth", PMTU),
    0x0e: ("rc rd xrc", "", PMTU),
    0x0f: ("rc rd xrc", "aeth", 2),
    0x10: ("rc rd xrc", "aeth", 15),
    0x11: ("rc rd xrc", "aeth", 0),
    0x12: ("rc rd xrc", "aeth atomicacketh", 0),
    0x13: ("rc rd xrc", "atomiceth", 0),
    0x14: ("rc rd xrc", "atomiceth", 0),
    0x15: ("rd", "", 0),
    0x16: ("rc xrc", "ieth", 3),
    0x17: ("rc xrc", "ieth", 4),
    0x1c: ("rc rd xrc", "feth reth", 0),
    0x1d: ("rc rd xrc", "reth", 8),
}
CLASSES = {0: "rc", 1: "uc", 2: "rd", 3: "ud", 5: "xrc"}
RESPONSES = range(0x0d, 0x13)


def is_response(opcode):
    return CLASSES.get(opcode >> 5) in ("rc", "rd", "xrc") and opcode & 0x1f in RESPONSES


def extensions(opcode):
    """Names of the headers behind BTH, in wire order."""
    kind, operation = CLASSES.get(opcode >> 5), opcode & 0x1f
    if opcode == 0x81:
        return ["cnp"]
    if kind is None or operation not in OPERATIONS or kind not in OPERATIONS[operation][0].split():
        return []
    names = OPERATIONS[operation][1].split()
    if kind == "rd":  # FLUSH is drawn without DETH in the only public source
        names = (["rdeth"] if is_response(opcode) or operation == 0x1c else ["rdeth", "deth"]) + names
    elif kind == "ud":
        names = ["deth"] + names
    elif kind == "xrc" and not is_response(opcode):
        names = ["xrceth"] + names
    return names


def defined_opcodes():
    return [0x80, 0x81] + [c << 5 | op for c, kind in CLASSES.items() for op in OPERATIONS
                           if kind in OPERATIONS[op][0].split()]


def extension(name, f):
    if name == "rdeth":
        return be(0, 1) + be(f.get("eec", 0x44), 3)
    if name == "deth":
        return be(f.get("q_key", 0x11111111), 4) + be(0, 1) + be(f.get("srcqp", 0x22), 3)
    if name == "xrceth":
        return be(0, 1) + be(f.get("srq", 0x33), 3)
    if name == "reth":
        return be(f.get("va", 0x999000), 8) + be(f.get("r_key", 0x12345), 4) + be(f.get("dmalen", 0), 4)
    if name == "atomiceth":
        return (be(f.get("va", 0x999000), 8) + be(f.get("r_key", 0x12345), 4) +
                be(f.get("swap", 0x1122334455667788), 8) + be(f.get("compare", 0x99aabbccddeeff00), 8))
    if name == "aeth":
        return be(f.get("syndrome", 0x1f), 1) + be(f.get("msn", 1), 3)
    if name == "atomicacketh":
        return be(f.get("original", 0x0123456789abcdef), 8)
    if name == "immdt":
        return be(f.get("imm", 0xcafef00d), 4)
    if name == "ieth":
        return be(f.get("invalidate", 0x54321), 4)
    if name == "feth":
        return bits((0, 26), (f.get("sel", 0), 2), (f.get("plt", 1), 4))
    assert name == "cnp"
    return bytes(16)


def bth(opcode, psn, qp=0x11, se=0, m=1, padcnt=0, tver=0, p_key=0xffff, byte4=0, a=0, resv7=0):
    return (bits((opcode, 8), (se, 1), (m, 1), (padcnt, 2), (tver, 4)) + be(p_key, 2) + be(byte4, 1) + be(qp, 3) +
            bits((a, 1), (resv7, 7)) + be(psn, 3))


BTH_FIELDS = ("qp", "se", "m", "padcnt", "tver", "p_key", "byte4", "a", "resv7")


def ib(opcode, psn=0, payload=b"", **f):
    """BTH, extension headers, payload and pad; the ICRC belongs to the envelope."""
    pad = -len(payload) % 4
    f.setdefault("padcnt", pad)
    if is_response(opcode):
        f.setdefault("qp", 0x22)
    fields = {name: f[name] for name in BTH_FIELDS if name in f}
    headers = bth(opcode, psn, **fields) + b"".join(extension(name, f) for name in extensions(opcode))
    return headers + payload + bytes(pad)


def ack(psn=1, **f):
    return ib(0x11, psn, **f)


def cnp(qp=0x118, **f):
    return ib(0x81, 0, qp=qp, m=0, byte4=0x40, **f)


# ---------------------------------------------------------------------------------------------------- envelopes

MAC_A, MAC_B = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


def udp(payload, sport, dport, length=None, checksum=0):
    return be(sport, 2) + be(dport, 2) + be(8 + len(payload) if length is None else length, 2) + be(checksum, 2) + payload


def ipv4(payload, protocol, src="10.0.0.1", dst="10.0.0.2", tos=2, ident=0, flags=0x4000, ttl=64, options=b"",
         total=None):
    ihl = 5 + len(options) // 4
    header = (bits((4, 4), (ihl, 4)) + be(tos, 1) + be(ihl * 4 + len(payload) if total is None else total, 2) +
              be(ident, 2) + be(flags, 2) + be(ttl, 1) + be(protocol, 1) + bytes(2) + ip4(src) + ip4(dst) + options)
    return header[:10] + be(inet_sum(header), 2) + header[12:] + payload


def ipv6(payload, next_header, src=ip6(1), dst=ip6(2), tclass=2, flow=0x12345, hops=64, length=None):
    return (bits((6, 4), (tclass, 8), (flow, 20)) + be(len(payload) if length is None else length, 2) +
            be(next_header, 1) + be(hops, 1) + src + dst + payload)


def udp6_checksum(datagram, addresses):
    checksum = inet_sum(addresses + be(len(datagram), 4) + be(17, 4) + datagram) or 0xffff
    return datagram[:6] + be(checksum, 2) + datagram[8:]


def udp6(payload, src=ip6(1), dst=ip6(2)):
    return ipv6(udp6_checksum(udp(payload, 5000, 5001), src + dst), 17, src, dst)


def rocev2(transport, sport=49152, dport=4791, udp_length=None, udp_checksum=0, crc=None, **ip):
    """IPv4, UDP, transport, ICRC. `transport` may be cut short: what is there is covered."""
    if is_response(transport[0]) and "src" not in ip:
        ip.update(src="10.0.0.2", dst="10.0.0.1")
    datagram = udp(transport + bytes(4), sport, dport, udp_length, udp_checksum)
    packet = ipv4(datagram, 17, **ip)
    header = packet[:-len(datagram)]
    covered = b"\xff" * 8 + mask_ipv4(header) + mask_udp(datagram[:8]) + mask_bth(transport)
    return packet[:-4] + (icrc(covered) if crc is None else crc)


def rocev2_ipv6(transport, sport=49152, dport=4791, chain=(), **ip):
    """`chain`: extension headers as (number, bytes behind the next header byte). Covered as they are: UNCONFIRMED."""
    if is_response(transport[0]) and "src" not in ip:
        ip.update(src=ip6(2), dst=ip6(1))
    numbers = [number for number, _ in chain] + [17]
    between = b"".join(be(numbers[i + 1], 1) + body for i, (_, body) in enumerate(chain))
    datagram = udp(transport + bytes(4), sport, dport)
    packet = ipv6(between + datagram, numbers[0], **ip)
    crc = icrc(b"\xff" * 8 + mask_ipv6(packet[:40]) + between + mask_udp(datagram[:8]) + mask_bth(transport))
    datagram = datagram[:-4] + crc
    return packet[:40] + between + udp6_checksum(datagram, packet[8:40])


def grh(payload_bytes, sgid, dgid, tclass=2, flow=0, next_header=0x1b, hops=1):
    return (bits((6, 4), (tclass, 8), (flow, 20)) + be(payload_bytes, 2) + be(next_header, 1) + be(hops, 1) + sgid + dgid)


def rocev1(transport, sgid=gid4("10.0.0.1"), dgid=gid4("10.0.0.2"), paylen=None, **f):
    """GRH, transport, ICRC: what follows EtherType 0x8915."""
    header = grh(len(transport) + 4 if paylen is None else paylen, sgid, dgid, **f)
    return header + transport + icrc(b"\xff" * 8 + mask_ipv6(header) + mask_bth(transport))


def lrh(words, lnh, slid=1, dlid=2, vl=0, sl=0):
    return bits((vl, 4), (0, 4), (sl, 4), (0, 2), (lnh, 2)) + be(dlid, 2) + be(words, 2) + be(slid, 2)


def native(transport, gids=None, pktlen=None, paylen=None, with_vcrc=True, **f):
    """LRH, GRH if there are GIDs, transport, ICRC, VCRC."""
    if is_response(transport[0]) and "slid" not in f:
        f.update(slid=2, dlid=1)
    inner = transport + bytes(4)
    route = grh(len(inner) if paylen is None else paylen, *gids) if gids else b""
    words = (8 + len(route) + len(inner)) // 4 if pktlen is None else pktlen
    local = lrh(words, 3 if gids else 2, **f)
    if gids:
        covered = b"\xff" * 8 + mask_ipv6(route)
    else:
        covered = bytes([local[0] | 0xf0]) + local[1:]
    packet = local + route + transport + icrc(covered + mask_bth(transport))
    return packet + vcrc(packet) if with_vcrc else packet


def native_raw(lnh, payload, **f):
    """LNH 0 (raw header and any EtherType) and LNH 1 (IPv6): no ICRC, only VCRC."""
    payload += bytes(-len(payload) % 4)
    packet = lrh(2 + len(payload) // 4, lnh, **f) + payload
    return packet + vcrc(packet)


def ether(payload, ethertype=0x0800, tags=(), pad=False, fcs=False, src=MAC_A, dst=MAC_B):
    frame = dst + src + b"".join(be(tpid, 2) + be(tci, 2) for tpid, tci in tags) + be(ethertype, 2) + payload
    if pad:
        frame += bytes(max(0, 60 - len(frame)))
    return frame + struct.pack("<I", zlib.crc32(frame)) if fcs else frame


def roce_frame(transport, **f):
    return ether(rocev2(transport, **f))


def gre(payload, protocol, key=None, sequence=None):
    flags = (0x2000 if key is not None else 0) | (0x1000 if sequence is not None else 0)
    return (be(flags, 2) + be(protocol, 2) + (be(key, 4) if key is not None else b"") +
            (be(sequence, 4) if sequence is not None else b"") + payload)


def erf(kind, packet, number=0, flags=4, ext=b"", subheader=b"", multiple=8):
    """ERF record: little-endian 32.32 time, the rest big-endian; rlen counts padding that the pcap record leaves out."""
    stamp = struct.pack("<Q", START << 32 | (number * 10 << 32) // 1000000)
    size = 16 + len(ext) + len(subheader) + len(packet)
    rlen = size + -size % multiple
    return (stamp + be(kind | (0x80 if ext else 0), 1) + be(flags, 1) + be(rlen, 2) + be(0, 2) + be(len(packet), 2) +
            ext + subheader + packet)


# ---------------------------------------------------------------------------------------------------- files

START = 1767225600  # 2026-01-01 00:00:00 UTC
ETHERNET, RAW, SLL, USER0, USER1, ERF, IPV4, IPV6, IPOIB, INFINIBAND, UPPER_PDU, SLL2 = (
    1, 101, 113, 147, 148, 197, 228, 229, 242, 247, 252, 276)


def pcap(link_type, frames, order="<", nano=False):
    """Frames are bytes, or (bytes, wire length)."""
    out = struct.pack(order + "IHHiIII", 0xa1b23c4d if nano else 0xa1b2c3d4, 2, 4, 0, 0, 262144, link_type)
    for number, frame in enumerate(frames):
        data, wire = frame if isinstance(frame, tuple) else (frame, len(frame))
        out += struct.pack(order + "IIII", START, number * 10 * (1000 if nano else 1), len(data), wire) + data
    return out


class Pcapng:
    def __init__(self):
        self.out = b""
        self.section()

    def section(self, order="<", options=()):
        self.order, self.interfaces, self.number = order, 0, 0
        self.block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1) + self.options(options))

    def options(self, options):
        """(code, bytes or text) pairs; numbers are packed by the caller."""
        if not options:
            return b""
        out = b""
        for code, value in options:
            value = value.encode() if isinstance(value, str) else value
            out += struct.pack(self.order + "HH", code, len(value)) + value + bytes(-len(value) % 4)
        return out + bytes(4)

    def block(self, kind, body):
        body += bytes(-len(body) % 4)
        size = struct.pack(self.order + "I", 12 + len(body))
        self.out += struct.pack(self.order + "I", kind) + size + body + size

    def interface(self, link_type, name, options=(), snap=0):
        self.block(1, struct.pack(self.order + "HHI", link_type, 0, snap) + self.options([(2, name)] + list(options)))
        self.interfaces += 1
        return self.interfaces - 1

    def packet(self, interface, data, comment=None, wire=None, stamp=None, options=()):
        if stamp is None:
            stamp = START * 1000000 + self.number * 10
        self.number += 1
        options = ([(1, comment)] if comment else []) + list(options)
        self.block(6, struct.pack(self.order + "IIIII", interface, stamp >> 32, stamp & 0xffffffff, len(data),
                                  len(data) if wire is None else wire) +
                   data + bytes(-len(data) % 4) + self.options(options))

    def simple(self, data):
        self.block(3, struct.pack(self.order + "I", len(data)) + data)

    def obsolete(self, interface, data, stamp):
        self.block(2, struct.pack(self.order + "HHIIII", interface, 0xffff, stamp >> 32, stamp & 0xffffffff, len(data),
                                  len(data)) + data)

    def pack(self, format, *values):
        return struct.pack(self.order + format, *values)


CAPTURES = []


def capture(name, text):
    def add(build):
        CAPTURES.append((name, text, build))
        return build
    return add


# ---------------------------------------------------------------------------------------------------- observed behaviour

# B1 to B22: inputs on which Wireshark 4.0.17 is wrong, silent or the bar to reach.


@capture("b01-icrc-flipped.pcap", "RC WRITE Only, 64 bytes: right ICRC, then one bit of the ICRC flipped")
def b01():
    good = roce_frame(ib(0x0a, 5, pattern(64), dmalen=64))
    bad = roce_frame(ib(0x0a, 6, pattern(64), dmalen=64))
    return pcap(ETHERNET, [good, bad[:-1] + bytes([bad[-1] ^ 0x10])])


@capture("b02-cnp-0x81.pcap", "CNP: opcode 0x81, BECN, 16 reserved bytes")
def b02():
    return pcap(ETHERNET, [roce_frame(cnp())])


@capture("b03-bth-byte4.pcap", "BTH byte 4: BECN, FECN, both, each reserved bit; all with a right ICRC")
def b03():
    return pcap(ETHERNET, [roce_frame(ib(0x04, n, pattern(16), byte4=v)) for n, v in enumerate(
        [0x40, 0x80, 0xc0, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01, 0xff])])


@capture("b04-xrc-send-only.pcap", "XRC SEND Only (0xA4) with XRCETH, 4 bytes of payload")
def b04():
    return pcap(ETHERNET, [roce_frame(ib(0xa4, 9, bytes.fromhex("deadbeef")))])


@capture("b05-flush-atomic-write.pcap", "RC FLUSH (range, both visibilities), FLUSH (whole region), ATOMIC WRITE")
def b05():
    return pcap(ETHERNET, [roce_frame(t) for t in (
        ib(0x1c, 7, plt=3, dmalen=64), ib(0x1c, 8, plt=2, sel=1), ib(0x1d, 9, pattern(8), dmalen=8))])


@capture("b06-send-only-short.pcap", "RC SEND Only with 0 to 16 bytes of payload")
def b06():
    return pcap(ETHERNET, [roce_frame(ib(0x04, n, pattern(n))) for n in range(17)])


@capture("b07-payload-like-ethertype.pcap", "RC SEND Only whose payload starts 08 00 00 00 and is no IPv4")
def b07():
    return pcap(ETHERNET, [roce_frame(ib(0x04, 1, bytes.fromhex("08000000") + pattern(28)))])


@capture("b08-padcnt-3.pcap", "RC WRITE Only with 61 bytes and 3 pad bytes; the same with a pad byte that is not 0")
def b08():
    odd = ib(0x0a, 2, pattern(61), dmalen=61)
    return pcap(ETHERNET, [roce_frame(ib(0x0a, 1, pattern(61), dmalen=61)), roce_frame(odd[:-1] + b"\x77")])


@capture("b09-snap-64.pcap", "READ Response First of 1086 bytes, cut at 64 by the snap length")
def b09():
    frame = roce_frame(ib(0x0d, 1, pattern(1024)))
    return pcap(ETHERNET, [(frame[:64], len(frame))])


@capture("b10-udp-source-53.pcap", "RC ACK from UDP port 53, which looks like DNS")
def b10():
    return pcap(ETHERNET, [roce_frame(ack(), sport=53)])


@capture("b11-udp-source-4789.pcap", "RC ACK from UDP port 4789, which looks like VXLAN")
def b11():
    return pcap(ETHERNET, [roce_frame(ack(), sport=4789)])


@capture("b12-udp-port-9741.pcap", "RC SEND Only and ACK to UDP port 9741 instead of 4791")
def b12():
    return pcap(ETHERNET, [roce_frame(ib(0x04, 1, pattern(32), a=1), dport=9741), roce_frame(ack(), dport=9741)])


@capture("b13-rnr-nak.pcap", "RNR NAK, timer code 12 (0.64 ms)")
def b13():
    return pcap(ETHERNET, [roce_frame(ack(4, syndrome=0x2c, msn=3))])


@capture("b14-rd-acknowledge.pcap", "RD Acknowledge (0x51): RDETH, then AETH")
def b14():
    return pcap(ETHERNET, [roce_frame(ib(0x51, 1, eec=0x123456, syndrome=0x05, msn=7))])


@capture("b15-rd-or-dc-opcodes.pcap", "every opcode from 0x40 to 0x5F, with RD headers where RD defines it")
def b15():
    return pcap(ETHERNET, [roce_frame(example(opcode)) for opcode in range(0x40, 0x60)])


@capture("b16-link-type-247.pcap", "native RC ACK in link type 247, without and with VCRC")
def b16():
    return pcap(INFINIBAND, [native(ack(5), with_vcrc=False), native(ack(6))])


@capture("ib-mirror.pcap", "link type 247: a WRITE in an InfiniBand port mirror, without its VCRC and with it")
def ib_mirror():
    write = ib(0x0a, 6, pattern(6), dmalen=6)
    inside = [native(write, with_vcrc=False), native(write) + bytes(2)]
    return pcap(INFINIBAND, [native_raw(0, be(0, 2) + be(0x1123, 2) + be(0x5a000001, 4) + i, slid=7, dlid=8)
                             for i in inside])


@capture("b16-link-type-247-second.pcapng", "RC ACK on an Ethernet interface, then one on a link type 247 interface")
def b16_second():
    return second_interface(INFINIBAND, native(ack(6)))


@capture("b17-erf-infiniband.pcap", "the packet of b16 as ERF type 21")
def b17():
    return pcap(ERF, [erf(21, native(ack(6)))])


@capture("b17-erf-infiniband-second.pcapng", "RC ACK on an Ethernet interface, then one on an ERF interface")
def b17_second():
    return second_interface(ERF, erf(21, native(ack(6)), 1))


def second_interface(link_type, packet):
    file = Pcapng()
    file.packet(file.interface(ETHERNET, "eth0"), roce_frame(ack(5)))
    file.packet(file.interface(link_type, "ib0"), packet)
    return file.out


def mad(mgmt_class, version, method, attribute, data=b"", at=24, status=0, specific=0, tid=0x100, modifier=0, base=1):
    header = (be(base, 1) + be(mgmt_class, 1) + be(version, 1) + be(method, 1) + be(status, 2) + be(specific, 2) +
              be(tid, 8) + be(attribute, 2) + bytes(2) + be(modifier, 4))
    return (header + bytes(at - 24) + data).ljust(256, b"\0")


def gsi(datagram, psn):
    return roce_frame(ib(0x64, psn, datagram, qp=1, q_key=0x80010000, srcqp=1))


def cm(attribute, data, tid):
    return mad(7, 2, 3, attribute, data, tid=tid)


def cm_request():
    """REQ for 10.0.0.2 port 7471, with the private data header of RDMA CM; packet rate and flow label not 0."""
    path = (be(0xffff, 2) * 2 + gid4("10.0.0.1") + gid4("10.0.0.2") + bits((0xabcde, 20), (0, 6), (3, 6)) +
            be(2, 1) + be(64, 1) + bits((3, 4), (1, 1), (0, 3)) + bits((18, 5), (0, 3)))
    request = (be(0xaa000001, 4) + bytes(4) + be(0x1061d2f, 8) + be(0x0200000000000001, 8) + bytes(8) + be(0x11, 3) +
               be(16, 1) + bytes(3) + be(4, 1) + bytes(3) + bits((20, 5), (0, 2), (1, 1)) + be(0xfffffe, 3) +
               bits((20, 5), (7, 3)) + be(0xffff, 2) + bits((3, 4), (0, 1), (7, 3)) + bits((15, 4), (0, 1), (0, 3)))
    private = bits((0, 8), (4, 4), (0, 4)) + be(54321, 2) + bytes(12) + ip4("10.0.0.1") + bytes(12) + ip4("10.0.0.2")
    assert len(request) == 52 and len(path) == 44 and len(private) == 36
    return request + path + bytes(44) + private + b"hello"


@capture("b18-gsi-mads.pcap", "GSI datagrams: all CM messages, PM, SA with RMPP, BM, DevMgt, SNMP, BIS, CC, vendor ranges, bad status")
def b18():
    ids = be(0xaa000001, 4) + be(0xbb000001, 4)
    back = be(0xbb000001, 4) + be(0xaa000001, 4)
    reply = (back + bytes(4) + be(0x22, 3) + bytes(5) + be(0x10, 3) + bytes(1) + be(4, 1) + be(16, 1) +
             bits((15, 5), (1, 2), (1, 1)) + bits((7, 3), (0, 5)) + be(0x0200000000000002, 8))
    load = (ids + bytes(4) + be(0x22, 3) + bits((20, 5), (0, 3)) + bytes(4) + be(0xffff, 2) * 2 + gid4("10.0.1.1") +
            gid4("10.0.1.2") + bits((0xabcde, 20), (0, 4)) + be(2, 1) + be(64, 1) + be(3, 1) + bits((1, 4), (1, 1), (0, 3)) +
            bits((18, 5), (0, 3)))
    service = be(0x1117777, 8)
    rmpp = bits((1, 8), (1, 8), (0x1f, 5), (7, 3), (0, 8)) + be(1, 4) + be(20 + 112, 4)
    sa_header = bytes(8) + be(0, 2) + bytes(2) + be(0x18, 8)
    table = rmpp + bytes(8) + be(14, 2) + bytes(10)
    oui_ping = bits((0, 32)) + bytes(8) + be(0, 1) + bytes.fromhex("001405") + b"ping"
    mads = [
        cm(0x10, cm_request(), 0x701),
        cm(0x11, back + bits((0, 2), (0, 6)) + bits((19, 5), (0, 3)), 0x701),
        cm(0x12, back + bits((0, 2), (0, 6)) + bits((4, 7), (0, 1)) + be(28, 2) + b"why?", 0x702),
        cm(0x13, reply + b"world", 0x701),
        cm(0x14, ids, 0x701),
        cm(0x15, ids + be(0x22, 3), 0x703),
        cm(0x16, back, 0x703),
        cm(0x17, be(0xcc000001, 4) + be(0xffff, 2) + bytes(2) + service, 0x704),
        cm(0x18, be(0xcc000001, 4) + bytes(4) + be(0x33, 3) + bytes(1) + service + be(0x1ee7, 4), 0x704),
        cm(0x19, load, 0x705),
        cm(0x1a, back + be(0, 1) + be(2, 1), 0x705),
        mad(4, 1, 0x81, 0x12, be(0, 1) + be(1, 1) + be(0xffff, 2) + be(3, 2) + be(1, 1) + be(2, 1) + pattern(32), 64, tid=0x401),
        mad(4, 1, 0x81, 0x1d, be(0, 1) + be(1, 1) + be(0xff, 2) + bytes(4) + pattern(64), 64, tid=0x402),
        mad(4, 1, 0x81, 0x01, be(1, 1) + be(1, 1) + be(0x0200, 2) + be(18, 4), 64, tid=0x403),
        mad(4, 1, 0x01, 0x10, be(1, 1) + be(1, 1), 64, tid=0x404),
        mad(4, 1, 0x81, 0x15, be(0, 1) + be(1, 1) + bytes(2) + pattern(12), 64, tid=0x405),
        mad(3, 2, 0x01, 0x35, bytes(12) + sa_header + bytes(8) + gid4("10.0.0.2") + gid4("10.0.0.1"), 24, tid=0x301),
        mad(3, 2, 0x92, 0x11, table + pattern(44) + b"a node".ljust(68, b"\0"), 24, tid=0x302),
        mad(5, 1, 0x02, 0x11, bytes(8) + pattern(32), 24, tid=0x501),
        mad(6, 1, 0x81, 0x10, be(1, 2) + be(4, 1) + be(1, 1) + bytes.fromhex("10000000"), 64, tid=0x601),
        mad(8, 1, 0x03, 0x11, pattern(64), 64, tid=0x801),
        mad(9, 1, 0x01, 0x1234, pattern(32), 24, tid=0x901),
        mad(0x0a, 1, 0x01, 0x50, pattern(32), 24, tid=0xa01),
        mad(0x12, 1, 0x01, 0x11, pattern(16), 24, tid=0x1201),
        mad(0x21, 2, 0x81, 0x11, be(0x1122334455667788, 8) + bytes(32) + be(1, 2) + be(2, 1), 24, tid=0x2101),
        mad(0x32, 1, 0x01, 0x00, oui_ping, 24, tid=0x3201),
        mad(4, 1, 0x81, 0x12, bytes(2), 64, status=0x001c, tid=0x406),
        mad(3, 2, 0x92, 0x35, bytes(12) + sa_header, 24, status=0x0300, tid=0x303),
        mad(0x50, 1, 0x01, 0x01, b"", 24, base=2, tid=0x5001),
    ]
    return pcap(ETHERNET, [gsi(m, n) for n, m in enumerate(mads)])


@capture("b19-duplicate-and-gap.pcap", "RC SEND Only with PSN 1, 2, 2, 3, 6 and the NAK that asks for 4")
def b19():
    frames = [roce_frame(ib(0x04, psn, pattern(32), a=1)) for psn in (1, 2, 2, 3, 6)]
    return pcap(ETHERNET, frames + [roce_frame(ack(4, syndrome=0x60, msn=3), src="10.0.0.2", dst="10.0.0.1")])


@capture("b20-one-queue-pair.pcap", "ten packets of one queue pair in both directions, each with its own UDP source port")
def b20():
    frames = []
    for n in range(5):
        frames.append(roce_frame(ib(0x04, 100 + n, pattern(24), a=1, qp=0x22), sport=49152 + n))
        frames.append(roce_frame(ack(100 + n, msn=n + 1, qp=0x11), sport=50000 + n))
    return pcap(ETHERNET, frames)


@capture("b22-tunnels.pcap", "RC ACK behind VLAN, QinQ, MPLS, VXLAN, GRE, NVGRE, Geneve (with and without option), ERSPAN I, II, III, IP in IP")
def b22():
    def outer(payload, protocol):
        return ether(ipv4(payload, protocol, src="172.16.0.1", dst="172.16.0.2", tos=0))

    def inner(psn):
        return rocev2(ack(psn))

    def label(value, last):
        return bits((value, 20), (0, 3), (last, 1), (64, 8))

    def erspan3(subheader):
        return (bits((2, 4), (100, 12), (0, 3), (0, 2), (0, 1), (7, 10)) + be(0x12345678, 4) + be(0x11, 2) +
                bits((1, 1), (0, 5), (3, 6), (1, 1), (2, 2), (subheader, 1)))

    erspan2 = bits((1, 4), (100, 12), (0, 3), (3, 2), (0, 1), (7, 10), (0, 12), (5, 20))
    vxlan = bits((0x08, 8), (0, 24), (0x123456, 24), (0, 8))
    option = be(0x0102, 2) + be(0x01, 1) + bits((0, 3), (1, 5)) + be(0xfeedface, 4)

    def geneve(options):
        return (bits((0, 2), (len(options) // 4, 6), (0, 8)) + be(0x6558, 2) + bits((0x123456, 24), (0, 8)) + options)

    return pcap(ETHERNET, [
        ether(inner(1), tags=[(0x8100, 0x6064)]),
        ether(inner(2), tags=[(0x88a8, 0x0064), (0x8100, 0x2065)]),
        ether(label(1000, 0) + label(2000, 1) + inner(3), 0x8847),
        outer(udp(vxlan + ether(inner(4)), 50001, 4789), 17),
        outer(gre(inner(5), 0x0800), 47),
        outer(gre(ether(inner(6)), 0x6558, key=0x123456 << 8 | 7), 47),
        outer(udp(geneve(b"") + ether(inner(7)), 50002, 6081), 17),
        outer(udp(geneve(option) + ether(inner(8)), 50002, 6081), 17),
        outer(gre(ether(inner(9)), 0x88be), 47),
        outer(gre(erspan2 + ether(inner(10)), 0x88be, sequence=1), 47),
        outer(gre(erspan3(0) + ether(inner(11)), 0x22eb, sequence=2), 47),
        outer(gre(erspan3(1) + be(3 << 58 | 0x1234, 8) + ether(inner(12)), 0x22eb, sequence=3), 47),
        outer(inner(13), 4),
        ether(rocev2_ipv6(ack(14)), 0x86dd, tags=[(0x8100, 0x0064)]),
    ])


# ---------------------------------------------------------------------------------------------------- known packets

# Captured or published elsewhere; ICRC (and VCRC) are part of them. The builder must agree with each.
KNOWN_ROCE = {
    "V1": "183d5ebf4371183d5ebf51920800450200300000400040112d60c0a84606c0a84604004812b7001c00001140ffff0000004500000000060000"
          "01259cc216",
    "V2": "248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002c00002460ffff000000d300cf1710463081"
          "8be28935d90e9a95505401be885e50000078f353f3",
    "V3": "248a07a8fa22248a07a8fa2286dd6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024c00012"
          "b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b",
    "V4": "7cfe90753cd87cfe90753cd889156020000000281b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000020a70ff"
          "ff0000010a80a788bc000055d4c0726000000047b3000000050000000001000000e3d856bb",
    "V5": "7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ff"
          "ff0000010900a788c00000000525f0c038",
    "V6": "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000000000"
          "0000000000000000000000000082fd002a",
}
KNOWN_IB = {
    "V7": "7012375c000e17d20a2024870087b1b3000dec2a01710a1c015d400238f27a050000000ebb884d85fd5cfba4728bc0690ed400009625b75a"
          "45fa",
    "V8": "00020004000700011140ffff0087040800d40a551f000001a80355503081",
    "V9": "0003c000002100046000000000541b00fe800000000000000002c9020024f636ff12401bffff000000000000ffffffff6440ffff00ffffff00"
          "0020af00000b1b0000040508060000002008001404000180000405fe800000000000000002c9020024f6360a00012200000000000000000000"
          "000000000000000000000a00003abd6bd6a88883",
}
DERIVED_ROCE = {
    "D1": "02000000000202000000000108004502003c000040004011b6abc0000201c0000202c00012b7002800000c40ffff0000001180fffffe000000"
          "000099900000012345000003002bb49cfc",
    "D2": "020000000002020000000001080045020038000040004011b6afc0000202c0000201c00012b7002400000f70ffff00000022000000001f0000"
          "010102030405000000313f08f2",
    "D3": "020000000002020000000001080045020030000040004011b6b7c0000202c0000201c00012b7001c00001040ffff00000022000000101f0000"
          "02aba2ccba",
    "D4": "020000000002020000000001080045020030000040004011b6b7c0000202c0000201c00012b7001c00001140ffff0000002200000005600000"
          "0394abfff8",
    "D5": "020000000002020000000001080045020030000040004011b6b7c0000202c0000201c00012b7001c00001140ffff00000022000000063f0000"
          "03b0ce312c",
    "D6": "020000000002020000000001080045020040000040004011b6a7c0000201c0000202c00012b7002c00001c40ffff0000001180000007000000"
          "010000000000999000000123450000004025f0bec9",
    "D7": "020000000002020000000001080045020044000040004011b6a3c0000201c0000202c00012b7003000001d40ffff0000001180000008000000"
          "000099900000012345000000081122334455667788cafe3d94",
    "D10": "020000000002020000000001080045020034000040004011b6b3c0000201c0000202c00012b700200000a440ffff000000118000000900000"
           "033deadbeefaa97bc52",
}
DERIVED_IB = {
    "D8": "00020002000a00010c40ffff0000001180000064000000000099900000012345000003006648d0247c41",
    "D9": "00020001000700021040ffff00000022000000641f000001c5533c0286fb",
}


def values(*tables):
    return [bytes.fromhex(text) for table in tables for text in table.values()]


def check_builder():
    """The same CRC and header code that makes the captures, held against packets nobody here made."""
    assert crc16(b"123456789") == 0x0a3d

    def roce(name):
        return bytes.fromhex({**KNOWN_ROCE, **DERIVED_ROCE}[name])

    for name in ("V1", "V2", "V6"):
        frame = roce(name)
        covered = b"\xff" * 8 + mask_ipv4(frame[14:34]) + mask_udp(frame[34:42]) + mask_bth(frame[42:-4])
        assert icrc(covered) == frame[-4:], name
    frame = roce("V3")
    assert icrc(b"\xff" * 8 + mask_ipv6(frame[14:54]) + mask_udp(frame[54:62]) + mask_bth(frame[62:-4])) == frame[-4:]
    for name in ("V4", "V5"):
        frame = roce(name)
        assert icrc(b"\xff" * 8 + mask_ipv6(frame[14:54]) + mask_bth(frame[54:-4])) == frame[-4:], name

    # Whole frames from field values.
    macs = dict(dst=bytes.fromhex("183d5ebf4371"), src=bytes.fromhex("183d5ebf5192"))
    v1 = rocev2(ib(0x11, 0, qp=0x45, syndrome=6, msn=1), sport=72, src="192.168.70.6", dst="192.168.70.4")
    assert ether(v1, **macs) == roce("V1")
    v5 = rocev1(ib(0x11, 0xa788c0, qp=0x109, syndrome=0, msn=5), gid4("15.0.0.2"), gid4("15.0.0.2"), hops=0x40)
    assert v5 == roce("V5")[14:]
    v6 = rocev2(cnp(), sport=0, tos=0xc2, ident=0x718c, src="10.0.17.1", dst="10.0.18.1")
    assert v6 == roce("V6")[14:]

    there = dict(src="192.0.2.1", dst="192.0.2.2")
    back = dict(src="192.0.2.2", dst="192.0.2.1")
    for name, transport, way in (
            ("D1", ib(0x0c, 0xfffffe, a=1, dmalen=768), there),
            ("D2", ib(0x0f, 0, bytes([1, 2, 3, 4, 5])), back),
            ("D3", ib(0x10, 0x10, msn=2), back),
            ("D4", ack(5, syndrome=0x60, msn=3), back),
            ("D5", ack(6, syndrome=0x3f, msn=3), back),
            ("D6", ib(0x1c, 7, a=1, dmalen=64), there),
            ("D7", ib(0x1d, 8, be(0x1122334455667788, 8), a=1, dmalen=8), there),
            ("D10", ib(0xa4, 9, bytes.fromhex("deadbeef"), a=1), there)):
        built = ether(rocev2(transport, **way))
        assert built == roce(name), (name, built.hex())

    for name, text in {**KNOWN_IB, **DERIVED_IB}.items():
        packet = bytes.fromhex(text)
        at = 48 if packet[1] & 3 == 3 else 8
        local = b"\xff" * 8 + mask_ipv6(packet[8:48]) if at == 48 else bytes([packet[0] | 0xf0]) + packet[1:8]
        assert icrc(local + mask_bth(packet[at:-6])) == packet[-6:-2], name
        assert vcrc(packet[:-2]) == packet[-2:], name
    assert native(ack(0xd40a55, qp=0x870408, a=0, syndrome=0x1f, msn=1), slid=1, dlid=4) == values(KNOWN_IB)[1]
    assert native(ib(0x0c, 0x64, a=1, dmalen=768)) == values(DERIVED_IB)[0]
    assert native(ib(0x10, 0x64, msn=1)) == values(DERIVED_IB)[1]


@capture("vectors-roce.pcap", "published RoCE packets V1 to V6 (ACK, UC SEND on IPv4 and IPv6, RoCEv1 WRITE and ACK, CNP), derived D1 to D7, D10")
def vectors_roce():
    return pcap(ETHERNET, values(KNOWN_ROCE, DERIVED_ROCE))


@capture("vectors-ib.pcap", "published native packets V7 to V9 and derived D8, D9 in link type 247, with ICRC and VCRC")
def vectors_ib():
    return pcap(INFINIBAND, values(KNOWN_IB, DERIVED_IB))


@capture("vectors-ib-erf.pcap", "the packets of vectors-ib.pcap as ERF type 21")
def vectors_ib_erf():
    return pcap(ERF, [erf(21, p, n) for n, p in enumerate(values(KNOWN_IB, DERIVED_IB))])


# ---------------------------------------------------------------------------------------------------- transport


def example(opcode):
    """One valid packet per opcode. Each has its own queue pair, so that no two belong together."""
    operation = OPERATIONS.get(opcode & 0x1f)
    f = dict(qp=0x100 + opcode)
    if opcode == 0x81:
        return cnp(**f)
    if not operation or opcode not in defined_opcodes():
        return ib(opcode, opcode, pattern(16), **f)
    if opcode == 0x80:
        return ib(opcode, 0, **f)
    payload = pattern(operation[2])
    f["a"] = int(not is_response(opcode) and opcode >> 5 in (0, 2, 5))
    f["dmalen"] = {0x06: 3 * PMTU, 0x0c: 2 * PMTU, 0x1c: 4096}.get(opcode & 0x1f, len(payload))
    return ib(opcode, 0x10 + opcode, payload, **f)


@capture("opcodes.pcap", "every opcode of the standard once (path MTU 256), RD FLUSH, RD and XRC ATOMIC WRITE and 0x80 (all UNCONFIRMED), vendor 0xC1, undefined 0x1F and 0x66")
def opcodes():
    return pcap(ETHERNET, [roce_frame(example(opcode)) for opcode in sorted(defined_opcodes()) + [0xc1, 0x1f, 0x66]])


@capture("aeth.pcap", "ACK with credits 0, 5, 31; NAK 0x60 to 0x65; RNR NAK 0, 12, 31; reserved type 0x40; bit 7 set (big-endian file, nanoseconds)")
def aeth():
    syndromes = [0x00, 0x05, 0x1f, 0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x20, 0x2c, 0x3f, 0x40, 0x80, 0xe0]
    return pcap(ETHERNET, [roce_frame(ack(7, qp=0x200 + n, syndrome=s, msn=3)) for n, s in enumerate(syndromes)], ">", True)


# ---------------------------------------------------------------------------------------------------- lengths


@capture("lengths.pcapng", "lengths that contradict each other, padding, FCS, snapped and empty frames; each packet has a comment")
def lengths():
    file = Pcapng()
    eth = file.interface(ETHERNET, "eth0")
    eth_fcs = file.interface(ETHERNET, "eth1", [(13, b"\x04")])
    ib0 = file.interface(INFINIBAND, "ib0")

    def recrc(packet):
        """Sets the ICRC of a packet without IP options."""
        covered = mask_ipv4(packet[:20]) + mask_udp(packet[20:28]) + mask_bth(packet[28:-4])
        return packet[:-4] + icrc(b"\xff" * 8 + covered)

    transport = ack()
    packet = rocev2(transport)
    bare = rocev2(ib(0x04, 1))  # BTH and ICRC only: 58 bytes
    file.packet(eth, ether(bare, pad=True), "SEND Only without payload, padded by Ethernet to 60 bytes")
    file.packet(eth, ether(bare, pad=True, fcs=True), "padded to 60 bytes, then a right FCS nobody speaks of")
    file.packet(eth, ether(packet, fcs=True), "62 bytes and a right FCS nobody speaks of")
    file.packet(eth_fcs, ether(packet, fcs=True), "62 bytes and a right FCS, stated by if_fcslen")
    file.packet(eth_fcs, ether(bare, pad=True, fcs=True), "padded to 60 bytes and a right FCS, stated by if_fcslen")
    file.packet(eth_fcs, ether(packet, fcs=True)[:-1] + b"\0", "a wrong FCS, stated by if_fcslen")
    file.packet(eth, ether(ipv4(udp(transport, 49152, 4791), 17)), "no ICRC: the UDP datagram ends behind AETH")
    file.packet(eth, ether(rocev2(transport, udp_length=40)), "UDP length 40, larger than the 28 bytes IP has")
    file.packet(eth, ether(rocev2(transport, total=200)), "IP total length 200, larger than the frame")
    file.packet(eth, ether(rocev2(transport, total=18)), "IP total length 18, smaller than its header")
    file.packet(eth, ether(rocev2(transport, udp_length=7)), "UDP length 7, smaller than its header")
    file.packet(eth, ether(rocev2(transport, udp_length=8)), "UDP length 8: nothing for BTH")
    file.packet(eth, ether(packet[:1].replace(b"E", b"D") + packet[1:]), "IPv4 header length 16, smaller than 20")
    file.packet(eth, ether(packet + pattern(9)), "9 bytes behind the IP packet")
    for wrong, words in (("one too large", 8), ("one too small", 6), ("0", 0), ("2, only itself", 2)):
        file.packet(ib0, native(ack(), pktlen=words), "PktLen %s: 7 words are there, CRCs over the wrong header" % wrong)
    file.packet(ib0, native(ack()) + pattern(5), "5 bytes behind the VCRC")
    file.packet(ib0, native(ack(), with_vcrc=False) + b"\x55", "1 byte where the VCRC would be")
    gids = (gid4("10.0.0.1"), gid4("10.0.0.2"))
    file.packet(ib0, native(ack(), gids=gids, paylen=24), "native GRH PayLen 24 instead of 20")
    file.packet(eth, ether(rocev1(ack(), paylen=24), 0x8915), "RoCEv1 GRH PayLen 24 instead of 20")
    file.packet(eth, ether(rocev1(ack(), paylen=12), 0x8915), "RoCEv1 GRH PayLen 12 instead of 20")
    file.packet(eth, ether(rocev1(ack(), next_header=0x3b), 0x8915), "RoCEv1 GRH NxtHdr 0x3B: not InfiniBand")
    file.packet(eth, roce_frame(ib(0x04, 2, padcnt=3)), "PadCnt 3 and no payload")
    file.packet(eth, roce_frame(ib(0x11, 2, padcnt=2)), "PadCnt 2 on an ACK, which has no payload")
    short = ib(0x0a, 3, pattern(4), dmalen=4)
    file.packet(eth, roce_frame(short[:7]), "the datagram ends 7 bytes into BTH (then 4 bytes of CRC)")
    file.packet(eth, roce_frame(short[:12]), "the datagram ends behind BTH: no RETH")
    file.packet(eth, roce_frame(short[:22]), "the datagram ends 10 bytes into RETH")
    file.packet(eth, roce_frame(ib(0x11, 4) + pattern(4)), "ACK with 4 bytes of payload")
    file.packet(eth, roce_frame(ib(0x0d, 5, pattern(255))), "READ Response First, 255 bytes and PadCnt 1")
    file.packet(eth, ether(packet), "captured 62 bytes of 40 on the wire", wire=40)
    file.packet(eth, b"", "no bytes at all")
    file.packet(eth, b"", "none of 62 bytes captured", wire=62)
    file.packet(ib0, b"", "no bytes at all, native")
    write = roce_frame(ib(0x0a, 6, pattern(64), dmalen=64))
    for cut, where in ((7, "MAC addresses"), (14, "end of the MAC header"), (20, "IPv4 header"), (30, "IPv4 header"),
                       (34, "end of the IPv4 header"), (38, "UDP header"), (42, "end of the UDP header"), (50, "BTH"),
                       (54, "end of BTH"), (60, "RETH"), (70, "end of RETH"), (100, "payload"), (134, "end of the payload"),
                       (136, "ICRC")):
        file.packet(eth, write[:cut], "cut by the snap length at %d: %s" % (cut, where), wire=len(write))
    whole = native(ib(0x0a, 7, pattern(8), dmalen=8), gids=gids)
    for cut, where in ((5, "LRH"), (8, "end of LRH"), (30, "GRH"), (55, "BTH"), (70, "RETH"), (len(whole) - 4, "ICRC"),
                       (len(whole) - 1, "VCRC")):
        file.packet(ib0, whole[:cut], "cut by the snap length at %d: %s" % (cut, where), wire=len(whole))
    file.packet(eth, ether(recrc(packet[:24] + be(0x20, 2) + packet[26:] + pattern(4))),
                "UDP length 32 with 4 bytes more than IP has, ICRC over them")
    return file.out


# ---------------------------------------------------------------------------------------------------- link types


@capture("linktypes.pcapng", "one interface per link type, an RC ACK (or what the link type can carry) in each; ERF types 2, 21, 22, 23, 25, extension headers")
def linktypes():
    file = Pcapng()
    four, six, seven = rocev2(ack()), rocev2_ipv6(ack()), native(ack())
    address = MAC_A + bytes(2)
    tags = be(12, 2) + be(12, 2) + b"infiniband\0\0" + bytes(4)

    def one(link_type, name, *packets):
        interface = file.interface(link_type, name)
        for packet in packets:
            file.packet(interface, packet)

    def sll(protocol):
        return be(4, 2) + be(1, 2) + be(6, 2) + address + be(protocol, 2)

    def sll2(protocol):
        return be(protocol, 2) + bytes(2) + be(3, 4) + be(1, 2) + be(4, 1) + be(6, 1) + address

    one(ETHERNET, "ethernet", ether(four), ether(six, 0x86dd), ether(rocev1(ack()), 0x8915))
    one(RAW, "raw", four, six)
    one(IPV4, "ipv4", four)
    one(IPV6, "ipv6", six)
    one(SLL, "sll", sll(0x0800) + four, sll(0x86dd) + six, sll(0x8915) + rocev1(ack()))
    one(SLL2, "sll2", sll2(0x0800) + four, sll2(0x86dd) + six, sll2(0x8915) + rocev1(ack()))
    one(INFINIBAND, "infiniband", seven, native(ack(), gids=(gid4("10.0.0.2"), gid4("10.0.0.1"))), seven[:-2],
        native_raw(0, bytes(2) + be(0x0800, 2) + four), native_raw(1, udp6(pattern(8))))
    one(IPOIB, "ipoib", bytes(40) + be(0x0800, 2) + bytes(2) + four,
        grh(4 + len(six), ip6(2), ip6(1)) + be(0x86dd, 2) + bytes(2) + six)
    one(USER0, "user0", seven)
    one(UPPER_PDU, "upper-pdu", tags + seven)
    credit = bits((0, 4), (0x123, 12), (1, 4), (0x456, 12))
    one(ERF, "erf",
        erf(2, ether(four, fcs=True), 20, subheader=bytes(2)),
        erf(21, seven, 21),
        erf(22, four, 22),
        erf(23, six, 23),
        erf(25, credit + vcrc(credit), 25),
        erf(21, seven, 26, ext=bytes.fromhex("0c00000000000001")),
        erf(21, seven, 27, ext=bytes.fromhex("8c000000000000010500000000000002")),
        erf(21, seven, 28, flags=0x14))
    return file.out


# ---------------------------------------------------------------------------------------------------- IPoIB


@capture("ipoib.pcap", "link type 247: UD IPoIB (Q_Key 0xB1B) with IPv4, ARP, IPv6; RC connected mode with IPv4; RC payload that only starts 08 00 00 00")
def ipoib():
    echo = bytes.fromhex("0800") + bytes(2) + be(7, 2) + be(1, 2) + pattern(24)
    ping = ipv4(echo[:2] + be(inet_sum(echo), 2) + echo[4:], 1, tos=0)
    hardware = bytes.fromhex("00000404") + bytes.fromhex("fe80000000000000") + be(0x0002c90200000001, 8)
    arp = be(32, 2) + be(0x0800, 2) + be(20, 1) + be(4, 1) + be(1, 2) + hardware + ip4("10.0.0.1") + bytes(20) + ip4("10.0.0.2")
    multicast = (bytes.fromhex("fe80000000000000") + be(0x0002c90200000001, 8),
                 bytes.fromhex("ff12401bffff000000000000ffffffff"))

    def encapsulated(ethertype, packet):
        return be(ethertype, 2) + bytes(2) + packet

    def datagram(psn, ethertype, packet, **f):
        return native(ib(0x64, psn, encapsulated(ethertype, packet), qp=0x404, q_key=0xb1b, srcqp=0x405), **f)

    return pcap(INFINIBAND, [
        native(ib(0x64, 0, encapsulated(0x0806, arp), qp=0xffffff, q_key=0xb1b, srcqp=0x404), gids=multicast, dlid=0xc000),
        datagram(1, 0x0800, ping),
        datagram(2, 0x86dd, udp6(pattern(8))),
        native(ib(0x04, 3, encapsulated(0x0800, ping), qp=0x406, a=1)),
        native(ib(0x04, 4, encapsulated(0x0806, arp), qp=0x406)),
        native(ib(0x04, 5, bytes.fromhex("08000000") + pattern(28), qp=0x407)),
        native(ib(0x64, 6, bytes.fromhex("08000000") + pattern(28), qp=0x408, q_key=0x22222222)),
    ])


# ---------------------------------------------------------------------------------------------------- IP


@capture("ipv6.pcap", "RoCEv2 over IPv6, with hop-by-hop and destination options, fragments of both IPs, IPv4 options (ICRC rule UNCONFIRMED), RoCEv1 bare and tagged, UDP ports 4792 and 18515 (big-endian file)")
def ip_forms():
    send = ib(0x04, 1, pattern(64), a=1)
    padn = bytes([0, 1, 4, 0, 0, 0, 0])  # no more words; PadN of 4
    big6, big4 = rocev2_ipv6(ib(0x04, 4, pattern(600))), rocev2(ib(0x04, 5, pattern(600)), ident=0x77, flags=0)

    def fragment6(offset, more, data):
        return ether(ipv6(be(17, 1) + bytes(1) + bits((offset // 8, 13), (0, 2), (more, 1)) + be(0xabcdef01, 4) + data, 44), 0x86dd)

    def fragment4(offset, more, data):
        return ether(ipv4(data, 17, ident=0x77, flags=more << 13 | offset // 8))

    return pcap(ETHERNET, [
        ether(rocev2_ipv6(send), 0x86dd),
        ether(rocev2_ipv6(ack(1)), 0x86dd),
        ether(rocev2_ipv6(ib(0x04, 2, pattern(16)), chain=[(0, padn)]), 0x86dd),
        ether(rocev2_ipv6(ib(0x04, 3, pattern(16)), chain=[(0, padn), (60, padn)]), 0x86dd),
        fragment6(0, 1, big6[40:440]),
        fragment6(400, 0, big6[440:]),
        fragment4(0, 1, big4[20:420]),
        fragment4(400, 0, big4[420:]),
        roce_frame(ib(0x04, 6, pattern(16)), options=bytes.fromhex("94040000")),
        roce_frame(ib(0x04, 7, pattern(16)), options=bytes.fromhex("0107070400000000")),
        ether(rocev1(ib(0x04, 8, pattern(16))), 0x8915),
        ether(rocev1(ib(0x04, 9, pattern(16))), 0x8915, tags=[(0x8100, 0x6064)]),
        ether(rocev1(ib(0x04, 10)), 0x8915, pad=True),
        roce_frame(ib(0x04, 11, pattern(16)), dport=4792),
        roce_frame(ib(0x04, 12, pattern(16)), dport=18515),
    ], ">")


# ---------------------------------------------------------------------------------------------------- times


@capture("times.pcapng", "time stamp units 10^-9, 10^-6 (default), 10^-3, 2^-10, 2^-32, an offset; comment, flags, drops; simple, obsolete, statistics, unknown and custom blocks; a second section in big-endian")
def times():
    file = Pcapng()
    frame = [roce_frame(ib(0x04, psn, pattern(16))) for psn in range(12)]

    def fill(psn, base):
        def interface(name, resolution, *options):
            return file.interface(ETHERNET, name, ([(9, bytes([resolution]))] if resolution else []) + list(options))

        micro = interface("micro", None)
        nano = interface("nano", 9)
        milli = interface("milli", 3)
        binary10 = interface("binary10", 0x8a)
        binary32 = interface("binary32", 0xa0)
        moved = interface("moved", 6, (14, file.pack("q", base)))
        file.packet(micro, frame[psn], stamp=base * 10**6 + 250000)
        file.packet(nano, frame[psn + 1], "half a second after the full one", stamp=base * 10**9 + 500000001)
        file.packet(milli, frame[psn + 2], stamp=base * 10**3 + 625)
        file.packet(binary10, frame[psn + 3], stamp=(base << 10) + 768)
        file.packet(binary32, frame[psn + 4], stamp=(base << 32) + (7 << 29))
        # Inbound, and 3 packets lost before this one.
        file.packet(moved, frame[psn + 5], stamp=999999, options=[(2, file.pack("I", 1)), (4, file.pack("Q", 3))])

    fill(0, START)
    file.simple(frame[6])
    file.obsolete(1, frame[7], START * 10**9 + 10**9)
    now = START * 10**6 + 2000000
    file.block(5, file.pack("III", 0, now >> 32, now & 0xffffffff) + file.options(
        [(4, file.pack("Q", 1000)), (5, file.pack("Q", 17)), (1, "statistics of the interface micro")]))
    file.block(0x80000123, b"a block type nobody knows")
    file.block(0x00000bad, file.pack("I", 32473) + b"custom, to be copied")
    file.block(0x40000bad, file.pack("I", 32473) + b"custom, not to be copied")
    file.section(">", [(3, "some OS"), (4, "make_captures.py"), (1, "second section")])
    fill(6, START + 60)
    return file.out


# ---------------------------------------------------------------------------------------------------- CDI and EFA

# cdi-probe.md 2.9: the control messages of a connection as the SDK sent them, the receiver 3 s late and killed in the end.
# Seconds, from the transmitter or the receiver, length and bytes at offsets; all others are 0.
CDI_EXCHANGE = """
 0.000 T 252 0=010005010000003132372e302e302e31 71=020093677f000001 241=ffffffffbfc10100122f01
 2.000 T 252 0=010005010000003132372e302e302e31 71=020093677f000001 241=ffffffffbfc10200122e01
 4.000 T 252 0=010005010000003132372e302e302e31 71=020093677f000001 241=ffffffffbfc10300122d01
 4.024 R 253 0=020305040000003132372e302e302e31 71=020007d17f000001 241=d007010061a10100000003
 4.024 T 248 0=020305050000003132372e302e302e31 71=020093677f000001 241=bfc10400112501
 4.160 R 253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d0070200609b0500000004
 4.783 R 248 0=020305030000003132372e302e302e31 71=020007d27f000001 241=d007030060a4
 4.784 T 248 0=020305020000003132372e302e302e31 71=02009a117f000001 241=bfc10500672001
 4.787 R 253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d0070400609b0200000005
 9.793 T 248 0=020305020000003132372e302e302e31 71=02009a117f000001 241=bfc10600671f01
 9.793 R 253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d007050060990200000006
14.793 T 248 0=020305020000003132372e302e302e31 71=02009a117f000001 241=bfc10700671e01
14.803 R 253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d007060060970200000007
19.291 T 248 0=020305010000003132372e302e302e31 71=02009a117f000001 241=bfc10800671e01
"""

# cdi-probe.md 4.3: packet 0 and packet 1 of a payload, the first and last probe packet; version 1, then 2.
CDI_DATA = (
    "36 3=c8001a4f001a41 16=25f1536515cd5b078877665544332211020007", "8 0=010100c8ab22", "34 0=02 5=04", "4 0=02e703",
    "49 3=c80004030201001a4f001a41 21=25f1536515cd5b078877665544332211020040222018240a060007",
    "13 0=010100c80005030201ab22", "47 0=02 10=04 39=40222018240a06", "9 0=02e7030000e703")


def at_offsets(words):
    """"252 0=0100 71=fe80": that many bytes, all 0 but those."""
    size, *parts = words.split()
    out = bytearray(int(size))
    for part in parts:
        at, text = part.split("=")
        out[int(at):int(at) + len(text) // 2] = bytes.fromhex(text)
    return bytes(out)


def cdi_control(version, command, number, ack=None, requires_ack=1, port=0xc001, ip="10.0.0.1", name="cam1",
                address=bytes.fromhex("fe80000000000000021122fffe3344553412000078563412" + "00" * 8)):
    """A control message; the layout follows from the version."""
    v1 = version[0] <= 1
    head = bytes(version) + struct.pack("<I64s32s138s", command, ip.encode(), address, name.encode())
    head += (struct.pack("<i", -1) if v1 else b"") + struct.pack("<HH", port, number)
    tail = struct.pack("<IH", *ack) if ack else bytes([requires_ack])
    return head + cdi_checksum(head + bytes(2) + tail) + tail


def cdi_checksum(message):
    message += bytes(len(message) % 2)
    total = sum(struct.unpack("<%dH" % (len(message) // 2), message))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack("<H", total ^ 0xffff)


CDI_RESET, CDI_PING, CDI_CONNECTED, CDI_ACK, CDI_VERSION = range(1, 6)


def cdi_frame(message, to_receiver=True, port=49599, **ip):
    return ether(ipv4(udp(message, *((port, 2000) if to_receiver else (2000, port))), 17, tos=0, **ip))


@capture("cdi-exchange.pcapng", "AWS CDI: the control messages of a connection as the SDK sent them; the receiver starts late and is killed")
def cdi_exchange():
    file = Pcapng()
    interface = file.interface(ETHERNET, "lo")
    for line in CDI_EXCHANGE.strip().splitlines():
        seconds, sender, words = line.split(None, 2)
        message = at_offsets(words)
        file.packet(interface, cdi_frame(message, sender == "T", src="127.0.0.1", dst="127.0.0.1"),
                    stamp=START * 1000000 + round(float(seconds) * 1000000))
    return file.out


@capture("cdi-control.pcap", "AWS CDI: every command in versions 1.0.0, 1.0.5, 2.1.4 and 2.3.5 to an unknown UDP port; then messages that are not to be recognised: wrong checksum, command 0 and 9, version 0 and 3, no address, a byte more and less, the ports of RoCE and VXLAN, cut by the capture")
def cdi_control_messages():
    frames = []
    for version in ((1, 0, 0), (1, 0, 5), (2, 1, 4), (2, 3, 5)):
        frames.append(cdi_frame(cdi_control(version, CDI_RESET, 1)))
        frames.append(cdi_frame(cdi_control(version, CDI_PING, 2)))
        frames.append(cdi_frame(cdi_control(version, CDI_CONNECTED, 3, requires_ack=0)))
        frames.append(cdi_frame(cdi_control(version, CDI_VERSION, 4)))
        frames.append(cdi_frame(cdi_control(version, CDI_ACK, 1, (CDI_RESET, 1), port=2000, name=""), False))
    good = cdi_control((2, 3, 5), CDI_RESET, 1)
    assert good == at_offsets("248 0=0203050100000031302e302e302e31 71=fe80 79=021122fffe3344553412000078563412 "
                              "103=63616d31 241=01c001004f2501")
    odd = [good[:245] + b"\x4f\x26" + good[247:], cdi_control((2, 3, 5), 0, 1), cdi_control((2, 3, 5), 9, 1),
           cdi_control((0, 3, 5), CDI_RESET, 1), cdi_control((3, 3, 5), CDI_RESET, 1),
           cdi_control((2, 3, 5), CDI_RESET, 1, ip=""), good + bytes(1), good[:-1], good[:3]]
    frames += [cdi_frame(message) for message in odd]
    frames += [ether(ipv4(udp(good, 49599, port), 17)) for port in (4791, 4789)]
    frames.append((cdi_frame(good)[:280], 290))
    return pcap(ETHERNET, frames)


@capture("cdi-data.pcap", "AWS CDI data packets on UDP port 2000: versions 1 and 2, an AVM configuration, extra data of an unknown size")
def cdi_data():
    first = bytes.fromhex("000000 01") + struct.pack("<IQIIQ", 5184000, 16666, 1700000037, 123456789, 0)
    config = struct.pack("<H257s1024s3xi", 7, b"https://cdi.elemental.com/specs/baseline-video",
                         b"cdi_profile_version=01.00; width=1920; height=1080;", 51)
    packets = [at_offsets(words) for words in CDI_DATA] + [
        first + struct.pack("<H", len(config)) + config + pattern(40), first + struct.pack("<H", 5) + pattern(45),
        b"\x01\x01\x00\x01" + struct.pack("<I", 40) + pattern(100), b"\x03\x05\x00\x01", b"\x04\x05\x00\x01\x02"]
    return pcap(ETHERNET, [cdi_frame(packet) for packet in packets])


def efa_record(message, direction=1, rdm=True, version=(2, 3, 5), status=None, ah=7, tags=True):
    """A message of libfabric's EFA provider as an exported PDU."""
    flags = (1 if rdm else 0) | (2 if version else 0) | (4 if status is not None else 0) | 8
    header = struct.pack(">BBBBBBBBIIHHIQ", 1, 32, direction, flags, status or 0, *(version or (0, 0, 0)), 0x1234, 0x5678, ah,
                         0, len(message), 0x42)
    name = struct.pack(">HH", 12, 8) + b"rdma_efa" + bytes(4)
    return (name if tags else b"") + header + message


@capture("efa-messages.pcapng", "messages of libfabric's EFA provider in records: every type of RDM version 4 with what flags announce, those of version 3, CDI data and probe packets in them; link type 148; records that lie")
def efa_messages():
    file = Pcapng()
    tagged = file.interface(UPPER_PDU, "rdmap0s6")
    plain = file.interface(USER1, "rdmap0s6")
    address = bytes.fromhex("fe80000000000000021122fffe3344553412000078563412") + bytes(8)
    raw = struct.pack("<I", 36) + address + bytes(4)
    iov = struct.pack("<QQQ", 0x1000, 64, 9)
    v1, v2 = [[at_offsets(words) for words in CDI_DATA[n:n + 4]] for n in (0, 4)]
    # CDI: packet 0 and 1 behind the address, behind a connection id, without any header; received; probe packets.
    file.packet(tagged, efa_record(struct.pack("<BBHI", 64, 4, 5, 1) + raw + v2[0]), "raw address")
    file.packet(tagged, efa_record(struct.pack("<BBHII", 64, 4, 0x8004, 2, 0x12345678) + v2[1]), "connection id")
    file.packet(tagged, efa_record(v2[1], rdm=False, direction=2), "no RDM header")
    file.packet(tagged, efa_record(struct.pack("<BBHI", 64, 4, 5, 3) + raw + v2[2] + b"A" * 953, status=13), "probe 0, failed")
    file.packet(tagged, efa_record(struct.pack("<BBHI", 64, 4, 4, 4) + v2[3] + b"A" * 20, version=None), "not said to be CDI")
    file.packet(tagged, efa_record(b"\xe7\x03\x02\x00\x00\x00" + b"A" * 1020, rdm=False, version=(1, 0, 0)), "old probe 999")
    # Version 3.
    rts = struct.pack("<BBHHBBIIQQ", 1, 3, 6, 0, 32, 0, 5, 6, 0, 8) + bytes.fromhex("8877665544332211") + address
    file.packet(tagged, efa_record(rts + v1[1], version=(1, 0, 5)), "version 3")
    for body in ("02030000", "03030000 00000000 01000000 02000000 0300000000000000",
                 "04030000 01000000 0200000000000000 0300000000000000 aabb", "07030000 01000000 02000000"):
        file.packet(tagged, efa_record(bytes.fromhex(body), version=None))
    # Version 4: bytes all different from their neighbours, one remote buffer where there may be some.
    sizes = {3: 20, 4: 20, 5: 20, 7: 12, 8: 20, 10: 12, 11: 12, 12: 16, 64: 4, 65: 12, 66: 20, 67: 28, 68: 20, 69: 28, 70: 4,
             71: 20, 72: 20, 73: 20, 74: 20, 75: 20, 76: 20, 128: 20, 129: 28, 130: 20, 133: 12, 134: 20, 135: 28, 136: 36,
             137: 20, 138: 28, 139: 12, 140: 20, 141: 20, 142: 36, 143: 44, 144: 36, 145: 36, 146: 44, 147: 36}
    for kind, size in sizes.items():
        body = bytearray(distinct(size, kind))
        buffers = b""
        if kind in (70, 71, 72, 73, 130, 139, 140, 144, 147):
            body[0:4], buffers = struct.pack("<I", 1), iov
        if kind in (74, 75, 76, 141):
            body[4:8], buffers = struct.pack("<I", 1), iov
        flags = 0x8000 if kind == 4 else 2 if kind >= 64 else 0
        more = bytes.fromhex("7856341200000000") if kind == 4 else distinct(8, 99) if kind >= 64 else b""
        file.packet(tagged, efa_record(struct.pack("<BBH", kind, 4, flags) + bytes(body) + buffers + more + b"end!", version=None))
    handshake = struct.pack("<BBHIQIIQIIIIB7x", 9, 4, 0x800f, 4, 0x11f, 0x12345678, 0, 0x1122334455667788, 1, 0, 0x22, 0x33, 1)
    file.packet(tagged, efa_record(handshake, version=None), "handshake")
    file.packet(plain, efa_record(struct.pack("<BBHI", 64, 4, 4, 1) + v2[1], tags=False), "without tags")
    # What does not fit.
    eager = efa_record(struct.pack("<BBHI", 64, 4, 4, 1) + v2[1], tags=False)
    file.packet(plain, eager + b"\0", "a byte too many: no record")
    file.packet(tagged, efa_record(b"\x84\x04\0\0" + pattern(8)), "type 132")
    file.packet(tagged, efa_record(b"\x40\x05\0\0" + pattern(8)), "version 5")
    file.packet(tagged, efa_record(struct.pack("<BBHI", 70, 4, 0, 1000) + iov), "1000 buffers, one there")
    file.packet(tagged, efa_record(struct.pack("<BBHI", 9, 4, 0, 2)), "handshake with less than none")
    file.packet(tagged, efa_record(struct.pack("<BBHII", 64, 4, 1, 1, 0xffffffff)), "address of 4 GiB")
    return file.out


# ---------------------------------------------------------------------------------------------------- completion queues

# cqe-sniffer.md 5.3: the file as its bytes are printed there.
WORKED_CQES = """
0a0d0d0a 1c000000 4d3c2b1a 01000000 ffffffff ffffffff 1c000000 01000000
84000000 fc000000 00000000 02000f00 6d6c7834 5f303a31 23637130 78383500
03002500 52444d41 20636f6d 706c6574 696f6e20 71756575 652c2066 6f726d61
74206d6c 78342d33 32000000 09000100 09000000 0f001f00 4d656c6c 616e6f78
20436f6e 6e656374 582d3320 28313562 333a3130 30332900 00000000 84000000
06000000 7c000000 00000000 fe9c9717 00002a36 50000000 50000000 000c0008
72646d61 5f637165 00000000 01200107 00200000 00000085 00000007 00000080
01021003 00000000 00000000 0000004a 00000000 00000000 00000000 00000000
00003000 00070000 00000050 02000400 02000000 00000000 7c000000 06000000
7c000000 00000000 fe9c9717 e8032a36 50000000 50000000 000c0008 72646d61
5f637165 00000000 01200107 00200000 00000085 00000088 00000080 01021003
00000000 00000000 0000004a 00000000 00000000 00000000 00000000 00000000
0009f905 0000009e 02000400 01000000 00000000 7c000000
"""

MLX4, MLX4_TS, MLX5, EFA, BNXT, IRDMA, ERDMA, WC = range(1, 9)
LINK_KNOWN, ON_ETHERNET, INDEX_VALID, OF_SNIFFER, SIMULATED, TUNNEL = 1, 2, 4, 8, 16, 32
RC, UC, UD, RAW_PACKET, XRC_RECV = 2, 3, 4, 8, 10


def cqe_record(slot, form=MLX4, ci=0, flags=LINK_KNOWN | ON_ETHERNET | INDEX_VALID, stride=None, offset=0, cqn=0x85,
               count=128, qp_type=RC, device=0x1003, version=1, size=32, tags=True):
    """A completion queue entry as an exported PDU; the slot is hex or bytes."""
    slot = bytes.fromhex(slot) if isinstance(slot, str) else slot
    stride = len(slot) if stride is None else stride
    header = struct.pack(">BBBBHHIIIBBHQ", version, size, form, flags, stride, offset, cqn, ci, count, 1, qp_type, device, 0)
    name = struct.pack(">HH", 12, 8) + b"rdma_cqe" + bytes(4)
    return (name if tags else b"") + header + slot


CQE_VECTORS = [
    ("V1", MLX4, "0000004a 00000000 00000000 00000000 00000000 00003000 00070000 00000050"),
    ("V2", MLX4, "0000020b deadbeef 00000000 00000000 00000000 00001000 01030000 00000082"),
    ("V3", MLX4, "00000041 00000000 81000001 20000003 00000000 00000128 00050000 00000001"),
    ("V4", MLX4, "0c00004c 00000000 00000049 00000005 00000000 0000082a 0f100000 00000081"),
    ("V5", MLX4, "0000004a 00000000 00000000 00000000 00000000 00000000 00088115 0000005e"),
    ("V6", MLX4, "0000004a 00000000 00000000 00000000 00000000 00000000 0009f905 0000009e"),
    ("V7", MLX4, "20000055 12345678 02000000 a0640002 14400004 000005ee 00ffffff 00000001"),
    ("V8", MLX4_TS, "00000055 00000000 00000000 0a0b0c0d 00000000 00000040 00010000 00e0f101"),
    ("V9", MLX4, "cccccccc" * 8),
    ("V10", MLX4, "20000056 00000000 80000077 600a0002 c9aabbcc 00000068 00020000 00000001"),
    ("V11", MLX4, "0200004a 00000000 00000000 00000000 00000000 00000000 00030000 00000043"),
    ("M1", MLX5, "00" * 32 + "00000012 00000000 00000000 00002000 00000123 45678abc 100001f2 00100000"),
    ("M2", MLX5, "00" * 24 + "23000abc 00000000 00000000 11223344 00000000 00000428 00000000 00000000 000001f3 00070031"),
    ("M3", MLX5, "00" * 52 + "00008115 0a0001f2 001100d1"),
    ("M4", MLX5, "00" * 60 + "000000f0"),
    ("E1", EFA, "05000005 1100e400 ffff2200 00000000 fe800000 00000000 041122ff fe334455"),
    ("E2", EFA, "03800a02 11000000 00000000 00000000"),
    ("E3", EFA, "000000ad 11000020 03002200 0df0feca 01000000 00000000 00000000 00000000"),
]


@capture("cqe-worked.pcapng", "two mlx4 completion queue entries, byte for byte the worked file of the format's description")
def cqe_worked():
    data = bytes.fromhex(WORKED_CQES)
    assert hashlib.sha256(data).hexdigest() == "23c0095b03b9dadd1aa2e3f81696e904aba1fd42dda500b8598a32fd98a4f533"
    return data


@capture("cqe-vectors.pcapng", "completion queue entries: mlx4, with time stamp, mlx5, EFA, one each of erdma and ib_uverbs_wc, two of unknown layout; slots of 64 and 128 bytes; link type 147; then the same packet interface with an RC ACK")
def cqe_vectors():
    file = Pcapng()
    tagged = file.interface(UPPER_PDU, "mlx4_0:1#cq0x85", [(9, bytes([6]))])
    plain = file.interface(USER0, "mlx4_0:1#cq0x86", [(9, bytes([6]))])
    packets = file.interface(ETHERNET, "mlx4_0:1", [(9, bytes([6]))])
    for name, form, text in CQE_VECTORS:
        kind = {"V3": UD, "V4": UD, "V7": RAW_PACKET, "V10": UD, "V8": RAW_PACKET}.get(name, 0xff if form == EFA else RC)
        flags = {"V3": LINK_KNOWN, "V4": LINK_KNOWN | OF_SNIFFER}.get(name, LINK_KNOWN | ON_ETHERNET)
        file.packet(tagged, cqe_record(text, form, flags=flags, qp_type=kind), name)
    entry = bytes.fromhex(CQE_VECTORS[0][2])
    file.packet(tagged, cqe_record(pattern(32) + entry, stride=64, offset=32, ci=7), "V1 in a slot of 64 bytes")
    file.packet(tagged, cqe_record(entry + pattern(96), stride=128, ci=8), "V1 in a slot of 128 bytes")
    file.packet(tagged, cqe_record(pattern(64) + bytes.fromhex(CQE_VECTORS[11][2]), MLX5, stride=128, offset=64),
                "M1 in a slot of 128 bytes")
    file.packet(tagged, cqe_record("80010100 00000004 00000021 0d00feca 00000200" + "00" * 12, ERDMA), "erdma receive")
    file.packet(tagged, cqe_record("8877665544332211 0c000000 00000000 81000000 00000000 00000000 4a000000" + "00" * 16, WC),
                "work completion")
    file.packet(tagged, cqe_record(pattern(32), BNXT), "bnxt_re: layout not decoded")
    file.packet(tagged, cqe_record(pattern(64), 0x80), "experimental format")
    file.packet(plain, cqe_record(entry, ci=9, tags=False), "without tags")
    file.packet(packets, roce_frame(ib(0x11, 5, b"")), "a packet of the same port")
    return file.out


@capture("cqe-lies.pcapng", "completion queue records whose header, slot size, offset, format or captured length is wrong")
def cqe_lies():
    file = Pcapng()
    tagged = file.interface(UPPER_PDU, "mlx4_0:1#cq0x85")
    plain = file.interface(USER0, "mlx4_0:1#cq0x86")
    entry = CQE_VECTORS[0][2]
    file.packet(tagged, cqe_record(entry, version=2), "version 2")
    file.packet(tagged, cqe_record(entry, size=16), "header of 16 bytes")
    file.packet(tagged, cqe_record(entry, size=255), "header longer than the record")
    file.packet(tagged, cqe_record(entry, stride=64), "slot longer than the record")
    file.packet(tagged, cqe_record(entry, stride=16), "slot shorter than the entry")
    file.packet(tagged, cqe_record(entry, offset=0xffff), "entry far behind its slot")
    file.packet(tagged, cqe_record(pattern(32) + bytes.fromhex(entry)), "entry said to be in the first half of 64 bytes")
    file.packet(tagged, cqe_record(entry, 9), "no such format")
    file.packet(tagged, cqe_record(entry, MLX5), "mlx5 in 32 bytes")
    file.packet(tagged, cqe_record(entry)[:60], "cut in the entry", wire=80)
    file.packet(tagged, cqe_record(entry)[:40], "cut in the header", wire=80)
    file.packet(tagged, cqe_record(entry)[:40], "ends in the header")
    file.packet(plain, cqe_record(entry, tags=False, stride=64), "private link type: not a record by its lengths")
    return file.out


def mlx4_cqe(qpn, opcode, wqe, send, owner=0, byte_cnt=0, high=0, dw1=0, dw2=0, dw3=0, dw4=0, checksum=0, last=0):
    return (be(high << 24 | qpn, 4) + be(dw1, 4) + be(dw2, 4) + be(dw3, 4) + be(dw4, 4) + be(byte_cnt, 4) +
            be(wqe, 2) + be(checksum, 2) + be(last << 8 | owner << 7 | send << 6 | opcode, 4))


def mlx5_cqe(qpn, opcode, wqe, owner=0, byte_cnt=0, form=0, sop=0, imm=0, syndrome=None):
    timestamp = be(0, 6) + be(0x81, 1) + be(syndrome, 1) if syndrome is not None else be(0x1000 + wqe, 8)
    return (bytes(32) + be(0x12, 4) + be(imm, 4) + bytes(4) + be(byte_cnt, 4) + timestamp + be(sop << 24 | qpn, 4) +
            be(wqe, 2) + bytes(1) + be(opcode << 4 | form << 2 | owner, 1))


def efa_cqe(req, status, qpn, queue, phase, op=0, length=0, ah=3, source=0x22, imm=None, unsolicited=0, extended=False):
    flags = unsolicited << 7 | op << 4 | (imm is not None) << 3 | queue << 1 | phase
    head = struct.pack("<HBBH", req, status, flags, qpn)
    if queue == 1:
        return head + bytes(10) + bytes(16 if extended else 0)
    more = struct.pack("<H", length >> 16) + bytes(14) if op == 2 else bytes(16)
    return head + struct.pack("<HHHI", length & 0xffff, ah, source, imm or 0) + (more if extended else b"")


@capture("cqe-clean.pcapng", "completion queues of one host that break no rule, and RoCE packets of its queue pair 0x22 with host 10.0.0.2, all as exported PDUs; see cqe_clean() for the frames")
def cqe_clean():
    file = Pcapng()
    interface = file.interface(UPPER_PDU, "mlx4_0:1", [(9, bytes([6]))])
    now = [0]  # microseconds
    index = {}

    def put(data, comment=None, wait=10):
        now[0] += wait
        file.packet(interface, data, comment, stamp=START * 1000000 + now[0])

    def entry(make, cqn, form, count=16, comment=None, wait=10, **f):
        ci = index.get(cqn, 0)
        index[cqn] = ci + 1
        put(cqe_record(make(ci // count % 2), form, ci=ci, cqn=cqn, count=count, **f), comment, wait)

    def mlx4(*args, cqn=0x85, form=MLX4, count=16, flags=LINK_KNOWN | ON_ETHERNET | INDEX_VALID, qp_type=RC, comment=None,
             wait=10, **f):
        entry(lambda owner: mlx4_cqe(*args, owner=owner, **f), cqn, form, count, comment, wait, flags=flags, qp_type=qp_type)

    # 1 to 12: RC, UC, UD and raw queue pairs of one mlx4 queue; then a failure and what it flushes.
    mlx4(0x4a, 0x10, 100, 1, byte_cnt=4096, comment="mlx4")
    mlx4(0x4a, 0x0a, 101, 1)
    mlx4(0x4a, 0x0a, 103, 1)
    mlx4(0x4a, 0x02, 0, 0, byte_cnt=64, dw1=0x11223344)
    mlx4(0x4a, 0x01, 1, 0, byte_cnt=64)
    mlx4(0x4b, 0x08, 0, 1, qp_type=UC)
    mlx4(0x56, 0x01, 0, 0, byte_cnt=104, high=0x20, dw2=0x80000077, dw3=0x600a0002, dw4=0xc9aabbcc, qp_type=UD)
    mlx4(0x56, 0x0a, 0, 1, qp_type=UD)
    mlx4(0x55, 0x01, 0, 0, byte_cnt=1518, high=0x20, dw1=0x12345678, dw2=0x02000000, dw3=0xa0640002, dw4=0x14400004,
         checksum=0xffff, qp_type=RAW_PACKET)
    mlx4(0x4a, 0x1e, 104, 1, checksum=0x8115)
    mlx4(0x4a, 0x1e, 105, 1, checksum=0xf905)
    mlx4(0x4a, 0x1e, 2, 0, checksum=0xf905)
    # 13 to 19: another queue pair, over the end of the ring; the queue is resized and goes on in one of 32.
    for wqe in range(5):
        mlx4(0x4d, 0x0a, wqe, 1)
    mlx4(0, 0x16, 0, 1)
    mlx4(0x4d, 0x0a, 5, 1, count=32)

    # 20 to 41: a sniffer on InfiniBand.
    for n in range(22):
        mlx4(0x4c, 0x01, n, 0, byte_cnt=290, high=0x04 if n == 3 else 0, dw2=0x49, dw3=0x00000005, cqn=0x90,
             flags=LINK_KNOWN | INDEX_VALID | OF_SNIFFER, qp_type=UD, comment=None if n else "sniffer")
    # 42: a datagram on InfiniBand.
    mlx4(0x41, 0x01, 5, 0, byte_cnt=296, dw2=0x81000001, dw3=0x20000003, cqn=0x91, flags=LINK_KNOWN | INDEX_VALID, qp_type=UD)
    # 43 to 46: time stamps; the second has a low half of 0, which counts as one more of the high half.
    for wqe, high, low in ((0, 0x0a0b0c0d, 0xe0f1), (1, 0x0a0b0c0d, 0x0000), (2, 0x0a0b0c0e, 0x0001), (3, 0x0a0b0c0f, 0x4000)):
        mlx4(0x55, 0x01, wqe, 0, byte_cnt=64, dw3=high, last=low, cqn=0x92, form=MLX4_TS, qp_type=RAW_PACKET)

    def mlx5(*args, count=16, qp_type=RC, comment=None, **f):
        entry(lambda owner: mlx5_cqe(*args, owner=owner, **f), 0xa0, MLX5, count, comment, qp_type=qp_type, device=0)

    # 47 to 53: mlx5; the last but one is the title of a compressed block of 4.
    mlx5(0x1f2, 0, 16, byte_cnt=8192, sop=0x10, comment="mlx5")
    mlx5(0x1f3, 3, 7, byte_cnt=1064, imm=0x11223344)
    mlx5(0x1f3, 2, 9, byte_cnt=104, qp_type=UD)
    mlx5(0x1f2, 13, 17, sop=0x0a, syndrome=0x15)
    mlx5(0x1f2, 13, 18, sop=0x0a, syndrome=0x05)
    mlx5(0x1f4, 2, 0, byte_cnt=4, form=3, qp_type=RAW_PACKET)
    index[0xa0] += 3
    mlx5(0x1f4, 2, 4, byte_cnt=60, qp_type=RAW_PACKET)

    def efa(*args, **f):
        entry(lambda pass_: efa_cqe(*args[:4], 1 - pass_, *args[4:], extended=True, **f), 0xb0, EFA, qp_type=0xff, device=0)

    # 54 to 57: EFA.
    efa(5, 0, 0x11, 2, length=228)
    efa(6, 0, 0x11, 1)
    efa(7, 10, 0x11, 1)
    efa(0, 0, 0x11, 2, op=2, length=0x12000, imm=0xcafef00d, unsolicited=1)

    tag = struct.pack(">HH", 12, 16) + b"eth_withoutfcs\0\0" + bytes(4)

    def packet(transport, wait=10):
        put(tag + roce_frame(transport), None, wait)

    def own(*args, **f):
        mlx4(*args, cqn=0x95, **f)

    # 58 to 71: queue pair 0x22 of this host sends and reads, 0x11 of the other receives. 60: a send.
    packet(ib(0x04, 0, pattern(16), a=1))
    packet(ib(0x11, 0, msn=1))
    own(0x22, 0x0a, 0, 1)
    packet(ib(0x0c, 1, va=0x1000, r_key=7, dmalen=64))
    packet(ib(0x10, 1, pattern(64), msn=2))
    own(0x22, 0x10, 1, 1, byte_cnt=64)
    packet(ib(0x0c, 2, va=0x1000, r_key=7, dmalen=64))
    packet(ib(0x0c, 3, va=0x1000, r_key=7, dmalen=64))
    packet(ib(0x10, 2, pattern(64), msn=3))
    own(0x22, 0x10, 2, 1, byte_cnt=64)
    packet(ib(0x10, 3, pattern(64), msn=4))
    own(0x22, 0x10, 3, 1, byte_cnt=64)
    packet(ib(0x05, 4, pattern(16), a=1, imm=0xcafe0001))
    packet(ib(0x11, 4, msn=5))
    # 72, 73: the entries of receiver and sender.
    own(0x11, 0x02, 0, 0, byte_cnt=16, dw1=0xcafe0001, comment="of the other host")
    own(0x22, 0x0b, 4, 1)
    # 74 to 78: the same, with other immediate data and a key to invalidate.
    packet(ib(0x05, 5, pattern(16), a=1, imm=0xcafe0002))
    own(0x11, 0x02, 1, 0, byte_cnt=16, dw1=0xcafe0002)
    packet(ib(0x17, 6, pattern(16), a=1, invalidate=0x54321))
    own(0x11, 0x03, 2, 0, byte_cnt=16, dw1=0x54321)
    packet(ib(0x11, 6, msn=7))
    # 79, 80: much later.
    packet(ib(0x04, 7, pattern(16), a=1), wait=5000000)
    packet(ib(0x11, 7, msn=8))
    return file.out


# ---------------------------------------------------------------------------------------------------- management datagrams


def read_mad_vectors():
    with open(os.path.join(HERE, "mad-vectors.txt")) as file:
        text = "".join(line for line in file if not line.startswith("#"))
    mads = [bytes.fromhex(part.replace("\n", "")) for part in text.split("\n\n") if part.strip()]
    assert len(mads) == 28 and all(len(m) == 256 for m in mads)
    return mads


def native_mad(datagram, psn=0):
    """SMPs on VL 15 from queue pair 0 to 0, the others from 1 to 1."""
    if datagram[1] not in (0x01, 0x81):
        return native(ib(0x64, psn, datagram, qp=1, q_key=0x80010000, srcqp=1), slid=3, dlid=1)
    lids = dict(slid=0xffff, dlid=0xffff) if datagram[1] == 0x81 else dict(slid=1, dlid=3)
    return native(ib(0x64, psn, datagram, qp=0, q_key=0, srcqp=0), vl=15, **lids)


def mads(datagrams):
    return pcap(INFINIBAND, [native_mad(m, n) for n, m in enumerate(datagrams)])


def distinct(size, start=1):
    """Bytes that differ from their neighbours in every bit position sooner or later, none of them 0."""
    return bytes((start + i * 37) % 255 + 1 for i in range(size))


@capture("mad-vectors.pcap", "the 28 datagrams of mad-vectors.txt as native packets")
def mad_vectors():
    return mads(read_mad_vectors())


# Attributes with a known layout: class, attributes, where their data stand, how many bytes.
MAD_ATTRIBUTES = [
    (0x01, (0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x20, 0x30, 0x31, 0x33, 0xff90), 64, 64),
    (0x03, (0x01, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x20, 0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0x39, 0x3a,
            0x3b, 0xf3), 56, 200),
    (0x04, (0x01, 0x10, 0x11, 0x12, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x30, 0x31, 0x32, 0x33,
            0x34, 0x35, 0x36, 0x37), 64, 192),
    (0x21, (0x11, 0x12, 0x14, 0x15, 0x16, 0x17), 64, 192),
    (0x07, (0x01,), 24, 232),
]
# Where there is text in them.
MAD_TEXTS = {(0x01, 0x10): 0, (0x03, 0x11): 44, (0x03, 0x31): 48, (0x03, 0x3b): 16}
# Known by name, or not at all: they stay bytes.
MAD_BYTES = [(0x01, 0x1c), (0x81, 0x1e), (0x01, 0x13), (0x03, 0x3c), (0x03, 0x77), (0x04, 0x40), (0x05, 0x21), (0x06, 0x10),
             (0x08, 0x10), (0x21, 0x13), (0x21, 0x18), (0x33, 0x01), (0x0b, 0x01), (0x11, 0x01)]


@capture("mad-attributes.pcap", "GetResp of every attribute with a known layout, bytes all different from their neighbours; then "
                                "attributes that stay bytes")
def mad_attributes():
    out = []
    for mgmt_class, attributes, at, size in MAD_ATTRIBUTES:
        for attribute in attributes:
            data = distinct(size, len(out) + 1)
            if attribute == 0x3a:  # two source GIDs, three of destinations
                data = data[:15] + bytes([2, 3]) + data[17:]
            if (mgmt_class, attribute) in MAD_TEXTS:
                text = MAD_TEXTS[mgmt_class, attribute]
                data = data[:text] + (b"a name, number %d" % len(out)).ljust(64, b"\0") + data[text + 64:]
            version = 2 if mgmt_class in (3, 7, 0x21) else 1
            out.append(mad(mgmt_class, version, 0x81, attribute, data, at, tid=0x5000 + len(out), modifier=0x00030002))
    for mgmt_class, attribute in MAD_BYTES:
        out.append(mad(mgmt_class, 1, 0x81, attribute, distinct(232, len(out) + 1), 24, tid=0x5000 + len(out)))
    return mads(out)


def notice(trap, details, toggle=0, count=0, generic=1, kind=1, producer=2, lid=7):
    return (bits((generic, 1), (kind, 7)) + be(producer, 3) + be(trap, 2) + be(lid, 2) + bits((toggle, 1), (count, 15)) +
            details.ljust(54, b"\0"))


@capture("mad-notices.pcap", "a trap of every number that has a layout, one that has none, a notice of a vendor, an empty one; Reports "
                             "of the SA, their answer, a Notice of DevMgt")
def mad_notices():
    gid = bytes.fromhex("fe80000000000000 0002c90300001234".replace(" ", ""))
    other = bytes.fromhex("fe80000000000000 0002c90300005678".replace(" ", ""))
    notices = [notice(number, bytes(6) + gid, kind=4, producer=4) for number in (64, 65, 66, 67)]
    notices += [notice(68, distinct(54), kind=4, producer=4)]
    notices += [notice(128, be(9, 2), toggle=1, count=3)]
    notices += [notice(number, bytes(2) + be(9, 2) + be(12, 1)) for number in (129, 130, 131)]
    notices += [notice(144, bytes(2) + be(9, 2) + be(0, 1) + be(1, 1) + be(0x50c048, 4) + be(0, 1) + be(0x0b, 1) + be(0x30, 2), kind=4)]
    notices += [notice(145, bytes(2) + be(9, 2) + bytes(2) + be(0x0002c90300001111, 8), kind=4)]
    notices += [notice(256, bytes(2) + be(9, 2) + be(0xffff, 2) + be(2, 1) + bytes(1) + be(0x15, 2) + be(1, 4) +
                       be(0x1122334455667788, 8) + bytes(1) + bits((1, 1), (0, 1), (3, 6)) + bytes([0, 1, 4, 2]), kind=2)]
    for number in (257, 258):
        notices += [notice(number, bytes(2) + be(9, 2) + be(11, 2) + be(0x8001 if number == 257 else 0x80010000, 4) +
                           bits((5, 4), (0, 4)) + be(0x123456, 3) + bytes(1) + be(0x654321, 3) + gid + other, kind=2)]
    notices += [notice(259, be(0xfc0f, 2) + be(9, 2) + be(11, 2) + be(0x8001, 2) + bits((5, 4), (0, 4)) + be(0x123456, 3) +
                       bytes(1) + be(0x654321, 3) + gid + other + be(2, 2) + be(12, 1), kind=2)]
    notices += [notice(0x1234, distinct(54), generic=0, producer=0x0002c9), notice(0, b"", kind=0x7f, producer=0, lid=0)]
    out = [mad(1, 1, 0x05, 0x02, data, 64, tid=0x6000 + n) for n, data in enumerate(notices)]
    out += [mad(3, 2, 0x06, 0x02, data + gid, 56, tid=0x6100 + n) for n, data in enumerate(notices[:2] + notices[5:6])]
    out += [mad(3, 2, 0x86, 0x02, notices[0] + gid, 56, tid=0x6100), mad(6, 1, 0x05, 0x02, notices[-2], 64, tid=0x6200)]
    return mads(out)


def segments(attribute, records, stride, tid, method=0x92):
    """An answer of the SA in RMPP segments, as the kernel cuts it."""
    data = b"".join(record.ljust(stride, b"\0") for record in records)
    parts = [data[at:at + 200] for at in range(0, len(data), 200)]
    out = []
    for n, part in enumerate(parts, 1):
        first, last = n == 1, n == len(parts)
        length = 20 + len(part) if last else len(data) + 20 * len(parts) if first else 0
        rmpp = be(1, 1) + be(1, 1) + bits((31, 5), (last, 1), (first, 1), (1, 1)) + be(0, 1) + be(n, 4) + be(length, 4)
        header = bytes(8) + be(stride // 8, 2) + bytes(10)
        out.append(mad(3, 2, method, attribute, rmpp + header + part, 24, tid=tid))
    return out


def rmpp_control(kind, status, data1, data2, tid):
    return mad(3, 2, 0x12, 0x11, be(1, 1) + be(kind, 1) + bits((31, 5), (1, 3)) + be(status, 1) + be(data1, 4) + be(data2, 4),
               24, tid=tid)


@capture("mad-tables.pcap", "answers of the SA in RMPP segments: NodeRecords, PortInfoRecords, LinkRecords, PathRecords of GetMulti, "
                            "InformInfoRecords; ACK, STOP, ABORT; tables without RMPP, empty, with an offset that is too small")
def mad_tables():
    node = [be(n, 2) + bytes(2) + be(1, 1) + be(1, 1) + be(2 if n == 2 else 1, 1) + be(4, 1) + be(0x100000 + n, 8) * 3 + be(8, 2) +
            bytes(2) + be(0xa1, 4) + be(1, 1) + be(0x2c9, 3) + (b"node %d" % n).ljust(64, b"\0") for n in range(1, 6)]
    port = [be(n, 2) + be(1, 1) + bytes(1) + distinct(64, n) for n in range(1, 7)]
    link = [be(n, 2) + be(1, 1) + be(n % 4 + 1, 1) + be(100 + n, 2) + bytes(2) for n in range(1, 31)]
    path = [be(n, 8) + gid4("10.0.0.1") + gid4("10.0.0.2") + distinct(24, n) for n in range(1, 4)]
    inform = [gid4("10.0.0.1") + be(n, 2) + bytes(6) + distinct(36, n) + bytes(20) for n in range(1, 4)]
    out = segments(0x11, node, 112, 0x7001) + segments(0x12, port, 72, 0x7002) + segments(0x20, link, 8, 0x7003)
    out += segments(0x3a, path, 64, 0x7004, method=0x94) + segments(0xf3, inform, 80, 0x7005)
    out += [rmpp_control(2, 0, 3, 35, 0x7001), rmpp_control(3, 1, 0, 0, 0x7001), rmpp_control(4, 126, 0, 0, 0x7001)]
    bare = bytes(12) + bytes(8) + be(1, 2) + bytes(10)
    out.append(mad(3, 2, 0x92, 0x20, bare + b"".join(link[:3]), 24, tid=0x7006))
    out.append(mad(3, 2, 0x92, 0x20, bare, 24, tid=0x7007))
    out.append(mad(3, 2, 0x92, 0x35, bare + path[0], 24, tid=0x7008))
    out.append(mad(3, 2, 0x92, 0x35, bytes(32), 24, status=0x0300, tid=0x7009))
    out.append(mad(3, 2, 0x12, 0x11, bytes(20) + bytes(4) + be(1 << 4 | 1 << 12 | 1 << 45 | 1 << 63, 8) + node[0], 24, tid=0x700a))
    return mads(out)


# ---------------------------------------------------------------------------------------------------- management

# A subnet manager (LID 1) at port 1 of a switch (LID 2) with four ports, adapters at ports 2 (LID 3) and 3 (LID 4). The
# capture is taken between manager and switch: hop 1, where HopPointer is 1 in questions and answers.
GET, SET, GET_RESP, SEND, TRAP, REPORT, REPRESS, GET_TABLE, TABLE_RESP, DELETE = (
    1, 2, 0x81, 3, 5, 6, 7, 0x12, 0x92, 0x15)
M_KEY = 0x1234567890abcdef
SWITCH_GUID, ADAPTER_GUIDS = 0x200000, {3: 0x100010, 4: 0x100020}


class Talk:
    """Frames with names and times. A question is called NAME?, its answer NAME!, a frame number is in `frame`."""

    def __init__(self, link_type):
        self.link_type, self.now, self.tid, self.psn = link_type, 0, 0x100000000, {}
        self.frames, self.frame = [], {}

    def put(self, name, data, wait=20):
        self.now += wait
        self.frames.append((self.now, data))
        assert name not in self.frame, name
        self.frame[name] = len(self.frames)

    def next_tid(self):
        self.tid += 1
        return self.tid

    def next_psn(self, sender):
        self.psn[sender] = self.psn.get(sender, 0) + 1
        return self.psn[sender]

    def pcap(self):
        out = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, self.link_type)
        for now, data in self.frames:
            out += struct.pack("<IIII", START + now // 1000000, now % 1000000, len(data), len(data)) + data
        return out


def node_info(kind, ports, guid, partition_cap, local):
    return (bytes([1, 1, kind, ports]) + be(guid, 8) * 2 + be(guid + (0 if kind == 2 else 1), 8) + be(partition_cap, 2) +
            be(0, 2) + be(0xa1, 4) + be(local, 1) + be(0, 3))


def port_info(lid=0, state=2, m_key=0, local=1, protect=0, timeout=18, width=3):
    return (be(m_key, 8) + be(0xfe80 << 48, 8) + be(lid, 2) + be(1, 2) + be(0x0050c048, 4) + be(0, 2) + be(15, 2) +
            bytes([local, width, 3, 2, 7 << 4 | state, 5 << 4 | 2, protect << 6, 1 << 4 | 1, 4 << 4, 4 << 4, 0, 8, 8, 4,
                   7 << 5, 4 << 4]) + bytes(6) + bytes([32, timeout, 16, 8 << 4 | 8]) + bytes(2 + 1 + 3) + be(0x30, 2) + bytes(2))


def switch_info(enforcement_cap=32):
    return (be(3072, 2) + be(0, 2) + be(1024, 2) + be(4, 2) + bytes([0, 0xff, 0xff, 18 << 3]) + be(0, 2) +
            be(enforcement_cap, 2) + be(0xc0, 1) + bytes(3))


def p_keys(*values):
    return b"".join(be(v, 2) for v in values).ljust(64, b"\0")


class Fabric(Talk):
    def __init__(self):
        super().__init__(INFINIBAND)

    def native_mad(self, name, datagram, source, destination, qp, vl=0, wait=20):
        assert len(datagram) == 256, name
        transport = ib(0x64, self.next_psn((source, qp)), datagram, qp=qp, srcqp=qp, q_key=0x80010000 if qp else 0)
        self.put(name, native(transport, slid=source, dlid=destination, vl=vl), wait)

    def directed(self, name, method, attribute, data, path, modifier=0, status=0, tid=0, m_key=0, local=1, wait=20):
        """One SMP on link 1; `path` are the ports by which it leaves the nodes, `local` is where it arrives at the last."""
        back = method == GET_RESP
        arrived = [1] * (len(path) - 1) + [local]
        smp = (mad(0x81, 1, method, attribute, b"", 24, status | (0x8000 if back else 0), 1 << 8 | len(path), tid, modifier)[:24] +
               be(m_key, 8) + be(0xffff, 2) * 2 + bytes(28) + data.ljust(64, b"\0") +
               bytes([0] + path).ljust(64, b"\0") + (bytes([0] + arrived) if back else b"").ljust(64, b"\0"))
        self.native_mad(name, smp, 0xffff, 0xffff, 0, 15, wait)

    def ask_directed(self, name, method, attribute, path, answer=b"", data=b"", status=0, m_key=0, **f):
        tid = self.next_tid()
        self.directed(name + "?", method, attribute, data, path, tid=tid, m_key=m_key, **f)
        self.directed(name + "!", GET_RESP, attribute, answer, path, tid=tid, status=status, wait=40,
                      **{k: v for k, v in f.items() if k != "wait"})

    def routed(self, name, method, attribute, data, source, destination, modifier=0, status=0, tid=0, m_key=0, wait=20):
        smp = (mad(1, 1, method, attribute, b"", 24, status, 0, tid, modifier)[:24] + be(m_key, 8) + bytes(32) +
               data.ljust(64, b"\0") + bytes(128))
        self.native_mad(name, smp, source, destination, 0, 15, wait)

    def ask_routed(self, name, method, attribute, lid, answer=b"", data=b"", status=0, modifier=0, m_key=0, wait=20):
        tid = self.next_tid()
        self.routed(name + "?", method, attribute, data, 1, lid, modifier, 0, tid, m_key, wait)
        self.routed(name + "!", GET_RESP, attribute, answer, lid, 1, modifier, status, tid, 0, 40)

    def general(self, name, datagram, source, destination, wait=20):
        self.native_mad(name, datagram, source, destination, 1, 0, wait)

    def sa(self, name, method, attribute, data, source, destination, tid, mask=0, offset=0, status=0, rmpp=bytes(12), wait=20):
        self.general(name, mad(3, 2, method, attribute, rmpp + bytes(8) + be(offset, 2) + bytes(2) + be(mask, 8) + data, 24,
                               status, tid=tid), source, destination, wait)

    def ask_sa(self, name, method, attribute, answer, data=b"", mask=0, offset=0, status=0):
        tid = self.next_tid()
        self.sa(name + "?", method, attribute, data, 3, 1, tid, mask)
        self.sa(name + "!", 0x95 if method == DELETE else GET_RESP, attribute, answer, 1, 3, tid, mask, offset, status)


def rmpp(kind, data1, data2, flags=1, status=0):
    return be(1, 1) + be(kind, 1) + be(0x1f << 3 | flags, 1) + be(status, 1) + be(data1, 4) + be(data2, 4)


DATA, ACK, STOP, ABORT = 1, 2, 3, 4


def fabric():
    f = Fabric()
    to_switch, to_adapter = [1], {3: [1, 2], 4: [1, 3]}

    # The switch and the adapters are found, and get their LIDs.
    f.ask_directed("switch-node", GET, 0x11, to_switch, node_info(2, 4, SWITCH_GUID, 8, 1))
    f.ask_directed("switch-name", GET, 0x10, to_switch, b"switch")
    f.ask_directed("switch-info", GET, 0x12, to_switch, switch_info())
    for port in range(4):
        f.ask_directed(f"switch-port{port}", GET, 0x15, to_switch, port_info(local=1, state=4 if port == 0 else 2), modifier=port)
    f.ask_directed("switch-port9", GET, 0x15, to_switch, b"", modifier=9, status=0x1c)
    f.ask_directed("switch-lid", SET, 0x15, to_switch, port_info(2, state=4), port_info(2, state=0))
    for lid, path in to_adapter.items():
        f.ask_directed(f"node{lid}", GET, 0x11, path, node_info(1, 1, ADAPTER_GUIDS[lid], 32, 1))
        f.ask_directed(f"port{lid}", GET, 0x15, path, port_info(), modifier=1)
        f.ask_directed(f"lid{lid}", SET, 0x15, path, port_info(lid, m_key=M_KEY), port_info(lid, 0, M_KEY), modifier=1)
        f.ask_directed(f"armed{lid}", SET, 0x15, path, port_info(lid, 3, M_KEY), port_info(lid, 3, M_KEY), modifier=1, m_key=M_KEY)
        f.ask_directed(f"active{lid}", SET, 0x15, path, port_info(lid, 4, M_KEY), port_info(lid, 4, M_KEY), modifier=1, m_key=M_KEY)
        f.ask_directed(f"no-switch{lid}", GET, 0x12, path, b"", status=0x0c)

    # By LID: nodes, tables, refusals.
    f.ask_routed("r-switch", GET, 0x11, 2, node_info(2, 4, SWITCH_GUID, 8, 0))
    f.ask_routed("r-switch-info", GET, 0x12, 2, switch_info())
    f.ask_routed("r-node3", GET, 0x11, 3, node_info(1, 1, ADAPTER_GUIDS[3], 32, 1))
    f.ask_routed("pkeys-inside", GET, 0x16, 2, p_keys(0xffff), modifier=1 << 16)
    f.ask_routed("pkeys-beyond", GET, 0x16, 2, status=0x1c, modifier=1 << 16 | 1)
    f.ask_routed("pkeys-set-beyond", SET, 0x16, 2, p_keys(0xffff), p_keys(0xffff), status=0x1c, modifier=2 << 16 | 2)
    f.ask_routed("pkeys-port0", GET, 0x16, 2, p_keys(0xffff))
    f.ask_routed("pkeys-port0-beyond", GET, 0x16, 2, status=0x1c, modifier=1)
    f.ask_routed("pkeys-set", SET, 0x16, 3, p_keys(0xffff, 0x8001), p_keys(0xffff, 0x8001), m_key=M_KEY)
    f.ask_routed("pkeys-get", GET, 0x16, 3, p_keys(0xffff, 0x8001), m_key=M_KEY)
    f.ask_routed("key3", GET, 0x15, 3, port_info(3, 4, M_KEY), modifier=1, m_key=M_KEY)
    f.ask_routed("sl-to-vl", GET, 0x17, 3, bytes.fromhex("0123456701234567"))
    f.ask_routed("vl-arbitration", GET, 0x18, 3, b"".join(bytes([vl, 4]) for vl in range(8)), modifier=1 << 16)
    f.ask_routed("vl-arbitration-part0", GET, 0x18, 3, status=0x1c)
    f.ask_routed("lft-set", SET, 0x19, 2, bytes([0xff, 1, 0, 2, 3] + [0xff] * 59), bytes([0xff, 1, 0, 2, 3] + [0xff] * 59))
    f.ask_routed("lft-get", GET, 0x19, 2, bytes([0xff, 1, 0, 2, 3] + [0xff] * 59))
    f.ask_routed("lft-beyond", GET, 0x19, 2, status=0x1c, modifier=48)
    f.ask_routed("mft", GET, 0x1b, 2, bytes(64))
    f.ask_routed("guids", GET, 0x14, 3, be(ADAPTER_GUIDS[3] + 1, 8))
    f.ask_routed("unknown", GET, 0xaa, 3, status=0x0c)
    f.ask_routed("sm-info", GET, 0x20, 4, be(ADAPTER_GUIDS[4] + 1, 8) + bytes(8) + be(7, 4) + be(0x12, 1))
    f.ask_routed("sm-standby", SET, 0x20, 4, be(ADAPTER_GUIDS[4] + 1, 8) + bytes(8) + be(8, 4) + be(0x12, 1), modifier=4, m_key=M_KEY)
    f.ask_routed("switch-set", SET, 0x12, 2, switch_info(), switch_info())

    # Two questions under way at the same time; one that is asked again.
    first, second = f.next_tid(), f.next_tid()
    f.routed("pipe1?", GET, 0x10, b"", 1, 3, tid=first)
    f.routed("pipe2?", GET, 0x14, b"", 1, 3, modifier=1, tid=second)
    f.routed("pipe1!", GET_RESP, 0x10, b"adapter 3", 3, 1, tid=first)
    f.routed("pipe2!", GET_RESP, 0x14, bytes(64), 3, 1, modifier=1, tid=second)
    again = f.next_tid()
    f.routed("again?", GET, 0x10, b"", 1, 4, tid=again)
    f.routed("again??", GET, 0x10, b"", 1, 4, tid=again, wait=1500000)
    f.routed("again!", GET_RESP, 0x10, b"adapter 4", 4, 1, tid=again)

    # Traps: the link of port 4 of the switch; repeated, and repressed. Then what changed at an adapter.
    link = be(0x81, 1) + be(2, 3) + be(128, 2) + be(2, 2) + bytes(2) + be(2, 2)
    trap = f.next_tid()
    f.routed("trap128", TRAP, 2, link, 2, 1, tid=trap)
    f.routed("trap128-again", TRAP, 2, link, 2, 1, tid=trap, wait=2000000)
    f.routed("repress128", REPRESS, 2, link, 1, 2, tid=trap)
    changes = be(0x84, 1) + be(1, 3) + be(144, 2) + be(3, 2) + bytes(2) + bytes(2) + be(3, 2) + be(1, 2) + be(0x0050c048, 4)
    trap = f.next_tid()
    f.routed("trap144", TRAP, 2, changes, 3, 1, tid=trap)
    f.routed("repress144", REPRESS, 2, changes, 1, 3, tid=trap, m_key=M_KEY)

    # Subnet administration, asked by LID 3.
    f.ask_sa("sa-info", GET, 0x01, be(1, 1) + be(2, 1) + be(0x2602, 2) + be(16, 4))
    gids = bytes.fromhex("fe80000000000000") + be(ADAPTER_GUIDS[4] + 1, 8) + bytes.fromhex("fe80000000000000") + be(ADAPTER_GUIDS[3] + 1, 8)
    f.ask_sa("path", GET, 0x35, bytes(8) + gids + be(4, 2) + be(3, 2) + bytes(5) + bytes([0x80]) + be(0xffff, 2) + bytes(2) + bytes.fromhex("848392"),
             bytes(8) + gids, 0x0c, 8)
    f.ask_sa("no-path", GET, 0x35, bytes(8) + gids[:15] + b"\x99" + gids[16:], bytes(8) + gids[:15] + b"\x99" + gids[16:], 0x0c, 0, 0x0300)
    group = bytes.fromhex("ff12401bffff000000000000ffffffff") + gids[16:]
    f.ask_sa("join", SET, 0x38, group + be(0xb1b, 4) + be(0xc000, 2) + bytes.fromhex("8400ffff83920000000021"), group + bytes(16) + be(1, 1), 0x10003, 7)
    f.ask_sa("subscribe", SET, 0x03, bytes(16) + be(0xffff, 2) + bytes(4) + be(1, 1) + be(1, 1) + be(0xffff, 2) * 2 + be(1, 3) + bytes(2) + be(0xffffff, 3),
             bytes(16) + be(0xffff, 2) + bytes(4) + be(1, 1) + be(1, 1) + be(0xffff, 2) * 2 + be(1, 3) + bytes(2) + be(0xffffff, 3), 0, 5)
    service = be(0x1000cafe, 8) + gids[16:] + be(0xffff, 2) + bytes(2) + be(300, 4) + bytes(16) + b"demo".ljust(64, b"\0")
    f.ask_sa("service", SET, 0x31, service, service, 0x7f, 22)
    f.ask_sa("service-gone", DELETE, 0x31, service, service, 0x7f, 22)

    # Tables: three segments; none; one; two that end before their time.
    records = b"".join(be(lid, 2) + bytes(2) + node_info(kind, ports, guid, 32, local) + f"node {lid}".encode().ljust(64, b"\0") + bytes(4)
                       for lid, kind, ports, guid, local in ((1, 1, 1, 0x100000, 1), (2, 2, 4, SWITCH_GUID, 0), (3, 1, 1, ADAPTER_GUIDS[3], 1),
                                                            (4, 1, 1, ADAPTER_GUIDS[4], 1), (3, 1, 1, ADAPTER_GUIDS[3], 1)))
    assert len(records) == 560
    tid = f.next_tid()
    f.sa("table?", GET_TABLE, 0x11, b"", 3, 1, tid)
    f.sa("table1", TABLE_RESP, 0x11, records[:200], 1, 3, tid, offset=14, rmpp=rmpp(DATA, 1, 620, 3))
    f.sa("table1-ack", GET_TABLE, 0x11, b"", 3, 1, tid, rmpp=rmpp(ACK, 1, 3))
    f.sa("table2", TABLE_RESP, 0x11, records[200:400], 1, 3, tid, offset=14, rmpp=rmpp(DATA, 2, 0))
    f.sa("table2-ack", GET_TABLE, 0x11, b"", 3, 1, tid, rmpp=rmpp(ACK, 2, 5))
    f.sa("table3", TABLE_RESP, 0x11, records[400:], 1, 3, tid, offset=14, rmpp=rmpp(DATA, 3, 180, 5))
    f.sa("table3-ack", GET_TABLE, 0x11, b"", 3, 1, tid, rmpp=rmpp(ACK, 3, 8))
    tid = f.next_tid()
    f.sa("empty?", GET_TABLE, 0x35, bytes(8) + gids, 3, 1, tid, 0x0c)
    f.sa("empty!", TABLE_RESP, 0x35, b"", 1, 3, tid, 0x0c, 0, 0x0300, rmpp(DATA, 1, 20, 7))
    f.sa("empty-ack", GET_TABLE, 0x35, b"", 3, 1, tid, rmpp=rmpp(ACK, 1, 1))
    links = b"".join(be(a, 2) + bytes([p, q]) + be(b, 2) + bytes(2) for a, p, q, b in ((1, 1, 1, 2), (2, 2, 1, 3), (2, 3, 1, 4)))
    tid = f.next_tid()
    f.sa("links?", GET_TABLE, 0x20, b"", 3, 1, tid)
    f.sa("links!", TABLE_RESP, 0x20, links, 1, 3, tid, 0, 1, rmpp=rmpp(DATA, 1, 20 + len(links), 7))
    f.sa("links-ack", GET_TABLE, 0x20, b"", 3, 1, tid, rmpp=rmpp(ACK, 1, 1))
    for name, kind, status in (("stop", STOP, 1), ("abort", ABORT, 118)):
        tid = f.next_tid()
        f.sa(name + "?", GET_TABLE, 0x11, b"", 3, 1, tid)
        f.sa(name + "1", TABLE_RESP, 0x11, records[:200], 1, 3, tid, offset=14, rmpp=rmpp(DATA, 1, 620, 3))
        f.sa(name, GET_TABLE, 0x11, b"", 3, 1, tid, rmpp=rmpp(kind, 0, 0, status=status))
    report = be(0x84, 1) + be(4, 3) + be(64, 2) + be(1, 2) + bytes(2) + bytes(6) + gids[:16]
    tid = f.next_tid()
    f.sa("report", REPORT, 0x02, report, 1, 3, tid)
    f.sa("report!", 0x86, 0x02, report, 3, 1, tid)

    # Performance, congestion control, device management, a vendor, all asked by LID 1.
    def ask(name, mgmt_class, version, method, attribute, question, answer, at=64, status=0):
        tid = f.next_tid()
        f.general(name + "?", mad(mgmt_class, version, method, attribute, question, at, tid=tid), 1, 3)
        f.general(name + "!", mad(mgmt_class, version, GET_RESP, attribute, answer, at, status, tid=tid), 3, 1)

    ask("pm-info", 4, 1, GET, 0x01, b"", be(1, 1) + be(1, 1) + be(0x1200, 2) + be(18, 4))
    ask("counters", 4, 1, GET, 0x12, bytes([0, 1]), bytes([0, 1]) + bytes(22) + be(648, 4) * 2 + be(9, 4) * 2)
    ask("counters-clear", 4, 1, SET, 0x12, bytes([0, 1, 0xff, 0xff]), bytes([0, 1, 0xff, 0xff]))
    ask("counters64", 4, 1, GET, 0x1d, bytes([0, 1]), bytes([0, 1]) + bytes(6) + be(648, 8) * 2 + be(9, 8) * 2)
    ask("counters-port9", 4, 1, GET, 0x12, bytes([0, 9]), bytes([0, 9]), status=0x1c)
    ask("congestion", 0x21, 2, GET, 0x11, b"", be(0, 2) + be(2, 1))
    ask("devices", 6, 1, GET, 0x10, b"", be(1, 2) + be(4, 1) + be(1, 1) + bytes.fromhex("10000000"))
    ask("ping", 0x32, 1, GET, 0x00, bytes(13) + bytes.fromhex("001405") + b"ping", bytes(13) + bytes.fromhex("001405") + b"ping", 24)
    # Much later.
    ask("last", 4, 1, GET, 0x12, bytes([0, 1]), bytes([0, 1]))
    f.now += 10000000
    ask("very-last", 4, 1, GET, 0x12, bytes([0, 1]), bytes([0, 1]))
    return f


@capture("mad-clean.pcap", "link type 247, management that breaks no rule: discovery by directed route, LID routed SMPs, traps, subnet administration with RMPP, performance, congestion control, device management, vendor; see fabric() for the frames")
def mad_clean():
    return fabric().pcap()


def cm_talk():
    """Connections by CM over RoCEv2: accepted after MRA and closed, refused after being asked twice, a datagram service."""
    f = Talk(ETHERNET)
    ends = {"a": "10.0.0.1", "b": "10.0.0.2"}

    def put(name, sender, attribute, data, tid, wait=100):
        datagram = cm(attribute, data, tid)
        transport = ib(0x64, f.next_psn(sender), datagram, qp=1, q_key=0x80010000, srcqp=1)
        f.put(name, roce_frame(transport, src=ends[sender], dst=ends["b" if sender == "a" else "a"]), wait)

    def ids(local, remote):
        return be(local, 4) + be(remote, 4)

    def reply(local, remote):
        return (ids(local, remote) + bytes(4) + be(0x22, 3) + bytes(5) + be(0x10, 3) + bytes(1) + be(4, 1) + be(16, 1) +
                bits((15, 5), (1, 2), (1, 1)) + bits((7, 3), (0, 5)) + be(0x0200000000000002, 8))

    a, b = 0xaa000001, 0xbb000001
    put("req", "a", 0x10, cm_request(), 0x701)
    put("mra", "b", 0x11, ids(b, a) + bits((0, 2), (0, 6)) + bits((19, 5), (0, 3)), 0x701)
    put("rep", "b", 0x13, reply(b, a), 0x701)
    put("rtu", "a", 0x14, ids(a, b), 0x701)
    load = (ids(a, b) + bytes(4) + be(0x22, 3) + bits((20, 5), (0, 3)) + bytes(4) + be(0xffff, 2) * 2 + gid4("10.0.1.1") +
            gid4("10.0.1.2") + bits((0, 20), (0, 4)) + be(2, 1) + be(64, 1) + be(3, 1) + bits((1, 4), (1, 1), (0, 3)) +
            bits((18, 5), (0, 3)))
    put("lap", "a", 0x19, load, 0x705)
    put("apr", "b", 0x1a, ids(b, a) + be(0, 1) + be(2, 1), 0x705)
    put("dreq", "a", 0x15, ids(a, b) + be(0x22, 3), 0x703)
    put("drep", "b", 0x16, ids(b, a), 0x703)

    other = be(0xaa000002, 4) + cm_request()[4:]
    put("req2", "a", 0x10, other, 0x711)
    put("req2-again", "a", 0x10, other, 0x711, 5000000)
    put("rej", "b", 0x12, ids(0, 0xaa000002) + bits((0, 2), (0, 6)) + bits((4, 7), (0, 1)) + be(28, 2) + b"why?", 0x711)
    service = be(0x1117777, 8)
    put("sidr-req", "a", 0x17, be(0xcc000001, 4) + be(0xffff, 2) + bytes(2) + service + bits((0, 8), (4, 4), (0, 4)) + be(54322, 2) +
        bytes(12) + ip4("10.0.0.1") + bytes(12) + ip4("10.0.0.2"), 0x704)
    put("sidr-rep", "b", 0x18, be(0xcc000001, 4) + bytes(4) + be(0x33, 3) + bytes(1) + service + be(0x1ee7, 4), 0x704)
    tid = 0x720
    for name, sender, method, data in (("cm-info?", "a", GET, b""), ("cm-info!", "b", GET_RESP, be(1, 1) + be(2, 1) + be(0, 2) + be(18, 4))):
        transport = ib(0x64, f.next_psn(sender), mad(7, 2, method, 0x01, data, tid=tid), qp=1, q_key=0x80010000, srcqp=1)
        f.put(name, roce_frame(transport, src=ends[sender], dst=ends["b" if sender == "a" else "a"]))
    return f


@capture("cm-clean.pcap", "CM over RoCEv2 that breaks no rule: REQ, MRA, REP, RTU, LAP, APR, DREQ, DREP; a REQ sent twice and rejected; SIDR; ClassPortInfo")
def cm_clean():
    return cm_talk().pcap()


# ----------------------------------------------------------------------------------------------------


def main():
    check_builder()
    os.makedirs(OUT, exist_ok=True)
    lines = ["# Golden captures", "", "Made by `../make_captures.py`, this list too. Addresses are 10.0.0.1 and 10.0.0.2; ICRC, VCRC and checksums are",
             "right unless the line says otherwise.", "", "| file | what it holds |", "|---|---|"]
    total = 0
    for name, text, build in CAPTURES:
        data = build()
        total += len(data)
        with open(os.path.join(OUT, name), "wb") as file:
            file.write(data)
        lines.append("| %s | %s |" % (name, text))
    with open(os.path.join(OUT, "README.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print("%d captures, %d bytes" % (len(CAPTURES), total), file=sys.stderr)


if __name__ == "__main__":
    main()
