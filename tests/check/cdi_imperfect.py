#!/usr/bin/env python3
"""No false alarm on CDI: a good conversation stays without violation when the capture misses messages, shows some twice
or in another order, begins late or sees one direction only. Many conversations stand in one capture, each on a port.

Usage: cdi_imperfect.py RDMASCOPE
"""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "golden"), HERE]
import mutants_cdi as cdi
import mutate

FIRST_PORT, SEED = 20000, 7


def variants():
    """(name, what becomes of the frames of a good conversation)"""
    count = len(cdi.talk())
    yield "whole", lambda f: f
    for lost in itertools.chain(((i,) for i in range(count)), itertools.combinations(range(count), 2)):
        yield "without " + ", ".join(str(i + 1) for i in lost), lambda f, lost=lost: [x for i, x in enumerate(f) if i not in lost]
    for i in range(count):
        yield f"{i + 1} twice", lambda f, i=i: f[:i + 1] + f[i:]
        yield f"{i + 1} again after the next", lambda f, i=i: f[:i + 2] + f[i:i + 1] + f[i + 2:]
        yield f"from {i + 1} on", lambda f, i=i: f[i:]
        yield f"up to {i + 1}", lambda f, i=i: f[:i + 1]
    for i in range(count - 1):
        # Neighbours within a millisecond, as several receive queues mix them.
        yield f"{i + 2} before {i + 1}", lambda f, i=i: swapped(f, i)
    for by in (cdi.TX, cdi.RX):
        yield f"only from {by}", lambda f, by=by: [x for x, m in zip(f, cdi.talk()) if m.by == by]
    chance = random.Random(SEED)
    for n in range(200):
        kept = [chance.random() > 0.3 for _ in range(count)]
        yield f"a third lost, {n}", lambda f, kept=kept: [x for x, k in zip(f, kept) if k]


def swapped(f, i):
    return f[:i] + [f[i + 1], f[i]] + f[i + 2:] if f[i + 1][0] - f[i][0] < 0.001 else f


def check(tool, frames):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "talks.pcapng")
        mutate.write_frames(frames, path)
        result = subprocess.run([tool, "check", "-T", "json", path], capture_output=True, stdin=subprocess.DEVNULL)
        if result.returncode not in (0, 1):
            raise RuntimeError(result.stderr.decode()[-2000:])
        return json.loads(result.stdout)


def main():
    tool = os.path.abspath(sys.argv[1])
    cases, frames = [], []
    for name, change in variants():
        port = FIRST_PORT + len(cases)
        cases.append(name)
        frames += change(cdi.frames(cdi.talk(), port)[0])
    # By time; what a variant moved keeps its place among its own.
    report = check(tool, frames)
    port_of = {flow["number"]: int(flow["transmitter"].rsplit(":", 1)[1]) for flow in report.get("cdi", [])}
    wrong = {}
    for f in report["findings"]:
        if f["class"] == "violation":
            name = cases[port_of[f["cdi"]] - FIRST_PORT] if port_of.get(f.get("cdi"), 0) >= FIRST_PORT else "?"
            wrong.setdefault(name, f)
    for name, f in wrong.items():
        print(f"FAIL cdi/{name}: {f['rule']} in frame {f.get('frame', 0)}: {f.get('text', '')}")
    whole = [f for f in report["findings"] if port_of.get(f.get("cdi")) == FIRST_PORT]
    if whole:
        print(f"FAIL cdi/whole: {whole[0]['rule']}: {whole[0].get('text', '')}")
    if len(port_of) < len(cases) - 1:
        print(f"FAIL cdi/flows: {len(port_of)} connections of {len(cases)}")
    elif not wrong and not whole:
        print(f"ok cdi/imperfect: {len(cases)} conversations")
    return 1 if wrong or whole else 0


if __name__ == "__main__":
    sys.exit(main())
