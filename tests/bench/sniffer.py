#!/usr/bin/env python3
"""The sniffer on a double of libibverbs: packets of 128 bytes from an adapter that always has more, into a file in memory.

    sniffer.py [--build FOLDER] [--rounds N] [--packets N]
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--packets", type=int, default=10_000_000)
    options = parser.parse_args()
    tests = os.path.join(options.build, "tests")
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    rates = []
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        for _ in range(options.rounds):
            said = subprocess.run([os.path.join(tests, "bench", "sniffer_bench"), "mlx5_0", str(options.packets),
                                   os.path.join(folder, "out.pcapng")], check=True, capture_output=True, text=True,
                                  env={**os.environ, "LD_LIBRARY_PATH": os.path.join(tests, "verbs_double", "lib")}).stdout
            print("  " + said.strip())
            rates.append(float(re.search(r"([\d.]+) M packets/s", said)[1]))
    print(f"\nsniffer into a file: {statistics.median(rates):.2f} M packets/s, {min(rates):.2f} to {max(rates):.2f}  target: 5")


if __name__ == "__main__":
    main()
