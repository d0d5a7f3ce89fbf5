// L-11: the address of an atomic is a multiple of 8, also of ATOMIC WRITE.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

void judge(const Context& c, Findings& out, std::string_view field, std::uint64_t va) {
  if (va % 8 != 0) wrong(out, l11_alignment.info, c, field, va, "not a multiple of 8");
}

void packet(const Context& c, Findings& out) {
  if (c.opcode.extensions & dissect::ext_atomiceth) {
    if (const auto atomic = c.packet.find<dissect::Atomiceth>())
      judge(c, out, "infiniband.atomiceth.va", atomic->get<"va">());
  } else if (c.opcode.payload == dissect::PayloadRule::eight && c.opcode.confirmed) {
    if (const auto reth = c.packet.find<dissect::Reth>()) judge(c, out, "infiniband.reth.va", reth->get<"va">());
  }
}

}  // namespace

const Rule l11_alignment{
    {.id = "L-11",
     .title = "Atomics address a multiple of 8",
     .source = "Linux drivers/infiniband/hw/hfi1: rc.c",
     .help = R"(Compare-and-swap, fetch-and-add and ATOMIC WRITE work on eight bytes whose address is a multiple of
eight. A responder answers another address with NAK Invalid Request, and the requester's queue pair goes to the error
state.

Usual causes: a counter in a packed structure, a remote address computed from an offset in another unit, a buffer that
is not aligned at the responder.

Look next at: the NAK that follows, and how the two applications agree on the address.)"},
    on_request,
    packet};

}  // namespace rdmascope::check
