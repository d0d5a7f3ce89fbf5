// test as JUnit, as check writes it: one suite, a case for each verdict. Times are left out: the output of two runs is
// the same.
#include <fmt/format.h>

#include "cli/test_report.h"
#include "cli/xml.h"

namespace rdmascope::cli {
namespace {

using replay::Case;
using replay::Event;
using replay::Verdict;

class JunitReport final : public TestReport {
 public:
  using TestReport::TestReport;

 private:
  // Counts stand at the start of the file, so cases wait for the end.
  void put_case(const Case& c, std::string_view path) override {
    cases_ += fmt::format("    <testcase classname=\"rdmascope.test\" name=\"{}\" file=\"{}\"",
                          xml(fmt::format("{} {}", c.id, c.title)), xml(path));
    if (c.verdict == Verdict::passed) {
      cases_ += "/>\n";
      return;
    }
    cases_ += ">\n";
    std::string lines = c.message + '\n';
    for (const std::string& detail : c.details) lines += detail + '\n';
    if (c.verdict == Verdict::failed)
      cases_ +=
          fmt::format("      <failure type=\"failed\" message=\"{}\">{}</failure>\n", xml(c.message), xml_lines(lines));
    else if (c.verdict == Verdict::error)
      cases_ +=
          fmt::format("      <error type=\"error\" message=\"{}\">{}</error>\n", xml(c.message), xml_lines(lines));
    else
      cases_ +=
          fmt::format("      <skipped message=\"{}\"/>\n", xml(fmt::format("{}: {}", name(c.verdict), c.message)));
    if (c.verdict == Verdict::failed || c.verdict == Verdict::error) {
      std::string steps;
      for (const Event& event : c.events) steps += step_line(event) + '\n';
      cases_ += fmt::format("      <system-out>{}</system-out>\n", xml_lines(steps));
    }
    cases_ += "    </testcase>\n";
  }

  void put_end() override {
    const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", total(),
                                           count(Verdict::failed), count(Verdict::error));
    out().put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out().put(fmt::format("<testsuites name=\"rdmascope test\" {}>\n", counts));
    out().put(fmt::format("  <testsuite name=\"{}\" {} skipped=\"{}\">\n", xml(options_.dut), counts,
                          count(Verdict::skipped) + count(Verdict::not_applicable) + count(Verdict::known_deviation)));
    out().put(cases_);
    out().put(fmt::format("    <system-out>{}</system-out>\n", xml(summary())));
    out().put("  </testsuite>\n</testsuites>\n");
  }

  std::string cases_;
};

}  // namespace

std::unique_ptr<TestReport> make_test_junit_report(TestReportOptions options, Output output) {
  return std::make_unique<JunitReport>(std::move(options), std::move(output));
}

}  // namespace rdmascope::cli
