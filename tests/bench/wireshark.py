#!/usr/bin/env python3
"""What the Wireshark plugin costs: tshark with it and without it, in turn, on a generated capture. Prints, never fails on
a time.

usage: wireshark.py [--build FOLDER] [--rounds N] [--frames N]
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "wireshark"))
import plugin

TARGET = 1.5
# What is compared, tshark's options.
WAYS = [("one pass, summary lines", []),
        ("one pass, a display filter", ["-Y", "infiniband.bth.opcode == 99"]),
        ("two passes, a display filter", ["-2", "-Y", "infiniband.bth.opcode == 99"]),
        ("one pass, statistics", ["-q", "-z", "io,stat,0"])]


def seconds(environment, command):
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser(description="What the Wireshark plugin costs.")
    options.add_argument("--build", default=os.path.join(plugin.ROOT, "build", "release"), metavar="FOLDER")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--frames", type=int, default=1_000_000)
    chosen = options.parse_args()
    if not plugin.file_of(chosen.build) or not shutil.which("tshark"):
        print("Wireshark plugin: not measured, it was not built or there is no tshark")
        return
    with tempfile.TemporaryDirectory(prefix="rdmascope-bench-") as folder:
        capture = os.path.join(folder, "all.pcap")
        with open(capture, "wb") as out:
            subprocess.run([os.path.join(chosen.build, "tests/bench/make_bench_capture"), str(chosen.frames)], stdout=out, check=True)
        os.chmod(folder, 0o755)
        with_plugin, without = (plugin.environment(chosen.build, folder, wanted) for wanted in (True, False))
        print(f"\n{'tshark, ' + format(chosen.frames, ',') + ' frames':34} {'without':>9} {'with plugin':>12} {'ratio':>7}  {'cpu time':>8} "
              f"{'memory':>17}  target")
        for name, words in WAYS:
            times = [[], []]
            for _ in range(chosen.rounds):
                for taken, environment in zip(times, (without, with_plugin)):
                    taken.append(seconds(environment, [*plugin.as_user(), "tshark", "-n", "-r", capture, *words]))
            clock, cpu = (statistics.median(b[i] / a[i] for a, b in zip(*times)) for i in (0, 1))
            wait = [statistics.median(t[0] for t in taken) for taken in times]
            memory = [max(t[2] for t in taken) for taken in times]
            print(f"{name:34} {wait[0]:8.2f}s {wait[1]:11.2f}s {clock:6.2f}x  {cpu:7.2f}x {memory[0]:7.0f} {memory[1]:5.0f} MiB  "
                  f"at most {TARGET}x", flush=True)


if __name__ == "__main__":
    main()
