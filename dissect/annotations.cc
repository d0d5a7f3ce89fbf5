#include "dissect/annotations.h"

#include <fmt/format.h>

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
  if (!a.cdi.empty()) packet.add_annotation(header<CdiProbeStates>);
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

// --- CDI -------------------------------------------------------------------------------------------------------------

namespace {

bool state(unsigned n, ProbeState value, Value& out) {
  if (n > 0 || value == ProbeState::unknown) return false;
  out.kind = Value::Kind::number;
  out.number = static_cast<std::uint64_t>(value);
  return true;
}

}  // namespace

bool annotation_cdi_flow(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->cdi_flow, out);
}
bool annotation_cdi_tx(const Packet& p, const Layer&, unsigned n, Value& out) {
  return state(n, p.annotations->cdi.back().tx_state, out);
}
bool annotation_cdi_rx(const Packet& p, const Layer&, unsigned n, Value& out) {
  return state(n, p.annotations->cdi.back().rx_state, out);
}
bool annotation_cdi_request_in(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->cdi.back().request_in, out);
}
bool annotation_cdi_response_in(const Packet& p, const Layer&, unsigned n, Value& out) {
  return number(n, p.annotations->cdi.back().response_in, out);
}

// "  4.023552  SendProtocolVersion  <---- Ack #1 of Reset #3 ------  EfaProbe": Tx on the left, in seconds of the
// capture.
bool annotation_cdi_ladder(const Packet& p, const Layer&, unsigned n, Value& out) {
  constexpr int arrow = 34;
  const std::span<const CdiStep> steps = p.annotations->cdi;
  if (n >= steps.size()) return false;
  const CdiStep& s = steps[n];
  const auto command = [](std::uint64_t code) {
    const std::string_view known = name_of(cdi_commands, code);
    return known.empty() ? "?" : known;
  };
  std::array<char, 64> label;
  const auto label_end = s.ack_command != 0
                             ? fmt::format_to_n(label.data(), label.size(), " {} #{} of {} #{} ", command(s.command),
                                                s.number, command(s.ack_command), s.ack_number)
                             : fmt::format_to_n(label.data(), label.size(), " {} #{} ", command(s.command), s.number);
  const std::string_view words(label.data(), std::min(label_end.size, label.size()));
  const double seconds = static_cast<double>(p.frame.time_relative_ns - (p.frame.time_ns - s.time_ns)) / 1e9;
  const auto end = fmt::format_to_n(out.scratch.data(), out.scratch.size(), "{:11.6f}  {:<19}  {}{:-^{}}{}  {}",
                                    seconds, short_name(s.tx_state), s.by_tx ? '-' : '<', words, arrow,
                                    s.by_tx ? '>' : '-', short_name(s.rx_state));
  return text({out.scratch.data(), std::min(end.size, out.scratch.size())}, out);
}

}  // namespace rdmascope::dissect
