#!/usr/bin/env python3
"""A tester that opens channels, leaves READs outstanding and dies in the middle of a line: killed_tester.py AGENT TOKEN_FILE"""
import json
import os
import signal
import sys

from agent_client import Agent

agent = Agent(sys.argv[1], sys.argv[2])
for _ in range(3):
    channel = agent.ask(do="open", options={"tester_address": "10.77.0.2", "tester_qpn": 34})["channel"]["id"]
    agent.ask(do="post_send", channel=channel, work={"id": 1, "work": "read", "length": 8})
agent.write(json.dumps({"do": "poll", "channel": channel, "wait_ns": 60_000_000_000}) + '\n{"do":"sta')
os.kill(os.getpid(), signal.SIGKILL)
