#!/usr/bin/env python3
"""The conformance suite against the model and its mutants: mutants.py TOOL [--table]

Every test passes on the correct model, fails on at least one mutant, and every mutant fails at least one test: a test that
nothing fails proves nothing, and a rule that can be broken unseen is not tested. Mutants that no test can catch are listed
in WITHOUT_TEST with the reason. --table prints which mutants each test catches.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def suite(tool, dut):
    result = subprocess.run([tool, "test", "--dut", dut, "-T", "json"], capture_output=True, text=True)
    try:
        return {t["id"]: t for t in json.loads(result.stdout)["tests"]}
    except ValueError:
        print(f"FAIL suite/{dut}: no JSON, exit status {result.returncode}: {result.stderr[-500:]}")
        return None


def main():
    tool = sys.argv[1]
    names = [line.split()[0] for line in
             subprocess.run([tool, "test", "--list-mutants"], capture_output=True, text=True, check=True).stdout.splitlines()]
    without = {}
    with open(os.path.join(HERE, "WITHOUT_TEST")) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, reason = line.split(None, 1)
                without[name] = reason.strip()
    status = 0

    def report(good, name, why=""):
        nonlocal status
        print(f"ok suite/{name}" if good else f"FAIL suite/{name}: {why}", flush=True)
        status |= not good

    right = suite(tool, "model")
    if not right:
        return 1
    for test in right.values():
        report(test["verdict"] == "passed", test["id"], f"{test['verdict']} on the model: {test['message']}")
    caught_by = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, tests in zip(names, pool.map(lambda n: suite(tool, "model:mutant=" + n), names)):
            if tests is None:
                status = 1
                continue
            for test in tests.values():
                if test["verdict"] == "error":
                    report(False, f"{name}/{test['id']}", test["message"])
            caught_by[name] = [i for i, t in tests.items() if t["verdict"] == "failed"]
    for name, tests in caught_by.items():
        if name in without:
            report(not tests, "mutant " + name, f"listed in WITHOUT_TEST, but {tests and tests[0]} catches it")
        else:
            report(bool(tests), "mutant " + name, "no test fails")
    for test in right:
        report(any(test in tests for tests in caught_by.values()), f"{test} can fail", "no mutant fails it")
    if "--table" in sys.argv:
        for test in right:
            print(f"{test:<40} {' '.join(n for n, tests in caught_by.items() if test in tests)}")
    return status


sys.exit(main())
