"""Broken conversations for the rules CDI-*. They are written here from the first message on, since each message depends
on those before; the form: mutate.py, "clean" and "frames"."""

import copy
import struct

import make_captures as build

TX, RX = "tx", "rx"
RESET, PING, CONNECTED, ACK, VERSION = (build.CDI_RESET, build.CDI_PING, build.CDI_CONNECTED, build.CDI_ACK,
                                        build.CDI_VERSION)
FRESH, FULL = (1, 0, 5), (2, 3, 5)
TX_PORT, RX_PORT = 49599, 2000
ADDRESS = {TX: "10.0.0.1", RX: "10.0.0.2"}
ETHERNET, RECORD, CQE = 1, 148, 147
PORT = ["-d", "udp.port==2000,cdi"]


def efa(qpn, gid="fe80000000000000021122fffe334455"):
    return bytes.fromhex(gid) + struct.pack("<HHI", qpn, 0, 0x12345678) + bytes(8)


class Message:
    """A control message. Its number is the next of its sender, and an Ack names the message called `of`, unless said."""

    def __init__(self, key, t, by, command, version=FULL, of=None, **other):
        self.key, self.t, self.by, self.command, self.version, self.of = key, t, by, command, version, of
        self.number = self.ack = self.raw = self.patch = self.control_port = self.ip = None
        self.requires_ack = 0 if by == RX else 1
        self.anew = False  # the sender counts from 1 again
        self.address = efa(0x1234 if by == TX else 0x5678)
        self.name = "cam1" if by == TX else ""
        self.__dict__.update(other)

    def bytes(self, ack, tx_port=TX_PORT):
        port = tx_port if self.by == TX else RX_PORT
        ip = self.ip or ADDRESS[self.by]
        out = build.cdi_control(self.version, self.command, self.number, ack, self.requires_ack, self.control_port or port,
                                ip, self.name, self.address)
        if self.patch:
            at, new = self.patch
            out = out[:at] + new + out[at + len(new):]
            sum_at = 249 if self.version[0] <= 1 else 245
            out = out[:sum_at] + build.cdi_checksum(out[:sum_at] + bytes(2) + out[sum_at + 2:]) + out[sum_at + 2:]
        return self.raw(out) if self.raw else out


class Record:
    """Anything else in the capture."""

    def __init__(self, key, t, link, data):
        self.key, self.t, self.link, self.data = key, t, link, data


def frames(talk, port=TX_PORT):
    """(seconds, link type, bytes) of each, in order; and the numbers of the frames by key."""
    last, by_key, out, places = {TX: 0, RX: 0}, {}, [], {}
    for m in talk:
        places[m.key] = len(out) + 1
        if isinstance(m, Record):
            out.append((m.t, m.link, m.data))
            continue
        if m.anew:
            last[m.by] = 0
        m.number = last[m.by] + 1 if m.number is None else m.number
        last[m.by] = m.number
        by_key[m.key] = m
        ack = None
        if m.command == ACK:
            ack = m.ack or (by_key[m.of].command, by_key[m.of].number)
        peer = RX if m.by == TX else TX
        out.append((m.t, ETHERNET, build.cdi_frame(m.bytes(ack, port), m.by == TX, port, src=ADDRESS[m.by], dst=ADDRESS[peer])))
    return out, places


def talk():
    """Both sides as SDK 3 has them: the receiver comes late; it resets once, and they connect again."""
    return [
        Message("reset1", 0, TX, RESET, FRESH), Message("reset2", 2.0, TX, RESET, FRESH),
        Message("ack-reset", 2.02, RX, ACK, of="reset2"), Message("version", 2.0201, TX, VERSION),
        Message("ack-version", 2.16, RX, ACK, of="version"), Message("connected", 2.78, RX, CONNECTED),
        Message("ping1", 2.7801, TX, PING), Message("pong1", 2.783, RX, ACK, of="ping1"),
        Message("ping2", 7.783, TX, PING), Message("pong2", 7.785, RX, ACK, of="ping2"),
        Message("ping3", 12.785, TX, PING), Message("pong3", 12.786, RX, ACK, of="ping3"),
        Message("rx-reset", 14.0, RX, RESET), Message("reset3", 15.0, TX, RESET),
        Message("ack-reset3", 15.02, RX, ACK, of="reset3"), Message("version3", 15.0201, TX, VERSION),
        Message("ack-version3", 15.1, RX, ACK, of="version3"), Message("connected3", 15.6, RX, CONNECTED),
        Message("ping4", 15.601, TX, PING), Message("pong4", 15.602, RX, ACK, of="ping4")]


