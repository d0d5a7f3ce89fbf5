"""Broken management datagrams for the rules MAD-*, SMP-*, SA-*, RMPP-*, PM-*, VEND-* and CM-*. The form: mutate.py. Frames go by the
names that fabric() and cm_talk() of make_captures.py give them."""

import make_captures as build
from mutants_f import field, fire, m

MAD = "tests/golden/captures/mad-clean.pcap"
CM = "tests/golden/captures/cm-clean.pcap"
FABRIC = build.fabric()
F = FABRIC.frame
C = build.cm_talk().frame
MAD_AT = 20  # behind BTH and DETH


def at(rule, name, row, value, expected=None, finding_class="violation", also=None):
    """One field of a frame of mad-clean.pcap."""
    return field(rule, MAD, F[name], row, value, expected, finding_class, also)


def cm(rule, name, row, value, expected=None, finding_class="violation", also=None):
    return field(rule, CM, C[name], row, value, expected, finding_class, also)


def says(frame, finding_class="anomaly", text=None):
    wanted = {"frame": frame, "class": finding_class}
    return wanted if text is None else {**wanted, "text": text}


def byte(name, offset, value):
    """One byte of the MAD."""
    place = MAD_AT + offset
    return {"frame": F[name], "bytes": lambda b: b[:place] + bytes([value]) + b[place + 1:]}


def edit(name, row, value):
    return {"frame": F[name], "field": row, "value": value}


def status(rule, name, value, expected, actual, finding_class="violation"):
    """The status of an answer, told by its code."""
    return m(rule, MAD, [edit(name, "infiniband.mad.status", value)],
             [fire(F[name], "infiniband.mad.status.code", actual, expected, finding_class)])


def with_grh(name):
    """A GRH between LRH and BTH, with the ICRC that belongs to it."""
    frame = F[name]
    transport = FABRIC.frames[frame - 1][1][8:-6]
    route = build.grh(len(transport) + 4, build.gid4("10.0.0.1"), build.gid4("10.0.0.2"))
    crc = build.icrc(b"\xff" * 8 + build.mask_ipv6(route) + build.mask_bth(transport))
    return [{"frame": frame, "bytes": lambda b: route + b}, {"frame": frame, "field": "infiniband.lrh.lnh", "value": 3},
            {"frame": frame, "field": "infiniband.invariant.crc", "value": int.from_bytes(crc, "big")}]


TID = FABRIC.frames[F["pipe1?"] - 1][1][8 + MAD_AT + 8:8 + MAD_AT + 16]

