#!/usr/bin/env python3
"""No false alarm from an imperfect capture: frames missing, twice, out of order, one direction, begun in the middle, cut.

Usage: imperfect.py RDMASCOPE [SEEDS [CAPTURE...]]

Every Soft-RoCE capture, and the made ones of management that break no rule, are spoiled in each way, as a capture tool may
spoil them (some ways at random, SEEDS times each), and must still give no violation: what the capture lacks is nobody's
fault on the wire.
"""
import glob
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# Damaged packets cannot be told from good ones when their ICRC is cut off.
EXCUSED = {("corrupt-write", "cut")}


ETHERNET, INFINIBAND = 1, 247
LINK_TYPE = ETHERNET  # of the capture that is being spoiled


def load(path, folder):
    global LINK_TYPE
    copy = os.path.join(folder, "base.pcap")
    subprocess.run([TOOL, "read", path, "-F", "pcap", "-w", copy], check=True)
    with open(copy, "rb") as file:
        data = file.read()
    LINK_TYPE, = struct.unpack_from("<I", data, 20)
    at, frames = 24, []
    scale = 1 if struct.unpack_from("<I", data)[0] == 0xa1b23c4d else 1000
    while at + 16 <= len(data):
        seconds, fraction, kept, wire = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * 10**9 + fraction * scale, data[at + 16:at + 16 + kept], wire))
        at += 16 + kept
    return frames


def save(frames, path):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, LINK_TYPE))
        for time, data, wire in frames:
            file.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(data), wire) + data)


def drop(share):
    return lambda frames, dice: [f for f in frames if dice.random() > share]


def swap(frames, dice):
    """Neighbours captured in the wrong order, as by several queues."""
    frames, i = list(frames), 0
    while i + 1 < len(frames):
        (t1, d1, w1), (t2, d2, w2) = frames[i:i + 2]
        if dice.random() < 0.1 and t2 - t1 < 40_000:
            frames[i:i + 2] = [(t1, d2, w2), (t2, d1, w1)]
            i += 1
        i += 1
    return frames


def twice(frames, dice):
    return [f for f in frames for _ in range(2 if dice.random() < 0.1 else 1)]


def merged(frames, _):
    """Captured at two places, the second 30 microseconds later."""
    return sorted(frames + [(time + 30_000, data, wire) for time, data, wire in frames], key=lambda f: f[0])


def middle(frames, dice):
    return frames[dice.randrange(len(frames)):]


def burst(frames, dice):
    at = dice.randrange(len(frames))
    return frames[:at] + frames[at + dice.randrange(1, 60):]


def sender(data):
    """Source MAC address; of native management whether it answers: directed routes have no addresses."""
    return data[6:12] if LINK_TYPE == ETHERNET else data[31] & 0x80


def one_side(number):
    def take(frames, _):
        first = sender(frames[0][1])
        return [f for f in frames if (sender(f[1]) == first) == (number == 0)]
    return take


def cut(frames, _):
    return [(time, data[:90], wire) for time, data, wire in frames]


RANDOM = {"drop-1": drop(0.01), "drop-5": drop(0.05), "drop-30": drop(0.3), "swap": swap, "twice": twice, "middle": middle,
          "burst": burst}
FIXED = {"merged": merged, "one-side": one_side(0), "other-side": one_side(1), "cut": cut}


def violations(path):
    result = subprocess.run([TOOL, "check", "-T", "json", path], capture_output=True)
    if result.returncode not in (0, 1):
        return [{"rule": "exit status", "text": f"{result.returncode} {result.stderr.decode(errors='replace')[-500:]}"}]
    return [f for f in json.loads(result.stdout)["findings"] if f["class"] == "violation"]


def main():
    global TOOL
    TOOL = os.path.abspath(sys.argv[1])
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    captures = sys.argv[3:] or sorted(glob.glob(os.path.join(ROOT, "samples", "*.pcap.zst"))) + \
        [os.path.join(ROOT, "tests", "golden", "captures", name) for name in ("mad-clean.pcap", "cm-clean.pcap")]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        spoiled = os.path.join(folder, "spoiled.pcap")
        for capture in captures:
            name = os.path.basename(capture).split(".")[0]
            frames = load(capture, folder)
            wrong = []
            for way, change in {**RANDOM, **FIXED}.items():
                if (name, way) in EXCUSED:
                    continue
                for seed in range(seeds if way in RANDOM else 1):
                    save(change(frames, random.Random(f"{name} {way} {seed}")), spoiled)
                    wrong += [f"{way} {seed}: {f['rule']} in frame {f.get('frame', 0)}, {f.get('text')}"
                              for f in violations(spoiled)[:1]]
            failed |= bool(wrong)
            print(f"FAIL imperfect/{name}: {len(wrong)} times, " + "; ".join(wrong[:3]) if wrong else f"ok imperfect/{name}",
                  flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
