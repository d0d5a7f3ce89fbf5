// What a rule says: which rule, where, which field, what it should have been. Findings are rare; they may own text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdmascope::check {

// Three verdicts, never mixed.
enum class Class : std::uint8_t {
  violation,  // a sender broke the specification
  anomaly,    // legal but unhealthy: loss, retry, RNR, congestion
  artifact,   // the capture is at fault: missed frames, snap length, one direction only
};
enum class Severity : std::uint8_t { error, warning, info };

std::string_view name(Class c);
std::string_view name(Severity s);

struct RuleInfo {
  std::string_view id;     // "Q-02"; stable, users filter on it
  std::string_view title;  // one line
  Class kind = Class::violation;
  Severity severity = Severity::error;
  std::string_view ibta;    // statement number where it is publicly known, else empty
  std::string_view source;  // where the rule comes from
  std::string_view help;    // what it means, what usually causes it, what to look at next
};

struct Finding {
  const RuleInfo* rule = nullptr;
  Class kind = Class::violation;  // the rule's, unless the rule knows better
  std::uint64_t frame = 0;        // 0: about the connection as a whole
  std::int64_t time_ns = 0;
  std::uint32_t connection = 0;  // id; 0: none
  const struct Connection* of = nullptr;
  std::uint8_t side = 0;   // who sent the packet at fault
  std::string_view field;  // full name of a field, in static storage; empty: none
  std::optional<std::uint64_t> expected, actual;
  std::string text;  // one sentence with what the numbers do not say; may be empty
  std::uint32_t cdi_flow = 0;  // number of CDI's connection; 0: none
};

// "infiniband.bth.psn", 5: as the field is shown, with its name where the value has one.
std::string field_value(std::string_view field, std::uint64_t value);
// "infiniband.aeth.msn: expected 2, got 1 (fewer than the messages acknowledged)"
std::string words(const Finding& finding);

}  // namespace rdmascope::check
