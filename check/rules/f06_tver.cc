// F-06: the transport header version is 0.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  if (const auto version = c.bth.get<"tver">(); version != 0)
    out.mismatch(f06_tver.info, c, "infiniband.bth.tver", 0, version);
}

}  // namespace

const Rule f06_tver{{.id = "F-06",
                     .title = "Transport header version is 0",
                     .source = "Linux drivers/infiniband/sw/rxe: rxe_recv.c",
                     .help = R"(The low four bits of the second BTH byte are the version of the transport header. Only
version 0 is defined. A receiver drops other packets without an answer, so the sender times out and repeats.

Usual causes: a packet generator that writes PadCnt into the wrong half of the byte, bytes that are no BTH (a port
4791 datagram that is not RoCE, a header inserted by a middlebox).

Look next at: PadCnt and the payload length of the same packet, and whether other fields of the BTH make sense.)"},
                    on_good,
                    packet};

}  // namespace rdmascope::check
