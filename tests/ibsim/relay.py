"""Stands between one client of ibsim and ibsim, and keeps every MAD that passes as a frame of an InfiniBand link.

The client is told another name for ibsim; what it says goes on under a name of the relay's own. The frames have LRH, BTH, DETH,
ICRC and VCRC, made here, since ibsim knows none. The MADs are as they passed: hop pointers stay 0.
"""
import os
import select
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import make_captures as golden  # noqa: E402  packets and CRCs, without our code

CONTROL, DATAGRAM = 80, 288
CONNECT = 1
SMP = (0x01, 0x81)


def name(text):
    return b"\0" + text.encode() + b"\0"


def bound(text):
    out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    out.bind(name(text))
    return out


def frame(datagram, psn):
    dlid, _, slid, _, dqp, sqp = struct.unpack(">HHHHII", datagram[:16])
    mad = datagram[32:288]
    smp = mad[1] in SMP
    transport = golden.ib(0x64, psn, mad, qp=dqp, srcqp=sqp, q_key=0 if smp else 0x80010000, m=0)
    return golden.native(transport, dlid=dlid, slid=slid, vl=15 if smp else 0)


class Relay:
    """`ibsim`: the name of the real one. Until stop()."""

    def __init__(self, ibsim):
        self.ibsim, self.name = ibsim, ibsim + "-relay"
        self.frames, self.packets = [], [0, 0]
        own = os.getpid() & 0x3fffffff
        self.own = own
        self.control = bound(self.name + ":ctl")
        self.up_control = bound("%s:ctl%d" % (ibsim, own))
        self.up_control.connect(name(ibsim + ":ctl"))
        self.data = self.up_data = None
        self.wake_read, self.wake_write = os.pipe()
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()

    def answer(self):
        message, sender = self.control.recvfrom(CONTROL)
        kind, = struct.unpack_from("I", message, 8)
        out = bytearray(message)
        if kind == CONNECT:
            theirs, = struct.unpack_from("I", message, 16)
            struct.pack_into("I", out, 16, self.own)
            self.up_data = bound("%s:in%d" % (self.ibsim, self.own))
        self.up_control.send(bytes(out))
        reply = self.up_control.recv(CONTROL)
        if kind == CONNECT and struct.unpack_from("I", reply, 8)[0] == CONNECT:
            number, = struct.unpack_from("I", reply, 16)
            self.up_data.connect(name("%s:out%d" % (self.ibsim, number)))
            self.data = bound("%s:out%d" % (self.name, number))
            self.data.connect(name("%s:in%d" % (self.name, theirs)))
        self.control.sendto(reply, sender)

    def pass_on(self, source, target, way):
        datagram = source.recv(512)
        # Status: what could not be delivered comes back to the client, and has been on no link.
        if len(datagram) == DATAGRAM and struct.unpack_from(">I", datagram, 16)[0] == 0:
            self.frames.append(frame(datagram, self.packets[way]))
            self.packets[way] += 1
        try:
            target.send(datagram)
        except OSError:
            pass  # the client has gone

    def loop(self):
        while True:
            sources = [s for s in (self.control, self.data, self.up_data, self.wake_read) if s is not None]
            ready = select.select(sources, [], [])[0]
            if self.wake_read in ready:
                return
            if self.control in ready:
                self.answer()
            if self.data is not None and self.data in ready:
                self.pass_on(self.data, self.up_data, 0)
            if self.up_data is not None and self.up_data in ready and self.data is not None:
                self.pass_on(self.up_data, self.data, 1)

    def stop(self):
        os.write(self.wake_write, b"x")
        self.thread.join()
        for one in (self.control, self.up_control, self.data, self.up_data):
            if one is not None:
                one.close()
        os.close(self.wake_read)
        os.close(self.wake_write)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(golden.pcap(247, self.frames))
