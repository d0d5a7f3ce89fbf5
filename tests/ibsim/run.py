#!/usr/bin/env python3
"""The MAD tester against ibsim, a simulated fabric: run.py TOOL

The seed test with and without P_Key tables at external ports, the whole area `mad` with what is known to be different in ibsim,
values side by side with smpquery, perfquery and saquery, opensm bringing up a fabric, the umad wire through libumad2sim, replay. Prints "ok
NAME", "FAIL NAME: why" or "skip NAME: why"; skips where ibsim, opensm or infiniband-diags are not installed.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import fabric
import relay

HERE = os.path.dirname(os.path.abspath(__file__))
KNOWN = os.path.join(HERE, "KNOWN-DEVIATIONS.md")
# What check may say of a recording of opensm and ibsim, and why (mad.md 10.5): ibsim walks directed routes itself.
EXPLAINED = {"SMP-HOPPTR", "SMP-HOPLAST", "SMP-RETPATH", "SMP-PATH0", "MAD-RSVDDATA"}
# libumad2sim copies 320 bytes from a buffer of 288: the sanitizer is not to look at that.
PRELOADED = {"ASAN_OPTIONS": "verify_asan_link_order=0:replace_intrin=0:detect_leaks=0"}
status = 0


def report(good, name, why=""):
    global status
    print(f"ok ibsim/{name}" if good else f"FAIL ibsim/{name}: {' '.join(str(why).split())[:600]}", flush=True)
    status |= not good


def said(result):
    return result.stdout + result.stderr


def seed(tool):
    with fabric.Fabric(cap=0) as sim:
        result = sim.run([tool, "test", "C14-024-07-02", "--dut", "node:0,1", "--wire", "ibsim,Hca1"])
        report(result.returncode == 0 and "all 2048 blocks of ports 1 to 4, Set and Get: 16384 exchanges" in result.stdout and
               "1 passed" in result.stdout and "warning" not in result.stdout, "seed/no tables", said(result))
    with fabric.Fabric() as sim:
        result = sim.run([tool, "test", "C14-024-07-02", "--dut", "node:0,1", "--wire", "ibsim,Hca1"])
        report(result.returncode == 0 and "PartitionEnforcementCap is 64" in result.stdout and "1 not applicable" in result.stdout,
               "seed/tables of 64", said(result))
        result = sim.run([tool, "test", "SMP-discovery", "--dut", "node:0,1", "--wire", "ibsim:nobody"])
        report(result.returncode == 2 and "no ibsim of the name nobody" in result.stderr, "no such ibsim", said(result))
        result = sim.run([tool, "test", "SMP-discovery", "--dut", "node:0,1,4", "--wire", "ibsim,Hca1", "--timeout-factor", "0.1"])
        report(result.returncode == 2 and "does not answer Get NodeInfo: is that the way to it?" in result.stdout,
               "nobody at the end of the route", said(result))


def suite(tool, folder):
    for node, route in (("switch", "node:0,1"), ("hca", "node:0,1,2")):
        # Each on a fabric that nobody has changed yet.
        with fabric.Fabric() as sim:
            sim.opensm()
            record = os.path.join(folder, node + ".pcapng")
            result = sim.run([tool, "test", "mad", "--dut", route, "--wire", "ibsim,Hca1", "--sampled", "--known", KNOWN,
                              "--record", record, "-T", "json"])
            try:
                cases = json.loads(result.stdout)["tests"]
            except (ValueError, KeyError):
                report(False, f"suite/{node}", said(result))
                continue
            counts = {}
            for case in cases:
                counts[case["verdict"]] = counts.get(case["verdict"], 0) + 1
                if case["verdict"] in ("failed", "error"):
                    report(False, f"suite/{node}/{case['id']}", case["message"])
            print(f"{node}: {counts}")
            report(result.returncode == 0 and counts.get("passed", 0) > 60, f"suite/{node}", said(result)[-500:])
            if node == "switch":
                replayed(tool, sim, record, folder)
            recording(tool, record, f"record/{node}")


def recording(tool, path, name):
    """A record opens as a capture: every frame a MAD with right CRCs, and tshark's view of the count."""
    result = subprocess.run([tool, "read", path, "-T", "fields", "-e", "infiniband.mad.mgmtclass", "-e",
                             "infiniband.invariant.crc.status"], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    report(result.returncode == 0 and len(lines) > 300 and all(re.fullmatch(r"0x(01|81|04)\t(1|Good)", line) for line in lines), name,
           f"{len(lines)} frames, one of them {[line for line in lines if not re.fullmatch('0x(01|81|04).(1|Good)', line)][:1]}")


def replayed(tool, sim, record, folder):
    out = os.path.join(folder, "replayed.pcapng")
    # Only what asks: what sets has been set back.
    result = sim.run([tool, "replay", record, "--wire", "ibsim,Hca1", "-Y", "infiniband.mad.method == 1", "--timing", "fast", "-c", "100",
                      "--record", out])
    note = re.search(r"(\d+) packets sent, (\d+) received", result.stderr)
    report(result.returncode == 0 and note and int(note[1]) == 100 and int(note[2]) > 50, "replay", said(result))


FIELDS = {
    "nodeinfo": {"BaseVers": "baseversion", "ClassVers": "classversion", "NumPorts": "numports", "SystemGuid": "systemimageguid",
                 "Guid": "nodeguid", "PortGuid": "portguid", "PartCap": "partitioncap", "DevId": "deviceid", "Revision": "revision",
                 "LocalPort": "localportnum", "VendorId": "vendorid"},
    "switchinfo": {"LinearFdbCap": "linearfdbcap", "RandomFdbCap": "randomfdbcap", "McastFdbCap": "multicastfdbcap",
                   "LinearFdbTop": "linearfdbtop", "DefPort": "defaultport", "DefMcastPrimPort": "defaultmulticastprimaryport",
                   "DefMcastNotPrimPort": "defaultmulticastnotprimaryport", "LifeTime": "lifetimevalue",
                   "StateChange": "portstatechange", "LidsPerPort": "lidsperport", "PartEnforceCap": "partitionenforcementcap",
                   "InboundPartEnf": "inboundenforcementcap", "OutboundPartEnf": "outboundenforcementcap",
                   "FilterRawInbound": "filterrawinboundcap", "FilterRawOutbound": "filterrawoutboundcap",
                   "EnhancedPort0": "enhancedportzero"},
    "portinfo": {"Mkey": "m_key", "GidPrefix": "gidprefix", "Lid": "lid", "SMLid": "mastersmlid", "CapMask": "capabilitymask",
                 "DiagCode": "diagcode", "MkeyLeasePeriod": "m_keyleaseperiod", "LocalPort": "localportnum",
                 "ProtectBits": "m_keyprotectbits", "LMC": "lmc", "SMSL": "mastersmsl", "VLHighLimit": "vlhighlimit",
                 "VLArbHighCap": "vlarbitrationhighcap", "VLArbLowCap": "vlarbitrationlowcap", "VLStallCount": "vlstallcount",
                 "HoqLife": "hoqlife", "PartEnforceInb": "partitionenforcementinbound",
                 "PartEnforceOutb": "partitionenforcementoutbound", "FilterRawInb": "filterrawinbound",
                 "FilterRawOutb": "filterrawoutbound", "MkeyViolations": "m_keyviolations", "PkeyViolations": "p_keyviolations",
                 "QkeyViolations": "q_keyviolations", "GuidCap": "guidcap", "ClientReregister": "clientreregister",
                 "SubnetTimeout": "subnettimeout", "RespTimeVal": "resptimevalue", "LocalPhysErr": "localphyerrors",
                 "OverrunErr": "overrunerrors", "MaxCreditHint": "maxcredithint", "RoundTrip": "linkroundtriplatency"},
    "portcounters": {"PortSelect": "portselect", "SymbolErrorCounter": "symbolerrorcounter",
                     "LinkErrorRecoveryCounter": "linkerrorrecoverycounter", "LinkDownedCounter": "linkdownedcounter",
                     "PortRcvErrors": "portrcverrors", "PortRcvRemotePhysicalErrors": "portrcvremotephysicalerrors",
                     "PortRcvSwitchRelayErrors": "portrcvswitchrelayerrors", "PortXmitDiscards": "portxmitdiscards",
                     "PortXmitConstraintErrors": "portxmitconstrainterrors", "PortRcvConstraintErrors": "portrcvconstrainterrors",
                     "LocalLinkIntegrityErrors": "locallinkintegrityerrors",
                     "ExcessiveBufferOverrunErrors": "excessivebufferoverrunerrors", "VL15Dropped": "vl15dropped"},
}


def printed(text):
    """ "NumPorts:......4" of the diagnostic programs, numbers only."""
    out = {}
    for line in text.splitlines():
        match = re.match(r"(\w+):\.*(0x[0-9a-fA-F]+|\d+)$", line.strip())
        if match:
            out[match[1]] = int(match[2], 0)
    return out


def values(tool, folder):
    with fabric.Fabric() as sim:
        sim.opensm()
        for node, route, lid, port in (("switch", "0,1", "2", "2"), ("hca", "0,1,2", "4", "1")):
            record = os.path.join(folder, node + "-values.pcapng")
            result = sim.run([tool, "test", os.path.join(HERE, "values.lua"), "--dut", "node:" + route, "--wire", "ibsim,Hca1", "--record",
                              record])
            if result.returncode != 0:
                report(False, f"values/{node}", said(result))
                continue
            queries = {"nodeinfo": ["smpquery", "-D", "nodeinfo", route], "portinfo": ["smpquery", "-D", "portinfo", route, port],
                       "portcounters": ["perfquery", lid, port]}
            if node == "switch":
                queries["switchinfo"] = ["smpquery", "-D", "switchinfo", route]
            for header, query in queries.items():
                theirs = printed(sim.run([fabric.which(query[0]), *query[1:]], node="Hca1").stdout)
                names = {label: f"infiniband.{header}.{field}" for label, field in FIELDS[header].items() if label in theirs}
                columns = [part for field in names.values() for part in ("-e", field)]
                chosen = f"infiniband.{header} && infiniband.mad.method == 0x81"
                if header == "portinfo":  # that of port 0 tells the tester the LID
                    chosen += f" && infiniband.mad.attributemodifier == {port}"
                shown = subprocess.run([tool, "read", record, "-Y", chosen, "-T", "fields", *columns], capture_output=True, text=True)
                ours = shown.stdout.splitlines()[-1].split("\t") if shown.stdout else []
                wrong = [f"{label}: {theirs[label]} there, {value} here" for (label, _), value in zip(names.items(), ours)
                         if int(value or "-1", 0) != theirs[label]]
                report(len(names) >= len(FIELDS[header]) - 3 and len(ours) == len(names) and not wrong, f"values/{node}/{header}",
                       wrong or f"{len(names)} of {len(FIELDS[header])} fields, {said(shown)}")


# Of saquery; where it shows a byte of two fields, both with the bits of the second.
RECORDS = {
    "NR": {"lid": "noderecord.lid", "base_version": "nodeinfo.baseversion", "class_version": "nodeinfo.classversion",
           "num_ports": "nodeinfo.numports", "sys_guid": "nodeinfo.systemimageguid", "node_guid": "nodeinfo.nodeguid",
           "port_guid": "nodeinfo.portguid", "partition_cap": "nodeinfo.partitioncap", "device_id": "nodeinfo.deviceid",
           "revision": "nodeinfo.revision", "port_num": "nodeinfo.localportnum", "vendor_id": "nodeinfo.vendorid"},
    "PR": {"service_id": "pathrecord.serviceid", "dlid": "pathrecord.dlid", "slid": "pathrecord.slid",
           "tclass": "pathrecord.tclass", "pkey": "pathrecord.p_key", "qos_class": "pathrecord.qosclass",
           "sl": "pathrecord.sl", "preference": "pathrecord.preference",
           "mtu": ("pathrecord.mtuselector", "pathrecord.mtu", 6), "rate": ("pathrecord.rateselector", "pathrecord.rate", 6),
           "pkt_life": ("pathrecord.packetlifetimeselector", "pathrecord.packetlifetime", 6),
           "num_path_revers": ("pathrecord.reversible", "pathrecord.numbpath", 7)},
    "MCMR": {"qkey": "mcmemberrecord.q_key", "mlid": "mcmemberrecord.mlid", "TClass": "mcmemberrecord.tclass",
             "pkey": "mcmemberrecord.p_key", "SL": "mcmemberrecord.sl", "FlowLabel": "mcmemberrecord.flowlabel",
             "HopLimit": "mcmemberrecord.hoplimit", "Scope": "mcmemberrecord.scope", "JoinState": "mcmemberrecord.joinstate",
             "mtu": ("mcmemberrecord.mtuselector", "mcmemberrecord.mtu", 6),
             "rate": ("mcmemberrecord.rateselector", "mcmemberrecord.rate", 6),
             "pkt_life": ("mcmemberrecord.packetlifetimeselector", "mcmemberrecord.packetlifetime", 6)},
}


def records(tool, folder):
    """What saquery prints of an answer of opensm, and what is read from the MAD that brought it."""
    with fabric.Fabric() as sim:
        sim.opensm()
        for kind, options in (("NR", []), ("PR", ["--src-to-dst", "2:4"]), ("MCMR", [])):
            path = os.path.join(folder, kind + ".pcap")
            watcher = relay.Relay(sim.name)
            try:
                result = sim.run([fabric.which("saquery"), kind, *options], node="Hca1", environment={"IBSIM_SOCKNAME": watcher.name})
            finally:
                watcher.stop()
            watcher.write(path)
            theirs = {}
            for line in result.stdout.splitlines():
                match = re.match(r"(\w+)\.{2,}(0x[0-9a-fA-F]+|\d+)$", line.strip())
                if match:
                    theirs.setdefault(match[1], int(match[2], 0))  # of the first record
            wrong, compared = [], 0
            for label, names in RECORDS[kind].items():
                names = (names,) if isinstance(names, str) else names
                columns = [part for name in names[:2] for part in ("-e", "infiniband." + name)]
                shown = subprocess.run([tool, "read", path, "-Y", "infiniband.mad.method == 0x92", "-T", "fields", *columns],
                                       capture_output=True, text=True).stdout
                values = [int({"True": "1", "False": "0"}.get(v.split(",")[0], v.split(",")[0]) or "-1", 0)
                          for v in shown.splitlines()[0].split("\t")] if shown else [-1]
                ours = values[0] if len(values) == 1 else values[0] << names[2] | values[1]
                if label in theirs:
                    compared += 1
                    if ours != theirs[label]:
                        wrong.append(f"{label}: {theirs[label]} there, {ours} here")
            report(compared == len(RECORDS[kind]) and not wrong, f"values/saquery {kind}",
                   wrong or f"{compared} of {len(RECORDS[kind])} fields, {said(result)}")


def subnet_manager(tool, folder):
    """opensm brings up a fabric while everything it says is recorded."""
    path = os.path.join(folder, "opensm.pcap")
    with fabric.Fabric() as sim:
        watcher = relay.Relay(sim.name)
        try:
            sim.opensm(name=watcher.name)
        finally:
            watcher.stop()
        watcher.write(path)
    result = subprocess.run([tool, "read", path], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    report(result.returncode == 0 and len(lines) == len(watcher.frames) > 100 and any("SubnSet(PortInfo)" in line for line in lines) and
           any("SubnGetResp(NodeInfo)" in line for line in lines), "opensm/recorded", f"{len(lines)} of {len(watcher.frames)} frames")
    result = subprocess.run([tool, "check", path, "-T", "json"], capture_output=True, text=True)
    try:
        findings = {finding["rule"] for finding in json.loads(result.stdout).get("findings", [])}
    except ValueError:
        report(False, "opensm/checked", said(result))
        return
    report(findings <= EXPLAINED, "opensm/checked", f"{sorted(findings - EXPLAINED)} in a recording of opensm and ibsim")


def umad(tool):
    """The umad wire, with libumad2sim for the kernel."""
    with fabric.Fabric(cap=0) as sim:
        sim.opensm()
        result = sim.run([tool, "test", "SMP-discovery", "C14-024-03", "C14-024-07-02", "PM-class-port-info", "MAD-once",
                          "TD-17-1-2-1-1", "--sampled", "--dut", "node:0,1", "--wire", "umad:ibsim0,1"], node="Hca1",
                         environment=PRELOADED)
        report(result.returncode == 0 and "failed" not in result.stdout and re.search(r"1[0-9] passed", result.stdout), "umad/suite",
               said(result))
        result = sim.run([tool, "test", "SMP-discovery", "--dut", "node:lid=2", "--wire", "umad:ibsim0"], node="Hca1", environment=PRELOADED)
        report(result.returncode == 0 and "1 passed" in result.stdout, "umad/by LID", said(result))
        result = sim.run([tool, "test", "SMP-discovery", "--dut", "node:0,1", "--wire", "umad:ibsim7"], node="Hca1", environment=PRELOADED)
        report(result.returncode == 2 and "ibsim7 port 1: no such InfiniBand port" in result.stderr, "umad/no such device", said(result))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: run.py TOOL")
    tool = os.path.abspath(sys.argv[1])
    why = fabric.missing()
    if why:
        print(f"skip ibsim: {why}")
        return 0
    # Whoever ends this run ends the fabric with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder:
        for part in (lambda: seed(tool), lambda: values(tool, folder), lambda: records(tool, folder), lambda: umad(tool), lambda: subnet_manager(tool, folder),
                     lambda: suite(tool, folder)):
            try:
                part()
            except (fabric.Trouble, subprocess.TimeoutExpired) as trouble:
                report(False, "fabric", trouble)
    return status


if __name__ == "__main__":
    sys.exit(main())