MUTANTS = [
    at("MAD-BASEVER", "repress144", "infiniband.mad.baseversion", 2, 1),
    at("MAD-CLASS", "ping?", "infiniband.mad.mgmtclass", 0x50, None, "anomaly"),
    at("MAD-CLASSVER", "switch-name!", "infiniband.mad.classversion", 2, 1),
    at("MAD-CLASSVER", "path?", "infiniband.mad.classversion", 1, 2, "anomaly"),
    m("MAD-METHOD", MAD, [edit("counters?", "infiniband.mad.method", 0x12), {"delete": F["counters!"]}],
      [fire(F["counters?"], "infiniband.mad.method", 0x12, None, "violation")]),
    m("MAD-METHOD", MAD, [edit("counters?", "infiniband.mad.method", 5), {"delete": F["counters!"]}],
      [fire(F["counters?"], "infiniband.mad.method", 5, None, "anomaly")]),
    m("MAD-METHATTR", MAD, [edit("switch-node?", "infiniband.mad.method", 2)],
      [fire(F["switch-node?"], "infiniband.mad.method", 2, None, "anomaly"),
       fire(F["switch-node!"], "infiniband.mad.status", 0x8000, None, "violation")]),
    m("MAD-QP0", MAD, [edit("r-node3?", "infiniband.bth.destqp", 1), edit("r-node3?", "infiniband.lrh.vl", 0),
                       edit("r-node3?", "infiniband.deth.q_key", 0x80010000)],
      [fire(F["r-node3?"], "infiniband.bth.destqp", 1, 0, "violation")]),
    at("MAD-QP0", "r-node3?", "infiniband.deth.srcqp", 1, 0, "anomaly"),
    m("MAD-QP1", MAD, [edit("counters?", "infiniband.bth.destqp", 0), edit("counters?", "infiniband.lrh.vl", 15)],
      [fire(F["counters?"], "infiniband.bth.destqp", 0, 1, "violation")]),
    m("MAD-SMPGRH", MAD, with_grh("trap144"), [fire(F["trap144"], "infiniband.lrh.lnh", 3, 2, "violation")]),
    at("MAD-RSVD", "pm-info?", "infiniband.mad.reserved16", 5, 0, "anomaly"),
    at("MAD-RSVD", "pm-info?", "infiniband.mad.classspecific", 5, 0, "anomaly"),
    m("MAD-RSVDDATA", MAD, [byte("counters?", 200, 1)],
      [fire(F["counters?"], "infiniband.mad.unused.nonzero", 1, 0, "anomaly")]),
    m("SMP-LIDRSVD", MAD, [byte("r-node3?", 40, 1), byte("r-node3?", 200, 1)],
      [fire(F["r-node3?"], "infiniband.mad.unused.nonzero", 2, 0, "anomaly")]),
    at("MAD-REQSTATUS", "counters?", "infiniband.mad.status", 4, 0, "anomaly"),
    at("MAD-STATUSRSVD", "counters-port9!", "infiniband.mad.status.code", 5),
    at("MAD-STATUSRSVD", "counters!", "infiniband.mad.status.reserved", 1, 0),
    at("MAD-STATUSBUSY", "counters-port9!", "infiniband.mad.status", 7, None, "anomaly"),
    at("MAD-STATUSCLASS", "counters-port9!", "infiniband.mad.status.class", 1, None, "anomaly"),
    at("MAD-STATUSCLASS", "no-path!", "infiniband.mad.status.sa", 9, None, "anomaly"),
    at("MAD-STATUSCLASS", "no-switch3!", "infiniband.mad.status.reserved_class", 1, None, "anomaly"),

    at("MAD-TID", "counters!", "infiniband.mad.transactionid", 0x77, None, "anomaly"),
    m("MAD-TIDDUP", MAD, [edit(name, "infiniband.mad.transactionid", int.from_bytes(TID, "big")) for name in ("pipe2?", "pipe2!")],
      [fire(F["pipe1!"], "infiniband.mad.transactionid", int.from_bytes(TID, "big"), None, "anomaly")]),
    at("MAD-ECHO", "guids!", "infiniband.mad.attributemodifier", 1, 0),
    at("MAD-ECHO", "guids!", "infiniband.mad.attributeid", 0x10, 0x14),
    at("MAD-RESPMETHOD", "path!", "infiniband.mad.method", 0x95, 0x81),
    at("MAD-RESPMETHOD", "pkeys-set!", "infiniband.mad.method", 0x82, 0x81),
    m("MAD-UNSOL", MAD, [{"insert_after": F["counters!"], "copy_of": F["counters!"], "time_ns": 2000000,
                          "edits": [{"field": "infiniband.portcounters.portxmitdata", "value": 700}]}],
      [says(F["counters!"] + 1)]),
    m("MAD-TIMEOUT", MAD, [{"delete": F["counters!"]}], [says(F["counters?"], text="no answer")]),
    m("MAD-TIMEOUT", MAD, [{"frames": f"{F['r-node3!']}-", "time_ns": 5 * 10**9}], [says(F["r-node3!"], text="5000.040 ms")]),
    m("MAD-RETRY", MAD, [edit("again??", "infiniband.smplid.mkey", 1)], [says(F["again??"])]),
    m("MAD-BADVER", MAD, [edit("counters?", "infiniband.mad.classversion", 2)],
      [fire(F["counters!"], "infiniband.mad.status.code", 0, 1, "violation")]),
    m("MAD-BADVER", MAD, [edit("counters?", "infiniband.mad.baseversion", 3)],
      [fire(F["counters!"], "infiniband.mad.status.code", 0, 1, "violation")], {"MAD-BASEVER": "the question"}),
    m("MAD-BADMETHOD", MAD, [edit("counters?", "infiniband.mad.method", 0x0b)],
      [fire(F["counters!"], "infiniband.mad.status.code", 0, 2, "violation")], {"MAD-METHOD": "the question"}),
    m("MAD-BADATTR", MAD, [edit("unknown!", "infiniband.mad.status", 0)],
      [fire(F["unknown!"], "infiniband.mad.attributeid", 0xaa, None, "anomaly")]),
    status("MAD-BADVALUE", "switch-port9!", 0x8000, 7, 0),
    status("MAD-BADVALUE", "switch-port9!", 0x800c, 7, 3, "anomaly"),
    status("MAD-BADVALUE", "lft-beyond!", 0, 7, 0, "anomaly"),
    m("MAD-RONOSET", MAD, [edit(name, "infiniband.switchinfo.linearfdbcap", 4096) for name in ("switch-set?", "switch-set!")],
      [says(F["switch-set!"], text="LinearFDBCap was 3072")]),
    m("MAD-SETECHO", MAD, [byte("lft-get!", 64 + 4, 2)], [says(F["lft-get!"], text="byte 4")]),

    at("SMP-DBIT", "switch-name!", "infiniband.mad.d", 0, 1),
    m("SMP-HOPCNT", MAD, [edit("switch-name?", "infiniband.mad.hopcount", 64), {"delete": F["switch-name!"]}],
      [fire(F["switch-name?"], "infiniband.mad.hopcount", 64, None, "violation")]),
    at("SMP-HOPPTR", "node3?", "infiniband.mad.hoppointer", 0, 1),
    at("SMP-HOPPTR", "node3!", "infiniband.mad.hoppointer", 4),
    at("SMP-HOPLAST", "node3!", "infiniband.mad.hoppointer", 3, 2),
    at("SMP-HOPLAST", "node3!", "infiniband.mad.hoppointer", 0, 1),
    m("SMP-PATH0", MAD, [byte("switch-name?", 128, 7)], [says(F["switch-name?"])]),
    m("SMP-PATH0", MAD, [byte("switch-name?", 129, 255), byte("switch-name!", 129, 255)], [says(F["switch-name?"])]),
    m("SMP-ECHODR", MAD, [byte("node3!", 130, 3)], [says(F["node3!"], "violation", "InitialPath[2]")]),
    at("SMP-ECHODR", "switch-name!", "infiniband.mad.hopcount", 2, 1),
    at("SMP-ECHODR", "switch-name!", "infiniband.smpdirected.drslid", 1, 0xffff),
    at("SMP-ECHODR", "switch-name!", "infiniband.smpdirected.drdlid", 2, 0xffff),
    m("SMP-RETPATH", MAD, [byte("node3!", 193, 0)], [says(F["node3!"], "violation", "ReturnPath[1]")]),
    at("SMP-RETPATH", "node3!", "infiniband.nodeinfo.localportnum", 2, 1),
    at("SMP-DRLID", "switch-name?", "infiniband.lrh.slid", 5, 0xffff, "anomaly"),
    at("SMP-DRLID", "switch-name?", "infiniband.lrh.dlid", 5, 0xffff, "anomaly"),
    m("SMP-MKEY", MAD, [edit("pkeys-set?", "infiniband.smplid.mkey", 1)],
      [says(F["key3!"], "violation", f"frame {F['pkeys-set?']} came with M_Key 0x0000000000000001")]),
    m("SMP-PORTSTATE", MAD, [{"delete": F["armed3?"]}, {"delete": F["armed3!"]}],
      [fire(F["active3!"] - 2, "infiniband.mad.status.code", 0, 7, "anomaly")]),
    m("SMP-PORTSTATE", MAD, [edit("armed3?", "infiniband.portinfo.portstate", 2)],
      [fire(F["armed3!"], "infiniband.mad.status.code", 0, 7, "anomaly")]),
    status("SMP-PKBLK", "pkeys-beyond!", 0, 7, 0),
    status("SMP-PKBLK", "pkeys-port0-beyond!", 0, 7, 0),
    status("SMP-PKBLK", "pkeys-inside!", 0x1c, 0, 7),
    status("SMP-PKBLK", "pkeys-set-beyond!", 0x0c, 7, 3, "anomaly"),
    m("SMP-PKPORT", MAD, [edit(name, "infiniband.mad.attributemodifier", 1 << 16) for name in ("pkeys-get?", "pkeys-get!")],
      [fire(F["pkeys-get!"], "infiniband.mad.status.code", 0, 7, "anomaly")]),
    status("SMP-VLARB", "vl-arbitration-part0!", 0, 7, 0),
    m("SMP-VLARB", MAD, [byte("vl-arbitration!", 64 + 6, 15)],
      [fire(F["vl-arbitration!"], "infiniband.mad.status.code", 0, 7, "anomaly")]),
    status("SMP-SWONLY", "no-switch3!", 0x8000, 3, 0),
    at("SMP-SMINFO", "sm-info!", "infiniband.sminfo.smstate", 7, None, "anomaly"),
    m("SMP-SMINFO", MAD, [edit(name, "infiniband.mad.attributemodifier", 9) for name in ("sm-standby?", "sm-standby!")],
      [fire(F["sm-standby?"], "infiniband.mad.attributemodifier", 9, None, "anomaly")]),
    m("SMP-TRAPRATE", MAD, [{"frames": f"{F['trap128-again']}-", "time_ns": -1900000000}],
      [says(F["trap128-again"], text="100.000 ms after")]),
    at("SMP-TRAPREP", "repress128", "infiniband.notice.trapnumberdeviceid", 129, 128, "anomaly"),
    m("SMP-TRAPREP", MAD, [byte("repress128", 64 + 20, 1)], [says(F["repress128"], text="byte 20")]),
    m("SMP-TRAPSTOP", MAD, [{"insert_after": F["repress128"], "copy_of": F["trap128"], "time_ns": 2 * 10**9}],
      [says(F["repress128"] + 1)]),
    m("SMP-TRAPNUM", MAD, [edit("trap144", "infiniband.notice.trapnumberdeviceid", 200)],
      [fire(F["trap144"], "infiniband.notice.trapnumber", 200, None, "anomaly")]),
    at("SMP-TRAPNUM", "trap144", "infiniband.notice.type", 1, 4, "anomaly"),
    m("SMP-TRAPNUM", MAD, [edit("trap128", "infiniband.notice.producertypevendorid", 1), {"delete": F["trap128-again"]}],
      [fire(F["trap128"], "infiniband.notice.producertype", 1, 2, "anomaly")]),

    at("SA-OFFSET", "table2", "infiniband.sa.attributeoffset", 13, 14),
    at("SA-OFFSET", "links!", "infiniband.sa.attributeoffset", 0, 1),
    at("SA-STATUS", "empty!", "infiniband.rmpp.payloadlength", 84, 20, "anomaly"),
    at("SA-COMPMASK", "path!", "infiniband.sa.componentmask", 0, 0x0c, "anomaly"),
    at("SA-RESERVEDMASK", "path?", "infiniband.sa.componentmask", 1 << 40 | 0x0c, None, "anomaly"),
    at("RMPP-VER", "table2", "infiniband.rmpp.rmppversion", 2, 1),
    at("RMPP-TYPE", "table2", "infiniband.rmpp.rmpptype", 7),
    at("RMPP-TYPE", "path!", "infiniband.rmpp.rmpptype", 1, None, "anomaly"),
    at("RMPP-FIRST", "table2", "infiniband.rmpp.rmppflags.first", 1, 0),
    at("RMPP-FIRST", "table1", "infiniband.rmpp.rmppflags.first", 0, 1),
    m("RMPP-SEQ", MAD, [{"delete": F["table2"]}],
      [fire(F["table3"] - 1, "infiniband.rmpp.segmentnumber", 3, None, "anomaly")]),
    m("RMPP-SEQ", MAD, [edit("table2", "infiniband.rmpp.segmentnumber", 0)],
      [fire(F["table2"], "infiniband.rmpp.segmentnumber", 0, None, "violation"),
       fire(F["table3"], "infiniband.rmpp.segmentnumber", 3, None, "anomaly")]),
    at("RMPP-LAST", "table3", "infiniband.rmpp.payloadlength", 300),
    at("RMPP-LAST", "table3", "infiniband.rmpp.payloadlength", 19),
    at("RMPP-LAST", "table3", "infiniband.rmpp.payloadlength", 100, None, "anomaly"),
    m("RMPP-LAST", MAD, [edit("table2", "infiniband.rmpp.rmppflags.last", 1),
                         edit("table2", "infiniband.rmpp.payloadlength", 220), {"delete": F["table2-ack"]}],
      [fire(F["table2"], "infiniband.rmpp.payloadlength", 220, None, "anomaly"),
       fire(F["table3"] - 1, "infiniband.rmpp.segmentnumber", 3, None, "violation")]),
    at("RMPP-MIDLEN", "table2", "infiniband.rmpp.payloadlength", 220, 0, "anomaly"),
    at("RMPP-WIN", "table2-ack", "infiniband.rmpp.newwindowlast", 1),
    at("RMPP-WIN", "table2-ack", "infiniband.rmpp.newwindowlast", 2),
    m("RMPP-WIN", MAD, [edit("table1-ack", "infiniband.rmpp.newwindowlast", 1)],
      [fire(F["table2"], "infiniband.rmpp.segmentnumber", 2, None, "anomaly")]),
    at("RMPP-STATUS", "table2", "infiniband.rmpp.rmppstatus", 1),
    at("RMPP-STATUS", "stop", "infiniband.rmpp.rmppstatus", 0),
    at("RMPP-STATUS", "abort", "infiniband.rmpp.rmppstatus", 2),
    m("RMPP-DIR", MAD, [edit("table2-ack", "infiniband.mad.method", 0x92)],
      [fire(F["table2-ack"], "infiniband.mad.method.r", 1, None, "anomaly")]),
    m("RMPP-END", MAD, [{"delete": F["table3-ack"]}], [says(F["table3"], text="2 of 3 segments")]),
    at("VEND-OUI", "ping?", "infiniband.vendor_mad.oui", 0, None, "anomaly"),
    m("PM-PORTSEL", MAD, [edit("counters-port9!", "infiniband.mad.status", 0)],
      [fire(F["counters-port9!"], "infiniband.mad.status", 0, None, "anomaly")]),

    cm("CM-SEND", "rtu", "infiniband.mad.method", 1, 3),
    cm("CM-VER", "rtu", "infiniband.mad.classversion", 1, 2),
    cm("CM-COMMID", "rtu", "infiniband.cm.rtu.remotecommid", 5, 0xbb000001, "anomaly"),
    cm("CM-COMMID", "rtu", "infiniband.cm.rtu.localcommid", 5, 0xaa000001, "anomaly"),
    m("CM-COMMID", CM, [{"frame": C["rep"], "field": "infiniband.cm.rep.remotecommid", "value": 5}, {"delete": C["mra"]}],
      [fire(C["rep"] - 1, "infiniband.cm.rep.remotecommid", 5, 0xaa000001, "anomaly")]),
    m("CM-ORDER", CM, [{"delete": C["rep"]}], [says(C["rtu"] - 1, text="no REP")]),
    m("CM-ORDER", CM, [{"delete": C["dreq"]}], [says(C["drep"] - 1, text="no DREQ")]),
    cm("CM-MTU", "req", "infiniband.cm.req.pppmtu", 0),
    cm("CM-REPRR", "rep", "infiniband.cm.rep.initdepth", 17, None, "anomaly"),
    m("CM-TIMEOUT", CM, [{"frames": f"{C['rej']}-", "time_ns": 10 * 10**9}], [says(C["rej"], text="10000.100 ms after")]),
    m("CM-TIMEOUT", CM, [{"frames": f"{C['req2']},{C['req2-again']}", "field": "infiniband.cm.req.maxcmretr", "value": 0}],
      [says(C["req2-again"], text="asked 2 times")]),
    cm("CM-REJLEN", "rej", "infiniband.cm.rej.rejinfolen", 100),
    cm("CM-REJLEN", "apr", "infiniband.cm.apr.addinfolen", 73),
    cm("CM-REJLEN", "sidr-rep", "infiniband.cm.sidr_rep.addinfolen", 73),
    cm("CM-IPVER", "req", "infiniband.cm.req.ip_cm.ipv", 5, None, "anomaly"),
    cm("CM-IPVER", "req", "infiniband.cm.req.ip_cm.majv", 1, 0, "anomaly"),
]
