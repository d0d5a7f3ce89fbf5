"""Mutants of the health rules: what goes wrong without anybody breaking a rule. The form: mutate.py."""

from mutants_q import MSN, PING, PSN, READ_LONG, SEND, SYNDROME, at, copy, m, put

NVME = "samples/nvmeof-rdma.pcap.zst"

# The responder has lost PSN 10410106 (frame 13), says so behind frame 15, and gets it again with what follows.
GO_BACK = [copy(15, 11, psn=10410106, syndrome=0x60, msn=1), copy(15, 13, id=0x8afe), copy(15, 14, id=0x8afe),
           copy(15, 15, id=0x8afe - 1)]
DUPLICATE = [copy(19, 14, id=0x2264)]

MUTANTS = [
    m("H-TIMEOUT", SEND, [{"delete": 110}, copy(109, 109, 100_000_000, id=0x8b55)], [at(110)]),
    m("H-IMPLIED-NAK", READ_LONG, [{"delete": 10}, copy(70, 1, id=0x8699)], [at(70)]),
    m("H-GO-BACK-N", SEND, GO_BACK, [at(17, text="after the NAK in frame 16")]),
    m("H-LOSS", SEND, GO_BACK, [at(16, text="1 request packet")], name="request"),
    m("H-LOSS", READ_LONG, [{"delete": 10}, copy(70, 1, id=0x8699)], [at(10, text="1 response packet")], name="response"),
    m("H-RNR", SEND, [copy(12, 11, psn=10410105, syndrome=0x21, msn=1)], [at(13, text="0.010 ms")]),
    m("H-SLOW-RESPONSE", SEND, [{"frame": 110, "time_ns": 20_000_000}], [at(110)]),
    m("H-READ-DEPTH", NVME, [{"frames": "1-3", "field": "infiniband.cm.req.responderres", "value": 1,
                              "where": {"infiniband.mad.attributeid": 0x10}}], [at(0)]),
    m("H-DUPLICATE", PING, DUPLICATE, [at(20)]),
    m("H-REORDERED", SEND, [{"delete": 40}, copy(42, 40)], [at(42)]),
    m("H-ECN", SEND, [put(5, "ip.dsfield.ecn", 3)], [at(5, text="the sender is not told")]),
    m("H-CREDITS", SEND, [put(22, SYNDROME, 0)], [at(22)]),
    m("H-FATAL-NAK", SEND, [put(11, SYNDROME, 0x62), put(11, MSN, 0), {"delete": "12-"}],
      [at(11, text="Remote Access Error")]),
    m("H-NO-RESPONSE", SEND, [{"delete": "1-", "where": {"ip.src": "10.77.0.2"}}], [at(0, **{"class": "artifact"})]),
    m("H-MISSED", SEND, [{"delete": 15}], [at(15, text="1 PSN")]),
    m("H-TWICE", SEND, [copy(50, 50)], [at(51, text="1 frame")]),
    m("H-MIDSTREAM", SEND, [{"delete": "1-22"}], [at(1, text="2 messages")], name="counted"),
    m("H-MIDSTREAM", SEND, [{"delete": "1-4"}], [at(1)], name="inside"),
    m("H-CUT", SEND, [{"frame": 5, "cut": 64}], [at(5, text="1 frame")]),
]
