"""Speaks with an agent as replay/AGENT.md says."""
import json
import socket


class Agent:
    def __init__(self, address, token_file):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.lines = self.socket.makefile("rw")
        with open(token_file) as file:
            self.ask(do="hello", hello={"protocol": 1, "token": file.readline().strip()})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.lines.close()

    def write(self, text):
        self.lines.write(text)
        self.lines.flush()

    def ask(self, **request):
        self.write(json.dumps(request) + "\n")
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer
