#!/usr/bin/env python3
"""Measures the tool, mostly against tshark, on a generated capture. It prints, and never fails on a time.

Tool and tshark run in pairs, one after the other on the same core, so that a change of the machine's speed hits both; one
and two workers of check likewise, but on all cores. The file lies in the page cache, output goes to /dev/null. A ratio is the median of the ratios of the rounds. Both are timed by
the clock (what users wait for) and by processor time (which other work on the machine disturbs less).

usage: bench.py [--build FOLDER] [--rounds N] [--frames N]
"""
import argparse
import os
import re
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
CONNECTIONS = 100_000  # live at once
CONNECTIONS_TARGET = 200  # MB
ONE_WORKER_TARGET = 0.6  # seconds for 1,000,000 frames
TWO_WORKERS_TARGET = 1.7
FOUR_FIELDS = [word for field in ("frame.number", "ip.src", "infiniband.bth.opcode", "infiniband.bth.psn")
               for word in ("-e", field)]
FEW = "infiniband.bth.opcode == 99"

# What is compared, our command and options, tshark's options, the target: how many times faster.
PAIRS = [
    ("JSON: -T ndjson, tshark -T json", ["read", "-T", "ndjson"], ["-T", "json"], 60),
    ("four fields: -T fields -e ...", ["read", "-T", "fields"] + FOUR_FIELDS, ["-T", "fields"] + FOUR_FIELDS, 40),
    ("summary lines", ["read"], [], 20),
    (f"-Y '{FEW}'", ["read", "-Y", FEW], ["-Y", FEW], 50),
    ("check, all rules, one worker", ["check", "--workers", "1"], [], 8),
]


def pin():
    os.sched_setaffinity(0, {CORE})


def seconds(command, where=pin):
    """Clock and processor seconds of a command; `where` chooses its cores."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=where)
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


def on(tool, ours, path):
    command, *options = ours
    return [tool, command, path] + options


def compare(tool, pairs, rounds):
    """Prints one row for each pair: medians of packets per second, and of the ratios."""
    times = [([], []) for _ in pairs]
    for done in range(rounds):
        for (_, ours, theirs, _, path, _), (tool_times, peer_times) in zip(pairs, times):
            tool_times.append(seconds(on(tool, ours, path)))
            peer_times.append(seconds(["tshark", "-n", "-r", path] + theirs))
        print(f"  round {done + 1} of {rounds}", file=sys.stderr)
    print(f"\n{'':34} {'rdmascope':>12} {'tshark':>10}  {'ratio':>6}  {'lowest to highest':18} {'cpu time':>8}  target")
    print(f"{'':34} {'packets/s':>12} {'packets/s':>10}")
    for (name, _, _, target, _, frames), (tool_times, peer_times) in zip(pairs, times):
        rate = [frames / statistics.median(t[0] for t in side) for side in (tool_times, peer_times)]
        clock, cpu = ([p[i] / t[i] for t, p in zip(tool_times, peer_times)] for i in (0, 1))
        print(f"{name:34} {rate[0]:12,.0f} {rate[1]:10,.0f}  {statistics.median(clock):5.1f}x  "
              f"{min(clock):5.1f} to {max(clock):<9.1f} {statistics.median(cpu):7.1f}x  at least {target}x", flush=True)


def compare_workers(tool, path, frames, rounds):
    """Prints the seconds of check with one and with two workers, and how much faster two are."""
    if (os.cpu_count() or 1) < 2:
        print("\ncheck with two workers: not measured, there is one core")
        return
    times = {1: [], 2: []}
    for _ in range(rounds):
        for workers, taken in times.items():
            taken.append(seconds([tool, "check", "--workers", str(workers), path], where=None))
    print(f"\n{'check, all rules, on any core':34} {'seconds':>12} {'cpu time':>10}")
    for workers, taken in times.items():
        clock, cpu = (statistics.median(t[i] for t in taken) for i in (0, 1))
        target = f"  at most {ONE_WORKER_TARGET * frames / 1e6:.2g} s" if workers == 1 else ""
        print(f"{f'{workers} worker' + 's' * (workers > 1):34} {clock:12.2f} {cpu:10.2f}{target}")
    ratios = [one[0] / two[0] for one, two in zip(times[1], times[2])]
    print(f"{'two workers are faster':34} {statistics.median(ratios):11.2f}x  {min(ratios):.2f} to {max(ratios):.2f}  "
          f"at least {TWO_WORKERS_TARGET}x", flush=True)


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


def memory(command, feed=None, output=subprocess.DEVNULL):
    """Highest resident and private MiB while the command runs. `feed` writes its standard input."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=output)
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
        whole = memory(on(tool, ours, path))
        piped = memory(on(tool, ours, "-"), lambda pipe: write_repeated(path, pipe))
        print(f"{name.split(',')[0]:34} {whole[0]:7.1f} MiB {whole[1]:6.1f} MiB {piped[0]:13.1f} MiB {piped[1]:6.1f} MiB  "
              f"below {MEMORY_TARGET} MiB", flush=True)


def show_connections(build, tool):
    """Memory of check by the number of connections; all in the first packets, and one more with each packet."""
    print(f"\n{'check, connections at once':34} {'peak RSS':>11} {'kept':>10} {'refused':>17}")
    for name, frames, queue_pairs, target in [
            (f"{CONNECTIONS:,}", 4 * CONNECTIONS, CONNECTIONS, f"below {CONNECTIONS_TARGET} MB"),
            ("a new one in each of 300,000", 300_000, 300_000, "200,000 connections"),
            ("a new one in each of 900,000", 900_000, 900_000, "the same")]:
        maker = [os.path.join(build, "tests/bench/make_bench_capture"), str(frames), str(queue_pairs)]
        with tempfile.TemporaryFile() as output:
            resident, _ = memory([tool, "check", "--workers", "1", "-"],
                                 lambda pipe: subprocess.run(maker, stdout=pipe, check=True), output)
            output.seek(0)
            report = output.read().decode()
        kept = re.search(r"on (\d+) connections", report)
        refused = re.search(r"(\d+) packets of connections beyond the limit", report)
        print(f"{name:34} {resident * 1.048576:8.1f} MB {int(kept[1]):10,} {int(refused[1]) if refused else 0:17,}  {target}",
              flush=True)


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
        compare_workers(tool, path, chosen.frames, chosen.rounds)
        show_memory(tool, path)
        show_connections(chosen.build, tool)


if __name__ == "__main__":
    main()
