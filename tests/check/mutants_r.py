"""Mutants of the rules R-01 to R-19: what a responder sends. The form: mutate.py."""

from mutants_q import (CORRUPT, FETCH_ADD, MSN, OPCODE, PING, PSN, READ_LONG, SEND, SYNDROME, WRITE, at, copy, m, put)

READ = "samples/rc-read.pcap.zst"  # from frame 3 on READ, its answer ...; frame 3 has PSN 12128722
UC = "samples/uc-send.pcap.zst"


def acknowledge(b):
    """A plain acknowledge in place of the packet, with its BTH and AETH."""
    return b"\x11" + b[1:16]


def a_read_response(b):
    return b"\x10" + b[1:16]


def toward_uc(b):
    return b"\x11" + b[1:12] + b"\x1f\0\0\1"


# The READ of frame 1 again, from its 17th PSN on, with the whole length.
BEYOND = {"insert_after": 65, "copy_of": 1, "edits": [
    {"field": "ip.id", "value": 0x8698}, {"field": PSN, "value": 11050600}, {"field": "infiniband.reth.va", "add": 16 * 1024}]}

MUTANTS = [
    m("R-01", PING, [{"delete": 7}, copy(9, 7, time_ns=100_000)], [at(8, PSN, 15225148, 15225149, side=0)]),

    m("R-02", READ_LONG, [put(68, PSN, 11050648)], [at(68, PSN, 11050649, 11050648)]),
    m("R-02", READ_LONG, [put(40, PSN, 11050621)], [at(40, PSN, 11050622, 11050621)], name="same-psn"),

    m("R-03", READ, [put(4, SYNDROME, 0x61)], [at(4, SYNDROME, 1, 0x61)]),
    m("R-03", FETCH_ADD, [put(4, SYNDROME, 0x20)], [at(4, SYNDROME, 0, 0x20)]),

    m("R-04", SEND, [put(11, PSN, 10410105)], [at(11, PSN, 10410104, 10410105, side=1)]),

    m("R-06", PING, [copy(19, 14, id=0x2264)], [at(20)]),

    m("R-07", SEND, [{"delete": 110}, copy(109, 109, 100_000_000, id=0x8b55), copy(109, 109, 200_000_000, id=0x8b56)],
      [at(111)]),

    m("R-08", CORRUPT, [copy(8, 8, id=0x632d)], [at(9)]),

    m("R-10", SEND, [put(22, SYNDROME, 0x61), {"delete": "23-"}], [at(22, MSN, 1, 2)], name="counts"),
    m("R-10", SEND, [put(22, SYNDROME, 0x61), put(22, MSN, 1), {"delete": "34-"}], [at(33)], name="goes-on"),

    m("R-11", WRITE, [put(6, SYNDROME, 0x21), put(6, MSN, 0)], [at(6)]),

    m("R-12", SEND, [copy(22, 10, id=0x8b04), copy(22, 11, 55_000, id=0x1ba3, msn=2)], [at(24, PSN, 10410114, 10410104)]),

    m("R-13", PING, [copy(19, 14, id=0x2264), copy(19, 15, psn=15225152, msn=5)], [at(21, PSN, actual=15225152)]),

    m("R-14", READ_LONG, [BEYOND, copy(65, 2, psn=11050600)], [at(67)],
      {"Q-07": "the retry asks for memory beyond the READ"}),

    m("R-15", FETCH_ADD, [copy(4, 3, id=0x9901), copy(4, 4, id=0x215b, **{"infiniband.atomicacketh.origremdt": 77})],
      [at(6, "infiniband.atomicacketh.origremdt", actual=77)]),

    m("R-16", READ, [{"frame": 4, "bytes": acknowledge}], [at(4, OPCODE, 0x10, 0x11)], name="read"),
    m("R-16", FETCH_ADD, [{"frame": 4, "bytes": a_read_response}], [at(4, OPCODE, 0x12, 0x10)], name="atomic"),
    m("R-16", SEND, [{"frame": 22, "bytes": a_read_response}], [at(22, OPCODE, 0x11, 0x10)], name="send"),

    m("R-17", SEND, [put(22, MSN, 3)], [at(22, MSN, 2, 3)], name="too-many"),
    m("R-17", SEND, [put(33, MSN, 2)], [at(33, MSN, 3, 2)], name="too-few"),
    m("R-17", READ_LONG, [put(132, MSN, 2)], [at(132, MSN, 3, 2)], name="read"),

    m("R-18", SEND, [put(11, "infiniband.bth.a", 1)], [at(11, "infiniband.bth.a", 0, 1)]),
    m("R-18", READ, [put(4, "infiniband.bth.se", 1)], [at(4, "infiniband.bth.se", 0, 1)]),

    m("R-19", UC, [copy(5, 5, change=toward_uc)], [at(6, OPCODE, actual=0x11)],
      {"F-16": "the opcode is of another transport than the queue pair's"}),
]
