"""Broken packets for the rules L-01 to L-11. The form: mutate.py."""

from mutants_f import FLUSH, ONE_QP, READ, UD, WRITE, field, m, shape, with_bytes, without

SEND = "samples/rc-send.pcap.zst"  # path MTU 512: First, eight Middle, Last of 392 bytes
READ_LONG = "samples/rc-read-bw.pcap.zst"  # path MTU 1024: READs of 65536 bytes, 64 responses each
ATOMIC = "samples/rc-fadd.pcap.zst"
PING = "samples/cm-rping.pcap.zst"  # frame 4: SEND Only of 16 bytes

PAYLOAD = "infiniband.payload.data"

SAME_PAYLOAD = "the length of the whole message is wrong, too"

MUTANTS = [
    shape("L-01", SEND, 2, without(4), PAYLOAD, 512, 508),
    shape("L-01", SEND, 2, with_bytes(bytes(512)), PAYLOAD, 512, 1024),
    shape("L-01", SEND, 1, without(12), PAYLOAD, None, 500),
    shape("L-01", READ_LONG, 4, without(512), PAYLOAD, 1024, 512),

    shape("L-02", SEND, 10, without(392), PAYLOAD, 1, 0),
    shape("L-02", SEND, 10, with_bytes(bytes(124)), PAYLOAD, 512, 516),
    shape("L-02", READ_LONG, 65, without(1024), PAYLOAD, 1, 0),

    shape("L-03", PING, 4, with_bytes(bytes(4084)), PAYLOAD, 4096, 4100),

    shape("L-04", WRITE, 5, without(8), PAYLOAD, 9000, 8992),
    m("L-04", WRITE, [{"frame": 3, "field": "infiniband.reth.dmalen", "value": 8999}],
      [{"frame": 5, "field": PAYLOAD, "expected": 8999, "actual": 9000}]),

    shape("L-05", READ, 4, without(4), PAYLOAD, 3072, 3068),
    shape("L-05", READ_LONG, 65, without(4), PAYLOAD, 1024, 1020),
    shape("L-05", READ_LONG, 10, lambda b: b"\x10" + b[1:12] + b"\x1f\0\0\1" + b[12:],
          "infiniband.bth.opcode", 0x0e, 0x10),

    field("L-06", FLUSH, 1, "infiniband.reth.dmalen", 0x80000000, 0x7fffffff),
    field("L-06", WRITE, 3, "infiniband.reth.dmalen", 0x80000001, 0x80000000, also={"L-04": SAME_PAYLOAD}),

    shape("L-07", ONE_QP, 10, with_bytes(bytes(4)), PAYLOAD, 0, 4),
    shape("L-07", READ, 3, with_bytes(bytes(8)), PAYLOAD, 0, 8),
    shape("L-07", ATOMIC, 3, with_bytes(bytes(8)), PAYLOAD, 0, 8),

    shape("L-08", FLUSH, 3, without(4), PAYLOAD, 8, 4),
    field("L-08", FLUSH, 3, "infiniband.reth.dmalen", 16, 8),

    m("L-09", READ, [{"frame": 3, "field": "infiniband.reth.dmalen", "value": 0}],
      [{"frame": 4, "field": PAYLOAD, "expected": 0, "actual": 3072}]),
    m("L-09", READ,
      [{"frame": 3, "field": "infiniband.reth.dmalen", "value": 0},
       {"frame": 4, "bytes": lambda b: b"\x11" + b[1:16]}],
      [{"frame": 4, "field": "infiniband.bth.opcode", "expected": 0x10, "actual": 0x11}],
      also={"R-16": "a plain acknowledge answers no READ of any length"}),
    field("L-09", WRITE, 3, "infiniband.reth.dmalen", 0, also={"L-04": SAME_PAYLOAD}),

    shape("L-10", UD, 3, with_bytes(bytes(3100)), PAYLOAD, 4096, 4100),

    m("L-11", ATOMIC, [{"frame": 3, "field": "infiniband.atomiceth.va", "value": 0x55f4761e2004}],
      [{"frame": 3, "field": "infiniband.atomiceth.va", "actual": 0x55f4761e2004}]),
    field("L-11", FLUSH, 3, "infiniband.reth.va", 0x999004),
]
