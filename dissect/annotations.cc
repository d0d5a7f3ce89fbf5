#include "dissect/annotations.h"

#include "dissect/packet.h"

namespace rdmascope::dissect {
namespace {

bool number(unsigned n, std::uint64_t value, Value& out) {
  if (n > 0 || value == 0) return false;
  out.kind = Value::Kind::number;
  out.number = value;
  return true;
}

bool text(std::string_view value, Value& out) {
  out.kind = Value::Kind::text;
  out.text = value;
  return true;
}

const Note* note(const Packet& p, unsigned n) {
  return n < p.annotations->notes.size() ? &p.annotations->notes[n] : nullptr;
}

}  // namespace

void annotate(Packet& packet, const Annotations& a) {
  packet.annotations = &a;
  packet.joined = a.record;
  std::uint32_t at = 0;
  for (const Header* h : a.record_headers) {
    packet.add_annotation(*h, Layer::joined + at, h->bytes);
    at += h->bytes;
  }
  if (a.flow != 0 || !a.notes.empty()) packet.add_annotation(header<Analysis>);
  if (a.request_in != 0 || a.response_in != 0 || a.retransmission) packet.add_annotation(header<Exchange>);
}

bool annotation_flow(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->flow, out);
}
bool annotation_message(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->message, out);
}
bool annotation_finding(const Packet& p, const Layer&, unsigned n, Value& out) {
  const Note* found = note(p, n);
  return found && text(found->text, out);
}
bool annotation_finding_rule(const Packet& p, const Layer&, unsigned n, Value& out) {
  const Note* found = note(p, n);
  return found && text(found->rule, out);
}
bool annotation_finding_class(const Packet& p, const Layer&, unsigned n, Value& out) {
  const Note* found = note(p, n);
  if (!found) return false;
  out.kind = Value::Kind::number;
  out.number = found->kind;
  return true;
}
bool annotation_request_in(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->request_in, out);
}
bool annotation_response_in(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->response_in, out);
}
bool annotation_retransmission(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->retransmission, out);
}
bool annotation_retransmission_of(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->retransmission_of, out);
}

}  // namespace rdmascope::dissect
