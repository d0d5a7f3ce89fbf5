"""Mutants of the rules F-01 to F-19. The form: mutate.py. The helpers here also serve the other tables."""

ONE_QP = "tests/golden/captures/b20-one-queue-pair.pcap"  # five SEND Only of 24 bytes, each acknowledged
SHORT = "tests/golden/captures/b06-send-only-short.pcap"  # 17 SEND Only, frame n carries n - 1 bytes
PADDED = "tests/golden/captures/b08-padcnt-3.pcap"  # WRITE Only of 61 bytes, 3 pad bytes
FLUSH = "tests/golden/captures/b05-flush-atomic-write.pcap"
XRC = "tests/golden/captures/b04-xrc-send-only.pcap"
CNP = "tests/golden/captures/b02-cnp-0x81.pcap"
MADS = "tests/golden/captures/b18-gsi-mads.pcap"
NATIVE = "tests/golden/captures/vectors-ib.pcap"  # frame 2: ACK without GRH; frame 3: multicast UD with GRH
ROCE = "tests/golden/captures/vectors-roce.pcap"  # frame 4: RoCEv1 WRITE Only
UD = "samples/ud-send.pcap.zst"
UC = "samples/uc-send.pcap.zst"
READ = "samples/rc-read.pcap.zst"
WRITE = "samples/rc-write.pcap.zst"


# What else in a base breaks rules on purpose, and takes no part.
UNUSED = {NATIVE: "4-5", ROCE: "7-14", PADDED: "2", MADS: "29"}


def m(rule, base, edits, fires, also=None):
    if base in UNUSED:
        edits = edits + [{"delete": UNUSED[base]}]
    return {"rule": rule, "base": base, "edits": edits, "fires": fires, "also": also or {}}


def fire(frame, name, actual, expected, finding_class):
    wanted = {"frame": frame, "field": name, "actual": actual, "class": finding_class}
    return wanted if expected is None else {**wanted, "expected": expected}


def field(rule, base, frame, name, value, expected=None, finding_class="violation", also=None):
    """One field set to a wrong value, which the finding names."""
    return m(rule, base, [{"frame": frame, "field": name, "value": value}],
             [fire(frame, name, value, expected, finding_class)], also)


def shape(rule, base, frame, change, name, expected, actual, also=None):
    """Bytes put into or taken out of one frame, from BTH up to the ICRC."""
    return m(rule, base, [{"frame": frame, "bytes": change}], [fire(frame, name, actual, expected, "violation")], also)


def without(count):
    return lambda b: b[:-count]


def with_bytes(extra):
    return lambda b: b + extra


def ends_in_bth(frame, count):
    """So many bytes of BTH, and an ICRC."""
    return {"frame": frame, "bytes": lambda b: b[:count]}


