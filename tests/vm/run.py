#!/usr/bin/env python3
"""Tests with a real RDMA device: Soft-RoCE in a guest. run.py TOOL

Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why" for each test. Skips where no guest can be had.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NOT_HERE = 125  # what rxe-vm says when there is no QEMU or no kernel


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: run.py TOOL")
    tool = os.path.abspath(sys.argv[1])
    smoke = os.path.join(os.path.dirname(os.path.dirname(tool)), "tests", "vm", "agent_smoke")
    for program in (tool, smoke):
        if not os.path.exists(program):
            print(f"FAIL vm: no {program}; build first")
            return 1
    # A tester plays the peer of one device; two devices speak with each other.
    status = guest("-p", "in-guest", tool, smoke)
    return status if status == NOT_HERE else max(status, guest("", "in-guest-pair", tool))


def guest(mode, script, *arguments):
    """Boots it, prints what it prints; 1: something failed."""
    command = [os.path.join(HERE, "rxe-vm"), *mode.split(), "-t", "900", "--", os.path.join(HERE, script), *arguments]
    guest = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    tested = failed = False
    last = ""
    for line in guest.stdout:
        line = line.strip("\r\n")
        last = line or last
        tested = tested or line.startswith(("ok ", "FAIL "))
        failed = failed or line.startswith("FAIL ")
        if line and not line.startswith("rxe-vm: "):  # those are told below
            print(line, flush=True)
    status = guest.wait()
    if status == NOT_HERE:
        print(f"skip vm: {last.removeprefix('rxe-vm: ')}")
        return NOT_HERE
    if not failed and (status != 0 or not tested):
        print(f"FAIL vm/guest: {script}: exit status {status}: {last}")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main() % NOT_HERE)
