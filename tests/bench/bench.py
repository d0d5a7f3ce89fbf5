#!/usr/bin/env python3
"""Measures the tool, mostly against tshark, on a generated capture. It prints, and never fails on a time.

Tool and tshark run in pairs, one after the other on the same core, so that a change of the machine's speed hits both. The
file lies in the page cache, output goes to /dev/null. A ratio is the median of the ratios of the rounds. Both are timed by
the clock (what users wait for) and by processor time (which other work on the machine disturbs less).

usage: bench.py [--build FOLDER] [--rounds N] [--frames N]
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE = min(1, (os.cpu_count() or 1) - 1)
JSON_FRAMES = 200_000  # tshark -T json is slow
REPEATS = 10           # the memory test through a pipe reads the records that often
MEMORY_TARGET = 64     # MiB
FOUR_FIELDS = [word for field in ("frame.number", "ip.src", "infiniband.bth.opcode", "infiniband.bth.psn")
               for word in ("-e", field)]
FEW = "infiniband.bth.opcode == 99"

# What is compared, our options, tshark's, the target: how many times faster.
PAIRS = [
    ("JSON: -T ndjson, tshark -T json", ["-T", "ndjson"], ["-T", "json"], 60),
    ("four fields: -T fields -e ...", ["-T", "fields"] + FOUR_FIELDS, ["-T", "fields"] + FOUR_FIELDS, 40),
    ("summary lines", [], [], 20),
    (f"-Y '{FEW}'", ["-Y", FEW], ["-Y", FEW], 50),
]


def pin():
    os.sched_setaffinity(0, {CORE})


def seconds(command):
    """Clock and processor seconds of a command."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pin)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime


def make_capture(build, path, frames):
    with open(path, "wb") as out:
        subprocess.run([os.path.join(build, "tests/bench/make_bench_capture"), str(frames)], stdout=out, check=True)
    with open(path, "rb") as file:  # into the page cache
        while file.read(1 << 24):
            pass


def compare(tool, pairs, rounds):
    """Prints one row for each pair: medians of packets per second, and of the ratios."""
    times = [([], []) for _ in pairs]
    for done in range(rounds):
        for (_, ours, theirs, _, path, _), (tool_times, peer_times) in zip(pairs, times):
            tool_times.append(seconds([tool, "read", path] + ours))
            peer_times.append(seconds(["tshark", "-n", "-r", path] + theirs))
        print(f"  round {done + 1} of {rounds}", file=sys.stderr)
    print(f"\n{'':34} {'rdmascope':>12} {'tshark':>10}  {'ratio':>6}  {'lowest to highest':18} {'cpu time':>8}  target")
    print(f"{'':34} {'packets/s':>12} {'packets/s':>10}")
    for (name, _, _, target, _, frames), (tool_times, peer_times) in zip(pairs, times):
        rate = [frames / statistics.median(t[0] for t in side) for side in (tool_times, peer_times)]
        clock, cpu = ([p[i] / t[i] for t, p in zip(tool_times, peer_times)] for i in (0, 1))
        print(f"{name:34} {rate[0]:12,.0f} {rate[1]:10,.0f}  {statistics.median(clock):5.1f}x  "
              f"{min(clock):5.1f} to {max(clock):<9.1f} {statistics.median(cpu):7.1f}x  at least {target}x", flush=True)


def write_repeated(path, pipe):
    """The file header once, the records REPEATS times."""
    try:
        with open(path, "rb") as file:
            pipe.write(file.read(24))
            for _ in range(REPEATS):
                file.seek(24)
                while block := file.read(1 << 20):
                    pipe.write(block)
        pipe.close()
    except BrokenPipeError:
        pass


def memory(command, feed=None):
    """Highest resident and private MiB while the command runs. `feed` writes its standard input."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    writer = None
    if feed:
        writer = os.fork()
        if writer == 0:
            feed(process.stdin)
            os._exit(0)
        process.stdin.close()
    resident = private = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/smaps_rollup") as rollup:
                rows = [line.split() for line in rollup if line.endswith("kB\n")]
            private = max(private, sum(int(row[1]) for row in rows if row[0].startswith("Private_")))
            with open(f"/proc/{process.pid}/status") as status:
                resident = max([resident] + [int(line.split()[1]) for line in status if line.startswith("VmHWM")])
        except OSError:  # it has just ended
            pass
        time.sleep(0.005)
    if writer:
        os.waitpid(writer, 0)
    return resident / 1024, private / 1024


def show_memory(tool, path):
    print(f"\n{'':34} {'from the file':>22} {f'{REPEATS} times as much, piped':>28}")
    print(f"{'':34} {'peak RSS':>11} {'private':>10} {'peak RSS':>17} {'private':>10}  target")
    for name, ours, _, _ in PAIRS:
        whole = memory([tool, "read", path] + ours)
        piped = memory([tool, "read", "-"] + ours, lambda pipe: write_repeated(path, pipe))
        print(f"{name.split(',')[0]:34} {whole[0]:7.1f} MiB {whole[1]:6.1f} MiB {piped[0]:13.1f} MiB {piped[1]:6.1f} MiB  "
              f"below {MEMORY_TARGET} MiB", flush=True)


def main():
    options = argparse.ArgumentParser(description="Measures the tool; prints, and never fails on a time.")
    options.add_argument("--build", default=os.path.join(ROOT, "build", "release"), metavar="FOLDER")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--frames", type=int, default=1_000_000)
    chosen = options.parse_args()
    tool = os.path.join(chosen.build, "cli/rdmascope")
    load = os.getloadavg()[0]
    with open("/proc/cpuinfo") as cpuinfo:
        model = next((line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")), "unknown")
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    print(f"{model}, core {CORE}; load average {load:.1f} at the start; {version}")
    if load > 1:
        print("note: other work is running; times by the clock are too long, ratios less certain")
    with tempfile.TemporaryDirectory(prefix="rdmascope-bench-") as folder:
        path, short = os.path.join(folder, "all.pcap"), os.path.join(folder, "short.pcap")
        make_capture(chosen.build, path, chosen.frames)
        make_capture(chosen.build, short, min(JSON_FRAMES, chosen.frames))
        print(f"capture: {chosen.frames:,} frames, {os.path.getsize(path) / 1e6:,.1f} MB; for JSON "
              f"{min(JSON_FRAMES, chosen.frames):,} frames\n", flush=True)
        subprocess.run([os.path.join(chosen.build, "tests/bench/walk_bench"), path], preexec_fn=pin, check=True)
        pairs = [(name, ours, theirs, target, short if "json" in theirs else path,
                  min(JSON_FRAMES, chosen.frames) if "json" in theirs else chosen.frames)
                 for name, ours, theirs, target in PAIRS]
        compare(tool, pairs, chosen.rounds)
        show_memory(tool, path)


if __name__ == "__main__":
    main()
