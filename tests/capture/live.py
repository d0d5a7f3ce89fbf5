#!/usr/bin/env python3
"""Live capture, in a network and mount namespace of its own: live.py TOOL

A veth pair; frames of a sample are sent into one end, captured at the other, and held against what was sent, and against tcpdump
and dumpcap beside it. Then everything that can go wrong: a full disk, an interface that goes, no rights, a signal at any moment.
Skips where namespaces are not permitted.
"""
import contextlib
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOOL = os.path.abspath(sys.argv[1])
INSIDE = "RDMASCOPE_LIVE_TEST"
REAL_ROOT = os.environ.get(INSIDE) == "-nm"
SENT_AT, SEEN_AT = "left0", "right0"
SIGNALS = 100
failed = False


def report(good, name, why=""):
    global failed
    failed = failed or not good
    print(f"ok capture/{name}" if good else f"FAIL capture/{name}: {why}", flush=True)


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)


def read_pcap(data):
    """Frames of a pcap file of any byte order."""
    order = "<" if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xd4\xc3\xb2\xa1") else ">"
    at, frames = 24, []
    while at < len(data):
        length = struct.unpack_from(order + "I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def frames_of(path, *more):
    """What our own reader makes of a file, and its exit status."""
    result = subprocess.run([TOOL, "read", path, "-w", "-", "-F", "pcap", *more], capture_output=True)
    return (read_pcap(result.stdout) if result.stdout else []), result.returncode


def sample(name):
    return frames_of(os.path.join(ROOT, "samples", name))[0]


class Sender:
    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.bind((SENT_AT, 0))

    def send(self, frames, pause=0.0):
        for frame in frames:
            self.socket.send(frame)
            if pause:
                time.sleep(pause)


class Capture:
    """rdmascope capture on the other end; ready when it says so."""

    def __init__(self, *arguments, command=None, interface=SEEN_AT, wait=True, **more):
        self.process = subprocess.Popen(command or [TOOL, "capture", "-i", interface, *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, errors="replace", **more)
        self.said = ""
        while wait:
            line = self.process.stderr.readline()
            self.said += line
            if not line or "capturing on" in line or "istening on" in line or "File:" in line:
                break

    def end(self, number=signal.SIGINT):
        """The signal, and then (exit status, standard output, standard error)."""
        if number:
            time.sleep(0.15)  # what was sent has come
            self.process.send_signal(number)
        out, said = self.process.communicate(timeout=60)
        return self.process.returncode, out, self.said + said


def counts(said):
    """received, written, filtered out, not written, lost."""
    def number(pattern):
        found = re.search(pattern, said)
        return int(found[1]) if found else 0
    return (number(r"(\d+) packets? received"), number(r"(\d+) written"), number(r"(\d+) filtered out"),
            number(r"(\d+) not written"), number(r"(\d+) lost"))


def statistics(path):
    """isb_ifrecv and isb_ifdrop of the interface statistics block."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 0, None
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 5:
            found, option = {}, at + 20
            while option < at + length - 4:
                code, size = struct.unpack_from("<HH", data, option)
                if code == 0:
                    break
                found[code] = struct.unpack_from("<Q", data, option + 4)[0]
                option += 4 + (size + 3) // 4 * 4
        at += length
    return found


def turned(time):
    """Times of pcapng have their high half first."""
    return (time & 0xffffffff) << 32 | time >> 32


def same_as_sent(folder, sender):
    """Every byte of every frame, in order; and what tcpdump and dumpcap have of the same traffic."""
    frames = sample("nvmeof-rdma.pcap.zst") + sample("loss-read.pcap.zst")
    ours, theirs, other = (os.path.join(folder, n) for n in ("ours.pcapng", "tcpdump.pcap", "dumpcap.pcap"))
    captures = [Capture("-w", ours), Capture(command=["dumpcap", "-i", SEEN_AT, "-w", other, "-P", "-q"])]
    if REAL_ROOT:  # in a user namespace tcpdump fails to change its groups
        captures.append(Capture(command=["tcpdump", "-i", SEEN_AT, "-w", theirs, "-U", "-Z", "root"]))
    time.sleep(0.5)  # dumpcap says that it is ready before it is
    sender.send(frames)
    time.sleep(0.3)
    status, _, said = captures[0].end()
    for c in captures[1:]:
        c.end()
    got, _ = frames_of(ours)
    report(status == 0 and got == frames, "every-frame-as-sent", f"{len(got)} of {len(frames)}; {said}")
    report(counts(said) == (len(frames), len(frames), 0, 0, 0), "counts-as-sent", said)
    found = statistics(ours)
    report(found and found.get(4) == len(frames) and found.get(5) == 0 and turned(found[2]) < turned(found[3]), "statistics-in-the-file", found)
    for name, path in (("tcpdump", theirs), ("dumpcap", other)):
        if name == "tcpdump" and not REAL_ROOT:
            print("skip capture/the-same-as-tcpdump: needs root", flush=True)
            continue
        with open(path, "rb") as file:
            their_frames = read_pcap(file.read())
        report(their_frames == got, f"the-same-as-{name}", f"{len(their_frames)} frames, ours {len(got)}")
    result = run("tshark", "-r", ours, "-T", "fields", "-e", "frame.number")
    report(len(result.stdout.split()) == len(frames), "tshark-reads-it", result.stderr)


def filters(folder, sender):
    frames = sample("cm-rping.pcap.zst")
    ours = os.path.join(folder, "filtered.pcapng")
    c = Capture("-w", ours, "-Y", "infiniband.aeth", "udp", "port", "4791")
    sender.send(frames + [b"\xff" * 12 + b"\x08\x06" + bytes(46)])
    status, _, said = c.end()
    got, _ = frames_of(ours)
    wanted, _ = frames_of(os.path.join(ROOT, "samples", "cm-rping.pcap.zst"), "-Y", "infiniband.aeth")
    roce = [f for f in frames if len(f) > 38 and f[12:14] == b"\x08\x00" and f[36:38] == b"\x12\xb7"]
    report(got == wanted and wanted, "display-filter", f"{len(got)} of {len(wanted)}")
    report(counts(said) == (len(roce), len(wanted), len(roce) - len(wanted), 0, 0), "received-is-written-and-filtered", said)
    c = Capture("-w", ours, "-s", "60")
    sender.send(frames)
    c.end()
    got, _ = frames_of(ours)
    report([f[:60] for f in frames] == got, "snapshot-length", "not the first 60 bytes of each")
    result = run(TOOL, "capture", "-i", SEEN_AT, "-f", "udp prt 4791")
    report(result.returncode == 2 and "cannot use the capture filter 'udp prt 4791': " in result.stderr, "bad-filter", result.stderr)


def limits(folder, sender):
    frames = sample("rc-send.pcap.zst")[:100]
    path = os.path.join(folder, "limit.pcapng")

    def limited(name, arguments, wanted):
        c = Capture("-w", path, *arguments)
        sender.send(frames)
        status, _, said = c.end(None)
        got, _ = frames_of(path)
        report(status == 0 and wanted(got), name, f"{len(got)} frames; {said}")
    limited("count", ["-c", "7"], lambda got: got == frames[:7])
    limited("autostop-packets", ["-a", "packets:9"], lambda got: got == frames[:9])
    limited("autostop-duration", ["-a", "duration:0.7"], lambda got: got == frames)
    limited("autostop-filesize", ["-a", "filesize:20"], lambda got: got == frames[:len(got)] and 20000 <= os.path.getsize(path) < 22000)

    base = os.path.join(folder, "ring.pcapng")

    def series(arguments):
        for old in os.listdir(folder):
            if old.startswith("ring_"):
                os.unlink(os.path.join(folder, old))
        c = Capture("-w", base, *arguments)
        sender.send(frames)
        status, _, said = c.end()
        files = sorted(f for f in os.listdir(folder) if f.startswith("ring_"))
        return [frames_of(os.path.join(folder, f))[0] for f in files], files, said
    got, files, said = series(["-b", "packets:30"])
    report([f for part in got for f in part] == frames and [len(p) for p in got] == [30, 30, 30, 10], "ring-packets", said)
    report(all(re.fullmatch(r"ring_0000\d_\d{14}\.pcapng", f) for f in files), "ring-names", files)
    got, files, said = series(["-b", "packets:30", "-b", "files:2"])
    report([f for part in got for f in part] == frames[60:], "ring-keeps-the-newest", f"{files} {said}")
    report(counts(said)[1] == len(frames), "ring-counts-all", said)
    got, files, said = series(["-b", "filesize:10"])
    report([f for part in got for f in part] == frames and len(got) > 3, "ring-filesize", said)
    got, files, said = series(["-b", "packets:30", "-a", "files:2"])
    report([f for part in got for f in part] == frames[:60], "autostop-files", f"{files} {said}")
    for arguments, sentence in ((["-b", "files:2"], "goes with what ends a file"), (["-a", "size:3"], "no such limit"),
                                (["-a", "duration:x"], "write KEY:NUMBER")):
        result = run(TOOL, "capture", "-i", SEEN_AT, "-w", base, *arguments)
        report(result.returncode == 2 and sentence in result.stderr, "limit-" + "-".join(arguments), result.stderr)
    result = run(TOOL, "capture", "-i", SEEN_AT, "-w", "-", "-b", "packets:1")
    report(result.returncode == 2 and "needs a file to number" in result.stderr, "ring-on-standard-output", result.stderr)


def any_moment(folder, sender):
    """A signal at any moment ends with a good file, and with counts that are those of the file."""
    frames = sample("rc-write.pcap.zst")
    bad = []
    randomly = random.Random(4791)
    for i in range(SIGNALS):
        path = os.path.join(folder, "moment.pcapng")
        c = Capture("-w", path)
        until = time.monotonic() + randomly.random() * 0.08
        while time.monotonic() < until:
            sender.send(frames[:20])
        c.process.send_signal(signal.SIGTERM if i % 2 else signal.SIGINT)
        sender.send(frames[:20])
        status, _, said = c.end(None)
        got, read_status = frames_of(path)
        received, written, _, _, lost = counts(said)
        found = statistics(path) or {}
        if status != 0 or read_status != 0 or written != len(got) or received != written + lost or \
                found.get(4) != received or found.get(5) != lost:
            bad.append((i, status, read_status, len(got), said, found))
    report(not bad, f"signal-at-any-moment-{SIGNALS}-times", f"{len(bad)} times; {bad[:1]}")


def loss_is_told(folder, sender):
    """A capture that cannot keep up: what it took and what it says is lost are what was sent."""
    frame = max(sample("rc-write.pcap.zst"), key=len)
    path = os.path.join(folder, "loss.pcapng")
    c = Capture("-w", path, "-B", "1")
    sender.send([frame] * 10)
    time.sleep(0.3)
    c.process.send_signal(signal.SIGSTOP)
    sender.send([frame] * 6000)
    c.process.send_signal(signal.SIGCONT)
    time.sleep(0.5)
    sender.send([frame] * 10)
    status, _, said = c.end()
    received, written, _, _, lost = counts(said)
    report(lost > 0 and received == written + lost == 6020, "loss-is-counted", said)
    read = run(TOOL, "read", path, "-c", "1")
    found = statistics(path) or {}
    report(found.get(5) == lost, "loss-in-the-file", f"{found}, {lost} lost")
    result = run(TOOL, "read", path)
    report(f"{lost} packets were dropped" in result.stderr, "loss-is-read-back", result.stderr)
    marks = 0
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured = struct.unpack_from("<I", data, at + 20)[0]
            option = at + 28 + (captured + 3) // 4 * 4
            if option < at + length - 4 and struct.unpack_from("<HH", data, option) == (4, 8):
                marks += struct.unpack_from("<Q", data, option + 4)[0]
        at += length
    report(marks == lost, "loss-is-marked-where-it-was", f"{marks} of {lost}")


def disk_full(folder, sender):
    small = os.path.join(folder, "small")
    os.mkdir(small)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", small], check=True)
    frames = sample("rc-write.pcap.zst")
    for form in ("pcapng", "pcap"):
        path = os.path.join(small, "full." + form)
        c = Capture("-w", path, "-F", form)
        for _ in range(20):
            sender.send(frames)
        status, _, said = c.end(None)
        got, read_status = frames_of(path)
        received, written, _, missing, lost = counts(said)
        report(status == 2 and "No space left on device" in said, f"disk-full-{form}", said)
        report(read_status == 0 and len(got) == written > 100 and got == (frames * 20)[:written], f"disk-full-{form}-keeps-whole-packets",
               f"reader {read_status}, {len(got)} frames; {said}")
        report(received == written + missing + lost, f"disk-full-{form}-adds-up", said)
        os.unlink(path)
    subprocess.run(["umount", small], check=True)


def interface_goes(folder, sender):
    frames = sample("rc-send.pcap.zst")[:50]
    def link(*words):
        subprocess.run(["ip", "link", *words], check=True)

    for name in ("deleted", "down"):
        subprocess.run(["ip", "link", "add", "gone0", "type", "veth", "peer", "name", "gone1"], check=True)
        subprocess.run("ip link set gone0 up; ip link set gone1 up", shell=True, check=True)
        time.sleep(0.1)
        path = os.path.join(folder, "gone.pcapng")
        c = Capture("-w", path, interface="gone1")
        other = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        other.bind(("gone0", 0))
        for frame in frames:
            other.send(frame)
        time.sleep(0.3)
        if name == "deleted":
            link("del", "gone0")
            status, _, said = c.end(None)
        else:  # it may come back, as when a driver is reset
            link("set", "gone1", "down")
            time.sleep(0.5)
            link("set", "gone1", "up")
            time.sleep(0.5)
            for frame in frames:
                other.send(frame)
            status, _, said = c.end()
        got, read_status = frames_of(path)
        kept = [f for f in got if f in frames]  # the kernel has something to say on a new interface, too
        if name == "deleted":
            report(status == 2 and "cannot go on capturing on gone1: the interface is gone" in said, "interface-deleted", f"{status}: {said}")
        else:
            report(status == 0 and "gone1 went down; packets come again when it is up" in said and "gone1 is up again" in said,
                   "interface-down", f"{status}: {said}")
        report(read_status == 0 and kept == frames * (1 if name == "deleted" else 2), f"interface-{name}-keeps-what-came", f"{len(kept)} frames")
        run("ip", "link", "del", "gone0")
    for name, sentence in (("nosuch0", "no such interface"), ("down0", "it is down; ip link set down0 up")):
        if name == "down0":
            link("add", "down0", "type", "veth", "peer", "name", "down1")
        result = run(TOOL, "capture", "-i", name)
        report(result.returncode == 2 and sentence in result.stderr, f"interface-{name}", result.stderr)


def no_rights(folder):
    result = run("setpriv", "--bounding-set=-all", "--inh-caps=-all", TOOL, "capture", "-i", SEEN_AT, "-c", "1")
    report(result.returncode == 2 and "not permitted; run as root, or once: setcap cap_net_raw" in result.stderr, "no-rights",
           result.stderr)
    if REAL_ROOT:
        with tempfile.TemporaryDirectory() as others:
            os.chmod(others, 0o777)
            c = Capture("-w", os.path.join(others, "z.pcapng"), "-Z", "nobody", "-a", "duration:0.3")
            status, _, said = c.end(None)
            owner = os.stat(os.path.join(others, "z.pcapng")).st_uid
            report(status == 0 and owner == 65534, "becomes-another-user", f"{status}, file of {owner}: {said}")
    else:
        print("skip capture/becomes-another-user: needs root", flush=True)
    result = run(TOOL, "capture", "-i", SEEN_AT, "-Z", "nobody-at-all", "-c", "1")
    report(result.returncode == 2 and "-Z nobody-at-all: no such user" in result.stderr, "no-such-user", result.stderr)


def pipes(folder, sender):
    frames = sample("rc-send.pcap.zst")[:40]
    c = Capture(command=["sh", "-c", f"'{TOOL}' capture -i {SEEN_AT} -l -w - | head -c 2000 >/dev/null"])
    for _ in range(10):
        sender.send(frames)
        time.sleep(0.05)
    status, _, said = c.end(None)
    report(status == 0 and "Broken pipe" not in said, "closed-pipe-ends-quietly", said)
    c = Capture("-l", "-T", "fields", "-e", "frame.number", "-e", "infiniband.bth.psn", "-c", "5")
    sender.send(frames)
    status, out, said = c.end(None)
    lines = out.splitlines()
    report(len(lines) == 5 and lines[0].startswith("1\t"), "fields-on-the-screen", out)
    c = Capture(command=["sh", "-c", f"exec '{TOOL}' capture -i {SEEN_AT} -w - -c 8 >'{folder}/out.pcapng'"])
    sender.send(frames)
    c.end(None)
    report(frames_of(os.path.join(folder, "out.pcapng"))[0] == frames[:8], "standard-output", "not the first eight")


def growing_file(folder, sender):
    frames = sample("rc-send.pcap.zst")[:60]
    path = os.path.join(folder, "growing.pcapng")
    c = Capture("-w", path, "-l")
    follower = subprocess.Popen([TOOL, "read", "--follow", path, "-T", "fields", "-e", "frame.number"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
    seen = []
    for i in range(3):
        sender.send(frames[i * 20:i * 20 + 20])
        for _ in range(20):
            seen.append(follower.stdout.readline().strip())
    status, _, said = c.end()
    follower.send_signal(signal.SIGINT)
    out, complaint = follower.communicate(timeout=30)
    report(seen == [str(n + 1) for n in range(60)] and follower.returncode == 0 and not complaint, "follows-a-growing-file",
           f"{len(seen)} {follower.returncode} {complaint}")


def judged(folder, sender):
    path = os.path.join(folder, "judged.pcapng")
    c = Capture("--check", "-w", path)
    sender.send(sample("loss-read.pcap.zst"))
    status, out, said = c.end()
    report(status == 0 and "anomaly    H-" in out and out.rstrip().splitlines()[-1].startswith("No violation"), "findings-live", out[-300:])
    c = Capture("--check")
    sent = run(TOOL, "replay", os.path.join(ROOT, "samples", "rc-send.pcap.zst"), "--wire", f"eth:{SENT_AT}:10.0.0.1", "--to",
               "10.0.0.2", "--to-mac", "02:00:00:00:00:02", "--rewrite", "infiniband.bth.tver=1", "-c", "1")
    report(sent.returncode == 0, "replay-over-ethernet", sent.stderr)
    status, out, said = c.end()
    report(status == 1 and re.search(r"violation  F-06 +frame 1", out), "violation-live", f"{status}: {out}")
    later = run(TOOL, "check", path)
    report(later.returncode == 0 and "H-IMPLIED-NAK" in later.stdout or "H-LOSS" in later.stdout, "the-file-says-the-same", later.stdout[-200:])


def main():
    if os.environ.get(INSIDE) is None:
        how = "-nm" if os.geteuid() == 0 and run("unshare", "-nm", "true").returncode == 0 else "-Urnm"
        inside = run("unshare", how, "true")
        if inside.returncode != 0:
            print(f"skip capture: no namespaces here: {inside.stderr.strip()}")
            return 0
        os.environ[INSIDE] = how
        os.execvp("unshare", ["unshare", how, sys.executable, os.path.abspath(__file__), TOOL])
    for word in (f"link add {SENT_AT} type veth peer name {SEEN_AT}", "link set lo up", f"link set {SENT_AT} mtu 4200",
                 f"link set {SEEN_AT} mtu 4200", f"link set {SENT_AT} up", f"link set {SEEN_AT} up"):
        subprocess.run(["ip", *word.split()], check=True)
    for name in (SENT_AT, SEEN_AT):  # the kernel's own announcements would come between
        with contextlib.suppress(OSError), open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as file:
            file.write("1")
    sender = Sender()
    with tempfile.TemporaryDirectory() as folder:
        listed = json.loads(run(TOOL, "interfaces", "-T", "json").stdout)
        report({SENT_AT, SEEN_AT, "lo"} <= {i["name"] for i in listed}, "interfaces", listed)
        same_as_sent(folder, sender)
        filters(folder, sender)
        limits(folder, sender)
        loss_is_told(folder, sender)
        disk_full(folder, sender)
        interface_goes(folder, sender)
        no_rights(folder)
        pipes(folder, sender)
        growing_file(folder, sender)
        judged(folder, sender)
        any_moment(folder, sender)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
