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
#include "check/verdict.h"
#include "cli/output.h"

namespace rdmascope::cli {

using check::counted;
using check::ends_of;
using check::sentence;
using check::Tallies;
using check::Tally;
using check::transport_name;

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

}  // namespace rdmascope::cli
