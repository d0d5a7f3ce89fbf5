// What rules about requests, responses and health say in the same words.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "check/rules/judge.h"

namespace rdmascope::check {

// "0.014 ms", "2.5 s"
inline std::string duration(std::int64_t ns) {
  if (ns >= 1'000'000'000) return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
  return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
}

inline std::string count(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// Local ACK timeout of the side that sends requests, when CM told it; nullopt: not known or none.
inline std::optional<std::int64_t> ack_timeout_ns(const Connection& c, std::uint8_t requester) {
  const std::optional<std::uint8_t> code = c.facts[requester].ack_timeout;
  if (!code || *code == 0) return std::nullopt;
  return std::int64_t{4096} << *code;
}

// How many READs and atomics a side may have outstanding, when CM told it.
inline std::optional<std::uint32_t> read_depth(const Connection& c, std::uint8_t requester) {
  const std::optional<std::uint8_t> own = c.facts[requester].initiator_depth;
  const std::optional<std::uint8_t> other = c.facts[requester ^ 1].responder_resources;
  if (!own && !other) return std::nullopt;
  return std::min<std::uint32_t>(own.value_or(255), other.value_or(255));
}

// About an earlier packet: a field of it with two values.
inline void mismatch_at(Findings& out, const RuleInfo& rule, Connection& connection, std::uint8_t side,
                        std::uint64_t frame, std::int64_t time_ns, std::string_view field, std::uint64_t expected,
                        std::uint64_t actual, std::string text) {
  Finding f{&rule, rule.kind, frame, time_ns};
  f.side = side;
  f.field = field;
  f.expected = expected;
  f.actual = actual;
  f.text = std::move(text);
  out.add(&connection, std::move(f));
}

inline bool is_nak(const ResponseFacts& f) {
  return f.kind == ResponseFacts::Kind::sequence_nak || f.kind == ResponseFacts::Kind::rnr_nak ||
         f.kind == ResponseFacts::Kind::fatal_nak;
}

inline bool is_send(std::uint8_t opcode) { return operation_of(opcode) == Operation::send; }

// The packet with this PSN as it was first sent; nullptr: not remembered.
inline const SentPacket* sent_at(const Flow& flow, std::uint32_t psn) {
  for (std::size_t i = flow.sent.size(); i-- > 0;) {
    if (flow.sent[i].psn == psn) return &flow.sent[i];
    if (psn_diff(flow.sent[i].psn, psn) < 0) break;
  }
  return nullptr;
}

// "R_Key 0x1b2, VA 0x5500, 8192 bytes".
inline std::string range(std::uint64_t r_key, std::uint64_t va, std::uint64_t length) {
  return fmt::format("R_Key {:#x}, VA {:#x}, {} bytes", r_key, va, length);
}

}  // namespace rdmascope::check
