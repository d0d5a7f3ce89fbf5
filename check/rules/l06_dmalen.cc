// L-06: DMALen is at most 2^31; of a FLUSH at most 2^31 - 1.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

constexpr std::uint64_t most = 0x80000000;

void packet(const Context& c, Findings& out) {
  if (!(c.opcode.extensions & dissect::ext_reth)) return;
  const auto reth = c.packet.find<dissect::Reth>();
  if (!reth || reth->get<"dmalen">() < most) return;
  const std::uint64_t length = reth->get<"dmalen">();
  const bool flush = c.opcode.extensions & dissect::ext_feth;
  if (flush) {
    const auto feth = c.packet.find<dissect::Feth>();
    if (!feth || feth->get<"sel">() != 0) return;  // whole region: the length means nothing
  } else if (length == most) {
    return;
  }
  out.mismatch(l06_dmalen.info, c, "infiniband.reth.dmalen", flush ? most - 1 : most, length, "at most");
}

}  // namespace

const Rule l06_dmalen{{.id = "L-06",
                       .title = "DMALen is at most 2^31 bytes",
                       .ibta = "C9-94",
                       .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; FLUSH: linux-rdma, December 2021, "
                                 "RDMA/rxe: Add RDMA FLUSH operation",
                       .help = R"(A message is at most 2^31 bytes long, so is the DMALen of a WRITE or READ; a FLUSH
names a range of at most one byte less. A responder refuses a larger one as an invalid request.

Usual causes: a negative length that was converted to an unsigned number, a RETH in the wrong place or byte order.

Look next at: VA and R_Key of the same RETH. If they make no sense either, the header is shifted; else the
application posted this length.)"},
                      on_request,
                      packet};

}  // namespace rdmascope::check