# --- Edits: each takes the conversation and returns another ------------------------------------------------------------


def change(key, **values):
    def edit(t):
        for m in t:
            if m.key == key:
                m.__dict__.update(values)
        return t
    return edit


def from_on(key, **values):
    """The message and all of the conversation behind it."""
    def edit(t):
        at = [m.key for m in t].index(key)
        for m in t[at:]:
            m.__dict__.update(values)
        return t
    return edit


def drop(*keys):
    return lambda t: [m for m in t if m.key not in keys]


def after(key, *new):
    def edit(t):
        at = [m.key for m in t].index(key) + 1
        return t[:at] + [copy.deepcopy(m) for m in new] + t[at:]
    return edit


def first(*new):
    return lambda t: [copy.deepcopy(m) for m in new] + t


def later(key, seconds):
    def edit(t):
        at = [m.key for m in t].index(key)
        for m in t[at:]:
            m.t += seconds
        return t
    return edit


def before(key, other):
    """`key` is sent just before `other`."""
    def edit(t):
        moved = next(m for m in t if m.key == key)
        rest = [m for m in t if m is not moved]
        at = [m.key for m in rest].index(other)
        moved.t = rest[at].t - 0.005
        return rest[:at] + [moved] + rest[at:]
    return edit


def until(key):
    def edit(t):
        return t[:[m.key for m in t].index(key) + 1]
    return edit


def instead(new):
    return lambda _: new


def cdi(rule, edits, fires, also=None, name=None, options=()):
    """`fires`: key -> class and what else the finding has."""
    broken = talk()
    for edit in edits if isinstance(edits, list) else [edits]:
        broken = edit(broken)
    out, places = frames(broken)
    wanted = [{"frame": places[key] if key else 0, **({"class": w} if isinstance(w, str) else w)}
              for key, w in fires.items()]
    mutant = {"rule": rule, "clean": frames(talk())[0], "frames": out, "fires": wanted, "also": also or {},
              "options": list(options)}
    return {**mutant, "name": name} if name else mutant


V, A, I = "violation", "anomaly", "artifact"


def failed_cycle(n, start):
    return [Message(f"reset{n}", start, TX, RESET, FRESH if n == 0 else FULL),
            Message(f"ack-reset{n}", start + 0.001, RX, ACK, of=f"reset{n}"),
            Message(f"version{n}", start + 0.0012, TX, VERSION),
            Message(f"ack-version{n}", start + 0.004, RX, ACK, of=f"version{n}"),
            Message(f"rx-reset{n}", start + 2.007, RX, RESET)]


def failing(cycles):
    return [m for n in range(cycles) for m in failed_cycle(n, 3.015 * n)]


# --- Messages over EFA -------------------------------------------------------------------------------------------------


def rdm(version=4, flags=4, kind=64):
    return struct.pack("<BBHI", kind, version, flags, 1)


def packet(kind, sequence, payload, packet_id, rest=b""):
    return struct.pack("<BHHI", kind, sequence, payload, packet_id) + rest


def head(total, extra=0, nanoseconds=123456789):
    return struct.pack("<IQIIQHQ", total, 16666, 1700000037, nanoseconds, 0, extra, 1700000000123456)


def over_efa(key, t, message, direction=1, header=None, version=FULL):
    data = (rdm() if header is None else header) + message
    return Record(key, t, RECORD, build.efa_record(data, direction, version=version, tags=False))


