#!/usr/bin/env python3
"""Runs every test stage and ends with one line: N passed, N failed, N skipped.

A stage is a command that prints a line for each test: "ok NAME", "FAIL NAME: why" or "skip NAME: why". Everything else
it prints is shown as it is. `./run tests` builds first and then calls this. With arguments: only stages of these names.
"""
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEV = os.path.join(ROOT, "build", "dev")
TOOL = os.path.join(DEV, "cli", "rdmascope")
FUZZ_SECONDS = 20


def unit():
    """GoogleTest through CTest, all under the sanitizers."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        result = subprocess.run(["ctest", "--test-dir", DEV, "-j", str(os.cpu_count()), "--output-on-failure",
                                 "--output-junit", report], capture_output=True, text=True)
        if not os.path.exists(report):
            yield "FAIL unit: ctest did not run"
            print(result.stdout, result.stderr)
            return
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            name = "unit/" + case.get("name")
            failure = case.find("failure")
            skipped = case.find("skipped")
            if failure is not None or case.get("status") == "fail":
                print(case.findtext("system-out") or "")
                yield f"FAIL {name}"
            elif skipped is not None or case.get("status") in ("notrun", "disabled"):
                yield f"skip {name}: {(skipped.get('message') if skipped is not None else '') or 'not run'}"
            else:
                yield f"ok {name}"


def command(*arguments):
    def stage():
        process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace")
        failed = False
        for line in process.stdout:
            failed = failed or line.startswith("FAIL ")
            yield line.rstrip("\n")
        if process.wait() != 0 and not failed:
            yield f"FAIL {' '.join(os.path.basename(a) for a in arguments[:2])}: exit status {process.returncode}"
    return stage


STAGES = [
    ("unit", unit),
    ("golden", command(sys.executable, "tests/golden/run.py", TOOL)),
    ("cli", command("bash", "tests/cli/run.sh", TOOL)),
    ("clean", command(sys.executable, "tests/check/clean.py", TOOL)),
    ("count", command(sys.executable, "tests/check/count.py", "--check", TOOL)),
    ("imperfect", command(sys.executable, "tests/check/imperfect.py", TOOL)),
    ("cdi", command(sys.executable, "tests/check/cdi_imperfect.py", TOOL)),
    ("mirrored", command(sys.executable, "tests/check/mirrored.py", TOOL)),
    ("annotations", command(sys.executable, "tests/check/annotations.py", TOOL)),
    ("pairing", command(sys.executable, "tests/check/pairing.py", TOOL)),
    ("mutants", command(sys.executable, "tests/check/mutate.py", TOOL)),
    ("peers", command(sys.executable, "tests/peers/peers.py", TOOL)),
    # Debian's Python: python3-scapy installs there.
    ("scapy", command("/usr/bin/python3", "tests/peers/scapy_icrc.py", TOOL)),
    # Debian's Python: raw sockets need no more.
    ("capture", command("/usr/bin/python3", "tests/capture/live.py", TOOL)),
    ("vm", command(sys.executable, "tests/vm/run.py", TOOL)),
    ("ibsim", command(sys.executable, "tests/ibsim/run.py", TOOL)),
    ("suite", command(sys.executable, "tests/replay/matrix.py", TOOL)),
    ("wireshark", command(sys.executable, "tests/wireshark/run.py", DEV)),
    ("wireshark-damaged", command(sys.executable, "tests/wireshark/fuzz.py", DEV, str(FUZZ_SECONDS),
                                  "5000")),  # the same captures each time
    ("extcap", command("/usr/bin/python3", "tests/wireshark/extcap.py", DEV)),
    ("install", command("bash", "tests/cli/install.sh", DEV)),
    ("fuzz", command(sys.executable, "tests/fuzz/fuzz.py", str(FUZZ_SECONDS))),
]


def main():
    # A sanitizer report is a failure wherever it appears, with a trace. Leaks count, too.
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    os.environ["TZ"] = "UTC"
    os.environ["LC_ALL"] = "C.UTF-8"
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    failures = []
    for name, stage in STAGES:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        print(f"== {name}", flush=True)
        started = time.monotonic()
        before = dict(counts)
        for line in stage():
            kind = line.split(" ", 1)[0]
            if kind in counts:
                counts[kind] += 1
            if kind == "FAIL":
                failures.append(line)
            if not (kind == "ok" and name in ("unit", "golden", "mutants")):  # many; the count below says it
                print("  " + line, flush=True)
        print(f"   {name}: {counts['ok'] - before['ok']} passed, {counts['FAIL'] - before['FAIL']} failed, "
              f"{counts['skip'] - before['skip']} skipped, {time.monotonic() - started:.0f} s", flush=True)
    for line in failures:
        print(line)
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