MUTANTS = [
    field("F-01", ONE_QP, 10, "infiniband.invariant.crc", 0x12345678, finding_class="anomaly"),
    field("F-02", NATIVE, 2, "infiniband.variant.crc", 0x1234),
    field("F-02", NATIVE, 3, "infiniband.variant.crc", 0x8882, 0x8883),

    field("F-03", ONE_QP, 10, "udp.length", 32, 28),
    # These leave no BTH: the frame belongs to no connection.
    field("F-03", ONE_QP, 10, "udp.length", 7, 28),
    field("F-03", ONE_QP, 10, "udp.length", 15, 28),
    m("F-03", NATIVE, [{"frame": 3, "field": "infiniband.grh.paylen", "value": 84}, {**ends_in_bth(3, 4), "keep_lengths": True},
                       {"frame": 3, "field": "infiniband.lrh.pktlen", "value": 14}],
      [fire(3, "infiniband.grh.paylen", 84, 8, "violation")]),
    field("F-03", NATIVE, 2, "infiniband.lrh.pktlen", 8, 7),
    field("F-03", NATIVE, 3, "infiniband.grh.paylen", 80, 84),
    field("F-03", ROCE, 4, "infiniband.grh.paylen", 44, 40),

    field("F-04", NATIVE, 2, "infiniband.lrh.lver", 1, 0),
    field("F-04", NATIVE, 2, "infiniband.lrh.reserved2", 2, 0),
    field("F-04", NATIVE, 3, "infiniband.lrh.reserved5", 16, 0),

    field("F-05", NATIVE, 3, "infiniband.grh.ipver", 4, 6),
    field("F-05", NATIVE, 3, "infiniband.grh.nxthdr", 0x3a, 0x1b),
    field("F-05", ROCE, 4, "infiniband.grh.nxthdr", 0x11, 0x1b),
    field("F-05", ROCE, 4, "infiniband.grh.ipver", 7, 6),

    field("F-06", ONE_QP, 9, "infiniband.bth.tver", 1, 0),
    field("F-06", UD, 3, "infiniband.bth.tver", 15, 0),

    field("F-07", SHORT, 17, "infiniband.bth.opcode", 0x15),
    field("F-07", UC, 50, "infiniband.bth.opcode", 0x36),
    field("F-07", UD, 3, "infiniband.bth.opcode", 0x66),

    shape("F-08", PADDED, 1, lambda b: b[:12 + 8], "infiniband.reth.va", 16, 8),
    shape("F-08", ONE_QP, 10, without(4), "infiniband.aeth.syndrome", 4, 0),
    field("F-08", SHORT, 1, "infiniband.bth.padcnt", 3),
    m("F-08", ONE_QP, [ends_in_bth(10, 4)], [fire(10, "udp.length", 16, 24, "violation")]),
    m("F-08", ROCE, [ends_in_bth(4, 7)], [fire(4, "infiniband.grh.paylen", 11, 16, "violation")]),
    m("F-08", NATIVE, [ends_in_bth(2, 4)], [fire(2, "infiniband.lrh.pktlen", 4, 6, "violation")]),

    shape("F-09", SHORT, 6, without(1), "infiniband.bth.padcnt", 0, 3,
          also={"F-11": "a byte of payload now stands where pad should be"}),
    shape("F-09", UD, 3, with_bytes(b"\0"), "infiniband.bth.padcnt", 3, 0),

    field("F-10", READ, 3, "infiniband.bth.padcnt", 1, 0),
    field("F-10", ONE_QP, 10, "infiniband.bth.padcnt", 2, 0),
    field("F-10", WRITE, 3, "infiniband.bth.padcnt", 2, 0,
          also={"F-11": "bytes of payload now count as pad",
                "L-01": "so the payload is no full path MTU",
                "L-04": "and the WRITE is two bytes short"}),

    shape("F-11", SHORT, 6, lambda b: b[:-1] + b"\x01", "infiniband.pad.data", 0, 1),

    field("F-12", ONE_QP, 9, "infiniband.bth.reserved6", 0x20, 0, finding_class="anomaly"),
    field("F-12", ONE_QP, 9, "infiniband.bth.reserved7", 1, 0),
    field("F-12", ONE_QP, 10, "infiniband.aeth.syndrome.reserved", 1, 0),
    field("F-12", UD, 3, "infiniband.deth.reserved8", 0xff, 0),
    field("F-12", XRC, 1, "infiniband.xrceth.reserved8", 1, 0),
    field("F-12", FLUSH, 1, "infiniband.feth.reserved26", 1, 0),
    field("F-12", FLUSH, 1, "infiniband.feth.plt.reserved2", 2, 0),

    field("F-13", UD, 3, "infiniband.bth.p_key", 0x8000),
    field("F-13", ONE_QP, 10, "infiniband.bth.p_key", 0x8001, 0xffff),
    m("F-13", ONE_QP,
      [{"frame": 9, "field": "infiniband.bth.p_key", "value": 0x7fff},
       {"frame": 10, "field": "infiniband.bth.p_key", "value": 0x7fff}],
      [{"frame": 10, "field": "infiniband.bth.p_key", "expected": 0xffff, "actual": 0x7fff}]),

    m("F-14", SHORT, [{"frame": 17, "field": "infiniband.bth.destqp", "value": 0}],
      [{"frame": 17, "field": "infiniband.bth.opcode", "expected": 0x64, "actual": 4}]),
    m("F-14", NATIVE, [{"frame": 3, "field": "infiniband.lrh.vl", "value": 15}],
      [{"frame": 3, "field": "infiniband.bth.destqp", "expected": 0, "actual": 0xffffff}]),
    m("F-14", UD, [{"frame": 3, "field": "infiniband.bth.destqp", "value": 0}],
      [{"frame": 3, "field": "infiniband.bth.destqp", "actual": 0}]),
    shape("F-14", MADS, 2, without(4), "infiniband.payload.data", 256, 252),

    field("F-15", NATIVE, 3, "infiniband.lrh.dlid", 2),
    field("F-15", UD, 3, "infiniband.bth.destqp", 0xffffff),
    m("F-15", SHORT, [{"frame": 17, "field": "infiniband.bth.destqp", "value": 0xffffff}],
      [{"frame": 17, "field": "infiniband.bth.opcode", "actual": 4}]),

    field("F-16", UC, 50, "infiniband.bth.opcode", 0x02, 0x22),
    field("F-16", SHORT, 17, "infiniband.bth.opcode", 0x24, 0x04),

    field("F-18", CNP, 1, "infiniband.bth.becn", 0, 1),
    field("F-18", CNP, 1, "infiniband.bth.fecn", 1, 0),
    field("F-18", CNP, 1, "infiniband.bth.psn", 5, 0),
    shape("F-18", CNP, 1, lambda b: b[:18] + b"\x07" + b[19:], "infiniband.cnp.reserved128", None, 7),
    field("F-18", ONE_QP, 9, "infiniband.bth.fecn", 1, 0),
    field("F-18", ONE_QP, 10, "infiniband.bth.becn", 1, 0),

    field("F-19", ONE_QP, 9, "udp.checksum", 0x1234),
]
