// What front ends list when a capture is over: findings and connections, each as a row that outlives the checker, and
// what the verdict counts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "check/connection.h"
#include "check/finding.h"
#include "check/verdict.h"

namespace rdmascope::check {

// A finding that a table can show and a click can follow.
struct FoundRow {
  const RuleInfo* rule;
  Class kind;
  std::uint64_t frame;       // 0: about a connection as a whole
  std::uint32_t connection;  // id; 0: none
  std::uint32_t cdi_flow;    // 0: none
  std::string_view field;    // in static storage; empty: none
  std::string text;          // one sentence, as `check` prints it
};

// A connection, as the table of `check` has it.
struct ConnectionRow {
  std::uint32_t id = 0;
  std::array<std::string, 2> end;  // "10.77.0.1 0x000022"; side 0 sent the first packet
  std::string ends;                // both, as `check` prints them
  dissect::Transport transport = dissect::Transport::rc;
  bool paired = false;
  std::string_view paired_by;                       // "CM"
  std::uint32_t pmtu = 0;                           // bytes; 0: not known
  std::array<std::uint64_t, 2> packets{}, bytes{};  // sent by each side
  std::uint64_t messages = 0, completed = 0, retransmitted = 0, not_judged = 0;
  std::uint64_t first_frame = 0, last_frame = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::array<std::uint32_t, 3> found{};  // findings by class
};
ConnectionRow row_of(const Connection& c);

// Told what a Listener is told. A capture has more findings than are kept only when something is very wrong.
class Lists {
 public:
  static constexpr std::size_t most_findings = 1'000'000;

  void finding(const Finding& f, const Connection* c);
  void ended(const Connection& c);
  // At the end. What was said of a half before it was paired belongs to the whole.
  void settle();
  // The connection that a half has become part of, on its other side; nullopt: it is none.
  std::optional<std::uint32_t> whole_of(std::uint32_t id) const;

  std::vector<FoundRow> findings;          // in the order of the capture
  std::vector<ConnectionRow> connections;  // settled: in order of id
  std::uint64_t left_out = 0;              // findings beyond what is kept
  Tallies tallies{1};

 private:
  absl::flat_hash_map<std::uint32_t, std::uint32_t> halves_;
};

}  // namespace rdmascope::check
