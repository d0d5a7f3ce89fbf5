#!/usr/bin/env python3
"""The Wireshark plugin through tshark: loads, shows, filters, lists, and says what `rdmascope check` says.

usage: run.py BUILD [NAME...]: with names, only tests that begin so. Prints "ok NAME", "FAIL NAME: why", "skip NAME: why".
"""
import concurrent.futures
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import plugin
from plugin import ROOT, captures, checked, listed, readable_copy, rules_by_frame

SAMPLES = os.path.join(ROOT, "samples")
GOLDEN = os.path.join(ROOT, "tests", "golden", "captures")
SHARED = os.path.join(ROOT, "..", "shared", "captures")

# Our filter, and the same for rdmascope read.
FILTERS = [
    ("corrupt-write.pcap.zst", 'rdmascope.icrc.status == "Bad"', 'infiniband.invariant.crc.status == "Bad"'),
    ("corrupt-write.pcap.zst", 'rdmascope.icrc.status == "Good"', 'infiniband.invariant.crc.status == "Good"'),
    ("loss-read.pcap.zst", "rdmascope.retransmission", "infiniband.retransmission"),
    ("mutant Q-02", 'rdmascope.finding.rule == "Q-02"', 'rdmascope.finding.rule == "Q-02"'),
    ("rc-read.pcap.zst", "rdmascope.response_in", "infiniband.response_in"),
    ("rc-read.pcap.zst", "rdmascope.flow == 1", "rdmascope.flow == 1"),
    ("b02-cnp-0x81.pcap", "rdmascope.bth.becn == 1", "infiniband.bth.becn == 1"),
    ("b02-cnp-0x81.pcap", "rdmascope.cnp.reserved128", "infiniband.cnp"),
    ("b04-xrc-send-only.pcap", "rdmascope.xrceth.xrcsrq", "infiniband.xrceth.xrcsrq"),
    ("b05-flush-atomic-write.pcap", "rdmascope.feth.plt", "infiniband.feth.plt"),
    ("cqe-vectors.pcapng", "rdmascope.cqe.error == 1", "cqe.error == 1"),
    ("cdi-exchange.pcapng", "rdmascope.cdi.control_packet_num", "cdi.control_packet_num"),
    ("efa-messages.pcapng", "rdmascope.efa.rdm.type", "efa.rdm.type"),
]

# Rows whose values must be those of rdmascope read, field by field: ours, and its name there.
SAME_VALUES = ["flow", "message", "infiniband.request_in", "infiniband.response_in", "infiniband.retransmission_of",
               "infiniband.bth.fecn", "infiniband.bth.becn", "infiniband.invariant.crc.status"]


# Rules whose mutants are compared, too: one of each kind of thing that is judged.
MUTANT_RULES = ["F-05", "F-12", "Q-02", "L-02", "R-17", "U-04", "H-LOSS", "CQE-04", "MAD-TID", "RMPP-SEQ", "CM-ORDER", "CDI-S05"]


def find(name):
    for folder in (SAMPLES, GOLDEN):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise FileNotFoundError(name)


