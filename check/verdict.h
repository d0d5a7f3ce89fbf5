// What was found in a capture, counted and in words: the same for every front end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/checker.h"

namespace rdmascope::check {

// Findings of one rule and class.
struct Tally {
  const RuleInfo* rule;
  Class kind;
  std::uint64_t count = 0, first_frame = 0, last_frame = 0;
  std::vector<std::uint32_t> connections;  // the first few
  bool more_connections = false;
  std::vector<std::string> examples;  // the first few, one sentence each
};

class Tallies {
 public:
  explicit Tallies(std::size_t examples) : examples_(examples) {}
  void add(const Finding& finding, const Connection* connection);
  // Two halves turned out to be one connection: what was found on `half` was found on `id`.
  void joined(std::uint32_t half, std::uint32_t id);
  // In the order of the catalogue.
  std::vector<const Tally*> of(Class kind) const;
  std::uint64_t count(Class kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  std::size_t rules(Class kind) const { return of(kind).size(); }
  // Anomalies that are more than a remark: of severity warning or error.
  bool unhealthy() const;
  // The violation that came first: "in frame 5 (F-06, ...)".
  const std::optional<std::string>& first_violation() const { return first_violation_; }

 private:
  std::size_t examples_;
  std::vector<Tally> tallies_;
  std::array<std::uint64_t, 3> counts_{};
  std::optional<std::string> first_violation_;
};

// "frame 14, from 10.77.0.1: infiniband.aeth.msn: expected 2, got 1 (fewer than the messages acknowledged)"
std::string sentence(const Finding& finding, const Connection* connection);
// "10.77.0.1 0x000022 <-> 10.77.0.2 0x000020"
std::string ends_of(const Connection& connection);
std::string_view transport_name(dissect::Transport transport);
// "1 frame", "2 frames"
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});
// The verdict on the capture in one sentence.
std::string verdict(const Totals& totals, const Tallies& tallies);

}  // namespace rdmascope::check
