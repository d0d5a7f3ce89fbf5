#!/usr/bin/env python3
"""Mutants: a small edit of a clean capture breaks one rule, and `check` must say so: this rule, these frames, no other.

Usage: mutate.py RDMASCOPE [--keep FOLDER] [--mutants FILE] [RULE...]

Reads MUTANTS of every mutants_*.py beside this file: a list of dictionaries.

  rule    the rule that is broken, "F-06"
  base    a capture of the project: "samples/rc-read.pcap.zst"
  edits   what is changed, see below. Frame numbers are those of the base, also behind inserted and deleted frames.
  fires   where the rule must speak, and nowhere else: [{"frame": 3, "field": "infiniband.bth.tver", "expected": 0,
          "actual": 1}]. Frames are those of the mutant, 0 is the connection as a whole. field, expected, actual, class,
          side, connection and text (a part of it) are compared where given.
  also    other violations that follow from the edit: {"R-12": "why"}. They must occur.
  name, options (of `check`), keep_crc, keep_lengths: may be left out.

An edit is one of

  {"frame": 3, "field": "infiniband.bth.psn", "value": 7}     or "add": 1 (modulo the field's width), or "xor": 1.
                                                              "occurrence": 2 is the field's second header in the frame
  {"frame": 3, "bytes": function}                             the transport packet from BTH up to the ICRC in, its
                                                              replacement out; lengths around it are mended, unless
                                                              keep_lengths
  {"frame": 3, "cut": 64}                                     the capture keeps so many bytes
  {"frame": 3, "time_ns": 500}                                later by so much
  {"insert_after": 3, "copy_of": 2, "edits": [...]}           a copy with edits (without "frame"), at the time of 3; 0
                                                              is in front
  {"delete": 3}

Instead of "base" and "edits" a mutant may have "clean" and "frames", lists of (seconds, link type, bytes): for talks in
which each message depends on those before.

"frames" instead of "frame" takes "10-20", "10-" and "4,7,9"; so does "delete". "where": {"ip.src": "10.77.0.1",
"infiniband.bth.opcode": 17} takes only those of them that had these values in the base, and that have the field.

Then ICRC, VCRC, IPv4 checksum, and the UDP checksum where there was one, are made right again in the frames that were
edited, except fields that an edit names itself, and except with keep_crc.

For every mutant: the base does not break the rule, the mutant breaks it exactly at `fires`, no violation of another rule
occurs that `also` does not list. Every rule needs a mutant, or a line "RULE reason" in WITHOUT_MUTANT.
"""
import argparse
import concurrent.futures
import functools
import glob
import importlib.util
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ among the sources

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
import make_captures as build  # CRCs and masks, independent of the tool

TOOL = None


class Wrong(Exception):
    """The mutant does not do what it says, or cannot be made."""


def run_tool(*arguments):
    return subprocess.run([TOOL, *arguments], cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "TZ": "UTC", "LC_ALL": "C"})


# ------------------------------------------------------------------------------------------------ fields and frames