class Tests:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.tool = os.path.join(build, "cli", "rdmascope")
        self.tshark = plugin.Tshark(build, folder)
        self.mutants = {}
        self.copied = {}  # captures that tshark cannot read as they are, and why

    def mutants_of(self, *rules):
        """Captures that break one rule each, from the tests of the rules."""
        if rules not in self.mutants:
            keep = os.path.join(self.folder, "mutants-" + "-".join(rules))
            subprocess.run([sys.executable, os.path.join(ROOT, "tests", "check", "mutate.py"), self.tool, "--keep", keep, *rules],
                           capture_output=True, check=True)
            self.mutants[rules] = list(captures(keep))
        return self.mutants[rules]

    def capture(self, name):
        return self.mutants_of(name.split()[1])[0] if name.startswith("mutant ") else find(name)

    def read(self, capture, *options):
        return subprocess.run([self.tool, "read", *options, capture], capture_output=True, text=True).stdout.splitlines()

    # --- Loading ----------------------------------------------------------------------------------------------------

    def test_listed(self):
        result = self.tshark.run("-G", "plugins")
        if not re.search(r"^rdmascope\.so\s.*dissector", result.stdout, re.MULTILINE):
            return f"tshark -G plugins does not list it: {result.stdout[:200]} {result.stderr[:300]}"

    def test_refused_by_other_version(self):
        """Built for another minor version, it is refused with Wireshark's own words."""
        original = plugin.file_of(self.build)
        symbols = subprocess.run(["nm", "-D", original], capture_output=True, text=True).stdout
        address = int(re.search(r"^(\w+) \w plugin_want_minor$", symbols, re.MULTILINE)[1], 16)
        with open(original, "rb") as file:
            data = bytearray(file.read())
        offset = file_offset(data, address)
        struct.pack_into("<i", data, offset, struct.unpack_from("<i", data, offset)[0] + 2)
        version = os.path.basename(os.path.dirname(os.path.dirname(original)))
        where = os.path.join(self.folder, "other", version, "epan")
        os.makedirs(where)
        with open(os.path.join(where, "rdmascope.so"), "wb") as file:
            file.write(data)
        environment = dict(self.tshark.environment, WIRESHARK_PLUGIN_DIR=os.path.join(self.folder, "other"))
        result = subprocess.run([*self.tshark.command, "-G", "plugins"], env=environment, capture_output=True, text=True)
        if "rdmascope.so" in result.stdout:
            return "it was loaded"
        if "was compiled for Wireshark version" not in result.stderr:
            return f"no clear message: {result.stderr[:300]}"

    def test_fields_registered(self):
        """Every row of the headers that the plugin shows is a field of its own name, and nobody else's."""
        theirs, titles = {}, set()
        for line in self.tshark.run("-G", "fields").stdout.splitlines():
            parts = line.split("\t")
            if parts[0] == "F":
                theirs.setdefault(parts[2], set()).add(parts[4])
                titles.add((parts[4], parts[1]))
        # Families that only the plugin dissects. A field with a shared name is there under that one, with the same title.
        rows = [(line.split()[0], re.split(r"  +|\d  ", line)[-1])
                for line in subprocess.run([self.tool, "fields"], capture_output=True, text=True).stdout.splitlines()
                if re.match(r"(cqe|cdi|efa)[.]\S", line) and not line.endswith(": the whole header")]
        missing = [row for row, title in rows if "rdmascope." + row not in theirs and ("rdmascope", title) not in titles]
        if not rows or missing:
            return f"{len(missing)} of {len(rows)} fields are missing, as {missing[:3]}"
        doubled = [name for name, owners in theirs.items() if name.startswith("rdmascope.") and owners != {"rdmascope"}]
        if doubled:
            return f"fields with other owners: {doubled[:3]}"

    def test_stock_dissector_untouched(self):
        """infiniband.* say the same with and without the plugin."""
        without = plugin.Tshark(self.build, self.folder, plugin=False)
        for name in ("rc-read.pcap.zst", "corrupt-write.pcap.zst"):
            names = ["frame.number", "infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.invariant.crc", "_ws.col.Info"]
            if self.tshark.fields(find(name), names) != without.fields(find(name), names):
                return name

    # --- What it shows ----------------------------------------------------------------------------------------------

    def test_filters(self):
        for name, ours, theirs in FILTERS:
            capture = self.capture(name)
            expected = [int(n) for n in self.read(capture, "-T", "fields", "-e", "frame.number", "-Y", theirs)]
            result = self.tshark.run("-2", "-r", capture, "-T", "fields", "-e", "frame.number", "-Y", ours)
            actual = [int(n) for n in result.stdout.split()]
            if not expected or actual != expected:
                return f"{name}: {ours}: frames {actual[:5]}, expected {expected[:5]}; {result.stderr[:200]}"

    def test_values(self):
        """Field by field what rdmascope read says."""
        theirs = ["rdmascope." + n if "." not in n else n for n in SAME_VALUES]
        ours = ["rdmascope." + n.removeprefix("infiniband.").replace("invariant.crc", "icrc") for n in SAME_VALUES]
        for name in ("loss-read.pcap.zst", "corrupt-write.pcap.zst", "cm-rping.pcap.zst", "b03-bth-byte4.pcap", "b17-erf-infiniband.pcap"):
            columns = [word for field in theirs for word in ("-e", field)]
            expected = [["" if v == "" else {"False": "0", "True": "1", "Bad": "0", "Good": "1", "Unverified": "2"}.get(v, v)
                         for v in line.split("\t")]
                        for line in self.read(find(name), "-T", "fields", *columns)]
            actual = [["\x1e".join(v) for v in row] for row in self.tshark.fields(find(name), ours, "-2")]
            if len(expected) != len(actual) or not any(any(row) for row in actual):
                return f"{name}: {len(actual)} packets, expected {len(expected)}"
            for number, (a, e) in enumerate(zip(actual, expected), 1):
                if [normal(v) for v in a] != [normal(v) for v in e]:
                    return f"{name}: frame {number}: {dict(zip(ours, a))}, expected {e}"

    def test_payload_without_pad(self):
        rows = self.tshark.fields(find("b08-padcnt-3.pcap"), ["rdmascope.payload.len", "rdmascope.pad.len"])
        if not rows or any(row != [["61"], ["3"]] for row in rows):
            return str(rows)

    def test_checksum_idiom(self):
        """The ICRC as Wireshark shows checksums, with what it should be."""
        text = self.tshark.run("-r", find("b01-icrc-flipped.pcap"), "-V", "-O", "rdmascope").stdout
        for pattern in (r"Invariant CRC: 0x\w{8} incorrect, should be 0x\w{8}", r"\[Invariant CRC status: Bad\]",
                        r"RDMA analysis: .*ICRC bad"):
            if not re.search(pattern, text):
                return f"no line matches {pattern}: {text[-800:]}"

    def test_expert(self):
        """Each finding is an expert info in its frame, with the rule's severity; without a filter on our fields, too."""
        severities = {"error": "8388608", "warning": "6291456", "info": "4194304"}
        for name in ("corrupt-write.pcap.zst", "loss-read.pcap.zst"):
            report = checked(self.tool, find(name))
            expected = sorted((f["frame"], f["rule"], severities[f["severity"]]) for f in report["findings"] if "frame" in f)
            actual = []
            for number, messages, levels in self.tshark.fields(find(name), ["frame.number", "_ws.expert.message", "_ws.expert.severity"], "-2"):
                actual += [(int(number[0]), m.split(":")[0], s) for m, s in zip(messages, levels) if re.match(r"[A-Z]+-[-A-Z0-9]+: ", m)]
            if not expected or sorted(actual) != expected:
                return f"{name}: {sorted(set(actual) ^ set(expected))[:5]}"
        counted = self.tshark.run("-q", "-r", find("corrupt-write.pcap.zst"), "-z", "expert").stdout
        if "F-01: " not in counted:
            return f"-z expert lists no F-01: {counted[:300]}"

    def test_other_traffic_left_alone(self):
        """Frames without RDMA get no tree."""
        rows = self.tshark.fields(find("cm-rping.pcap.zst"), ["frame.number", "rdmascope"], "-Y", "rdmascope and not infiniband")
        if rows:
            return f"frames {rows[:3]}"

    # --- Dissectors -------------------------------------------------------------------------------------------------

    def test_dissectors(self):
        for name, filter_text, expected in (("cqe-vectors.pcapng", "rdma_cqe", "cqe.record"), ("efa-messages.pcapng", "rdma_efa", "efa.record"),
                                            ("cdi-control.pcap", "cdi", "cdi.control")):
            want = self.read(find(name), "-T", "fields", "-e", "frame.number", "-Y", expected)
            have = self.tshark.run("-r", find(name), "-T", "fields", "-e", "frame.number", "-Y", filter_text).stdout.split()
            if not want or have != want:
                return f"{name}: {filter_text}: frames {have}, expected {want}"
        columns = self.tshark.fields(find("cdi-control.pcap"), ["_ws.col.Protocol"], "-Y", "cdi")
        if {row[0][0] for row in columns} != {"CDI"}:
            return f"protocol column of CDI: {columns[:3]}"

    def test_decode_as(self):
        """CDI data has nothing to be known by; the user says it."""
        name = find("cdi-data.pcap")
        port = self.tshark.fields(name, ["udp.dstport"])[0][0][0]
        rows = self.tshark.fields(name, ["frame.number"], "-d", f"udp.port=={port},cdi", "-Y", "cdi")
        if not rows:
            return f"no packet of port {port} is CDI"

    def test_user_link_of_others(self):
        """What is no record of ours on USER0 goes to whoever had it before."""
        path = os.path.join(self.folder, "user0.pcap")
        data = bytes(range(64))
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 147) + struct.pack("<4I", 1, 0, 64, 64) + data)
        rows = self.tshark.fields(path, ["_ws.col.Protocol", "data.data"], "-o",
                                  'uat:user_dlts:"User 0 (DLT=147)","data","0","","0",""')
        if len(rows) != 1 or rows[0][1] != [data.hex()]:
            return str(rows)

    # --- Lists, preferences -----------------------------------------------------------------------------------------

    def test_read_filter(self):
        """-R leaves frames out and numbers the others anew: each keeps its own findings."""
        name = find("corrupt-write.pcap.zst")
        fields = ["infiniband.bth.psn", "infiniband.invariant.crc", "rdmascope.finding.rule", "rdmascope.message"]
        shown = 'rdmascope.icrc.status == "Bad" || infiniband.aeth'
        expected = self.tshark.fields(name, fields, "-2", "-Y", shown)
        actual = self.tshark.fields(name, fields, "-2", "-R", shown)
        if not expected or actual != expected:
            return f"{len(actual)} packets, expected {len(expected)}: {[a for a, e in zip(actual, expected) if a != e][:3]}"
        rows = self.tshark.fields(name, ["frame.number", "rdmascope.request_in"], "-2", "-R", shown)
        if any(row[1] and int(row[1][0]) >= int(row[0][0]) for row in rows):
            return "a request stands behind its response"

    def test_connections_list(self):
        for name in ("cm-rping.pcap.zst", "loss-read.pcap.zst"):
            report = checked(self.tool, find(name))
            expected = [(c["id"], sum(e["packets"] for e in c["ends"]), c["found"]["violations"], c["found"]["anomalies"])
                        for c in report["connections"]]
            out = self.tshark.run("-q", "-r", find(name), "-z", "rdmascope,connections").stdout
            actual = []
            for line in out.split("RDMA connections\n", 1)[-1].splitlines()[1:]:
                w = line.split()
                if len(w) < 13 or not w[0].isdigit():
                    break
                actual.append((int(w[0]), int(w[2]) + int(w[3]), int(w[9]), int(w[10])))
            if not expected or actual != expected:
                return f"{name}: {actual}, expected {expected}"

    def test_list_with_filter(self):
        name = find("loss-read.pcap.zst")
        expected = [pair for pair in rules_by_frame(checked(self.tool, name)) if 0 < pair[0] <= 100]
        out = self.tshark.run("-q", "-r", name, "-z", "rdmascope,findings,frame.number <= 100").stdout
        if not expected or listed(out) != expected:
            return f"{listed(out)}, expected {expected}"
        wrong = self.tshark.run("-q", "-r", name, "-z", "rdmascope,findings,frame.number ===")
        if wrong.returncode == 0 or "rdmascope,findings" not in wrong.stderr:
            return f"a wrong filter: {wrong.returncode}, {wrong.stderr[:200]}"

    def test_preferences(self):
        name = find("corrupt-write.pcap.zst")
        full, without = (listed(self.tshark.run("-q", "-r", name, "-z", "rdmascope,findings", *options).stdout)
                         for options in ((), ("-o", "rdmascope.rules_off:f-01, Q-02")))
        if without != [pair for pair in full if pair[1] not in ("F-01", "Q-02")] or without == full:
            return f"rules_off: {len(without)} of {len(full)} findings left"
        unknown = self.tshark.run("-r", name, "-c", "1", "-o", "rdmascope.rules_off:Q-99")
        if "Q-99" not in unknown.stderr:
            return f"an unknown rule is not told: {unknown.stderr[:200]}"
        name = find("b12-udp-port-9741.pcap")
        rows = [self.tshark.fields(name, ["rdmascope.icrc.status"], *options) for options in ((), ("-o", "rdmascope.roce_ports:4791,9741"))]
        if rows[0] != [] and any(row[0] for row in rows[0]) or not any(row[0] for row in rows[1]):
            return f"roce_ports: {rows}"

    def test_disabled(self):
        out = self.tshark.run("-r", find("corrupt-write.pcap.zst"), "--disable-protocol", "rdmascope", "-Y", "rdmascope").stdout
        if out:
            return out[:200]

    def test_profile(self):
        """Each colouring rule is a filter that Wireshark understands, and the columns have values."""
        profile = os.path.join(ROOT, "plugins", "wireshark", "profile")
        with open(os.path.join(profile, "colorfilters")) as file:
            rules = [line.split("@")[1:3] for line in file if line.startswith("@")]
        if len(rules) < 5:
            return "no colouring rules"
        for name, text in rules:
            result = self.tshark.run("-r", find("rc-read.pcap.zst"), "-Y", text)
            if result.returncode != 0:
                return f"{name}: {result.stderr[:200]}"
        shutil.copytree(profile, os.path.join(self.folder, ".config", "wireshark", "profiles", "rdmascope"))
        lines = self.tshark.run("-C", "rdmascope", "-2", "-r", find("corrupt-write.pcap.zst"), "-Y", "frame.number == 6").stdout
        if not re.search(r"RRoCE\s+1098\s+1\s+14803312\s+F-01\s", lines):
            return lines

    def test_any_order(self):
        """Packets asked for in any order, again, after another capture, and after a change of preferences."""
        first, second = find("loss-read.pcap.zst"), find("corrupt-write.pcap.zst")
        with plugin.Sharkd(self.tshark) as sharkd:
            for capture, off in ((first, ""), (second, ""), (first, ""), (second, "F-01"), (second, "")):
                sharkd.call("setconf", name="rdmascope.rules_off", value=off)
                sharkd.call("load", file=capture)
                report = checked(self.tool, capture, *(("--ignore", off) if off else ()))
                expected = {}
                for frame, rule in rules_by_frame(report):
                    expected.setdefault(frame, []).append(rule)
                frames = sorted(set(expected) - {0}, reverse=True)[:20] + [1, 2, 3]
                for frame in frames + frames[::-2]:
                    found = sorted(label.split(": ")[1] for label in sharkd.labels(frame) if label.startswith("Rule of the finding: "))
                    if found != expected.get(frame, []):
                        return f"{os.path.basename(capture)}, rules off: {off!r}, frame {frame}: {found}, expected {expected.get(frame)}"
        if "Sanitizer" in sharkd.errors or sharkd.process.returncode != 0:
            return f"sharkd: {sharkd.process.returncode}: {sharkd.errors[:500]}"

    # --- The same verdicts ------------------------------------------------------------------------------------------

    def compare(self, capture, one_pass=False):
        """In two passes by the fields and by the list; in one pass by the list. Returns what is different, or None."""
        report = checked(self.tool, capture)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            copy, why = readable_copy(capture, folder)
            if why:
                self.copied[os.path.basename(capture)] = why
            both = self.tshark.run("-2", "-r", copy, "-T", "fields", "-e", "frame.number", "-e", "rdmascope.finding.rule", "-Y",
                                   "rdmascope.finding.rule", "-z", "rdmascope,findings")
            once = self.tshark.run("-q", "-r", copy, "-z", "rdmascope,findings") if one_pass else both
        for result in (both, once):
            if result.returncode not in (0, 1, 2) or "Sanitizer" in result.stderr:
                return f"exit status {result.returncode}: {result.stderr[:500]}"
        opened = "RDMA findings" in both.stdout
        if not opened and not (report and report["findings"]):
            return None  # tshark cannot read it, and there is nothing to say
        if report is None:
            return None if not listed(once.stdout) else "rdmascope cannot read what the plugin judges"
        expected = rules_by_frame(report)
        in_frames = []
        for line in both.stdout.split("\nRDMA findings", 1)[0].splitlines():
            frame, _, rules = line.partition("\t")
            if frame.isdigit():
                in_frames += [(int(frame), rule) for rule in rules.split(",")]
        for what, actual, wanted in (("two passes, fields", sorted(in_frames), [p for p in expected if p[0]]),
                                     ("two passes, list", listed(both.stdout), expected),
                                     ("one pass, list" if one_pass else "list", listed(once.stdout), expected)):
            if actual != wanted:
                missing, extra = sorted(set(wanted) - set(actual)), sorted(set(actual) - set(wanted))
                return f"{what}: {len(actual)} findings, expected {len(wanted)}; missing {missing[:3]}, extra {extra[:3]}"
        return None

    def compare_all(self, label, files, one_pass=False):
        """One line for all, one more for each that differs."""
        count = 0
        self.copied.clear()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for capture, why in zip(files, pool.map(lambda file: self.compare(file, one_pass), files)):
                count += 1
                if why:
                    yield f"FAIL wireshark/{label}: {os.path.relpath(capture, ROOT)}: {why}"
        copies = "".join(f"; {why}: {', '.join(sorted(n for n, w in self.copied.items() if w == why))}"
                         for why in sorted(set(self.copied.values())))
        yield f"ok wireshark/{label} ({count} captures{copies})" if count else f"skip wireshark/{label}: no captures here"

    def same_verdicts(self):
        yield from self.compare_all("same-verdicts-one-pass", list(captures(SAMPLES)), one_pass=True)
        yield from self.compare_all("same-verdicts", list(captures(GOLDEN)))
        sampled = {name.removesuffix(".zst") for name in os.listdir(SAMPLES)}  # these are there packed
        others = [path for path in captures(SHARED) if os.path.basename(path) not in sampled]
        yield from self.compare_all("same-verdicts-shared", others)
        yield from self.compare_all("same-verdicts-mutants", [self.mutants_of(rule)[0] for rule in MUTANT_RULES])

    def cut_captures(self):
        """Snapped at every length through the headers: the same verdicts, and nothing read beyond the bytes."""
        files = []
        for name in ("cm-rping.pcap.zst", "b04-xrc-send-only.pcap", "cqe-vectors.pcapng", "cdi-control.pcap", "b17-erf-infiniband.pcap"):
            for length in (20, 45, 57, 73):
                cut = os.path.join(self.folder, f"cut-{length}-{name.split('.')[0]}.pcapng")
                made = subprocess.run(["editcap", "-s", str(length), find(name), cut], capture_output=True, text=True)
                if made.returncode == 0:
                    files.append(cut)
        yield from self.compare_all("cut-captures", files)


