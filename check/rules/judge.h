// What several rules need: the headers right before BTH, and findings that have no single right value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "check/rule.h"
#include "dissect/headers.h"

namespace rdmascope::check {

// Bytes of payload are told as this field; a number of bytes, not their content.
inline constexpr std::string_view payload_field = "infiniband.payload.data";

// The layer n before BTH; nullptr: none.
inline const dissect::Layer* before_bth(const dissect::Packet& p, int n) {
  const int i = p.bth_layer - n;
  return i >= 0 ? &p.layers()[static_cast<std::size_t>(i)] : nullptr;
}
template <class H>
bool is(const dissect::Layer* layer) {
  return layer && layer->header == &dissect::header<H>;
}

inline bool is_roce_v2(const dissect::Packet& p) { return is<dissect::Udp>(before_bth(p, 1)); }

// The IP header that carries the UDP datagram with BTH; nullptr: not RoCEv2.
inline const dissect::Layer* ip_of(const dissect::Packet& p) {
  if (!is_roce_v2(p)) return nullptr;
  for (int n = 2; const dissect::Layer* layer = before_bth(p, n); ++n)
    if (is<dissect::Ipv4>(layer) || is<dissect::Ipv6>(layer)) return layer;
  return nullptr;
}

inline const dissect::Layer* grh_of(const dissect::Packet& p) {
  const dissect::Layer* layer = before_bth(p, 1);
  return is<dissect::Grh>(layer) ? layer : nullptr;
}

inline const dissect::Layer* lrh_of(const dissect::Packet& p) {
  const dissect::Layer* layer = before_bth(p, 1);
  if (is<dissect::Grh>(layer)) layer = before_bth(p, 2);
  return is<dissect::Lrh>(layer) ? layer : nullptr;
}

// Where the packet ends, and so its payload, is known: headers agree, nothing is missing.
inline bool lengths_agree(const dissect::Packet& p) {
  for (const dissect::Event& e : p.events())
    if (e.problem == dissect::Problem::bad_length || e.problem == dissect::Problem::truncated) return false;
  return true;
}

// Class RD: on some devices these opcodes are DC packets, whose layout is not public. ib-wire.md 3.1.
inline bool layout_known(const dissect::Opcode& opcode) {
  return opcode.defined && opcode.transport != dissect::Transport::rd;
}

inline bool is_connected(dissect::Transport t) {
  return t == dissect::Transport::rc || t == dissect::Transport::uc || t == dissect::Transport::xrc;
}

// A value that is wrong, where many others would be right.
inline void wrong(Findings& out, const RuleInfo& rule, const Context& c, std::string_view field, std::uint64_t actual,
                  std::string text) {
  Finding f{&rule, rule.kind, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.side;
  f.field = field;
  f.actual = actual;
  f.text = std::move(text);
  out.add(&c.connection, std::move(f));
}

}  // namespace rdmascope::check
