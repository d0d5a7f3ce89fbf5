// R-16: each request gets its kind of response: READ, FLUSH and ATOMIC WRITE a READ response (the latter two an empty
// one), atomics an ATOMIC ACK, with the request's PSN; SENDs and WRITEs a plain acknowledge.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings& out) {
  const ResponseFacts& f = *c.response;
  if (!f.judged || f.ahead) return;
  const char* wanted = nullptr;
  std::uint8_t opcode = c.opcode_byte;
  const std::uint8_t transport = c.opcode_byte & 0xe0;
  std::uint64_t frame = 0;
  std::string_view request;
  if (f.request) {
    const bool atomic = f.request->operation == Operation::compare_swap || f.request->operation == Operation::fetch_add;
    frame = f.request->frame;
    request = name(f.request->operation);
    if (atomic && (f.kind == ResponseFacts::Kind::ack || f.kind == ResponseFacts::Kind::read)) {
      wanted = "an ATOMIC ACK";
      opcode = transport | 0x12;
    } else if (!atomic && f.kind == ResponseFacts::Kind::atomic_ack) {
      wanted = "a READ response";
      opcode = transport | 0x10;
    } else if (f.kind == ResponseFacts::Kind::ack && !(c.flow->retransmitted > 0 && f.request->answered)) {
      wanted = "a READ response";  // R-13 tells of duplicates
      opcode = transport | 0x10;
    } else if (f.kind == ResponseFacts::Kind::read && f.request->operation != Operation::read &&
               c.opcode.position != dissect::Position::only) {
      wanted = "an empty READ Response Only";
      opcode = transport | 0x10;
    }
  } else if (f.kind == ResponseFacts::Kind::read || f.kind == ResponseFacts::Kind::atomic_ack) {
    const SentPacket* const sent = sent_at(*c.flow, c.psn);
    if (!sent || operation_of(sent->opcode) >= Operation::read) return;
    frame = sent->frame;
    request = name(operation_of(sent->opcode));
    wanted = "an acknowledge";
    opcode = transport | 0x11;
  }
  if (!wanted) return;
  out.mismatch(r16_answer_kind.info, c, "infiniband.bth.opcode", opcode, c.opcode_byte,
               fmt::format("the {} of frame {} wants {}", request, frame, wanted));
}

}  // namespace

const Rule r16_answer_kind{
    {.id = "R-16",
     .title = "Each request gets its kind of response",
     .source = "Linux drivers/infiniband/sw/rxe: rxe_resp.c; FLUSH: linux-rdma, December 2021, RDMA/rxe: Add RDMA "
               "FLUSH operation",
     .help =
         R"(READs are answered with READ responses, compare-and-swap and fetch-and-add with an ATOMIC Acknowledge, FLUSH and
ATOMIC WRITE with one READ Response Only without payload, SENDs and WRITEs with an Acknowledge. A plain acknowledge never
answers a READ or atomic; to the requester it is an implied NAK.

Usual causes: a responder that acknowledges every request the same way; a response with a wrong PSN.

Look next at: the request named in the finding.)"},
    on_response,
    packet};

}  // namespace rdmascope::check
