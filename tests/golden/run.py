#!/usr/bin/env python3
"""Golden tests: what the tool prints for a capture, held against a file.

LIST has one line per test: name, capture, expected file, options. The first option is the command when it is no flag
(read is the default). Expected files hold standard output, then, where there are any, standard error after a line
"--- stderr" and the exit status after "--- exit". `accept NAME...` (or `accept all`) runs these tests only and rewrites
their expected files: review that diff like code.

usage: run.py RDMASCOPE [accept NAME...|all]
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


def accept(tool, names):
    unknown = set(names) - {name for name, *_ in tests()} - {"all"}
    if unknown or not names:
        print("LIST has no test of this name:" if names else "accept NAME... or accept all", *sorted(unknown))
        return 2
    for name, capture, expected_path, options in tests():
        if name not in names and "all" not in names:
            continue
        actual = run(tool, capture, options)
        changed = actual != expected(expected_path)
        if changed:
            os.makedirs(os.path.dirname(expected_path), exist_ok=True)
            with open(expected_path, "w") as out:
                out.write(actual)
        print(f"{'accepted' if changed else 'the same as before'}: {os.path.relpath(expected_path, ROOT)}")
    return 0


def expected(path):
    try:
        with open(path) as expected_file:
            return expected_file.read()
    except FileNotFoundError:
        return None


def check_all(tool):
    failed = 0
    used = set()
    for name, capture, expected_path, options in tests():
        used.add(os.path.basename(expected_path))
        actual, wanted = run(tool, capture, options), expected(expected_path)
        if actual == wanted:
            print(f"ok golden/{name}")
            continue
        failed += 1
        if wanted is None:
            print(f"FAIL golden/{name}: no {os.path.relpath(expected_path, ROOT)}; accept it")
            continue
        print(f"FAIL golden/{name}: differs from {os.path.relpath(expected_path, ROOT)}")
        for line in list(difflib.unified_diff(wanted.splitlines(), actual.splitlines(), "expected", "actual", lineterm=""))[:40]:
            print("    " + line)
    for stale in sorted(set(os.listdir(os.path.join(HERE, "expected"))) - used):
        failed += 1
        print(f"FAIL golden/{stale}: no line in LIST names this file")
    return 1 if failed else 0


def main():
    tool = os.path.abspath(sys.argv[1])
    return accept(tool, sys.argv[3:]) if sys.argv[2:3] == ["accept"] else check_all(tool)


if __name__ == "__main__":
    sys.exit(main())
