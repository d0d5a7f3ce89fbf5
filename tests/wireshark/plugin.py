"""tshark with the plugin of a build, and rdmascope beside it. Shared by the tests, the fuzzer and the benchmark."""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the sources

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "peers"))
import for_tshark

CAPTURE = re.compile(r"\.(pcap|pcapng|erf|snoop|ntar)(\.\w+)*$")


def folder_of(build):
    """Where the build has its plugin, as Wireshark wants it: VERSION/epan below."""
    return os.path.join(build, "plugins", "wireshark", "plugins")


def file_of(build):
    for where, _, names in os.walk(folder_of(build)):
        if "rdmascope.so" in names:
            return os.path.join(where, "rdmascope.so")
    return None


def as_user():
    """What to put before tshark: as root it takes neither plugins nor extcaps from where the environment says."""
    if os.geteuid() != 0:
        return []
    mapped = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if subprocess.run([*mapped, "true"], capture_output=True).returncode == 0:
        return mapped
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def environment(build, home, plugin=True):
    """For tshark. A sanitized plugin needs its libraries loaded first, since tshark itself has none."""
    out = dict(os.environ, HOME=home, XDG_CONFIG_HOME=os.path.join(home, ".config"), TZ="UTC", LC_ALL="C.UTF-8")
    out["WIRESHARK_PLUGIN_DIR"] = folder_of(build) if plugin else os.path.join(home, "no-plugins")
    out["WIRESHARK_EXTCAP_DIR"] = os.path.join(home, "no-extcap")  # its own take long to start
    needed = subprocess.run(["ldd", file_of(build)], capture_output=True, text=True).stdout
    sanitizers = re.findall(r"=> (\S*/lib(?:asan|ubsan)\.so\S*)", needed)
    if plugin and sanitizers:
        out["LD_PRELOAD"] = ":".join(sanitizers)
        # What tshark itself never frees is not ours to judge.
        out["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0:exitcode=99"
        out["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1:exitcode=99"
    return out


class Tshark:
    def __init__(self, build, home, plugin=True):
        self.environment = environment(build, home, plugin)
        self.command = [*as_user(), "tshark"]
        os.chmod(home, 0o755)

    def run(self, *arguments, timeout=300):
        names = [] if arguments[0] == "-G" else ["-n"]
        return subprocess.run([*self.command, *names, *arguments], env=self.environment, capture_output=True, text=True,
                              errors="replace", timeout=timeout)

    def fields(self, capture, names, *arguments):
        """A list of lists: of each packet, the list of values of each field."""
        options = [word for name in names for word in ("-e", name)]
        result = self.run("-r", capture, "-T", "fields", "-E", "separator=\x1f", "-E", "occurrence=a", "-E",
                          "aggregator=\x1e", *options, *arguments)
        return [[value.split("\x1e") if value else [] for value in line.split("\x1f")]
                for line in result.stdout.split("\n") if line]


class Sharkd:
    """Wireshark's engine as a server: packets in any order, one capture after another in the same process."""

    def __init__(self, tshark):
        command = [word if word != "tshark" else "sharkd" for word in tshark.command]
        self.process = subprocess.Popen([*command, "-"], env=tshark.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.errors = self.process.stderr.read()
        self.process.wait(timeout=60)

    def call(self, method, **parameters):
        self.number += 1
        print(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "result" not in answer:
            raise RuntimeError(f"{method}: {answer}")
        return answer["result"]

    def labels(self, frame):
        """All lines of a frame's tree."""
        def walk(nodes):
            for node in nodes:
                yield node["l"]
                yield from walk(node.get("n", []))
        return list(walk(self.call("frame", frame=frame, proto=True)["tree"]))


def captures(*folders):
    for folder in folders:
        for where, _, names in sorted(os.walk(folder)):
            yield from (os.path.join(where, name) for name in sorted(names) if CAPTURE.search(name))


def readable_copy(capture, folder):
    """The capture, or a copy without what tshark 4.0 cannot read; and why a copy was needed."""
    with open(capture, "rb") as file:
        data, converted = for_tshark.convert(file.read())
    if data is None:
        return capture, ""
    copy = os.path.join(folder, os.path.basename(capture))
    with open(copy, "wb") as file:
        file.write(data)
    return copy, "link type 247, which Wireshark refuses, as ERF" if converted else "without custom blocks"


def checked(tool, capture, *options):
    """rdmascope check: the report, or None when it cannot open the capture."""
    result = subprocess.run([tool, "check", "-T", "json", *options, capture], capture_output=True, text=True)
    try:
        return json.loads(result.stdout)
    except ValueError:
        return None


def rules_by_frame(report):
    """Sorted (frame, rule); frame 0 is a connection as a whole."""
    return sorted((f.get("frame", 0), f["rule"]) for f in report["findings"])


def listed(output):
    """The same from what -z rdmascope,findings printed."""
    out = []
    for line in output.split("RDMA findings\n", 1)[-1].splitlines()[1:]:
        words = line.split(None, 4)
        if len(words) < 4 or not re.fullmatch(r"\d+|-", words[0]):
            break
        out.append((0 if words[0] == "-" else int(words[0]), words[3]))
    return sorted(out)
