#!/usr/bin/env python3
"""The fields that need the connections (rdmascope.flow, infiniband.response_in, ...), held against a second opinion.

The second opinion is worked out here from plain header fields, with its own code: which request a response names is the
last packet with that PSN before it; what answers a request is the first response behind it that acknowledges or refuses
its PSN, or brings its data. The number of retransmissions and messages is that of `stats`, the findings are those of
`check`.

usage: annotations.py RDMASCOPE [CAPTURE...]
"""
import collections
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HALF, MASK = 1 << 23, (1 << 24) - 1
COLUMNS = ["frame.number", "_ws.col.Source", "_ws.col.Destination", "infiniband.bth.opcode", "infiniband.bth.psn",
           "infiniband.aeth.syndrome.opcode", "infiniband.reth.dmalen", "infiniband.invariant.crc.status",
           "rdmascope.flow", "rdmascope.message", "infiniband.request_in", "infiniband.response_in",
           "infiniband.retransmission", "infiniband.retransmission_of"]
MADE = ["b13-rnr-nak.pcap", "b19-duplicate-and-gap.pcap", "b20-one-queue-pair.pcap", "lengths.pcapng"]
FINDINGS = ["frame.number", "rdmascope.finding.rule", "rdmascope.finding.class"]
READ = 0x0c
ASKS_FOR_DATA = (0x0c, 0x13, 0x14, 0x1c, 0x1d)  # READ, CmpSwap, FetchAdd, FLUSH, ATOMIC WRITE
READ_RESPONSES, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE = range(0x0d, 0x11), 0x11, 0x12


def difference(a, b):
    return ((a - b + HALF) & MASK) - HALF


class Packet:
    def __init__(self, row):
        number = lambda text: int(text, 0) if text else 0
        self.frame, self.source, self.destination = int(row[0]), row[1], row[2]
        self.opcode, self.psn = number(row[3]), number(row[4])
        self.nak = row[5] not in ("", "0", "0x00", "0x0", "2")  # syndrome kinds: 0 ACK, 1 RNR NAK, 3 NAK
        self.length = number(row[6])
        self.bad = row[7] == "Bad"
        self.flow, self.message, self.request_in, self.response_in = map(number, row[8:12])
        self.retransmission, self.original = row[12] == "1", number(row[13])
        low = self.opcode & 31
        self.is_response = low in READ_RESPONSES or low in (ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE)
        self.is_reliable = self.opcode >> 5 in (0, 5)
        self.asks_for_data = low in ASKS_FOR_DATA
        self.is_data = self.is_response and low != ACKNOWLEDGE
        self.acknowledges_all = low not in (0x0e,)  # READ response Middle has no AETH


def run(tool, *arguments):
    result = subprocess.run([tool, *arguments], cwd=ROOT, capture_output=True, text=True)
    if result.returncode not in (0, 1) or "rdmascope:" in result.stderr.replace("rdmascope: note:", ""):
        raise RuntimeError(f"{' '.join(arguments)}: {result.stderr}")
    return result.stdout


def columns(tool, capture, names):
    out = run(tool, "read", capture, "-T", "fields", *[word for name in names for word in ("-e", name)])
    return [line.split("\t") for line in out.splitlines()]


