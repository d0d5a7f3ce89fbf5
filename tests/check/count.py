#!/usr/bin/env python3
"""Counts losses, retransmissions and NAKs of RoCEv2 connections, without rdmascope: tshark's fields and arithmetic.

    count.py CAPTURE...                        a line for each direction of requests
    count.py --check RDMASCOPE [CAPTURE...]    H-LOSS, H-TIMEOUT, H-REORDERED and the retransmissions must agree with it

How: packets with a wrong ICRC are no packets. A request is a retransmission when its PSN is before the highest one seen.
Lost and late packets are known by the IP identification, which Soft-RoCE counts up by one, while no time passes (after a
pause Linux skips some on purpose): a number passed over was lost, one that comes later is late. So this is for captures
of one queue pair with path MTU 1024 and nothing else on the wire.
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys
import zlib

FIELDS = ["frame.number", "frame.time_epoch", "ip.src", "ip.dst", "ip.id", "infiniband.bth.opcode", "infiniband.bth.psn",
          "infiniband.bth.destqp", "infiniband.aeth.syndrome", "infiniband.reth.dmalen"]
PAUSE = 0.004  # one tick of the kernel's clock
RESPONSES = range(0x0d, 0x13)


def after(a, b):
    d = (a - b) & 0xffffff
    return d - (1 << 24) if d >= 1 << 23 else d


def rows(path):
    """(number, time, source, destination, ip id, opcode, psn, syndrome, dmalen) of RC packets with a right ICRC."""
    command = ["tshark", "-r", path, "-Y", "infiniband.bth && ip", "-T", "fields", "-E", "occurrence=f"]
    for field in FIELDS:
        command += ["-e", field]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    good = right_icrcs(path)
    for line in text.splitlines():
        number, time, source, destination, ip_id, opcode, psn, qp, syndrome, length = line.split("\t")
        if int(number) in good and int(opcode) < 0x20:
            yield (int(number), float(time), source, destination, int(ip_id, 0), int(opcode), int(psn),
                   int(syndrome) if syndrome else None, int(length) if length else None)


def right_icrcs(path):
    """Numbers of the frames whose ICRC is right: CRC-32 over IP, UDP, BTH and payload, what routers change as ones."""
    pcap = subprocess.run(["tshark", "-r", path, "-F", "pcap", "-w", "-"], capture_output=True, check=True).stdout
    good, at, number = set(), 24, 0
    while at + 16 <= len(pcap):
        length = struct.unpack_from("<I", pcap, at + 8)[0]
        ip = bytearray(pcap[at + 16 + 14:at + 16 + length])
        at += 16 + length
        number += 1
        if len(ip) < 44 or ip[0] != 0x45:
            continue
        ip = ip[:ip[2] << 8 | ip[3]]
        for i in (1, 8, 10, 11, 26, 27, 32):  # type of service, time to live, checksums, BTH byte 4
            ip[i] = 0xff
        if zlib.crc32(b"\xff" * 8 + bytes(ip[:-4])) == int.from_bytes(ip[-4:], "little"):
            good.add(number)
    return good


def count(path):
    packets = list(rows(path))
    pmtu = 1024
    totals = collections.defaultdict(collections.Counter)
    highest, last_id, passed = {}, {}, collections.defaultdict(set)
    last_time = {}
    for number, time, source, destination, ip_id, opcode, psn, syndrome, length in packets:
        response = opcode in RESPONSES
        key = (destination, source) if response else (source, destination)  # requester, responder
        c = totals[key]
        if not response:
            c["requests"] += 1
            psns = max(1, -(-length // pmtu)) if opcode == 0x0c else 1
            if key in highest and after(psn, highest[key]) < 0:
                c["retransmitted"] += 1
            else:
                if key in highest:
                    c["gap PSNs"] += after(psn, highest[key])
                highest[key] = (psn + psns) & 0xffffff
            if time - last_time.get(key, time) > 0.05:
                c["timeouts"] += 1
        else:
            c["responses"] += 1
            if opcode == 0x11 and syndrome is not None and syndrome >> 5 & 3 == 3:
                c["NAKs"] += 1
        last_time[key] = time
        stream = key, response
        if ip_id in passed[stream]:
            c["late responses" if response else "late requests"] += 1
            passed[stream].discard(ip_id)
            continue
        if stream in last_id:
            step = (ip_id - last_id[stream][0]) & 0xffff
            if 1 < step < 256 and time - last_id[stream][1] < PAUSE:
                passed[stream] |= {(last_id[stream][0] + i) & 0xffff for i in range(1, step)}
        last_id[stream] = (ip_id, time)
    for (key, response), ids in passed.items():
        totals[key]["lost responses" if response else "lost requests"] = len(ids)
    return totals


def told(tool, path):
    """The same numbers by rdmascope, over all connections."""
    report = json.loads(subprocess.run([tool, "check", "-T", "json", path], capture_output=True).stdout)
    c = collections.Counter()
    for finding in report["findings"]:
        if finding["rule"] == "H-LOSS":
            number, kind = re.match(r"(\d+) (request|response) packet", finding["text"]).groups()
            c[f"lost {kind}s"] += int(number)
        elif finding["rule"] == "H-TIMEOUT":
            c["timeouts"] += 1
        elif finding["rule"] == "H-REORDERED":
            c["late"] += 1
    for connection in report["connections"]:
        for end in connection["ends"]:
            c["retransmitted"] += end["requests"]["retransmitted"]
    return c


def compare(tool, path):
    counted, said = collections.Counter(), told(tool, path)
    for c in count(path).values():
        counted += c
    counted["late"] = counted["late requests"] + counted["late responses"]
    different = [f"{name}: counted {counted[name]}, told {said[name]}"
                 for name in ("lost requests", "lost responses", "late", "timeouts", "retransmitted")
                 if counted[name] != said[name]]
    name = os.path.basename(path).split(".")[0]
    print(f"FAIL count/{name}: " + "; ".join(different) if different else f"ok count/{name}")
    return not different


def main():
    if sys.argv[1] == "--check":
        samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
        captures = sys.argv[3:] or [os.path.join(samples, name + ".pcap.zst")
                                    for name in ("loss-read", "reorder-read", "corrupt-write", "rc-send")]
        sys.exit(0 if all([compare(sys.argv[2], path) for path in captures]) else 1)
    for path in sys.argv[1:]:
        for (requester, responder), c in sorted(count(path).items()):
            numbers = ", ".join(f"{name} {c[name]}" for name in
                                ("requests", "retransmitted", "gap PSNs", "lost requests", "late requests", "timeouts",
                                 "responses", "NAKs", "lost responses", "late responses"))
            print(f"{path}: {requester} -> {responder}: {numbers}")


if __name__ == "__main__":
    main()
