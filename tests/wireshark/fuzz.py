#!/usr/bin/env python3
"""Damaged captures through tshark with the plugin: fuzz.py BUILD [SECONDS] [FIRST-SEED]

Random captures get random errors and are cut at random lengths (editcap). tshark must end by itself, the sanitizers must
stay silent, and the plugin must find what `rdmascope check` finds. A seed makes the same capture again. A tshark that
fails without the plugin, too, is not ours. Prints one line, and "FAIL ..." for each seed that fails.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import plugin
import run


def damaged(seed, files, folder):
    """None: editcap cannot write this one."""
    chance = random.Random(seed)
    capture = chance.choice(files)
    out = os.path.join(folder, f"seed-{seed}.pcapng")
    words = ["editcap", "--seed", str(seed), "-E", str(chance.choice([0.0005, 0.002, 0.01, 0.05]))]
    if chance.random() < 0.5:
        words += ["-s", str(chance.randrange(1, 200))]
    if chance.random() < 0.3:
        words += ["-o", str(chance.choice([0, 14, 34, 42]))]
    copy, _ = plugin.readable_copy(capture, folder)
    first = chance.randrange(1, 50)
    made = subprocess.run([*words, "-r", copy, out, f"{first}-{first + 300}"], capture_output=True)
    return (capture, out) if made.returncode == 0 and os.path.exists(out) else None


def main():
    build = os.path.abspath(sys.argv[1])
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else 600
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    if not plugin.file_of(build) or not shutil.which("tshark") or not shutil.which("editcap"):
        print("skip wireshark/damaged-captures: the plugin was not built, or there is no tshark or editcap")
        return 0
    files = list(plugin.captures(run.SAMPLES, run.GOLDEN, run.SHARED))
    end, count, failed, first = time.monotonic() + limit, 0, False, seed
    with tempfile.TemporaryDirectory(prefix="rdmascope-wireshark-") as folder:
        tests = run.Tests(build, folder)
        without = plugin.Tshark(build, folder, plugin=False)
        while time.monotonic() < end:
            made = damaged(seed, files, folder)
            if made:
                why = tests.compare(made[1])
                if why and without.run("-q", "-r", made[1]).returncode in (0, 1, 2):
                    print(f"FAIL wireshark/damaged-captures: seed {seed}, {os.path.basename(made[0])}: {why}", flush=True)
                    failed = True
                count += 1
                os.remove(made[1])
            seed += 1
    print(f"{'note' if failed else 'ok'} wireshark/damaged-captures ({count} captures from seed {first} on)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
