#!/usr/bin/env python3
"""The conformance suite against the model and its mutants: matrix.py TOOL [--accept] [FOLDER...]

Every test passes on the correct model, fails on at least one mutant, and every mutant fails at least one test: a test that
nothing fails proves nothing, and a rule that can be broken unseen is not tested. Which tests catch which mutant is kept in
MATRIX beside this file; --accept writes it anew, and that diff is reviewed like code. Mutants that no test can catch stand in
WITHOUT_TEST with the reason. FOLDER: scripts in place of the suite that the tool knows.

A mutant that breaks every packet fails every test; MATRIX then says "all but" those that pass.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MATRIX = os.path.join(HERE, "MATRIX")
WITHOUT = os.path.join(HERE, "WITHOUT_TEST")
# A run opens hundreds of connections with their memory. The address sanitizer would keep all that was freed from being used
# again, which takes half of the time; a little of it is kept all the same.
ENVIRONMENT = {"ASAN_OPTIONS": "quarantine_size_mb=1", **os.environ}
HEAD = "# Mutant of the model: tests that fail on it. Written by matrix.py --accept.\n"


class Suite:
    """One run of all scripts: the worst verdict of each test, over its parts, and what was said of it."""

    def __init__(self, tool, dut, scripts):
        result = subprocess.run([tool, "test", "--dut", dut, "-T", "json", *scripts], capture_output=True, text=True,
                                env=ENVIRONMENT)
        self.verdicts, self.messages, self.trouble = {}, {}, None
        try:
            cases = json.loads(result.stdout)["tests"]
        except (ValueError, KeyError):
            self.trouble = f"no report, exit status {result.returncode}: {result.stderr[-500:]}"
            return
        worst = ["passed", "skipped", "not applicable", "failed", "error"]
        for case in cases:
            name = case["id"].split("/")[0]
            known = self.verdicts.get(name, "passed")
            if worst.index(case["verdict"]) >= worst.index(known):
                self.verdicts[name] = case["verdict"]
                if case["verdict"] != "passed":
                    self.messages[name] = f"{case['id']}: {case['message']}"

    def failed(self):
        return sorted(name for name, verdict in self.verdicts.items() if verdict == "failed")


def mutant_names(tool):
    listed = subprocess.run([tool, "test", "--list-mutants"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def without_test():
    reasons = {}
    if os.path.exists(WITHOUT):
        with open(WITHOUT) as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    name, reason = line.split(None, 1)
                    reasons[name] = reason.strip()
    return reasons


def row(name, caught, tests):
    if len(caught) > len(tests) / 2:
        passing = sorted(set(tests) - set(caught))
        return f"{name}: all" + (" but " + " ".join(passing) if passing else "")
    return f"{name}: {' '.join(caught)}".rstrip()


def read_matrix():
    if not os.path.exists(MATRIX):
        return {}
    with open(MATRIX) as lines:
        return {line.split(":")[0]: line.rstrip("\n") for line in lines if line.strip() and not line.startswith("#")}


def main():
    arguments = [a for a in sys.argv[1:] if a != "--accept"]
    if not arguments:
        sys.exit(__doc__.splitlines()[0])
    accept = "--accept" in sys.argv
    tool, scripts = arguments[0], arguments[1:]
    status = 0

    def report(good, name, why=""):
        nonlocal status
        print(f"ok {name}" if good else f"FAIL {name}: {why}", flush=True)
        status |= not good

    right = Suite(tool, "model", scripts)
    if right.trouble:
        print(f"FAIL suite: {right.trouble}")
        return 1
    tests = sorted(right.verdicts)
    for test in tests:
        report(right.verdicts[test] == "passed", f"suite/{test}",
               f"{right.verdicts[test]} on the model: {right.messages.get(test)}")

    names, reasons, golden = mutant_names(tool), without_test(), read_matrix()
    rows, catching = [], set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, suite in zip(names, pool.map(lambda n: Suite(tool, "model:mutant=" + n, scripts), names)):
            if suite.trouble:
                report(False, f"mutant/{name}", suite.trouble)
                continue
            caught = suite.failed()
            catching.update(caught)
            rows.append(row(name, caught, tests))
            errors = [suite.messages[t] for t in tests if suite.verdicts.get(t) == "error"]
            if errors:
                report(False, f"mutant/{name}", "error in " + errors[0])
            elif name in reasons:
                report(not caught, f"mutant/{name}", f"stands in WITHOUT_TEST, but {' '.join(caught)} fail")
            elif not caught:
                report(False, f"mutant/{name}", "no test fails on it")
            else:
                report(accept or golden.get(name) == rows[-1], f"mutant/{name}",
                       f"MATRIX has \"{golden.get(name, 'nothing')}\", now \"{rows[-1]}\"; --accept if that is right")
    for test in tests:
        report(test in catching, f"catches/{test}", "no mutant fails it")
    for name in sorted(set(golden) - set(names)):
        report(accept, f"mutant/{name}", "stands in MATRIX, but the model has none of that name; --accept")
    if accept:
        with open(MATRIX, "w") as out:
            out.write(HEAD + "".join(r + "\n" for r in rows))
    return status


if __name__ == "__main__":
    sys.exit(main())