def payload(number, first_id, t=20.0, sizes=(100, 100, 50)):
    """A payload in packets of these sizes."""
    out, offset = [], 0
    for i, size in enumerate(sizes):
        rest = head(sum(sizes)) if i == 0 else struct.pack("<I", offset)
        out.append(over_efa(f"data{number}.{i}", t + i / 1000, packet(0 if i == 0 else 1, i, number, first_id + i, rest) +
                            bytes(size)))
        offset += size
    return out


def data(*edits):
    """Edits of a capture with data alone."""
    t = payload(0, 0) + payload(1, 3, 20.1) + payload(2, 6, 20.2)
    for edit in edits:
        t = edit(t)
    return t


def of_data(rule, edits, fires, also=None, name=None):
    out, places = frames(data(*edits))
    mutant = {"rule": rule, "clean": frames(data())[0], "frames": out, "also": also or {},
              "fires": [{"frame": places[key], "class": w} for key, w in fires.items()]}
    return {**mutant, "name": name} if name else mutant


def replaced(key, message, **other):
    def edit(t):
        return [over_efa(key, m.t, message, **other) if m.key == key else m for m in t]
    return edit


def probes(count, t=2.2):
    return [over_efa(f"probe{i}", t + i / 1e5, packet(2, i, 0, i, head(1024) if i == 0 else b"") + b"A" * 900)
            for i in range(count)]


def failed_send(t):
    """An entry of the transmitter's completion queue: the peer does not answer."""
    entry = build.cqe_record(build.efa_cqe(7, 13, 0x1234, 1, 1), build.EFA, qp_type=0xff, device=0, tags=False)
    return Record("cqe", t, CQE, entry)


