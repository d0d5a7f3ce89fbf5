#!/usr/bin/env python3
"""Compares rdmascope with tshark: names, then every value of every packet.

Usage: peers.py RDMASCOPE [CAPTURE...]

Without captures: samples/, tests/golden/captures/ and, where it exists, ../shared/captures/. Differences that are
meant stand in DIFFERENCES beside this file, each with its reason; any other difference fails, and so does a line there
that nothing needs any more. Exit status: 0 alike, 1 not.
"""
import concurrent.futures
import decimal
import fnmatch
import functools
import ipaddress
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ among the sources

import for_tshark
import names

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.path.join(ROOT, "..", "shared", "captures")
CAPTURE = re.compile(r"\.(pcap|pcapng|erf|snoop|ntar)(\.\w+)*$")

SEPARATOR, AGGREGATOR = "\x1f", "\x1e"  # occur in no value
FIELD_STYLE = ["-E", "separator=" + SEPARATOR, "-E", "occurrence=a", "-E", "aggregator=" + AGGREGATOR]

TSHARK_OPTIONS = [
    # Takes any short SEND for RPC and then calls the frame malformed (B6).
    "--disable-protocol", "rpcordma",
    # tshark asks the lower UDP port first, and RoCE senders use any source port (B10): 53 and 69 occur.
    "--disable-protocol", "dns", "--disable-protocol", "tftp",
    # Off by default; rdmascope verifies.
    "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "eth.check_fcs:TRUE",
]

# tshark shows the status of a checksum as a number.
CHECKSUM_STATUS = {"0": "Bad", "1": "Good", "2": "Unverified", "3": "Not present"}

# tshark adds these twice: the header and its only field.
DOUBLED = ("infiniband.immdt", "infiniband.ieth", "infiniband.variant.crc")

# What tshark shows under a name may have another name here: compared where there is no value of the same name. Bytes
# of several are joined.
HERE_INSTEAD = {
    "infiniband.reth.va": ["infiniband.atomiceth.va"],
    "infiniband.reth.r_key": ["infiniband.atomiceth.r_key"],
    "infiniband.rwh.etype": ["ipoib.type"],
    "data.data": ["infiniband.payload", "infiniband.pad"],  # pad counts as data there (B8)
}
HERE_INSTEAD |= {f"sll.{name}": [f"sll2.{name}"] for name in ("pkttype", "hatype", "halen", "etype")}
HERE_INSTEAD |= {f"erspan.{name}": [f"erspan3.{name}"] for name in ("version", "vlan", "cos", "truncated", "spanid")}
# And the other way round: both are one field here.
THERE_JOINED = {"eth.trailer": ["eth.padding", "eth.trailer"]}

# tshark decodes many more protocols. data.data is compared where the header in front of the data is known here too.
DATA_FOLLOWS = {"", "eth", "ethertype", "vlan", "mpls", "ip", "ipv6", "udp", "gre", "vxlan", "geneve", "infiniband",
                "ipoib", "erf", "sll", "raw", "user_dlt"}


# --------------------------------------------------------------------------------------------- intended differences


class Difference:
    """A line of DIFFERENCES."""

    def __init__(self, number, line):
        parts = line.split(None, 2)
        if len(parts) < 3:
            raise SystemExit(f"DIFFERENCES:{number}: FIELD CAPTURE REASON needed: {line}")
        self.number, self.line = number, line
        fields, capture, self.reason = parts
        self.fields = [(field.rstrip("+-"), field[-1] if field[-1] in "+-" else "") for field in fields.split(",")]
        self.capture, _, frames = capture.partition(":")
        self.frames = None
        if frames:
            self.frames = set()
            for part in frames.split(","):
                first, _, last = part.partition("-")
                self.frames.update(range(int(first), int(last or first) + 1))

    def is_about(self, capture):
        return fnmatch.fnmatchcase(capture, self.capture)

    def covers(self, frame, field, side):
        """`side` is + or - where only one of the two has values."""
        return ((self.frames is None or frame in self.frames)
                and any((not only or only == side) and fnmatch.fnmatchcase(field, pattern)
                        for pattern, only in self.fields))


def read_differences(path):
    with open(path, encoding="utf-8") as file:
        return [Difference(number, line.strip()) for number, line in enumerate(file, 1)
                if line.strip() and not line.startswith("#")]


# ------------------------------------------------------------------------------------------------------------ values


@functools.lru_cache(maxsize=1 << 16)
def normal(kind, text):
    """One value as something to compare."""
    try:
        if kind in ("number", "bool"):
            if text in ("True", "False"):
                return int(text == "True")
            return int(text, 0)
        if kind == "time":
            return decimal.Decimal(text)
        if kind in ("ipv4", "ipv6"):
            return ipaddress.ip_address(text)
    except (ValueError, decimal.InvalidOperation):
        return text
    if kind in ("bytes", "ether"):
        return text.replace(":", "").lower()
    return text


