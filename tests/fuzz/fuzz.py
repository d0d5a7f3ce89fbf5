#!/usr/bin/env python3
"""Runs each libFuzzer target for some seconds, starting from its small corpus in the tree. New inputs stay outside.

A crash is kept in tests/fuzz/crashes/TARGET/ (add it to the corpus with the mend). usage: fuzz.py SECONDS [TARGET...]
"""
import contextlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILT = os.path.join(ROOT, "build", "fuzz", "tests", "fuzz")

# name -> longest input in bytes
TARGETS = {"reader": 4096, "walk": 512, "check": 2048, "mad": 4096, "cdi": 2048, "model": 2048,
           "cdi_model": 2048, "filter": 256, "hex": 2048}


def run(name, seconds):
    crashes = os.path.join(HERE, "crashes", name)
    os.makedirs(crashes, exist_ok=True)
    with tempfile.TemporaryDirectory() as grown:
        command = [os.path.join(BUILT, f"{name}_fuzz"), grown, os.path.join(HERE, "corpus", name),
                   f"-max_total_time={seconds}", f"-max_len={TARGETS[name]}", "-timeout=10", "-rss_limit_mb=2048",
                   "-print_final_stats=1", f"-artifact_prefix={crashes}/"]
        dictionary = os.path.join(HERE, f"{name}.dict")
        if os.path.exists(dictionary):
            command.append(f"-dict={dictionary}")
        result = subprocess.run(command, capture_output=True, text=True, errors="replace")
    runs = next((line.split()[-1] for line in result.stderr.splitlines() if "number_of_executed_units" in line), "?")
    if result.returncode == 0:
        with contextlib.suppress(OSError):  # another run has found something, or is done, too
            os.rmdir(crashes)
        return f"ok fuzz/{name}: {runs} runs in {seconds} s"
    return f"FAIL fuzz/{name}: exit {result.returncode}\n" + result.stderr[-6000:]


def main():
    seconds = int(sys.argv[1])
    names = sys.argv[2:] or list(TARGETS)
    failed = False
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for line in pool.map(lambda n: run(n, seconds), names):
            failed = failed or line.startswith("FAIL")
            print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