MUTANTS = [
    cdi("CDI-F01", [change("ping2", raw=lambda b: b + b"\0"), drop("pong2")],
        {"ping2": {"class": V, "field": "udp.length", "expected": 256, "actual": 257}}),
    cdi("CDI-F01", [change("ping2", raw=lambda b: b[:100]), drop("pong2")], {"ping2": V}, name="short"),
    cdi("CDI-F02", change("reset1", raw=lambda b: b[:249] + b"\0\0" + b[251:]),
        {"reset1": {"class": V, "field": "cdi.checksum", "actual": 0}}, options=PORT),
    cdi("CDI-F02", [change("ping2", raw=lambda b: b[:110] + b"X" + b[111:]), drop("pong2")], {"ping2": A}, name="damaged"),
    cdi("CDI-F03", [change("ping2", command=9), drop("pong2")], {"ping2": {"class": V, "actual": 9}}),
    cdi("CDI-F04", change("ping2", requires_ack=2), {"ping2": {"class": A, "actual": 2}}),
    cdi("CDI-F05", change("ping2", ip="10.0.0.256"), {"ping2": A}),
    cdi("CDI-F06", change("pong2", ip="10.9.9.9"), {"pong2": A}),
    cdi("CDI-F07", change("ping2", control_port=0xbfc1 ^ 0xffff), {"ping2": A}),
    cdi("CDI-F08", change("reset1", patch=(241, struct.pack("<i", 3))), {"reset1": {"class": A, "actual": 3}}),
    cdi("CDI-F09", change("reset1", version=(2, 0, 0)), {"reset1": V}),
    cdi("CDI-F10", change("version", version=(1, 0, 2)), {"version": {"class": V, "actual": 2}},
        also={"CDI-A08": "the receiver agrees to its own version all the same"}),
    cdi("CDI-F11", change("ping2", name="x" * 138), {"ping2": A}),
    cdi("CDI-D01", after("pong2", Message("x", 8.0, TX, CONNECTED)), {"x": V}),
    cdi("CDI-D01", after("pong2", Message("x", 8.0, RX, VERSION)), {"x": V}, name="rx"),
    cdi("CDI-D02", after("pong2", Message("x", 8.0, RX, PING)), {"x": V}),
    cdi("CDI-N01", change("ping2", number=4), {"ping2": V}),
    cdi("CDI-N01", change("ping2", number=700), {"ping2": I}, name="gap"),
    cdi("CDI-N01", after("ping2", Message("x", 7.7831, TX, PING, number=5)), {"x": I}, name="twice"),
    cdi("CDI-N02", change("reset1", number=0), {"reset1": {"class": A, "expected": 1, "actual": 0}}),
    cdi("CDI-N03", change("ping3", anew=True), {"ping3": {"class": A, "actual": 1}}),
    cdi("CDI-A01", change("pong2", ack=(PING, 9)), {"pong2": V}),
    cdi("CDI-A01", change("pong2", ack=(RESET, 5)), {"pong2": {"class": V, "expected": PING, "actual": RESET}}, name="command"),
    cdi("CDI-A02", change("pong2", ack=(CONNECTED, 3)), {"pong2": V}),
    cdi("CDI-A03", later("pong2", 0.6), {"pong2": A}),
    cdi("CDI-A04", later("ack-reset", 2.1), {"ack-reset": A}),
    cdi("CDI-A05", change("ack-reset", of="reset1"), {"version": V}),
    cdi("CDI-A06", after("pong2", Message("x", 7.79, RX, ACK, of="ping2")), {"x": A}),
    cdi("CDI-A06", drop("pong2"), {"pong3": A}, name="none"),
    cdi("CDI-A07", change("ack-reset", version=FRESH), {"ack-reset": V},
        also={"CDI-A08": "it agrees on more than it said it has"}),
    cdi("CDI-A07", [change("reset1", version=(1, 0, 2)), change("reset2", version=(1, 0, 2))], {"ack-reset": V},
        also={"CDI-S03": "it asks for more than its Reset had"}, name="old"),
    cdi("CDI-A08", [from_on("ack-version", version=(2, 2, 5)), change("version3", version=FULL),
                    change("ack-reset3", version=FULL), drop("version3", "ack-version3", "connected3", "ping4", "pong4")],
        {"ack-version": V}),
    cdi("CDI-S01", drop("reset1", "reset2", "ack-reset"), {"version": V}),
    cdi("CDI-S01", change("reset1", version=FULL), {"reset1": A}, name="layout"),
    cdi("CDI-S02", change("reset2", t=0.5), {"reset2": A}),
    cdi("CDI-S03", later("version", 0.3), {"version": A}, name="late"),
    cdi("CDI-S03", [from_on("version", version=(2, 3, 4)), change("ack-reset3", version=FULL),
                    until("pong3")], {"version": V}),
    cdi("CDI-S03", [from_on("ack-reset", version=(1, 0, 2)), change("version", version=FULL), drop("ack-version"),
                    until("pong3")], {"version": V}, name="old"),
    cdi("CDI-S04", before("version", "ack-reset"), {"version": V}),
    cdi("CDI-S05", after("version", Message("x", 2.1, TX, VERSION)), {"x": A}),
    cdi("CDI-S06", [drop("ack-version"), until("pong3")], {"connected": V}),
    cdi("CDI-S07", [change("connected", command=RESET), until("connected")], {"connected": A}),
    cdi("CDI-S08", after("connected", Message("x", 2.7800001, RX, CONNECTED)), {"x": A}),
    cdi("CDI-S09", later("ping1", 6), {"ping1": V}),
    cdi("CDI-S09", [until("connected"), after("connected", Record("end", 20, ETHERNET, build.ether(build.ipv4(b"x" * 8, 253))))],
        {None: A}, name="end"),
    cdi("CDI-S10", later("ping2", 2), {"ping2": A}),
    cdi("CDI-S11", drop("rx-reset"), {"reset3": A}),
    cdi("CDI-S11", [after("ping2", Message("x", 7.7835, TX, PING)), after("pong2", Message("y", 7.786, RX, ACK, of="x"))], {"x": A}, name="soon"),
    cdi("CDI-S12", after("ack-version", Message("x", 2.2, TX, PING)), {"x": V}),
    cdi("CDI-S13", after("rx-reset", Message("x", 14.001, TX, ACK, of="rx-reset")), {"x": V}),
    cdi("CDI-S13", [drop("reset3", "ack-reset3", "version3", "ack-version3", "connected3", "pong4"), later("ping4", 2.2)],
        {"ping4": A}, name="on"),
    cdi("CDI-S14", [until("rx-reset"), after("rx-reset", Message("x", 16, RX, RESET), Message("y", 18, RX, RESET))], {"y": A}),
    cdi("CDI-S15", change("rx-reset", requires_ack=1), {"rx-reset": A}),
    cdi("CDI-S16", instead(failing(4)), {"rx-reset3": A}),
    cdi("CDI-S17", instead([Message(f"reset{n}", 2 * n, TX, RESET, FRESH) for n in range(4)]), {"reset0": A}),
    cdi("CDI-S18", [until("ping2"), after("ping2", Message("x", 8.283, TX, PING),
                                          *[over_efa(f"e{n}", 8.3 + n / 10, packet(1, n, 0, n, struct.pack("<I", n)) + b"x")
                                            for n in range(1, 4)])], {"e2": A}),
    cdi("CDI-V01", change("ping2", version=(2, 2, 5)), {"ping2": V}),
    cdi("CDI-V01", change("pong2", version=(2, 2, 5)), {"pong2": V}, name="answer"),
    cdi("CDI-V02", drop("version3", "ack-version3"), {"ping4": V}, also={"CDI-S06": "the receiver has settled nothing, either"}),
    cdi("CDI-G01", change("connected", address=efa(0x5679)), {"connected": V}),
    cdi("CDI-G02", [change("ack-version", address=bytes(32)), change("connected", address=bytes(32)),
                    change("pong1", address=bytes(32)), until("pong1")], {"ack-version": V, "connected": V}),
    cdi("CDI-G03", change("ping2", address=efa(0x1234, "20010db8000000000000000000000001")), {"ping2": A}),

    of_data("CDI-P01", [replaced("data1.0", packet(0, 0, 1, 3, head(250, nanoseconds=10**9)) + bytes(100))], {"data1.0": A}),
    of_data("CDI-P01", [replaced("data1.1", packet(7, 1, 1, 4))], {"data1.1": A}, name="type"),
    of_data("CDI-P02", [replaced("data1.2", packet(1, 2, 1, 5, struct.pack("<I", 199)) + bytes(50))], {"data1.2": V}),
    of_data("CDI-P02", [replaced("data1.2", packet(1, 1, 1, 5, struct.pack("<I", 200)) + bytes(50))], {"data1.2": V}, name="number"),
    of_data("CDI-P02", [replaced("data1.2", packet(1, 2, 1, 5, struct.pack("<I", 200)) + bytes(51))], {"data1.2": V}, name="more"),
    of_data("CDI-P03", [drop("data1.0", "data1.1", "data1.2")], {"data2.0": A}),
    of_data("CDI-P04", [drop("data1.1")], {"data1.2": A}),
    cdi("CDI-P05", after("ack-version", *payload(0, 0, 2.2)[:1]), {"data0.0": V}),
    cdi("CDI-P05", after("pong1", *probes(1, 6)), {"probe0": V}, name="late"),
    cdi("CDI-P06", after("ack-version", *probes(20)), {"connected": A}),
    of_data("CDI-R01", [replaced("data1.0", packet(0, 0, 1, 3, head(250)) + bytes(100), header=rdm(version=3, kind=1) + bytes(24))],
            {"data1.0": V}),
    of_data("CDI-R02", [replaced("data1.0", b"", header=struct.pack("<BBH", 64, 4, 4))], {"data1.0": V}),
    cdi("CDI-C02", [until("pong1"), after("pong1", failed_send(3), Record("end", 9, ETHERNET, build.ether(build.ipv4(b"x" * 8, 253))))],
        {"cqe": A}),
]
