#!/usr/bin/env python3
"""The conformance suite, a replay and a written script against a real device: conformance.py TOOL AGENT TOKEN_FILE

Runs beside the agent, in namespace tt. Prints lines of tests/run.py: one for each test of the suite, with all of its parts.
What the device is known to do differently stands in replay/suite/KNOWN-DEVIATIONS.md; a listed test that passes fails here, so
that the list stays true.
"""
import json
import os
import subprocess
import sys
import tempfile

from agent_client import Agent

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KNOWN = os.path.join(ROOT, "replay", "suite", "KNOWN-DEVIATIONS.md")
TOOL, AGENT, TOKEN = sys.argv[1:]
DEVICE, TESTER = "10.77.0.1", "10.77.0.2"
WORST = ["passed", "skipped", "not applicable", "known deviation", "failed", "error"]


def report(good, name, why=""):
    print(f"ok vm/{name}" if good else f"FAIL vm/{name}: {why}", flush=True)


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True)


def test(*arguments, wire=f"udp:{TESTER}"):
    """Verdicts of the tests' parts, and what was said on standard error."""
    result = run("test", "--dut", "agent:" + AGENT, "--token-file", TOKEN, "--wire", wire, "-T", "json", *arguments)
    try:
        return json.loads(result.stdout)["tests"], result.stderr
    except (ValueError, KeyError):
        return [], result.stderr or f"exit status {result.returncode}"


def suite():
    cases, said = test("transport", "--known", KNOWN)
    if not cases:
        report(False, "suite", said)
    tests = {}
    for case in cases:
        tests.setdefault(case["id"].split("/")[0], []).append(case)
    counts = dict.fromkeys(WORST, 0)
    for name, parts in tests.items():
        worst = max(parts, key=lambda c: WORST.index(c["verdict"]))
        counts[worst["verdict"]] += 1
        if worst["verdict"] == "not applicable" and all(p["verdict"] == "not applicable" for p in parts):
            print(f"skip vm/suite/{name}: {worst['message']}", flush=True)
        else:
            report(worst["verdict"] not in ("failed", "error"), f"suite/{name}", f"{worst['id']}: {worst['message']}")
    report("but passed" not in said, "suite-known-deviations-are-up-to-date", said.strip())
    print(f"{len(tests)} tests against Soft-RoCE: " +
          ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count), flush=True)


def suite_over_ethernet():
    """Frames that a socket cannot send: cut short, without ICRC."""
    cases, said = test("--filter", "R-19-silence", wire=f"eth:roce1:{TESTER}")
    bad = [f"{c['id']}: {c['message']}" for c in cases if c["verdict"] != "passed"]
    report(cases and not bad, "suite-over-ethernet", "; ".join(bad) or said)


def replayed_capture():
    """The SENDs of a capture, played again to another queue pair: all are received and acknowledged."""
    capture = os.path.join(ROOT, "samples", "rc-send.pcap.zst")
    messages, bytes_each, first_psn, captured_qp, offset = 10, 5000, 10410095, 0x14, 1000
    with Agent(AGENT, TOKEN) as agent:
        channel = agent.ask(do="open", options={"tester_address": TESTER, "tester_qpn": 0x99, "pmtu": 512, "local_bytes": 1 << 17,
                                                "tester_psn": (first_psn + offset) % 2**24})["channel"]
        for i in range(messages):
            agent.ask(do="post_receive", channel=channel["id"],
                      receive={"id": i, "local_offset": i * 8192, "length": 8192})
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as record:
            result = run("replay", capture, "--wire", f"udp:{TESTER}", "--only", "10.77.0.1", "--to", DEVICE, "--qp",
                         f"{captured_qp:#x}={channel['qpn']:#x}", "--psn", str(offset), "--listen", "1", "--record", record.name)
            received = run("read", record.name, "-Y", "infiniband.aeth.syndrome.opcode == 0", "-T", "fields", "-e",
                           "infiniband.aeth.msn").stdout.split()
        done = agent.ask(do="poll", channel=channel["id"], wait_ns=0)["completions"]
    lengths = [c["bytes"] for c in done if c["status"] == "success"]
    report(lengths == [bytes_each] * messages, "replayed-capture-is-received", f"{result.stderr} received: {done}")
    report(received == [str(i + 1) for i in range(messages)], "replayed-capture-is-acknowledged", f"MSNs {received}")


def written_script():
    """The READs of a capture as a script: the device asks for the same again."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "written.lua")
        result = run("script-from", os.path.join(ROOT, "samples", "rc-read.pcap.zst"), "--dut-is", "requester")
        with open(script, "w") as file:
            file.write(result.stdout)
        cases, said = test(script)
    bad = [f"{c['id']}: {c['message']}" for c in cases if c["verdict"] != "passed"]
    report(cases and not bad, "script-from-a-capture", "; ".join(bad) or result.stderr + said)


suite()
suite_over_ethernet()
replayed_capture()
written_script()
