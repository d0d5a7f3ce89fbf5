#!/usr/bin/env python3
"""No false alarm: a clean capture of a correct device gives no violation. And the same output from any number of workers.

Usage: clean.py RDMASCOPE [CAPTURE...]

Without captures: samples/ and, where they exist, the Soft-RoCE and the real ones of ../shared/captures. FAULTY beside
this file lists those that are not clean, each with its reason: "NAME-PATTERN reason".
"""
import concurrent.futures
import fnmatch
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.path.join(ROOT, "..", "shared", "captures")


def captures():
    yield from sorted(glob.glob(os.path.join(ROOT, "samples", "*.pcap*")))
    for folder in ("soft-roce", "real"):
        for pattern in ("*.pcap*", "*.erf*"):
            yield from sorted(glob.glob(os.path.join(SHARED, folder, pattern)))


def faulty():
    with open(os.path.join(HERE, "FAULTY")) as lines:
        for line in lines:
            words = line.split("#")[0].split(None, 1)
            if words:
                yield words[0], words[1].strip()


def run(tool, capture, form, workers):
    return subprocess.run([tool, "check", "-T", form, "--workers", str(workers), capture], cwd=ROOT, capture_output=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC", "LC_ALL": "C"})


def test(tool, capture, excuse):
    name = os.path.relpath(capture, ROOT)
    outputs = {form: [run(tool, capture, form, workers) for workers in (1, 2, 3)] for form in ("text", "json")}
    for form, results in outputs.items():
        for workers, result in enumerate(results, 1):
            if result.returncode not in (0, 1) or b"Sanitizer" in result.stderr or b"runtime error" in result.stderr:
                yield f"FAIL clean/{name}: {form}, {workers} workers: exit status {result.returncode}\n" + \
                      result.stderr.decode(errors="replace")[-3000:]
                return
        different = [n for n, r in enumerate(results, 1) if r.stdout != results[0].stdout]
        if different:
            yield f"FAIL clean/{name}: {form} of {different} workers differs from that of one"
            return
    report = json.loads(outputs["json"][0].stdout)
    violations = [f for f in report["findings"] if f["class"] == "violation"]
    if violations and not excuse:
        first = violations[0]
        yield (f"FAIL clean/{name}: {len(violations)} violations, first {first['rule']} in frame {first.get('frame', 0)}: "
               + ", ".join(f"{k} {first[k]}" for k in ("field", "expected", "actual", "text") if k in first))
    elif excuse and not violations:
        yield f"FAIL clean/{name}: FAULTY lists it ({excuse}), but there is no violation"
    else:
        yield f"ok clean/{name}"


def main():
    tool = os.path.abspath(sys.argv[1])
    excuses = list(faulty())
    chosen = [os.path.abspath(c) for c in sys.argv[2:]] or list(captures())

    def one(capture):
        excuse = next((reason for pattern, reason in excuses if fnmatch.fnmatch(os.path.basename(capture), pattern)), None)
        return list(test(tool, capture, excuse))
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(one, chosen):
            for line in lines:
                failed |= line.startswith("FAIL")
                print(line, flush=True)
    if len(sys.argv) == 2:
        for pattern, _ in excuses:
            if not any(fnmatch.fnmatch(os.path.basename(c), pattern) for c in chosen):
                failed = True
                print(f"FAIL clean/{pattern}: FAULTY lists it, and no capture is called so")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
