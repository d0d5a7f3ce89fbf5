// check for continuous integration: JUnit XML. One testsuite for the capture, one testcase for each rule that was
// judged. Violations are failures; what the other rules found stands in the system-out of their case. Times are left
// out: the output of two runs is the same.
#include <fmt/format.h>

#include "cli/check_report_forms.h"
#include "cli/xml.h"

namespace rdmascope::cli {
namespace {

using check::Class;

class JunitReport final : public Report {
 public:
  using Report::Report;

 private:
  void put_connection(const check::Connection&) override {}

  void put_end(const check::Totals& t) override {
    const std::vector<const Tally*> broken = tallies_.of(Class::violation);
    const std::string counts =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", options_.rules.size(), broken.size());
    const std::string name = xml(fmt::format("{}", fmt::join(options_.files, " ")));
    out().put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out().put(fmt::format("<testsuites name=\"rdmascope check\" {}>\n", counts));
    out().put(fmt::format("  <testsuite name=\"{}\" {} skipped=\"0\">\n    <properties>\n", name, counts));
    const auto property = [this](std::string_view key, std::uint64_t value) {
      out().put(fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", key, value));
    };
    property("frames", t.frames);
    property("rdma", t.rdma);
    property("connections", t.connections);
    property("icrc_good", t.icrc_good);
    property("icrc_bad", t.icrc_bad);
    property("icrc_unverified", t.icrc_unverified);
    property("cut", t.cut);
    property("not_judged", t.not_judged);
    property("refused", t.refused);
    out().put("    </properties>\n");
    for (const check::Rule* rule : options_.rules) put_rule(rule->info);
    out().put(fmt::format("    <system-out>{}</system-out>\n", xml(verdict(t, tallies_))));
    out().put("  </testsuite>\n</testsuites>\n");
  }

  void put_rule(const check::RuleInfo& rule) {
    out().put(fmt::format("    <testcase classname=\"rdmascope.check\" name=\"{}\"",
                          xml(fmt::format("{} {}", rule.id, rule.title))));
    std::string failure, others;
    for (Class kind : {Class::violation, Class::anomaly, Class::artifact})
      for (const Tally* tally : tallies_.of(kind)) {
        if (tally->rule != &rule) continue;
        std::string lines;
        for (const std::string& example : tally->examples) lines += example + '\n';
        if (tally->count > tally->examples.size())
          lines += fmt::format("and {} more\n", tally->count - tally->examples.size());
        if (kind == Class::violation)
          failure = fmt::format("      <failure type=\"violation\" message=\"{}\">{}</failure>\n",
                                xml(fmt::format("{}; {}", counted(tally->count, "violation"), tally->examples.front())),
                                xml_lines(lines));
        else
          others += fmt::format(
              "{}:\n{}", counted(tally->count, check::name(kind), kind == Class::anomaly ? "anomalies" : "artifacts"),
              lines);
      }
    if (failure.empty() && others.empty()) {
      out().put("/>\n");
      return;
    }
    out().put(">\n");
    out().put(failure);
    if (!others.empty()) out().put(fmt::format("      <system-out>{}</system-out>\n", xml_lines(others)));
    out().put("    </testcase>\n");
  }
};

}  // namespace

std::unique_ptr<Report> make_junit_report(ReportOptions options) {
  return std::make_unique<JunitReport>(std::move(options));
}

}  // namespace rdmascope::cli
