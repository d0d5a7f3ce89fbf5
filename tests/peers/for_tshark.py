"""Captures that tshark 4.0 cannot read, or counts differently, as a temporary copy it can.

* Link type 247 (native InfiniBand): tshark refuses the file. The same packets as ERF records of type 21 (link type
  197) it decodes. A time stamp becomes the nearest 2^-32 s, which reads back exactly in microseconds and nanoseconds.
* pcapng custom blocks: tshark counts them as frames. They are left out of the copy.
"""
import struct

INFINIBAND, ERF = 247, 197
ERF_TYPE_INFINIBAND = 21
PCAP_MAGIC = {b"\xd4\xc3\xb2\xa1": ("<", 10**6), b"\x4d\x3c\xb2\xa1": ("<", 10**9),
              b"\xa1\xb2\xc3\xd4": (">", 10**6), b"\xa1\xb2\x3c\x4d": (">", 10**9)}
SHB, IDB, PACKET, SPB, EPB, CUSTOM = 0x0A0D0D0A, 1, 2, 3, 6, (0x0BAD, 0x40000BAD)


def erf_record(ticks, per_second, data, wire_bytes):
    seconds, fraction = divmod(ticks, per_second)
    stamp = seconds << 32 | (fraction * 2**32 + per_second // 2) // per_second
    return struct.pack("<Q", stamp & (2**64 - 1)) + struct.pack(
        ">BBHHH", ERF_TYPE_INFINIBAND, 4, min(len(data) + 16, 0xffff), 0, min(wire_bytes, 0xffff)) + data


def convert_pcap(data):
    order, per_second = PCAP_MAGIC[data[:4]]
    link_type = struct.unpack_from(order + "I", data, 20)[0]
    if link_type != INFINIBAND:
        return None, ()
    out = [data[:20], struct.pack(order + "I", ERF)]
    at, frames = 24, 0
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = struct.unpack_from(order + "4I", data, at)
        record = erf_record(seconds * per_second + fraction, per_second, data[at + 16:at + 16 + captured], wire)
        out.append(struct.pack(order + "4I", seconds, fraction, len(record), wire + 16) + record)
        at += 16 + captured
        frames += 1
    return b"".join(out), range(1, frames + 1)


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    total = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + total + body + total


def units_per_second(order, options):
    """From option if_tsresol (9) of an interface description."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "2H", options, at)
        if code == 0:
            break
        if code == 9 and length >= 1:
            unit = options[at + 4]
            return 2 ** (unit & 0x7f) if unit & 0x80 else 10 ** unit
        at += 4 + (length + 3) // 4 * 4
    return 10**6


def convert_pcapng(data):
    out, order, interfaces, changed, at = [], "<", [], False, 0
    frames, converted = 0, set()
    while at + 12 <= len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        kind, total = struct.unpack_from(order + "2I", data, at)
        if total < 12 or at + total > len(data):
            break
        whole, body = data[at:at + total], data[at + 8:at + total - 4]
        at += total
        if kind in CUSTOM:
            changed = True
            continue
        if kind == IDB:
            link_type = struct.unpack_from(order + "H", body)[0]
            interfaces.append((link_type, units_per_second(order, body[8:])))
            if link_type == INFINIBAND:
                changed = True
                whole = block(order, IDB, struct.pack(order + "H", ERF) + body[2:])
        frames += kind in (PACKET, SPB, EPB)
        if kind == EPB:
            number, high, low, captured, wire = struct.unpack_from(order + "5I", body)
            if number < len(interfaces) and interfaces[number][0] == INFINIBAND:
                record = erf_record(high << 32 | low, interfaces[number][1], body[20:20 + captured], wire)
                options = body[20 + (captured + 3) // 4 * 4:]
                head = struct.pack(order + "5I", number, high, low, len(record), wire + 16)
                converted.add(frames)
                whole = block(order, EPB, head + record + bytes(-len(record) % 4) + options)
        out.append(whole)
    return (b"".join(out) + data[at:] if changed else None), converted


def convert(data):
    """The bytes for tshark, or None when it can have the file as it is; and the numbers of the frames made ERF."""
    if data[:4] in PCAP_MAGIC and len(data) >= 24:
        return convert_pcap(data)
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return convert_pcapng(data)
    return None, ()
