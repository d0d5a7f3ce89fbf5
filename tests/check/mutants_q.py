"""Mutants of the rules Q-01 to Q-18: what a requester sends. The form: mutate.py.

A frame that stands for a retransmission gets another IP identification: with the same one it is the same frame twice.
"""

SEND = "samples/rc-send.pcap.zst"  # 10 messages of 10 packets, each acknowledged; frame 1 has PSN 10410095
WRITE = "samples/rc-write.pcap.zst"  # from frame 3 on First, Middle, Last, ACK; frame 3 has PSN 6035257
READ_LONG = "samples/rc-read-bw.pcap.zst"  # READs of 64 PSNs, path MTU 1024, in frames 1, 66, 131; frame 1: 11050584
FETCH_ADD = "samples/rc-fadd.pcap.zst"  # request, answer, request ... frame 1 has PSN 2423342
PING = "samples/cm-rping.pcap.zst"  # .2 requests: 6 READ, 7 its answer, 8 SEND, 9 its ACK ...; frame 6: 15225148
CORRUPT = "samples/corrupt-write.pcap.zst"  # frame 6 is damaged, 8 the NAK for it, 9 sends PSN 14803312 again, 10 the next
LOSS = "samples/loss-read.pcap.zst"  # frame 36 asks for the rest of the READ of frame 19

PSN, OPCODE, IP_ID = "infiniband.bth.psn", "infiniband.bth.opcode", "ip.id"
SYNDROME, MSN = "infiniband.aeth.syndrome", "infiniband.aeth.msn"


def m(rule, base, edits, fires, also=None, **more):
    return {"rule": rule, "base": base, "edits": edits, "fires": fires, "also": also or {}, **more}


def at(frame, field=None, expected=None, actual=None, **more):
    wanted = {"frame": frame, "field": field, "expected": expected, "actual": actual, **more}
    return {key: value for key, value in wanted.items() if value is not None}


def put(frame, field, value):
    return {"frame": frame, "field": field, "value": value}


def copy(after, of, time_ns=0, change=None, **values):
    """A copy of a frame behind another one; values by short name."""
    names = {"psn": PSN, "opcode": OPCODE, "id": IP_ID, "syndrome": SYNDROME, "msn": MSN}
    edits = [{"field": names.get(name, name), "value": value} for name, value in values.items()]
    if change:
        edits.append({"bytes": change})
    edit = {"insert_after": after, "copy_of": of, "edits": edits}
    return {**edit, "time_ns": time_ns} if time_ns else edit


def shifted(frames):
    return [{"frames": frames, "field": PSN, "add": 1}]


def read_request(length):
    """A READ Request in place of the packet, with its BTH."""
    return lambda b: b"\x0c" + b[1:12] + bytes(8) + b"\0\0\0\1" + length.to_bytes(4, "big")


def only(source, opcode, edit):
    return {**edit, "where": {"ip.src": source, "infiniband.bth.opcode": opcode}}


# One READ more from frame 7 on, answered in frame 9; everything behind it counts one further.
ONE_MORE_READ = [copy(6, 6, psn=15225149), copy(7, 7, psn=15225149, msn=2)] + \
    [only("10.77.0.2", opcode, {"frames": "8-63", "field": PSN, "add": 1}) for opcode in (4, 10, 12)] + \
    [only("10.77.0.1", opcode, {"frames": "8-63", "field": field, "add": 1})
     for opcode in (16, 17) for field in (PSN, MSN)]

LONGEST = 1 << 31
LONG_PSNS = LONGEST // 1024
WINDOW_START = 11050648

RNR_EARLY = [copy(12, 11, psn=10410105, syndrome=0x20 | 31, msn=1), copy(12, 12, id=0x8afa)]

# The responder has lost PSN 10410106 (frame 13); the requester resumes at 10410107 and sends 10410106 after the others.
RESUMES_BEHIND = [copy(15, 11, psn=10410106, syndrome=0x60, msn=1), copy(15, 14, id=0x8afe), copy(15, 15, id=0x8afe),
                  copy(15, 13, id=0x8afe)]

