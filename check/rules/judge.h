// What several rules need: the headers right before BTH, and findings that have no single right value.
#pragma once

#include <cstdint>
#include <optional>
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

// Class RD: on some devices these opcodes are DC packets, whose layout is not public.
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

// Two headers contradict each other on this one's length.
inline const dissect::Event* bad_length_of(const dissect::Packet& p, const dissect::Header& header) {
  for (const dissect::Event& e : p.events())
    if (e.problem == dissect::Problem::bad_length && e.where == &header) return &e;
  return nullptr;
}

// --- Frames in which no BTH was reached ---

// The UDP header of a datagram that is meant as RoCEv2; nullptr: none. A sender with a port below 1024 is a server that
// answers somebody whose own port happens to be 4791.
inline const dissect::Layer* roce_udp(const dissect::Packet& p) {
  const dissect::Layer* udp = nullptr;
  for (const dissect::Layer& layer : p.layers())
    if (is<dissect::Udp>(&layer)) udp = &layer;
  if (!udp) return nullptr;
  const dissect::View<dissect::Udp> view(p.data(*udp));
  return view.get<"dstport">() == dissect::port_roce_v2 && view.get<"srcport">() >= 1024 ? udp : nullptr;
}

// A BTH was due, and the packet ends before or in it.
inline const dissect::Event* lacks_bth(const dissect::Packet& p) {
  for (const dissect::Event& e : p.events())
    if (e.problem == dissect::Problem::truncated && e.where == &dissect::header<dissect::Bth>) return &e;
  return nullptr;
}

// The bytes that the IP header before this UDP header has for it; nullopt: it does not say.
inline std::optional<std::uint32_t> ip_room(const dissect::Packet& p, const dissect::Layer& udp) {
  for (const dissect::Layer* layer = &udp; layer-- != p.layers().data();) {
    const std::uint8_t* b = p.data(*layer);
    std::uint32_t end = layer->at;
    if (is<dissect::Ipv4>(layer))
      end += static_cast<std::uint32_t>(b[2] << 8 | b[3]);
    else if (is<dissect::Ipv6>(layer))
      end += dissect::Ipv6::bytes + static_cast<std::uint32_t>(b[4] << 8 | b[5]);
    else
      continue;
    if (end > udp.at) return end - udp.at;
    break;
  }
  return std::nullopt;
}

// The CRC of the link says so. No ICRC is there to tell.
inline bool is_damaged(const dissect::Packet& p) {
  if (p.vcrc().status == dissect::CrcStatus::bad) return true;
  const dissect::Layer* fcs = p.find(dissect::header<dissect::EthernetFcs>);
  dissect::Value status;
  return fcs && dissect::ethernet_fcs_status(p, *fcs, 0, status) &&
         status.number == static_cast<std::uint64_t>(dissect::CrcStatus::bad);
}

}  // namespace rdmascope::check