def normal(value):
    """0x00000011 and 17 are the same."""
    try:
        return int(value, 0)
    except ValueError:
        return value


def file_offset(elf, address):
    """Where the byte of a virtual address is in a 64-bit ELF file."""
    start, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    for i in range(count):
        kind, _, offset, virtual, _, in_file = struct.unpack_from("<IIQQQQ", elf, start + i * size)
        if kind == 1 and virtual <= address < virtual + in_file:
            return offset + address - virtual
    raise ValueError(hex(address))


def main():
    build, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if not plugin.file_of(build) or not shutil.which("tshark"):
        print("skip wireshark: the plugin was not built, or there is no tshark")
        return 0
    failed = False
    with tempfile.TemporaryDirectory(prefix="rdmascope-wireshark-") as folder:
        tests = Tests(build, folder)
        for name in [n for n in dir(tests) if n.startswith("test_")]:
            label = name.removeprefix("test_").replace("_", "-")
            if wanted and not any(label.startswith(w) for w in wanted):
                continue
            why = getattr(tests, name)()
            print(f"FAIL wireshark/{label}: {why}" if why else f"ok wireshark/{label}", flush=True)
            failed = failed or bool(why)
        for name in ("same_verdicts", "cut_captures"):
            if wanted and not any(name.replace("_", "-").startswith(w) for w in wanted):
                continue
            for line in getattr(tests, name)():
                print(line, flush=True)
                failed = failed or line.startswith("FAIL")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
