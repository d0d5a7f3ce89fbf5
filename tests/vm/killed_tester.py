#!/usr/bin/env python3
"""A tester that opens channels, leaves READs outstanding and dies in the middle of a line: killed_tester.py AGENT TOKEN_FILE"""
import json
import os
import signal
import socket
import sys

host, port = sys.argv[1].split(":")
agent = socket.create_connection((host, int(port)))
lines = agent.makefile("rw")


def ask(**request):
    lines.write(json.dumps(request) + "\n")
    lines.flush()
    return json.loads(lines.readline())


with open(sys.argv[2]) as file:
    ask(do="hello", hello={"protocol": 1, "token": file.readline().strip()})
for _ in range(3):
    channel = ask(do="open", options={"tester_address": "10.77.0.2", "tester_qpn": 34})["channel"]["id"]
    ask(do="post_send", channel=channel, work={"id": 1, "work": "read", "length": 8})
lines.write(json.dumps({"do": "poll", "channel": channel, "wait_ns": 60_000_000_000}) + '\n{"do":"sta')
lines.flush()
os.kill(os.getpid(), signal.SIGKILL)
