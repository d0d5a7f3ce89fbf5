#!/usr/bin/env python3
"""The desktop program, painted into memory: captures of 1 and 10 million frames, and live at 200,000 packets/s. gui.py
[--build FOLDER]"""
import argparse
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FRAMES, BYTES_OF_A_FRAME = (1_000_000, 10_000_000), 850


def live(build, environment):
    """On a loopback of its own, so that nothing else is captured and nobody else is disturbed."""
    bench = os.path.join(build, "tests", "bench", "gui_live_bench")
    inside = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$0"', bench]
    tool = os.path.join(build, "cli", "rdmascope")
    done = subprocess.run(inside, stderr=subprocess.PIPE, text=True, env={**environment, "RDMASCOPE_TOOL": tool})
    if done.returncode != 0:
        print("live: not measured:", (done.stderr.strip().splitlines() or ["no reason given"])[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    build = os.path.abspath(parser.parse_args().build)
    bench = os.path.join(build, "tests", "bench")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        for frames in FRAMES:
            if shutil.disk_usage(folder).free < frames * BYTES_OF_A_FRAME * 1.2:
                print(f"{frames} frames: not measured, no room in {folder}")
                continue
            path = os.path.join(folder, "capture.pcap")
            with open(path, "wb") as file:
                subprocess.run([os.path.join(bench, "make_bench_capture"), str(frames)], stdout=file, check=True)
            subprocess.run([os.path.join(bench, "gui_bench"), path], check=True, env=environment)
    live(build, environment)


if __name__ == "__main__":
    main()
