#!/usr/bin/env python3
"""Mirrored traffic gets the verdicts of the traffic itself: RSPAN, ERSPAN type I to III, and an InfiniBand port mirror.

Usage: mirrored.py RDMASCOPE

Captures are wrapped frame by frame as a switch would wrap them. `check` must then say word for word the same, but for the
numbers that name bytes of a frame. For InfiniBand the packets of a RoCE capture are put behind an LRH first.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "golden")]
import make_captures as make  # noqa: E402

CAPTURES = ["loss-read", "corrupt-write", "rc-send", "cm-rping"]
ETHERNET, INFINIBAND = 1, 247


def load(tool, name, folder):
    """Times and frames."""
    copy = os.path.join(folder, "base.pcap")
    subprocess.run([tool, "read", os.path.join(ROOT, "samples", name + ".pcap.zst"), "-F", "pcap", "-w", copy], check=True)
    with open(copy, "rb") as file:
        data = file.read()
    at, frames = 24, []
    scale = 1 if struct.unpack_from("<I", data)[0] == 0xa1b23c4d else 1000
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * 10**9 + fraction * scale, data[at + 16:at + 16 + kept]))
        at += 16 + kept
    return frames


def save(frames, link_type, path):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, link_type))
        for time, data in frames:
            file.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(data), len(data)) + data)


def rspan(frame):
    return frame[:12] + make.be(0x8100, 2) + make.be(999, 2) + frame[12:]


def over_gre(protocol, header, sequence):
    def wrap(frame):
        packet = make.gre(header + frame, protocol, sequence=sequence)
        return make.ether(make.ipv4(packet, 47, "192.0.2.1", "192.0.2.2"))
    return wrap


def erspan2():
    bits = make.bits
    return bits((1, 4), (100, 12), (0, 3), (3, 2), (0, 1), (7, 10), (0, 12), (5, 20))


def erspan3():
    bits, be = make.bits, make.be
    return (bits((2, 4), (100, 12), (0, 3), (0, 2), (0, 1), (7, 10)) + be(0x12345678, 4) + be(0x11, 2) +
            bits((1, 1), (0, 5), (3, 6), (1, 1), (2, 2), (0, 1)))


def native(frame):
    """The transport packet of a RoCEv2 frame over IPv4, behind an LRH. A damaged one stays damaged."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != make.be(4791, 2):
        return None
    total = struct.unpack_from(">H", frame, 16)[0]
    packet = frame[42:14 + total]
    transport, crc = packet[:-4], packet[-4:]
    lids = {"slid": frame[29], "dlid": frame[33]}
    out = make.native(transport, **lids)
    if crc != make.icrc(b"\xff" * 8 + masked(frame[14:42]) + make.mask_bth(transport)):
        out = out[:-6] + bytes([out[-6] ^ 1]) + out[-5:-2]
        out += make.vcrc(out)
    return out


def masked(headers):
    """IPv4 and UDP as the ICRC covers them."""
    return make.mask_ipv4(headers[:20]) + headers[20:26] + b"\xff\xff"


def ib_mirror(vcrc_inside):
    """Raw packet of EtherType 0x1123 with a prefix of four bytes; VCRC of the packet inside kept or not."""
    def wrap(packet):
        inside = packet if vcrc_inside else packet[:-2]
        inside += bytes(-len(inside) % 4)
        body = make.be(0, 2) + make.be(0x1123, 2) + make.be(0x5a000001, 4) + inside
        outer = make.lrh(2 + len(body) // 4, 0, slid=7, dlid=8) + body
        return outer + make.vcrc(outer)
    return wrap


def report(tool, path):
    result = subprocess.run([tool, "check", "-T", "json", path], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        return result.stderr
    out = json.loads(result.stdout)
    for finding in out["findings"]:
        finding.pop("byte", None)
    for connection in out["connections"]:
        for end in connection["ends"]:
            end.pop("bytes", None)
    return {key: value for key, value in out.items() if key not in ("file", "files", "capture", "elapsed_s")}


def difference(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return f"{one if isinstance(one, str) else other}"
    for key in one:
        if one[key] != other.get(key):
            a, b = json.dumps(one[key]), json.dumps(other.get(key))
            at = max(0, next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b))) - 60)
            return f"{key}: {a[at:at + 200]} became {b[at:at + 200]}"
    return ""


def main():
    tool = sys.argv[1]
    ethernet = {"rspan": rspan, "erspan1": over_gre(0x88be, b"", None), "erspan2": over_gre(0x88be, erspan2(), 5),
                "erspan3": over_gre(0x22eb, erspan3(), 5)}
    infiniband = {"ib-mirror": ib_mirror(False), "ib-mirror-with-vcrc": ib_mirror(True)}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        plain, wrapped = os.path.join(folder, "plain.pcap"), os.path.join(folder, "wrapped.pcap")
        for name in CAPTURES:
            frames = load(tool, name, folder)
            packets = [(time, packet) for time, frame in frames if (packet := native(frame)) is not None]
            for link_type, originals, ways in ((ETHERNET, frames, ethernet), (INFINIBAND, packets, infiniband)):
                save(originals, link_type, plain)
                expected = report(tool, plain)
                for way, wrap in ways.items():
                    save([(time, wrap(frame)) for time, frame in originals], link_type, wrapped)
                    why = difference(expected, report(tool, wrapped))
                    if not why and name == "corrupt-write" and not expected["findings"]:
                        why = "nothing was found, so nothing was compared"
                    failed += bool(why)
                    print(f"FAIL mirrored/{name}-{way}: {why}" if why else f"ok mirrored/{name}-{way}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
