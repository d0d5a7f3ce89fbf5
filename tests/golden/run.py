#!/usr/bin/env python3
"""Golden tests: what the tool prints for a capture, held against a file.

LIST has one line per test: name, capture, expected file, options. The first option is the command when it is no flag
(read is the default). Expected files hold standard output, then, where there are any, standard error after a line
"--- stderr" and the exit status after "--- exit". `accept NAME...` (or `accept all`) rewrites expected files: review that
diff like code.

usage: run.py RDMASCOPE [accept NAME...]
"""
import difflib
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def tests():
    with open(os.path.join(HERE, "LIST")) as lines:
        for line in lines:
            line = line.split("#", 1)[0] if line.startswith("#") else line
            words = shlex.split(line)
            if words:
                yield words[0], words[1], os.path.join(HERE, "expected", words[2]), words[3:]


def find_capture(name):
    for folder in ("tests/golden/captures", "samples", "."):
        if os.path.exists(os.path.join(ROOT, folder, name)):
            return os.path.join(folder, name)
    return name  # an error test


def run(tool, capture, options):
    command = ["read"]
    if options and not options[0].startswith("-"):
        command, options = [options[0]], options[1:]
    files = [] if capture == "-" else [find_capture(capture)]
    result = subprocess.run([tool] + command + options + files, cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL,
                            env={**os.environ, "TZ": "UTC", "LC_ALL": "C"})
    out = result.stdout.decode(errors="backslashreplace")
    if result.stderr:
        out += "--- stderr\n" + result.stderr.decode(errors="backslashreplace")
    if result.returncode:
        out += f"--- exit {result.returncode}\n"
    return out


def main():
    tool = os.path.abspath(sys.argv[1])
    accept = sys.argv[3:] if len(sys.argv) > 2 and sys.argv[2] == "accept" else []
    failed = 0
    used = set()
    for name, capture, expected_path, options in tests():
        used.add(os.path.basename(expected_path))
        actual = run(tool, capture, options)
        if name in accept or accept == ["all"]:
            os.makedirs(os.path.dirname(expected_path), exist_ok=True)
            with open(expected_path, "w") as out:
                out.write(actual)
        try:
            with open(expected_path) as expected_file:
                expected = expected_file.read()
        except FileNotFoundError:
            expected = ""
            actual += "(no expected file; accept it)\n"
        if actual == expected:
            print(f"ok golden/{name}")
            continue
        failed += 1
        print(f"FAIL golden/{name}: differs from {os.path.relpath(expected_path, ROOT)}")
        for line in list(difflib.unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual", lineterm=""))[:40]:
            print("    " + line)
    for stale in sorted(set(os.listdir(os.path.join(HERE, "expected"))) - used):
        failed += 1
        print(f"FAIL golden/{stale}: no line in LIST names this file")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
