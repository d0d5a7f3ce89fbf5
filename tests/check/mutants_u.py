"""Broken packets for the rules U-01 to U-04. The form: mutate.py."""

from mutants_f import UC, UD, field, m, shape, without

UC_WRITE = "samples/uc-write.pcap.zst"  # path MTU 256: WRITEs of 5000 bytes, the Last in frame 22
PING = "samples/cm-rping.pcap.zst"  # frame 3: CM RTU

PAYLOAD = "infiniband.payload.data"

MUTANTS = [
    m("U-01", UC, [{"delete": 3}],
      [{"frame": 3, "field": "infiniband.bth.psn", "expected": 11875627, "actual": 11875628, "class": "anomaly"}]),

    shape("U-02", UC_WRITE, 22, without(8), PAYLOAD, 5000, 4992),
    m("U-02", UC_WRITE, [{"frame": 3, "field": "infiniband.reth.dmalen", "value": 5001}],
      [{"frame": 22, "field": PAYLOAD, "expected": 5001, "actual": 5000}]),

    field("U-03", UD, 3, "infiniband.bth.psn", 5105504, 5105505, finding_class="anomaly"),

    field("U-04", PING, 3, "infiniband.deth.q_key", 0x11111111, 0x80010000),
    m("U-04", UD, [{"frame": 10, "field": "infiniband.deth.q_key", "value": 0x22222222}],
      [{"frame": 10, "field": "infiniband.deth.q_key", "actual": 0x22222222, "class": "anomaly"}]),
]
