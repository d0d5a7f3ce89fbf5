#!/usr/bin/env python3
"""Plays Wireshark to rdmascope-extcap, every phase, then lets tshark do the same: extcap.py BUILD

In a user and network namespace of its own, with nothing but a loopback interface. Skips where that is not permitted.
"""
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import plugin

BUILD = os.path.abspath(sys.argv[1])
TOOL = os.path.join(BUILD, "cli", "rdmascope")
INSIDE = "RDMASCOPE_EXTCAP_TEST"
INTERFACE = "rdmascope-lo"
SENTENCE = re.compile(r"(extcap|interface|dlt|arg|value) (\{[a-z]+=[^{}]*\})+")
failed = False


def report(good, name, why=""):
    global failed
    failed = failed or not good
    print(f"ok extcap/{name}" if good else f"FAIL extcap/{name}: {why}", flush=True)


def write_to(send, data, pause):
    while not send.wait(pause):
        data()


class Traffic:
    """Datagrams to the RoCE port, all the time: an acknowledge with a wrong ICRC."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.done = threading.Event()
        packet = bytes([0x11, 0, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 5, 0x1f, 0, 0, 1]) + bytes(4)
        self.thread = threading.Thread(target=write_to, args=(self.done, lambda: self.socket.sendto(packet, ("127.0.0.1", 4791)), 0.01))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        self.socket.close()


def call(extcap, *arguments):
    return subprocess.run([extcap, *arguments], capture_output=True, text=True, timeout=60)


def blocks(data):
    """Types and bodies of pcapng blocks."""
    at, out = 0, []
    while at + 12 <= len(data):
        kind, total = struct.unpack_from("<2I", data, at)
        out.append((kind, data[at + 8:at + total - 4]))
        at += total
    return out, at == len(data)


def start(extcap, folder, *options):
    fifo = os.path.join(folder, f"fifo-{time.monotonic_ns()}")
    os.mkfifo(fifo)
    process = subprocess.Popen([extcap, "--extcap-interface", INTERFACE, "--capture", "--fifo", fifo, *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return process, open(fifo, "rb", buffering=0)


def phases(extcap):
    listed = call(extcap, "--extcap-interfaces", "--extcap-version=4.0")
    lines = listed.stdout.splitlines()
    report(listed.returncode == 0 and lines[0].startswith("extcap {version=") and f"interface {{value={INTERFACE}}}" in listed.stdout,
           "interfaces", listed.stdout + listed.stderr)
    kinds = call(extcap, "--extcap-interface", INTERFACE, "--extcap-dlts")
    report(kinds.returncode == 0 and kinds.stdout == "dlt {number=1}{name=EN10MB}{display=Ethernet}\n", "link-types", kinds.stdout)
    config = call(extcap, "--extcap-interface", INTERFACE, "--extcap-config")
    report(config.returncode == 0 and "{call=--snap-length}" in config.stdout, "options", config.stdout)
    wrong = [line for line in lines + kinds.stdout.splitlines() + config.stdout.splitlines() if not SENTENCE.fullmatch(line)]
    report(not wrong, "sentences", str(wrong))
    good, bad = (call(extcap, "--extcap-interface", INTERFACE, "--extcap-capture-filter", f) for f in ("udp port 4791", "udp port"))
    report((good.returncode, good.stdout) == (0, "") and bad.returncode == 0 and "syntax error" in bad.stdout, "filter-tried",
           f"good: {good.stdout!r}, bad: {bad.stdout!r}")
    for name, words in (("no-arguments", ()), ("unknown-interface", ("--extcap-interface", "eth0", "--extcap-dlts")),
                        ("no-fifo", ("--extcap-interface", INTERFACE, "--capture"))):
        result = call(extcap, *words)
        report(result.returncode != 0 and not result.stdout and result.stderr, name, f"{result.returncode}, {result.stdout!r}")


def capture(extcap, folder):
    """SIGTERM ends it with a whole file and its statistics; a closed pipe ends it, too."""
    process, fifo = start(extcap, folder, "--extcap-capture-filter", "udp port 4791", "--snap-length", "50")
    data = b""
    with fifo:
        while len(data) < 4000:
            data += fifo.read(4096)
        process.send_signal(signal.SIGTERM)
        while piece := fifo.read(65536):
            data += piece
    output, errors = process.communicate(timeout=30)
    found, whole = blocks(data)
    packets = [struct.unpack_from("<2I", body, 12) for kind, body in found if kind == 6]
    report(process.returncode == 0 and not output and not errors, "ends-on-sigterm", f"{process.returncode}: {output!r} {errors!r}")
    report(whole and len(packets) > 10 and all(lengths == (50, 62) for lengths in packets), "snap-length", f"{len(packets)}: {packets[:3]}")
    report(whole and found[-1][0] == 5, "statistics-at-the-end", str([kind for kind, _ in found[-3:]]))

    process, fifo = start(extcap, folder)
    fifo.read(1000)
    fifo.close()
    try:
        output, errors = process.communicate(timeout=20)
        report(process.returncode == 0 and not errors, "ends-on-closed-pipe", f"{process.returncode}: {errors!r}")
    except subprocess.TimeoutExpired:
        process.kill()
        report(False, "ends-on-closed-pipe", "still there after 20 s")


def through_tshark(folder):
    """tshark finds the interface by itself, captures through it, and shows our verdicts."""
    environment = plugin.environment(BUILD, folder)
    environment["WIRESHARK_EXTCAP_DIR"] = os.path.join(folder, "extcap")
    # As root, which it needs for the loopback interface, tshark asks nobody where these are.
    folders = subprocess.run(["tshark", "-G", "folders"], capture_output=True, text=True).stdout
    for own, pattern in ((os.path.join(folder, "extcap"), r"Extcap path:\s+(\S+)"),
                         (os.path.dirname(plugin.file_of(BUILD)), r"Global Plugins:\s+(\S+)")):
        place = re.search(pattern, folders)[1] + ("/epan" if "plugins" in own else "")
        subprocess.run(["mount", "--bind", own, place], check=True)
    listed = subprocess.run(["tshark", "-D"], env=environment, capture_output=True, text=True, timeout=120)
    report(INTERFACE in listed.stdout, "tshark-lists-it", listed.stdout + listed.stderr[:300])
    shown = subprocess.run(["tshark", "-n", "-i", INTERFACE, "-f", "udp port 4791", "-c", "5", "-T", "fields", "-e", "rdmascope.icrc.status"],
                           env=environment, capture_output=True, text=True, timeout=120)
    report(shown.stdout.split() == ["0"] * 5, "tshark-captures", f"{shown.stdout!r} {shown.stderr[-500:]}")


def main():
    if os.environ.get(INSIDE) is None:
        inside = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"]
        if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            print("skip extcap: namespaces are not permitted here")
            return 0
        return subprocess.run([*inside, sys.executable, *sys.argv], env=dict(os.environ, **{INSIDE: "1"})).returncode
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory(prefix="rdmascope-extcap-") as folder:
        os.mkdir(os.path.join(folder, "extcap"))
        extcap = os.path.join(folder, "extcap", "rdmascope-extcap")
        os.symlink(TOOL, extcap)
        phases(extcap)
        with Traffic():
            capture(extcap, folder)
            if plugin.file_of(BUILD):
                through_tshark(folder)
            else:
                print("skip extcap/tshark: the plugin was not built")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
