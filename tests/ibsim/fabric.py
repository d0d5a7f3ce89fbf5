"""A private InfiniBand fabric for tests: ibsim with a net file of its own, opensm on it, programs of infiniband-diags beside it.
Nothing leaves the machine: ibsim talks over abstract unix sockets whose name is this run's alone. Every process that was
started is ended, by its id.
"""
import glob
import os
import shutil
import subprocess
import tempfile
import time

NET = """Switch\t4 "Switch1"
[1]\t"Hca1"[1]
[2]\t"Hca2"[1]
[3]\t"Hca3"[1]

Hca\t1 "Hca1"
[1]\t"Switch1"[1]

Hca\t1 "Hca2"
[1]\t"Switch1"[2]

Hca\t1 "Hca3"
[1]\t"Switch1"[3]
"""
PROGRAMS = ["ibsim", "opensm", "smpquery", "perfquery", "saquery"]
# SwitchInfo as the program holds it; PartitionEnforcementCap is the last number.
SWITCH_INFO = bytes.fromhex("c0000000040000040000000000000040")


def preload():
    found = glob.glob("/usr/lib/*/umad2sim/libumad2sim.so") + glob.glob("/usr/lib*/umad2sim/libumad2sim.so")
    return found[0] if found else None


def which(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    """What is not installed, or None."""
    names = [p for p in PROGRAMS if not which(p)]
    if not preload():
        names.append("libumad2sim.so")
    return "not installed: %s (packages ibsim-utils, opensm, infiniband-diags)" % ", ".join(names) if names else None


class Trouble(Exception):
    pass


class Fabric:
    """Running from construction to close(). `cap`: PartitionEnforcementCap of its switch in place of the built-in 64."""

    count = 0

    def __init__(self, cap=None):
        self.processes = []
        Fabric.count += 1
        self.name = "rdmascope-%d-%d" % (os.getpid(), Fabric.count)
        self.folder = tempfile.mkdtemp(prefix="rdmascope-ibsim-")
        try:
            self.start(cap)
        except BaseException:
            self.close()
            raise

    def start(self, cap):
        program = which("ibsim")
        if cap is not None:
            with open(program, "rb") as file:
                image = bytearray(file.read())
            at = image.find(SWITCH_INFO)
            if at < 0 or image.find(SWITCH_INFO, at + 1) >= 0:
                raise Trouble("this ibsim does not hold its SwitchInfo where it is looked for; another version?")
            image[at + 14:at + 16] = cap.to_bytes(2, "big")
            program = os.path.join(self.folder, "ibsim")
            with open(program, "wb") as file:
                file.write(image)
            os.chmod(program, 0o755)
        net = os.path.join(self.folder, "net")
        with open(net, "w") as file:
            file.write(NET)
        # It reads commands from its input, and spins when that ends.
        self.spawn([program, "-s", net], "ibsim.log", stdin=subprocess.PIPE)
        self.wait_for(lambda: "@%s:out9" % self.name in open("/proc/net/unix").read(), "ibsim did not start")

    def environment(self, node=None, name=None):
        out = {**os.environ, "IBSIM_SOCKNAME": name or self.name}
        if node:
            out.update(SIM_HOST=node, LD_PRELOAD=preload())
        return out

    def spawn(self, command, log, node=None, name=None, **options):
        with open(os.path.join(self.folder, log), "w") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=self.environment(node, name),
                                       cwd=self.folder, **{"stdin": subprocess.DEVNULL, **options})
        self.processes.append(process)
        return process

    def wait_for(self, condition, what, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end or self.processes[-1].poll() is not None:
                raise Trouble(what + ": " + self.logs()[-300:])
            time.sleep(0.05)

    def logs(self):
        out = ""
        for path in sorted(glob.glob(os.path.join(self.folder, "*.log"))):
            with open(path, errors="replace") as file:
                out += file.read()
        return out

    def opensm(self, node="Hca3", name=None):
        """Starts it and waits until the subnet is up. `name`: of what it takes for ibsim."""
        conf, log = os.path.join(self.folder, "opensm.conf"), os.path.join(self.folder, "opensm.log")
        with open(conf, "w") as file:
            file.write("force_log_flush TRUE\n")  # or the line that is waited for stays in a buffer
        environment = {"OSM_CACHE_DIR": self.folder, "OSM_TMP_DIR": self.folder}
        os.environ.update(environment)
        self.spawn([which("opensm"), "-f", log, "-F", conf, "-s", "0"], "opensm.out", node, name)
        self.wait_for(lambda: os.path.exists(log) and "SUBNET UP" in open(log, errors="replace").read(),
                      "opensm did not bring the subnet up")

    def run(self, command, node=None, environment=None, timeout=300):
        """A program on this fabric; with `node` through libumad2sim, attached there."""
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout,
                              cwd=self.folder,  # libumad2sim leaves its sysfs files there
                              env={**self.environment(node), **(environment or {})})

    def close(self):
        # opensm hangs when ibsim goes before it.
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdin:
                process.stdin.close()
        self.processes = []
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
