#!/usr/bin/env python3
"""The desktop program, painted into memory: captures of 1 and 10 million frames. gui.py [--build FOLDER]"""
import argparse
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FRAMES, BYTES_OF_A_FRAME = (1_000_000, 10_000_000), 850


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    bench = os.path.join(parser.parse_args().build, "tests", "bench")
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        for frames in FRAMES:
            if shutil.disk_usage(folder).free < frames * BYTES_OF_A_FRAME * 1.2:
                print(f"{frames} frames: not measured, no room in {folder}")
                continue
            path = os.path.join(folder, "capture.pcap")
            with open(path, "wb") as file:
                subprocess.run([os.path.join(bench, "make_bench_capture"), str(frames)], stdout=file, check=True)
            subprocess.run([os.path.join(bench, "gui_bench"), path], check=True, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})


if __name__ == "__main__":
    main()
