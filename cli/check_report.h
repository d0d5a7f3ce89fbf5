// What `check` prints: text for people, JSON for programs, JUnit for continuous integration. A report hears findings as
// they come, connections when they end, and the totals last. Findings are counted by rule or written out at once, never
// gathered.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/checker.h"
#include "cli/output.h"

namespace rdmascope::cli {

enum class ReportForm { text, json, junit };
inline constexpr Choice<ReportForm> report_choices[] = {
    {"text", ReportForm::text}, {"json", ReportForm::json}, {"junit", ReportForm::junit}};

struct ReportOptions {
  ReportForm form = ReportForm::text;
  bool color = false;
  bool all_connections = false;  // text: every one, else the first of many
  bool filtered = false;         // only packets that match are judged
  std::vector<std::string> files;
  std::vector<const check::Rule*> rules;  // judged
};

// Findings of one rule and class.
struct Tally {
  const check::RuleInfo* rule;
  check::Class kind;
  std::uint64_t count = 0, first_frame = 0, last_frame = 0;
  std::vector<std::uint32_t> connections;  // the first few
  bool more_connections = false;
  std::vector<std::string> examples;  // the first few, one sentence each
};

class Tallies {
 public:
  explicit Tallies(std::size_t examples) : examples_(examples) {}
  void add(const check::Finding& finding, const check::Connection* connection);
  // Two halves turned out to be one connection: what was found on `half` was found on `id`.
  void joined(std::uint32_t half, std::uint32_t id);
  // In the order of the catalogue.
  std::vector<const Tally*> of(check::Class kind) const;
  std::uint64_t count(check::Class kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  std::size_t rules(check::Class kind) const { return of(kind).size(); }
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

class Report : public check::Listener {
 public:
  explicit Report(ReportOptions options);
  ~Report() override = default;

  void finding(const check::Finding& finding, const check::Connection* connection) final;
  // During the run: its queue pair was used anew. After it: all that are left.
  void ended(const check::Connection& connection) final;
  void end_of_cdi(const check::CdiFlows& flows, std::int64_t begin_ns, std::int64_t end_ns) final;

  // The capture ended; call finish() of the checker between the two.
  void capture_ends() { capture_ended_ = true; }
  // False: standard output failed.
  bool finish(check::Checker& checker);
  const std::string& error() const { return output_.error(); }
  std::uint64_t violations() const { return tallies_.count(check::Class::violation); }

 protected:
  virtual void put_finding(const check::Finding&, const check::Connection*) {}
  virtual void put_connection(const check::Connection& connection) = 0;
  // A connection of CDI and its course, a sentence each. After all findings, before put_end().
  virtual void put_cdi(const check::CdiFlow&, const std::vector<std::string>& /*story*/) {}
  virtual void put_end(const check::Totals& totals) = 0;

  dissect::Text& out() { return output_.text(); }

  ReportOptions options_;
  Output output_;
  Tallies tallies_;

 private:
  bool capture_ended_ = false;
};

std::unique_ptr<Report> make_report(ReportOptions options);

// "frame 14, from 10.77.0.1: infiniband.aeth.msn: expected 2, got 1 (fewer than the messages acknowledged)"
std::string sentence(const check::Finding& finding, const check::Connection* connection);
// "10.77.0.1 0x000022 <-> 10.77.0.2 0x000020"
std::string ends_of(const check::Connection& connection);
std::string_view transport_name(dissect::Transport transport);
// "1 frame", "2 frames"
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});
// The verdict on the capture in one sentence.
std::string verdict(const check::Totals& totals, const Tallies& tallies);

}  // namespace rdmascope::cli