def values(kind, cell):
    return [normal(kind, text) for text in cell.split(AGGREGATOR)] if cell else []


class Column:
    """A field both have."""

    def __init__(self, field, our_kind, their_kind):
        self.field, self.our_kind, self.their_kind = field, our_kind, their_kind
        self.comparable = our_kind == their_kind or {our_kind, their_kind} in ({"number", "bool"}, {"number", "bytes"})

    def ours(self, cells):
        found = values(self.our_kind, cells[self.field])
        if self.our_kind == "bytes" and self.their_kind == "number":
            return [int(value, 16) for value in found]
        return found

    def ours_instead(self, cells):
        """What the other names hold, or None."""
        if self.field not in HERE_INSTEAD:
            return None
        parts = [values(self.our_kind, cells[name]) for name in HERE_INSTEAD[self.field]]
        if self.our_kind == "bytes":
            return ["".join(part for found in parts for part in found)]
        return sum(parts, [])

    def theirs(self, cells):
        if self.field in THERE_JOINED:
            parts = [values(self.their_kind, cells[name]) for name in THERE_JOINED[self.field]]
            return ["".join(sum(parts, []))] if any(parts) else []
        cell = cells[self.field]
        if cell and self.field.endswith(".status"):
            cell = AGGREGATOR.join(CHECKSUM_STATUS.get(text, text) for text in cell.split(AGGREGATOR))
        found = values(self.their_kind, cell)
        if self.field in DOUBLED and found[::2] == found[1::2]:
            return found[::2]
        return found

    def wanted(self, our_cells, their_cells, converted):
        """False where a comparison says nothing."""
        if self.field.startswith("erf."):
            return not converted
        if self.field != "data.data":
            return self.comparable
        before, _, last = their_cells["frame.protocols"].rpartition(":")
        return last == "data" and before.rpartition(":")[2] in DATA_FOLLOWS