@functools.cache
def fields():
    """name -> (header, first bit, bits); header -> bytes of its fixed part."""
    rows = json.loads(run_tool("fields", "-T", "json").stdout)
    places = {r["name"]: (r["header"], r["first_bit"], r["bits"]) for r in rows if "first_bit" in r}
    sizes = {}
    element = None  # of an array: header, count, first bit and end of the rows that repeat together
    for r in rows:
        if "first_bit" not in r:
            continue
        header, first, end, count = r["header"], r["first_bit"], r["first_bit"] + r["bits"], r.get("count", 1)
        if count > 1 and element and element[:2] == (header, count) and element[2] <= first <= element[3]:
            first, end = element[2], max(element[3], end)
        element = (header, count, first, end)
        sizes[header] = max(sizes.get(header, 0), (first + (end - first) * count) // 8)
    # Rows without bits that show the bytes behind the fixed part.
    tails = [(r["header"], r["name"].removeprefix(r["header"] + ".")) for r in rows
             if "first_bit" not in r and r["type"] == "bytes"]
    return places, sizes, tails


def layer_bytes(name, values):
    _, sizes, tails = fields()
    if "length" in values and name not in sizes:
        return values["length"]
    if name == "ip":
        return values["hdr_len"]
    if name.startswith(("infiniband.invariant", "infiniband.variant")) and "crc" not in values:
        return 0
    return sizes.get(name, 0) + sum(len(values[f]) // 2 for h, f in tails if h == name and isinstance(values.get(f), str))


class Frame:
    """Bytes of a frame, and where its layers begin as the tool reads them in the base."""

    def __init__(self, number, time_ns, data, wire_bytes, packet):
        self.number, self.time_ns, self.data, self.wire_bytes = number, time_ns, bytearray(data), wire_bytes
        self.values = packet
        self.layers = []  # (header name, first byte)
        at = 0
        for name, values in packet.items():
            if name in ("frame", "rdmascope"):
                continue
            header = name.split("#")[0]
            self.layers.append((header, at))
            at += layer_bytes(header, values)
        self.located = at == len(data)
        self.dirty = False
        self.named = set()  # fields that edits name
        self.keep_crc = False

    def copy(self):
        twin = Frame.__new__(Frame)
        twin.__dict__.update(self.__dict__)
        twin.data, twin.layers, twin.named = bytearray(self.data), list(self.layers), set(self.named)
        return twin

    def at(self, header, occurrence=1):
        places = [at for name, at in self.layers if name == header]
        return places[occurrence - 1] if len(places) >= occurrence else None

    def value(self, field):
        """As the tool showed it in the base."""
        header = fields()[0][field][0] if field in fields()[0] else field.rpartition(".")[0]
        return self.values.get(header, {}).get(field.removeprefix(header + "."))

    # --- edits

    def set(self, field, edit):
        if field not in fields()[0]:
            raise Wrong(f"{field}: no such field with bits")
        header, first, bits = fields()[0][field]
        occurrence = edit.get("occurrence", 1)
        at = self.at(header, occurrence)
        if at is None:
            raise Wrong(f"frame {self.number} has no {header}")
        begin, end = at + first // 8, at + (first + bits + 7) // 8
        if end > len(self.data):
            raise Wrong(f"frame {self.number}: {field} is not in the bytes")
        shift, mask = (-(first + bits)) % 8, (1 << bits) - 1
        word = int.from_bytes(self.data[begin:end], "big")
        old = word >> shift & mask
        shown = self.values[header + ("" if occurrence == 1 else f"#{occurrence}")].get(field.removeprefix(header + "."))
        if not self.dirty and isinstance(shown, int) and shown not in (old, old * 4):
            raise Wrong(f"frame {self.number}: {field} is {shown}, but its bytes say {old}: the layers are not where "
                        "mutate.py takes them to be")
        new = edit["value"] if "value" in edit else old + edit["add"] if "add" in edit else old ^ edit["xor"]
        if "value" in edit and not 0 <= new <= mask:
            raise Wrong(f"{field} has {bits} bits, {new:#x} does not fit")
        self.data[begin:end] = (word & ~(mask << shift) | (new & mask) << shift).to_bytes(end - begin, "big")
        self.dirty = True
        self.named.add(field)

    def transport(self):
        """First byte of BTH and of the ICRC."""
        bth, icrc = self.at("infiniband.bth"), self.at("infiniband.invariant")
        if bth is None or icrc is None or not self.located:
            raise Wrong(f"frame {self.number}: no whole transport packet")
        return bth, icrc

    def replace(self, function, keep_lengths):
        bth, icrc = self.transport()
        new = bytes(function(bytes(self.data[bth:icrc])))
        more = len(new) - (icrc - bth)
        self.data[bth:icrc] = new
        self.wire_bytes += more
        self.layers = [(name, at + more if at >= icrc else at) for name, at in self.layers]
        self.dirty = True
        if keep_lengths or more == 0:
            return

        def mend(header, at, unit=1):
            layer = self.at(header)
            if layer is None or layer > bth:
                return
            size = struct.unpack_from(">H", self.data, layer + at)[0]
            keep = size & 0xf800 if unit == 4 else 0  # LRH: five reserved bits
            struct.pack_into(">H", self.data, layer + at, keep | (size & (0x7ff if unit == 4 else 0xffff)) + more // unit)
        mend("ip", 2)
        mend("ipv6", 4)
        mend("udp", 4)
        mend("infiniband.grh", 4)
        mend("infiniband.lrh", 4, unit=4)

    def mend_crcs(self):
        if self.keep_crc or not self.dirty:
            return
        ip, ipv6, udp = self.at("ip"), self.at("ipv6"), self.at("udp")
        if ip is not None and not any(f.startswith("ip.checksum") for f in self.named):
            size = (self.data[ip] & 15) * 4
            self.data[ip + 10:ip + 12] = bytes(2)
            struct.pack_into(">H", self.data, ip + 10, build.inet_sum(bytes(self.data[ip:ip + size])))
        icrc = self.at("infiniband.invariant")
        if icrc is not None and icrc + 4 <= len(self.data) and "infiniband.invariant.crc" not in self.named:
            self.data[icrc:icrc + 4] = build.icrc(self.covered(icrc))
        vcrc = self.at("infiniband.variant")
        if vcrc is not None and vcrc + 2 <= len(self.data) and "infiniband.variant.crc" not in self.named:
            self.data[vcrc:vcrc + 2] = build.vcrc(bytes(self.data[self.at("infiniband.lrh"):vcrc]))
        if udp is not None and self.data[udp + 6:udp + 8] != bytes(2) and "udp.checksum" not in self.named:
            source = self.data[ip + 12:ip + 20] if ip is not None else self.data[ipv6 + 8:ipv6 + 40]
            size = struct.unpack_from(">H", self.data, udp + 4)[0]
            self.data[udp + 6:udp + 8] = bytes(2)
            pseudo = bytes(source) + struct.pack(">II", size, 17)
            struct.pack_into(">H", self.data, udp + 6, build.inet_sum(pseudo + bytes(self.data[udp:udp + size])) or 0xffff)

    def covered(self, icrc):
        """The bytes the invariant CRC covers, masked."""
        def part(header, end):
            at = self.at(header)
            return None if at is None else bytes(self.data[at:end])
        bth = self.at("infiniband.bth")
        transport = build.mask_bth(bytes(self.data[bth:icrc]))
        udp, grh, lrh = self.at("udp"), self.at("infiniband.grh"), self.at("infiniband.lrh")
        if udp is not None and udp < bth and lrh is None and grh is None:
            if self.at("ip") is not None:
                header = build.mask_ipv4(part("ip", udp))
            else:
                header = build.mask_ipv6(part("ipv6", udp))
            return b"\xff" * 8 + header + build.mask_udp(part("udp", bth)) + transport
        if grh is not None:
            return b"\xff" * 8 + build.mask_ipv6(part("infiniband.grh", bth)) + transport
        local = part("infiniband.lrh", bth)
        return bytes([local[0] | 0xf0]) + local[1:] + transport


# ---------------------------------------------------------------------------------------------------------- captures


class Base:
    def __init__(self, path, folder):
        self.path = path
        copy = os.path.join(folder, path.replace("/", "_") + ".pcap")
        written = run_tool("read", path, "-F", "pcap", "-w", copy)
        if written.returncode:
            raise Wrong(f"{path}: {written.stderr.decode().strip()}")
        with open(copy, "rb") as file:
            self.header = file.read(24)
            magic, = struct.unpack("<I", self.header[:4])
            self.unit = {0xa1b23c4d: 1, 0xa1b2c3d4: 1000}[magic]
            packets = [json.loads(line) for line in run_tool("read", path, "-T", "ndjson", "-x").stdout.splitlines()]
            self.frames = []
            for packet in packets:
                seconds, fraction, kept, wire = struct.unpack("<IIII", file.read(16))
                self.frames.append(Frame(len(self.frames) + 1, seconds * 10**9 + fraction * self.unit, file.read(kept),
                                         wire, packet))
        self.findings = check(path)["findings"]

    def write(self, frames, path):
        with open(path, "wb") as file:
            file.write(self.header)
            for f in frames:
                file.write(struct.pack("<IIII", f.time_ns // 10**9, f.time_ns % 10**9 // self.unit, len(f.data), f.wire_bytes))
                file.write(f.data)


def check(path, options=()):
    result = run_tool("check", "-T", "json", *options, path)
    try:
        report = json.loads(result.stdout)
    except ValueError as error:
        raise Wrong(f"check: exit status {result.returncode}, {error}: {result.stderr.decode().strip()[-500:]}")
    if result.returncode != (1 if report["totals"]["violations"] else 0) or b"runtime error" in result.stderr:
        raise Wrong(f"check: exit status {result.returncode}: {result.stderr.decode().strip()[-500:]}")
    return report


def numbers(text, last):
    """Frame numbers: 3, "10-20", "10-", "4,7"."""
    if isinstance(text, int):
        return [text]
    out = []
    for part in text.split(","):
        begin, dash, end = part.partition("-")
        out += range(int(begin), (int(end) if end else last) + 1) if dash else [int(begin)]
    return out


def apply(mutant, base):
    """The frames of the mutant."""
    frames = {f.number: f.copy() for f in base.frames}
    inserted = {}
    deleted = set()
    last = len(base.frames)

    def edit_frame(frame, edit):
        if edit.get("keep_crc", mutant.get("keep_crc")):
            frame.keep_crc = True
        if "field" in edit:
            frame.set(edit["field"], edit)
        if "bytes" in edit:
            frame.replace(edit["bytes"], edit.get("keep_lengths", mutant.get("keep_lengths")))
        if "time_ns" in edit:
            frame.time_ns += edit["time_ns"]
        if "cut" in edit:
            del frame.data[edit["cut"]:]
        if not {"field", "bytes", "time_ns", "cut"} & set(edit):
            raise Wrong(f"nothing to do in {edit}")

    for edit in mutant["edits"]:
        if "delete" in edit:
            deleted |= {n for n in numbers(edit["delete"], last) if fits(frames[n], edit)}
        elif "insert_after" in edit:
            after = edit["insert_after"]
            frame = frames[edit["copy_of"]].copy()
            frame.time_ns = frames[after].time_ns if after else frames[1].time_ns
            for inner in edit.get("edits", []):
                edit_frame(frame, inner)
            if "time_ns" in edit:
                frame.time_ns += edit["time_ns"]
            inserted.setdefault(after, []).append(frame)
        else:
            chosen = [frames[n] for n in numbers(edit.get("frames", edit.get("frame")), last)]
            several = "where" in edit
            chosen = [f for f in chosen if fits(f, edit)]
            if not chosen:
                raise Wrong(f"no frame fits {edit}")
            for frame in chosen:
                if several and "field" in edit and edit["field"] in fields()[0] and \
                        frame.at(fields()[0][edit["field"]][0]) is None:
                    continue
                edit_frame(frame, edit)
    out = list(inserted.get(0, []))
    for number in sorted(frames):
        out += [] if number in deleted else [frames[number]]
        out += inserted.get(number, [])
    for frame in out:
        frame.mend_crcs()
    return out


def fits(frame, edit):
    return all(frame.value(field) == value for field, value in edit.get("where", {}).items())


# ------------------------------------------------------------------------------------------------------------- judging


def describe(finding):
    words = [f"{finding['rule']} {finding['class']}", f"frame {finding.get('frame', 0)}"]
    words += [f"{key} {finding[key]}" for key in ("field", "expected", "actual", "text") if key in finding]
    return ", ".join(words)


def matches(finding, wanted):
    for key, value in wanted.items():
        if key == "text":
            if value not in finding.get("text", ""):
                return False
        elif key == "frame":
            if finding.get("frame", 0) != value:
                return False
        elif finding.get(key) != value:
            return False
    return True


def write_frames(frames, path):
    file = build.Pcapng()
    interfaces = {}
    for seconds, link_type, data in frames:
        if link_type not in interfaces:
            interfaces[link_type] = file.interface(link_type, f"link{link_type}")
        file.packet(interfaces[link_type], data, stamp=build.START * 10**6 + round(seconds * 10**6))
    with open(path, "wb") as out:
        out.write(file.out)


def judge(mutant, base, folder, name):
    rule = mutant["rule"]
    path = os.path.join(folder, name.replace("/", "_") + ".pcap")
    if base:
        at_base, base_name = base.findings, base.path
    else:
        write_frames(mutant["clean"], path)
        at_base, base_name = check(path, mutant.get("options", ()))["findings"], "clean form"
    at_base = [f for f in at_base if f["rule"] == rule and f["class"] == classes()[rule]]
    if at_base and not mutant.get("base_fires"):
        raise Wrong(f"the base {base_name} breaks it, too: {describe(at_base[0])}")
    if base:
        base.write(apply(mutant, base), path)
    else:
        write_frames(mutant["frames"], path)
    findings = check(path, mutant.get("options", ()))["findings"]
    wrong = []
    found = [f for f in findings if f["rule"] == rule]
    for wanted in mutant["fires"]:
        if not any(matches(f, wanted) for f in found):
            there = [f for f in found if f.get("frame", 0) == wanted["frame"]]
            wrong.append(f"missed: {wanted}" + (f"; there is {describe(there[0])}" if there else ""))
    frames = {wanted["frame"] for wanted in mutant["fires"]}
    wrong += [f"too much: {describe(f)}" for f in found if f.get("frame", 0) not in frames]
    also = mutant.get("also", {})
    others = [f for f in findings if f["class"] == "violation" and f["rule"] != rule]
    wrong += [f"another violation: {describe(f)}" for f in others if f["rule"] not in also]
    wrong += [f"{other} is listed under also, and does not fire" for other in also
              if other not in {f["rule"] for f in others}]
    if wrong:
        raise Wrong("\n    ".join(wrong[:8]))


@functools.cache
def classes():
    return {rule["id"]: rule["class"] for rule in json.loads(run_tool("rules", "-T", "json").stdout)}


def mutants(paths):
    """(name, mutant) of these modules; names are made unique by numbers."""
    seen = {}
    for path in paths:
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for mutant in module.MUTANTS:
            name = f"mutants/{mutant['rule']}"
            if "name" in mutant:
                name += "-" + mutant["name"]
            seen[name] = seen.get(name, 0) + 1
            yield name + (f"#{seen[name]}" if seen[name] > 1 else ""), mutant


def without_mutant():
    path = os.path.join(HERE, "WITHOUT_MUTANT")
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        lines = [line.split("#")[0].split(None, 1) for line in file]
    return {line[0]: line[1].strip() if len(line) > 1 else "" for line in lines if line}


def find_base(path):
    for folder in (ROOT, os.path.join(ROOT, "..", "shared", "captures")):
        if os.path.exists(os.path.join(folder, path)):
            return os.path.relpath(os.path.join(folder, path), ROOT)
    return None


def main():
    global TOOL
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the mutants there")
    parser.add_argument("--mutants", metavar="FILE", help="instead of those beside this file")
    parser.add_argument("rules", metavar="RULE", nargs="*", help="only mutants of these")
    arguments = parser.parse_intermixed_args()
    keep, only = arguments.keep, set(arguments.rules)
    if keep:
        os.makedirs(keep, exist_ok=True)
    TOOL = os.path.abspath(arguments.tool)
    paths = [arguments.mutants] if arguments.mutants else sorted(glob.glob(os.path.join(HERE, "mutants_*.py")))
    folder = os.path.abspath(keep) if keep else tempfile.mkdtemp()
    failed = False
    bases = {}

    def base_of(path):
        if path not in bases:
            found = find_base(path)
            bases[path] = Base(found, folder) if found else None
        return bases[path]

    def one(item):
        name, mutant = item
        try:
            if mutant["rule"] not in classes():
                return f"FAIL {name}: no such rule"
            if "base" not in mutant:
                judge(mutant, None, folder, name)
                return f"ok {name}"
            if bases[mutant["base"]] is None:
                return f"skip {name}: {mutant['base']} is not here"
            if isinstance(bases[mutant["base"]], Wrong):
                raise bases[mutant["base"]]
            judge(mutant, bases[mutant["base"]], folder, name)
            return f"ok {name}"
        except Wrong as error:
            return f"FAIL {name}: {error}"
        except (KeyError, ValueError, IndexError, TypeError, struct.error) as error:
            return f"FAIL {name}: the mutant cannot be made: {type(error).__name__} {error}"

    try:
        chosen = [(name, m) for name, m in mutants(paths) if not only or m["rule"] in only]
        for _, mutant in chosen:
            if "base" not in mutant:
                continue
            try:
                base_of(mutant["base"])
            except Wrong as error:
                bases[mutant["base"]] = error
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for line in pool.map(one, chosen):
                failed |= line.startswith("FAIL")
                print(line, flush=True)
        if not only and not arguments.mutants:
            have, excused = {m["rule"] for _, m in chosen}, without_mutant()
            lines = [f"FAIL mutants/{rule}: no mutant shows that it can fire" for rule in classes()
                     if rule not in have and rule not in excused]
            lines += [f"FAIL mutants/{rule}: WITHOUT_MUTANT lists it, and " +
                      ("there is a mutant" if rule in have else "there is no such rule" if rule not in classes()
                       else "gives no reason")
                      for rule, reason in excused.items() if rule in have or rule not in classes() or not reason]
            failed |= bool(lines)
            for line in lines:
                print(line)
    finally:
        if not keep:
            shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
