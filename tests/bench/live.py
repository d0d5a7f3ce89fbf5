#!/usr/bin/env python3
"""Live capture beside dumpcap: small packets over a veth pair at a given rate, in a network namespace of its own.

    live.py [--build FOLDER] [--rounds N] [--packets N] [--pps N]

Prints what each lost and the processor time it took for a packet it kept, and their ratio, in the same run.
"""
import argparse
import contextlib
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INSIDE = "RDMASCOPE_LIVE_BENCH"


def chosen_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--pps", type=int, default=200_000)
    return parser.parse_args()


def one(command, ready, flood):
    """Lines on standard error, and processor seconds, of a capture of what `flood` sends."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in process.stderr:
        if ready in line:
            break
    time.sleep(0.5)
    subprocess.run(flood, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return said, usage.ru_utime + usage.ru_stime


def main():
    if os.environ.get(INSIDE) is None:
        how = "-nm" if os.geteuid() == 0 else "-Urnm"
        if subprocess.run(["unshare", how, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            print("live capture is not measured: network namespaces are not permitted here")
            return
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", how, sys.executable, *sys.argv])
    options = chosen_options()
    tool = os.path.join(options.build, "cli", "rdmascope")
    maker = os.path.join(options.build, "tests", "bench", "make_bench_capture")
    for words in ("link add left0 type veth peer name right0", "link set left0 mtu 9000", "link set right0 mtu 9000",
                  "link set left0 up", "link set right0 up"):
        subprocess.run(["ip", *words.split()], check=True)
    for name in ("left0", "right0"):
        with contextlib.suppress(OSError), open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as file:
            file.write("1")
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        source = os.path.join(folder, "small.pcap")
        with open(source, "wb") as file:
            made = subprocess.Popen([maker, "200000"], stdout=subprocess.PIPE)
            # Acknowledges: the smallest packets that RDMA has.
            subprocess.run([tool, "read", "-", "-Y", "frame.len < 100", "-c", "50000", "-w", "-", "-F", "pcap"],
                           stdin=made.stdout, stdout=file, check=True)
        out = os.path.join(folder, "out.pcapng")
        sender = os.path.join(options.build, "tests", "bench", "send_frames")
        flood = [sender, "left0", source, str(options.packets), str(options.pps)]
        rows = {"rdmascope": [], "dumpcap": []}
        for number in range(options.rounds):
            for name in rows:
                if name == "rdmascope":
                    said, cpu = one([tool, "capture", "-i", "right0", "-B", "16", "-w", out], "capturing on", flood)
                    received = int(re.search(r"(\d+) packets? received", said)[1])
                    lost = int(re.search(r"(\d+) lost", said)[1])
                else:
                    said, cpu = one(["dumpcap", "-i", "right0", "-B", "16", "-q", "-w", out], "File:", flood)
                    received, lost = map(int, re.search(r"interface '[^']*': (\d+)/(\d+)", said).groups())
                    received += lost
                rows[name].append((received - lost, lost, cpu * 1e9 / max(received - lost, 1)))
            print(f"  round {number + 1} of {options.rounds}", file=sys.stderr)
    print(f"\nlive capture of {options.packets:,} packets of at most 100 bytes at {options.pps:,}/s, 16 MiB of buffer")
    print(f"{'':12} {'kept':>12} {'lost':>10} {'ns of CPU per packet':>22}")
    for name, measured in rows.items():
        kept, lost, cpu = (statistics.median(column) for column in zip(*measured))
        print(f"{name:12} {kept:12,.0f} {lost:10,.0f} {cpu:22,.0f}")
    ratios = [a[2] / b[2] for a, b in zip(rows["rdmascope"], rows["dumpcap"])]
    print(f"{'ratio':12} {statistics.median(ratios):45.2f}  {min(ratios):.2f} to {max(ratios):.2f}  target: at most 1.2")


if __name__ == "__main__":
    main()