def rows(command):
    """Lines of cells, what the command complained about, its exit status."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC")
    done = subprocess.run(command, capture_output=True, env=environment)
    text = done.stdout.decode("utf-8", "replace")
    complaint = [line for line in done.stderr.decode("utf-8", "replace").splitlines()
                 if line and not line.startswith("Running as user")]
    return [line.split(SEPARATOR) for line in text.split("\n")[:-1]], complaint, done.returncode


def as_shown(cell):
    cell = cell.replace(AGGREGATOR, ",")
    return "nothing" if not cell else cell if len(cell) <= 60 else cell[:57] + "..."


LIMIT = int(os.environ.get("PEERS_SHOW", "10"))  # differences shown of each capture


class Outcome:
    def __init__(self, name):
        self.name = name
        self.failures = []  # lines
        self.skipped = ""
        self.packets = self.compared = 0
        self.used = set()  # line numbers of DIFFERENCES

    def text(self):
        if self.skipped and not self.failures:
            return f"skip {self.name}: {self.skipped}"
        if not self.failures:
            return f"ok {self.name}: {self.packets} packets, {self.compared} values compared"
        return "\n  ".join([f"FAIL {self.name}: {len(self.failures)} differences"] + self.failures[:LIMIT])


def compare_capture(rdmascope, path, name, columns, differences):
    outcome = Outcome(name)
    differences = [d for d in differences if d.is_about(name)]

    def meant(frame, field, side):
        covering = next((d for d in differences if d.covers(frame, field, side)), None)
        if covering:
            outcome.used.add(covering.number)
        return covering

    names_here = [c.field for c in columns] + sorted(set(sum(HERE_INSTEAD.values(), [])))
    names_there = [c.field for c in columns] + sorted(set(sum(THERE_JOINED.values(), [])))
    ours, complaint, status = rows(
        [rdmascope, "read", path, "-T", "fields"] + FIELD_STYLE + [o for n in names_here for o in ("-e", n)])
    if not ours and status != 0:
        outcome.skipped = f"refused here: {' '.join(complaint)}"
        if status != 2 or not complaint or not meant(0, "file", "-"):
            outcome.failures.append(f"exit status {status}, {outcome.skipped}")
        return outcome

    with open(path, "rb") as file:
        copied, converted = for_tshark.convert(file.read())
    with tempfile.NamedTemporaryFile(prefix="peers-", suffix=".pcap") as copy:
        if copied is not None:
            copy.write(copied)
            copy.flush()
        theirs, complaint, status = rows(
            ["tshark", "-n", "-r", path if copied is None else copy.name, "-T", "fields"] + TSHARK_OPTIONS +
            FIELD_STYLE + [o for n in names_there for o in ("-e", n)])
    if not theirs and status != 0:
        outcome.skipped = f"{len(ours)} packets here; tshark refuses it: " + " ".join(complaint)
        if not meant(0, "file", "+"):
            outcome.failures.append(outcome.skipped)
        return outcome

    outcome.packets = len(ours)
    if len(ours) != len(theirs):
        outcome.failures.append(f"{len(theirs)} packets in tshark, {len(ours)} here")
        return outcome
    for frame, (our_row, their_row) in enumerate(zip(ours, theirs), 1):
        if len(our_row) != len(names_here) or len(their_row) != len(names_there):
            outcome.failures.append(f"frame {frame}: {len(their_row)} columns in tshark, {len(our_row)} here")
            continue
        our_cells, their_cells = dict(zip(names_here, our_row)), dict(zip(names_there, their_row))
        for column in columns:
            field = column.field
            joined = field in THERE_JOINED
            if not our_cells[field] and not their_cells[field] and not joined:
                continue
            if not column.wanted(our_cells, their_cells, frame in converted):
                continue
            if our_cells[field] == their_cells[field] and not joined:
                outcome.compared += our_cells[field].count(AGGREGATOR) + 1
                continue
            our_values, their_values = column.ours(our_cells), column.theirs(their_cells)
            if our_values == their_values or not our_values and column.ours_instead(our_cells) == their_values:
                outcome.compared += len(their_values)
                continue
            if not meant(frame, field, "-" if not our_values else "+" if not their_values else ""):
                shown = as_shown("".join(their_values) if joined else their_cells[field])
                outcome.failures.append(f"frame {frame} {field}: tshark {shown}, "
                                        f"here {as_shown(our_cells[field])}")
    return outcome


# ---------------------------------------------------------------------------------------------------------- the whole


def check_names(ours, theirs, differences):
    """Names as one more "capture" of that name in DIFFERENCES."""
    outcome = Outcome("names")
    mismatches, own = names.compare(ours, theirs)
    for name, their_type, our_type in mismatches:
        covering = next((d for d in differences if d.is_about("names") and d.covers(0, name, "")), None)
        if covering:
            outcome.used.add(covering.number)
        else:
            outcome.failures.append(f"{name}: tshark {their_type}, here {our_type}")
    print("fields only here:", " ".join(own))
    if outcome.failures:
        print(outcome.text())
    else:
        print(f"ok names: {len(set(ours) & set(theirs))} fields have the name and meaning of tshark's")
    return outcome


def label(path):
    """samples/x, golden/x, real/x: what DIFFERENCES calls a capture."""
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return ("golden" if folder == "captures" else folder) + "/" + os.path.basename(path)


def default_captures():
    folders = [os.path.join(ROOT, "samples"), os.path.join(ROOT, "tests", "golden", "captures")]
    if os.path.isdir(SHARED):
        folders += [os.path.join(SHARED, folder) for folder in ("real", "soft-roce", "odd", "cdi")]
    else:
        print("skipped: ../shared/captures is not here")
    return [os.path.join(folder, name) for folder in folders if os.path.isdir(folder)
            for name in sorted(os.listdir(folder)) if CAPTURE.search(name)]


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    rdmascope, captures = sys.argv[1], sys.argv[2:]
    if not shutil.which("tshark"):
        print("skipped: tshark is not installed\npeers: 0 passed, 0 failed, 1 skipped")
        return 0
    complete = not captures
    captures = captures or default_captures()
    differences = read_differences(os.path.join(HERE, "DIFFERENCES"))

    ours, theirs = names.our_fields(rdmascope), names.tshark_fields()
    outcomes = [check_names(ours, theirs, differences)]
    columns = [Column(name, field.kind, names.best(field, theirs[name]).kind)
               for name, field in ours.items() if name in theirs]

    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(compare_capture, rdmascope, path, label(path), columns, differences) for path in captures]
        for job in jobs:
            outcomes.append(job.result())
            print(outcomes[-1].text(), flush=True)

    stale = 0
    if complete:  # part of the captures says nothing about a line for all
        used = set().union(*(outcome.used for outcome in outcomes))
        for difference in differences:
            here = any(difference.is_about(outcome.name) for outcome in outcomes)
            if here and difference.number not in used:
                stale += 1
                print(f"FAIL DIFFERENCES:{difference.number}: nothing needs this line: {difference.line}")
    failed = sum(bool(outcome.failures) for outcome in outcomes) + stale
    skipped = sum(bool(outcome.skipped and not outcome.failures) for outcome in outcomes)
    passed = sum(not outcome.failures and not outcome.skipped for outcome in outcomes)
    print(f"peers: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
