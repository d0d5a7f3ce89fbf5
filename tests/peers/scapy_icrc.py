#!/usr/bin/python3
"""Compares the ICRC verdicts of rdmascope with the ICRC scapy computes.

Usage: scapy_icrc.py RDMASCOPE [CAPTURE...]

Without captures: the pcap files of samples/ and tests/golden/captures/. scapy.contrib.roce knows RoCEv2 over IPv4 only;
other packets are passed over. The status must be Good exactly where scapy computes what the packet holds, and where it
is Bad, the expected value must be scapy's. Exit status: 0 alike or no scapy, 1 not.
"""
import concurrent.futures
import io
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DEBIAN_PYTHON = "/usr/bin/python3"  # python3-scapy is there, whatever python3 comes first in the path
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

try:
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP, UDP
    from scapy.packet import NoPayload, Padding
    from scapy.utils import PcapReader
except ImportError as missing:
    if os.path.exists(DEBIAN_PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON):
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON] + sys.argv)
    print(f"skipped: scapy cannot be imported ({missing})")
    print("scapy_icrc: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def unpacked(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] == ZSTD_MAGIC:
        data = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    return io.BytesIO(data)


def our_verdicts(rdmascope, path):
    names = ["infiniband.invariant.crc" + tail for tail in ("", ".status", ".expected")]
    done = subprocess.run([rdmascope, "read", path, "-T", "fields"] + [o for n in names for o in ("-e", n)],
                          capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.split("\n")[:-1]]


def scapy_icrc(packet):
    """What the packet holds and what scapy computes, both as read big-endian from the wire; or None."""
    if IP not in packet or UDP not in packet or BTH not in packet or packet[BTH].icrc is None:
        return None
    if packet[IP].frag or packet[IP].flags.MF:  # the ICRC is in the last fragment
        return None
    if not isinstance(packet[UDP].underlayer, IP) or not isinstance(packet[BTH].underlayer, UDP):
        return None
    if Padding in packet:  # scapy would take it for payload
        packet[Padding].underlayer.payload = NoPayload()
    return packet[BTH].icrc, int.from_bytes(packet[BTH].compute_icrc(b""), "big")


def compare_capture(rdmascope, path):
    name = os.path.basename(path)
    try:
        source = unpacked(path)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"skip {name}: {error}"
    good = bad = passed_over = unverified = number = 0
    failures = []
    ours = our_verdicts(rdmascope, path)
    for number, packet in enumerate(PcapReader(source), 1):
        if number > len(ours):
            continue
        both = scapy_icrc(packet)
        if both is None:
            passed_over += 1
            continue
        held, computed = both
        crc, status, expected = ours[number - 1]
        if status == "Unverified":
            unverified += 1
            continue
        if not crc or int(crc, 16) != held:
            failures.append(f"frame {number}: scapy reads ICRC 0x{held:08x}, here {crc or 'nothing'}")
        elif status != ("Good" if held == computed else "Bad"):
            failures.append(f"frame {number}: ICRC 0x{held:08x}, scapy computes 0x{computed:08x}, here {status}")
        elif status == "Bad" and int(expected, 16) != computed:
            failures.append(f"frame {number}: scapy computes 0x{computed:08x}, here {expected} is expected")
        elif status == "Bad":
            bad += 1
        else:
            good += 1
    if number != len(ours):
        failures.append(f"{number} packets in scapy, {len(ours)} here")
    if failures:
        return "\n".join([f"FAIL {name}: {len(failures)} differences"] + ["  " + line for line in failures[:10]])
    return (f"ok {name}: {number} packets, {good} good and {bad} bad ICRCs compared"
            + (f"; {passed_over} are no whole RoCEv2 over IPv4 to scapy" if passed_over else "")
            + (f"; {unverified} not verified here" if unverified else ""))


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    rdmascope, captures = sys.argv[1], sys.argv[2:]
    folders = [os.path.join(ROOT, "samples"), os.path.join(ROOT, "tests", "golden", "captures")]
    captures = captures or [os.path.join(folder, name) for folder in folders for name in sorted(os.listdir(folder))
                            if name.endswith((".pcap", ".pcap.zst"))]
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for text in pool.map(compare_capture, [rdmascope] * len(captures), captures):
            print(text, flush=True)
            counts[text.split(" ", 1)[0]] += 1
    print(f"scapy_icrc: {counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
