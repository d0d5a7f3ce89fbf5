#!/usr/bin/env python3
"""Pairing the two streams of a connection without the CM exchange, and telling a queue pair that is used again.

- cm-rping and nvmeof-rdma without their CM datagrams give the same connections as with them.
- Four queue pairs between two hosts, with equal numbers on both sides and traffic in both directions, are paired right.
- A user's --pair is taken over, and said.

usage: pairing.py RDMASCOPE
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
import make_captures as make  # the builder that shares no code with the project


def check(tool, capture, *options):
    result = subprocess.run([tool, "check", "-T", "json", *options, capture], capture_output=True, text=True)
    return json.loads(result.stdout)


def connections(report):
    """(address, QP) of both ends of each connection, whichever sent first, with what both sides did."""
    found = set()
    for c in report["connections"]:
        if c["transport"] == "UD":
            continue
        ends = sorted((e["address"], e.get("qp"), e["requests"]["messages"], e["requests"]["completed"]) for e in c["ends"])
        found.add(tuple(ends))
    return found


def without_cm(tool, capture, out):
    subprocess.run([tool, "read", capture, "-Y", "not infiniband.mad", "-w", out], cwd=ROOT, check=True)


def write_pcap(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))
        for i, frame in enumerate(frames):
            out.write(struct.pack("<IIII", 1767225600, i * 10000, len(frame), len(frame)) + frame)


def four_queue_pairs(rng):
    """Frames, and the QPNs: pair i is QP 0x11+i on both hosts; each side sends SENDs and the other acknowledges."""
    hosts = ("10.0.0.1", "10.0.0.2")
    state = {(q, s): [rng.randrange(1 << 24), 0] for q in range(4) for s in range(2)}
    waiting, frames = [], []
    for _ in range(400):
        if waiting and rng.random() < 0.5:
            q, s, psn, msn = waiting.pop(0)
            frames.append(make.ether(make.rocev2(make.ack(psn, qp=0x11 + q, msn=msn), src=hosts[1 - s], dst=hosts[s])))
            continue
        q, s = rng.randrange(4), rng.randrange(2)
        psn, msn = state[q, s]
        state[q, s] = [(psn + 1) & 0xffffff, msn + 1]
        frames.append(make.ether(make.rocev2(make.ib(0x04, psn, make.pattern(16), qp=0x11 + q, a=1), src=hosts[s], dst=hosts[1 - s])))
        waiting.append((q, s, psn, msn + 1))
    return frames


def main():
    tool = os.path.abspath(sys.argv[1])
    failed = 0

    def expect(name, holds, detail=""):
        nonlocal failed
        failed += not holds
        print(f"ok check/pairing/{name}" if holds else f"FAIL check/pairing/{name}: {detail}")

    with tempfile.TemporaryDirectory() as folder:
        for name in ("cm-rping", "nvmeof-rdma"):
            capture, stripped = os.path.join(ROOT, "samples", name + ".pcap.zst"), os.path.join(folder, name)
            without_cm(tool, capture, stripped)
            whole, bare = check(tool, capture), check(tool, stripped)
            expect(f"{name}-without-cm", connections(whole) == connections(bare), f"{connections(whole)} != {connections(bare)}")
            sources = {c["paired_by"] for c in bare["connections"]}
            expect(f"{name}-says-inference", sources == {"inference"}, sources)
            sources = {c["paired_by"] for c in whole["connections"] if c["transport"] == "RC"}
            expect(f"{name}-says-cm", sources == {"CM"}, sources)

        for seed in range(5):
            path = os.path.join(folder, "four")
            write_pcap(path, four_queue_pairs(random.Random(seed)))
            report = check(tool, path)
            pairs = {tuple(sorted((e["address"], e.get("qp")) for e in c["ends"])) for c in report["connections"]}
            wanted = {(("10.0.0.1", q), ("10.0.0.2", q)) for q in range(0x11, 0x15)}
            expect(f"four-queue-pairs-{seed}", pairs == wanted, pairs ^ wanted)
            expect(f"four-queue-pairs-{seed}-clean", sum(c["found"]["violations"] for c in report["connections"]) == 0, report["sentence"])

        report = check(tool, path, "--pair", "10.0.0.1,0x11=10.0.0.2,0x11")
        by = [c["paired_by"] for c in report["connections"] if c["ends"][0].get("qp") == 0x11]
        expect("user", by == ["user"], by)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
