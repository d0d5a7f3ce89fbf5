// What the rules about completion queue entries share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "check/rules/all.h"

namespace rdmascope::check {

using dissect::Completion;
using dissect::CqeFormat;
using dissect::Fault;

// A field that both mlx4 variants have, by its full name.
inline std::string_view of_mlx4(const CompletionContext& c, std::string_view plain, std::string_view with_timestamp) {
  return c.entry.format == CqeFormat::mlx4 ? plain : with_timestamp;
}

// The mlx4 entry by the rows that both variants have.
inline dissect::View<dissect::Mlx4Cqe> mlx4(const CompletionContext& c) {
  return dissect::View<dissect::Mlx4Cqe>(c.entry.bytes);
}

inline bool is_success(const CompletionContext& c) { return c.entry.kind == Completion::Kind::completion; }
inline bool is_receive(const CompletionContext& c) { return is_success(c) && !c.entry.send; }

inline bool is_reliable(std::uint8_t qp_type) {
  return qp_type == dissect::qpt_rc || qp_type == dissect::qpt_xrc_send || qp_type == dissect::qpt_xrc_recv;
}

inline std::string_view syndrome_field(const CompletionContext& c) {
  return c.is_mlx5() ? "cqe.mlx5.syndrome" : of_mlx4(c, "cqe.mlx4.syndrome", "cqe.mlx4_ts.syndrome");
}
inline std::string_view opcode_field(const CompletionContext& c) {
  return c.is_mlx5() ? "cqe.mlx5.opcode" : of_mlx4(c, "cqe.mlx4.opcode", "cqe.mlx4_ts.opcode");
}
inline std::string_view byte_count_field(const CompletionContext& c) {
  return c.is_mlx5() ? "cqe.mlx5.byte_cnt" : of_mlx4(c, "cqe.mlx4.byte_cnt", "cqe.mlx4_ts.byte_cnt");
}
inline std::string_view counter_field(const CompletionContext& c) {
  return c.is_mlx5() ? "cqe.mlx5.wqe_counter" : of_mlx4(c, "cqe.mlx4.wqe_counter", "cqe.mlx4_ts.wqe_counter");
}

// Expected and actual, where the class depends on how they differ.
inline void mismatch_as(Findings& out, const RuleInfo& rule, const CompletionContext& c, std::string_view field,
                        std::uint64_t expected, std::uint64_t actual, std::string text, Class kind) {
  out.add(nullptr, Finding{&rule, kind, c.packet.frame.number, c.packet.frame.time_ns, 0, nullptr, 0, field, expected,
                           actual, std::move(text)});
}

}  // namespace rdmascope::check