MUTANTS = [
    m("Q-01", SEND, shifted("34-"), [at(34, PSN, 10410125, 10410126, side=0)]),
    m("Q-01", WRITE, shifted("5-"), [at(5, PSN, 6035259, 6035260)], name="inside-write"),

    m("Q-02", READ_LONG, shifted("196-"), [at(196, PSN, 11050776, 11050777)], name="too-many"),
    m("Q-02", READ_LONG, [put(66, PSN, 11050585)], [at(66, PSN, 11050648, 11050585)], name="too-few"),
    m("Q-02", READ_LONG, [copy(65, 66, change=lambda b: b"\x04" + b[1:9] + (11050585).to_bytes(3, "big") + bytes(8))],
      [at(66, PSN, 11050648, 11050585)], name="send-inside"),

    m("Q-03", FETCH_ADD, shifted("7-"), [at(7, PSN, 2423345, 2423346)]),

    m("Q-04", SEND, [put(5, OPCODE, 0)], [at(5, OPCODE, actual=0)], name="first-inside"),
    m("Q-04", SEND, [put(12, OPCODE, 1)], [at(12, OPCODE, actual=1)], name="no-first"),

    m("Q-05", WRITE, [{"frame": 4, "bytes": read_request(16)}], [at(4, OPCODE, actual=0x0c)],
      {"Q-04": "the WRITE Last behind the READ has lost its First"}),

    m("Q-06", CORRUPT, [{"frame": 10, "bytes": lambda b: b[:-1] + bytes([b[-1] ^ 1])}],
      [at(10, text="frame 7")], name="content"),
    m("Q-06", CORRUPT, [put(10, OPCODE, 1)], [at(10, OPCODE, 7, 1)], name="opcode"),

    m("Q-07", LOSS, [put(36, "infiniband.reth.dmalen", 8192)], [at(36, "infiniband.reth.dmalen", 7168, 8192)]),
    m("Q-07", LOSS, [{"frame": 36, "field": "infiniband.reth.va", "add": 1024}], [at(36, "infiniband.reth.va")]),
    m("Q-07", LOSS, [{"frame": 36, "field": "infiniband.reth.r_key", "xor": 1}], [at(36, "infiniband.reth.r_key")]),

    m("Q-08", PING, ONE_MORE_READ, [at(7, OPCODE, actual=0x0c, side=1)]),

    m("Q-09", READ_LONG,
      [put(66, "infiniband.reth.dmalen", LONGEST)] +
      [copy(66, 66, psn=(WINDOW_START + n * LONG_PSNS) & 0xffffff, **{"infiniband.reth.dmalen": LONGEST}) for n in range(1, 5)]
      + [{"delete": "67-"}],
      [at(70, PSN, (WINDOW_START + (1 << 23) - 1) & 0xffffff, (WINDOW_START + 5 * LONG_PSNS - 1) & 0xffffff)]),

    m("Q-10", SEND, RESUMES_BEHIND, [at(17, PSN, 10410106, 10410107)]),

    m("Q-11", SEND, RNR_EARLY, [at(14, PSN, 10410105, 10410105)]),

    m("Q-14", SEND, [put(5, "infiniband.bth.se", 1)], [at(5, "infiniband.bth.se", 0, 1)]),
    m("Q-14", WRITE, [put(5, "infiniband.bth.se", 1)], [at(5, "infiniband.bth.se", 0, 1)], name="plain-write"),

    m("Q-15", SEND, [put(109, "infiniband.bth.a", 0), {"delete": 110}], [at(109)]),

    m("Q-17", SEND, [put(33, SYNDROME, 0), {"delete": 44}], [at(44, OPCODE, actual=0)]),

    m("Q-18", SEND, [put(11, SYNDROME, 0x61), put(11, MSN, 0), {"delete": 22}, {"frame": 23, "time_ns": 10_000_000},
                     {"delete": "24-"}], [at(22)]),
]
