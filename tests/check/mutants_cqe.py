"""Broken completion queue entries for the rules CQE-01 to CQE-30. The form: mutate.py. The frames of the base are listed
in cqe_clean() of make_captures.py."""

from mutants_f import field, fire, m

CLEAN = "tests/golden/captures/cqe-clean.pcapng"


def at(rule, frame, name, value, expected=None, finding_class="violation", also=None):
    return field(rule, CLEAN, frame, name, value, expected, finding_class, also)


def moved(rule, frame, after, late):
    """The entry stands before the response, which comes two seconds later."""
    return m(rule, CLEAN, [{"delete": frame}, {"insert_after": after, "copy_of": frame, "edits": []},
                           {"frames": late, "time_ns": 2 * 10**9}],
             [{"frame": after + 1, "field": "cqe.qpn", "actual": 0x22, "class": "violation"}])


MUTANTS = [
    at("CQE-01", 13, "cqe.mlx4.owner", 1, 0),
    at("CQE-01", 47, "cqe.mlx5.owner", 1, 0),
    at("CQE-01", 54, "cqe.efa.phase", 0, 1),

    m("CQE-02", CLEAN, [{"delete": 5}], [fire(5, "cqe.record.ci", 5, 4, "artifact")]),
    m("CQE-02", CLEAN, [{"frame": 5, "field": "cqe.record.ci", "value": 3}],
      [fire(5, "cqe.record.ci", 3, 4, "violation"), fire(6, "cqe.record.ci", 5, 4, "artifact")]),

    at("CQE-03", 47, "cqe.mlx5.opcode", 15),

    at("CQE-04", 3, "cqe.mlx4.wqe_counter", 101),
    at("CQE-05", 41, "cqe.mlx4.wqe_counter", 24, 21, "anomaly"),

    m("CQE-06", CLEAN, [{"frame": 11, "field": "cqe.mlx4.opcode", "value": 0x0a}],
      [fire(11, "cqe.mlx4.opcode", 0x0a, None, "violation")]),
    m("CQE-06", CLEAN, [{"frame": 11, "field": "cqe.mlx4.syndrome", "value": 0x04}],
      [fire(11, "cqe.mlx4.syndrome", 0x04, None, "anomaly")]),
    at("CQE-07", 10, "cqe.mlx4.syndrome", 0x05, None, "anomaly"),

    at("CQE-08", 2, "cqe.mlx4.opcode", 0x03),
    at("CQE-08", 2, "cqe.mlx4.opcode", 0x1f, None, "anomaly"),
    at("CQE-09", 6, "cqe.mlx4.opcode", 0x10),
    at("CQE-09", 8, "cqe.mlx4.opcode", 0x08),

    at("CQE-10", 10, "cqe.mlx4.syndrome", 0x7f),
    at("CQE-10", 10, "cqe.mlx4.syndrome", 0x20, None, "anomaly"),
    at("CQE-10", 50, "cqe.mlx5.syndrome", 0),
    at("CQE-11", 10, "cqe.mlx4.syndrome", 0x11),
    at("CQE-11", 50, "cqe.mlx5.syndrome", 0x11, None, "anomaly"),

    at("CQE-12", 5, "cqe.mlx4.byte_cnt", 0x80000001),
    at("CQE-13", 7, "cqe.mlx4.byte_cnt", 39),
    at("CQE-13", 7, "cqe.mlx4.byte_cnt", 4137),
    at("CQE-13", 9, "cqe.mlx4.byte_cnt", 13),
    at("CQE-13", 49, "cqe.mlx5.byte_cnt", 39),
    at("CQE-14", 5, "cqe.mlx4.qpn", 0x80004a),

    at("CQE-15", 7, "cqe.mlx4.vlan", 3),
    at("CQE-15", 42, "cqe.mlx4.vlan", 1, 0),
    at("CQE-15", 42, "cqe.mlx4.slid_smac47_32", 0xc001, None, "anomaly"),
    at("CQE-16", 42, "cqe.mlx4.srq_rqpn", 0xffffff),

    at("CQE-17", 2, "cqe.mlx4.reserved0", 2, 0, "anomaly"),
    at("CQE-17", 2, "cqe.mlx4.reserved1", 0xe0f1, 0, "anomaly"),
    at("CQE-17", 2, "cqe.mlx4.reserved2", 1, 0, "anomaly"),
    at("CQE-18", 5, "cqe.mlx4.d2s", 1, 0, "anomaly"),
    at("CQE-20", 25, "cqe.mlx4.fcrc_sd", 1, None, "artifact"),
    at("CQE-21", 5, "cqe.mlx4.dife", 1, 0, "anomaly"),

    at("CQE-22", 75, "cqe.mlx4.immediate_rssvalue_invalidatekey", 0x0200feca, 0xcafe0002),
    at("CQE-22", 77, "cqe.mlx4.immediate_rssvalue_invalidatekey", 0x54320, 0x54321),
    moved("CQE-23", 63, 61, "62,64-80"),
    moved("CQE-24", 69, 67, "68,70-80"),

    m("CQE-25", CLEAN, [{"frame": 46, "field": "cqe.mlx4_ts.timestamp47_16", "value": 0x0a0b0000}],
      [{"frame": 46, "field": "cqe.mlx4_ts.timestamp", "class": "anomaly"}]),
    m("CQE-26", CLEAN, [{"frame": 19, "field": "cqe.record.cqe_cnt", "value": 16},
                        {"frame": 19, "field": "cqe.mlx4.owner", "value": 1}],
      [fire(19, "cqe.record.cqe_cnt", 16, None, "anomaly")]),
    at("CQE-27", 52, "cqe.mlx5.byte_cnt", 0),
    at("CQE-27", 52, "cqe.mlx5.byte_cnt", 17),

    at("CQE-28", 54, "cqe.efa.q_type", 3),
    at("CQE-28", 54, "cqe.efa.op_type", 7),
    at("CQE-28", 55, "cqe.efa.has_imm", 1, 0),
    at("CQE-28", 54, "cqe.efa.unsolicited", 1, 0),
    at("CQE-28", 56, "cqe.efa.status", 17, None, "anomaly"),
    at("CQE-29", 47, "cqe.mlx5.send_opcode", 0x77, None, "anomaly"),

    at("CQE-30", 5, "cqe.record.cqe_off", 32, 0),
    at("CQE-30", 5, "cqe.record.stride", 48),
]