def holds(request, psn, mtu):
    """Does the request take this PSN? A READ takes one for each response."""
    d = difference(psn, request.psn)
    if request.opcode & 31 != READ:
        return d == 0
    return 0 <= d < max(1, -(-request.length // mtu))


def check_request(p, request, requests, mtu):
    """The request that a response names."""
    wrong = []
    if request is None or request.frame >= p.frame or request.is_response or request.source != p.destination:
        return [f"frame {p.frame}: request_in {p.request_in} is no earlier request of the other side"]
    if not holds(request, p.psn, mtu):
        wrong.append(f"frame {p.frame}: PSN {p.psn}, request_in {request.frame} has {request.psn}")
    last = [r for r in requests if holds(r, p.psn, mtu) and (r.asks_for_data or not p.is_data)]
    # Of READ requests that hold it the one that starts last counts, then the last sent.
    last.sort(key=lambda r: (difference(r.psn, p.psn), r.frame))
    if last and last[-1].frame != request.frame:
        wrong.append(f"frame {p.frame}: request_in {request.frame}, expected {last[-1].frame}")
    if p.message != request.message:
        wrong.append(f"frame {p.frame}: message {p.message}, its request has {request.message}")
    return wrong


def check_links(packets, mtu):
    """Every request_in and response_in of one connection, found anew."""
    wrong = []
    requests = collections.defaultdict(list)  # by sender
    expected_response = {}
    open_requests = collections.defaultdict(list)
    by_frame = {p.frame: p for p in packets}
    for p in packets:
        if p.bad or not p.is_reliable:
            continue
        if not p.is_response:
            requests[p.source].append(p)
            open_requests[p.source].append(p)
            continue
        if p.request_in == 0:
            # It may name a request that the capture lacks; else every one that names a request says so.
            if any(holds(r, p.psn, mtu) and r.asks_for_data == p.is_data for r in requests[p.destination][-400:]):
                if any(q.request_in for q in packets if q.is_response and q.frame < p.frame and q.source == p.source):
                    wrong.append(f"frame {p.frame}: has no request_in")
        else:
            wrong += check_request(p, by_frame.get(p.request_in), requests[p.destination], mtu)
        still = []
        for r in open_requests[p.destination]:
            d = difference(p.psn, r.psn)
            if r.asks_for_data:
                answered = holds(r, p.psn, mtu) and (p.is_data or p.nak)
            else:
                answered = p.acknowledges_all and (d > 0 or (d == 0 and not p.is_data))
            if answered:
                expected_response[r.frame] = p.frame
            else:
                still.append(r)
        open_requests[p.destination] = still
    for p in packets:
        if not p.bad and p.is_reliable and not p.is_response and p.response_in != expected_response.get(p.frame, 0):
            wrong.append(f"frame {p.frame}: response_in {p.response_in}, expected {expected_response.get(p.frame, 0)}")
        if p.original:
            original = by_frame.get(p.original)
            if original is None or original.frame >= p.frame or original.source != p.source or not p.retransmission or (
                    original.psn != p.psn and original.opcode & 31 != READ):
                wrong.append(f"frame {p.frame}: retransmission_of {p.original} is not the same packet")
    return wrong


def check_capture(tool, capture):
    wrong = []
    rows = columns(tool, capture, COLUMNS)
    flows = collections.defaultdict(list)
    for row in rows:
        if row[8]:
            flows[int(row[8])].append(Packet(row))
    stats = json.loads(run(tool, "stats", capture, "flows", "-T", "json"))
    resent = collections.Counter()
    mtu = {}
    for row in stats:
        resent[row["connection"]] += row.get("retransmitted") or 0
        mtu[row["connection"]] = row.get("path_mtu") or 1  # not known: as many PSNs as there can be
    for flow, packets in flows.items():
        if flow not in mtu:
            wrong.append(f"flow {flow}: stats does not know it")
            continue
        wrong += [f"flow {flow}: {what}" for what in check_links(packets, mtu[flow])]
        count = sum(p.retransmission for p in packets)
        if count != resent[flow]:
            wrong.append(f"flow {flow}: {count} retransmissions, stats flows counts {resent[flow]}")
    for flow in set(mtu) - set(flows):
        wrong.append(f"flow {flow}: no packet has it")

    by_frame = {p.frame: p for packets in flows.values() for p in packets}
    last = collections.Counter()
    for row in json.loads(run(tool, "stats", capture, "messages", "-T", "json")):
        sender = (row["connection"], row["from"])
        first, final = by_frame[row["first_frame"]], by_frame.get(row["last_frame"])
        if first.flow != row["connection"] or first.message <= last[sender]:
            wrong.append(f"frame {first.frame}: message {first.message} behind {last[sender]} of flow {first.flow}")
        last[sender] = first.message
        if final and final.message != first.message:
            wrong.append(f"frame {final.frame}: message {final.message}, its first packet has {first.message}")

    told = collections.Counter()
    for row in columns(tool, capture, FINDINGS):
        rules, kinds = row[1].split(",") if row[1] else [], row[2].split(",") if row[2] else []
        told.update((int(row[0]), rule, kind) for rule, kind in zip(rules, kinds, strict=True))
    found = collections.Counter((f["frame"], f["rule"], f["class"])
                                for f in json.loads(run(tool, "check", capture, "-T", "json"))["findings"]
                                if "frame" in f)
    for what in (told - found) + (found - told):
        wrong.append(f"finding {what}: read has it {told[what]} times, check {found[what]} times")
    return wrong, len(by_frame)


def main():
    tool = os.path.abspath(sys.argv[1])
    captures = sys.argv[2:] or sorted(glob.glob(os.path.join(ROOT, "samples", "*.zst"))) + [
        os.path.join(ROOT, "tests/golden/captures", name) for name in MADE]
    failed = False
    for capture in captures:
        name = os.path.basename(capture)
        try:
            wrong, packets = check_capture(tool, capture)
        except RuntimeError as error:
            wrong, packets = [str(error)], 0
        if not wrong and packets == 0:
            wrong = ["no packet was looked at"]
        failed = failed or bool(wrong)
        print(f"FAIL annotations/{name}: {len(wrong)}: " + "; ".join(wrong[:8]) if wrong else f"ok annotations/{name}",
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
