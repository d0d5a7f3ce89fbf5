#!/usr/bin/env python3
"""The conformance suite against the models and their mutants: matrix.py TOOL [--accept] [--area AREA] [FOLDER...]

Every test passes on the correct model, fails on at least one mutant, and every mutant fails at least one test: a test that
nothing fails proves nothing, and a rule that can be broken unseen is not tested. Which tests catch which mutant is kept in
MATRIX beside this file; --accept writes it anew, and that diff is reviewed like code. Mutants that no test can catch stand in
WITHOUT_TEST with the reason. FOLDER: scripts in place of the suite that the tool knows.

Each area of the suite has its own models: `transport` the one with queue pairs, `mad` a switch and a channel adapter, `cdi` a
receiver and a transmitter of the CDI probe. A test passes if it does on one of them and fails on none; a mutant is caught if a test fails on one. --area: only this one.

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


class Area:
    """A part of the suite, and the models it is about. `mutants`: whether a mutant, by its name, is one of theirs; `apart`: each
    is one of one model only, whose name it begins with. `sampled`: long loops take their sample, but on the correct model and
    on those mutants that show behind many rounds only."""

    def __init__(self, name, models, mutants, apart=False, sampled=False, in_full=()):
        self.name, self.models, self.mutants, self.apart = name, models, mutants, apart
        self.sampled, self.in_full = sampled, in_full

    def options(self, mutant):
        return ["--sampled"] if self.sampled and mutant and mutant not in self.in_full else []

    def models_of(self, mutant):
        return [m for m in self.models if not (mutant and self.apart) or mutant.startswith(m.split(":")[1].rstrip(",") + "-")]


AREAS = [
    Area("transport", ["model:"], lambda name: not name.startswith(("mad-", "cdi-"))),
    Area("mad", ["model:switch,", "model:hca,"], lambda name: name.startswith("mad-"), sampled=True,
         in_full=("mad-violations-wrap",)),
    Area("cdi", ["model:cdi-rx,", "model:cdi-tx,"], lambda name: name.startswith("cdi-"), apart=True),
]


class Suite:
    """All scripts once on each model: the verdict of each test over its parts and models, and what was said of it."""

    # From good to bad. On another model it may pass where this one cannot do it.
    ORDER = ["passed", "skipped", "not applicable", "failed", "error"]

    def __init__(self, tool, area, scripts, mutant=None):
        self.verdicts, self.messages, self.trouble = {}, {}, None
        parts = {}  # verdict of each part: the best one, but what failed has failed
        for model in area.models_of(mutant):
            dut = f"{model}mutant={mutant}" if mutant else model.rstrip(":,")
            result = subprocess.run([tool, "test", "--dut", dut, "-T", "json", *area.options(mutant), *scripts], capture_output=True,
                                    text=True, env=ENVIRONMENT)
            try:
                cases = json.loads(result.stdout)["tests"]
            except (ValueError, KeyError):
                self.trouble = f"no report, exit status {result.returncode}: {result.stderr[-500:]}"
                return
            for case in cases:
                name, verdict = case["id"], case["verdict"]
                if verdict in ("failed", "error") or name not in parts:
                    better = parts.get(name) not in ("failed", "error") or verdict == "error"
                else:
                    better = parts[name] in ("skipped", "not applicable")
                if better:
                    parts[name] = verdict
                    if verdict != "passed":
                        self.messages[name] = f"{name}: {case['message']}"
        for name, verdict in parts.items():
            test = name.split("/")[0]
            # A test of parts that is not applicable as a whole on one model has a case of its own there.
            if verdict == "not applicable" and name == test and any(other.startswith(test + "/") for other in parts):
                continue
            if self.ORDER.index(verdict) >= self.ORDER.index(self.verdicts.get(test, "passed")):
                self.verdicts[test] = verdict
                if verdict != "passed":
                    self.messages[test] = self.messages[name]

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
    accept = "--accept" in sys.argv
    areas = AREAS
    if "--area" in arguments:
        at = arguments.index("--area")
        areas = [a for a in AREAS if arguments[at + 1:at + 2] == [a.name]]
        del arguments[at:at + 2]
    if not arguments or not areas:
        sys.exit(__doc__.splitlines()[0])
    tool, scripts = arguments[0], arguments[1:]
    status = 0

    def report(good, name, why=""):
        nonlocal status
        print(f"ok {name}" if good else f"FAIL {name}: {why}", flush=True)
        status |= not good

    all_names, reasons, golden = mutant_names(tool), without_test(), read_matrix()
    rows = {}
    for area in areas:
        chosen = scripts or [area.name]
        right = Suite(tool, area, chosen)
        if right.trouble:
            print(f"FAIL suite: {right.trouble}")
            return 1
        tests = sorted(right.verdicts)
        for test in tests:
            report(right.verdicts[test] == "passed", f"suite/{test}",
                   f"{right.verdicts[test]} on the model: {right.messages.get(test)}")
        names, catching = [n for n in all_names if area.mutants(n)], set()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, suite in zip(names, pool.map(lambda n: Suite(tool, area, chosen, n), names)):
                if suite.trouble:
                    report(False, f"mutant/{name}", suite.trouble)
                    continue
                caught = suite.failed()
                catching.update(caught)
                rows[name] = row(name, caught, tests)
                errors = [suite.messages[t] for t in tests if suite.verdicts.get(t) == "error"]
                if errors:
                    report(False, f"mutant/{name}", "error in " + errors[0])
                elif name in reasons:
                    report(not caught, f"mutant/{name}", f"stands in WITHOUT_TEST, but {' '.join(caught)} fail")
                elif not caught:
                    report(False, f"mutant/{name}", "no test fails on it")
                else:
                    report(accept or golden.get(name) == rows[name], f"mutant/{name}",
                           f"MATRIX has \"{golden.get(name, 'nothing')}\", now \"{rows[name]}\"; --accept if that is right")
        for test in tests:
            report(test in catching, f"catches/{test}", "no mutant fails it")
    for name in sorted(set(golden) - set(all_names)):
        report(accept, f"mutant/{name}", "stands in MATRIX, but the model has none of that name; --accept")
    if accept:
        golden.update(rows)
        with open(MATRIX, "w") as out:
            out.write(HEAD + "".join(golden[name] + "\n" for name in all_names if name in golden))
    return status


if __name__ == "__main__":
    sys.exit(main())
