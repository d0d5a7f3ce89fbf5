// test as TAP version 13: one line for each verdict, with a YAML block where something went wrong.
#include <fmt/format.h>

#include "cli/test_report.h"

namespace rdmascope::cli {
namespace {

using replay::Case;
using replay::Verdict;

class TapReport final : public TestReport {
 public:
  TapReport(TestReportOptions options, Output output) : TestReport(std::move(options), std::move(output)) {
    out().put("TAP version 13\n");
  }

 private:
  void put_case(const Case& c, std::string_view path) override {
    const bool bad =
        c.verdict == Verdict::failed || c.verdict == Verdict::error || c.verdict == Verdict::known_deviation;
    out().put(fmt::format("{} {} - ", bad ? "not ok" : "ok", total()));
    // A # begins a directive.
    std::string title = c.id + " " + c.title;
    for (char& ch : title)
      if (ch == '#') ch = ' ';
    out().printable(title);
    if (c.verdict == Verdict::not_applicable || c.verdict == Verdict::skipped) {
      out().put(" # SKIP ");
      out().printable(c.verdict == Verdict::not_applicable ? "not applicable: " + c.message : c.message);
    }
    if (c.verdict == Verdict::known_deviation) out().put(" # TODO known deviation");  // does not fail the run
    out().put('\n');
    if (!bad) return;
    out().put("  ---\n");
    const auto entry = [&](std::string_view key, std::string_view value) {
      out().put(fmt::format("  {}: \"", key));
      out().json_escaped(value);  // YAML takes JSON's strings
      out().put("\"\n");
    };
    entry("severity", c.verdict == Verdict::error ? "error" : "fail");
    entry("message", c.message);
    entry("script", path);
    if (!c.details.empty()) {
      out().put("  details:\n");
      for (const std::string& detail : c.details) {
        out().put("    - \"");
        out().json_escaped(detail);
        out().put("\"\n");
      }
    }
    out().put("  ...\n");
  }

  void put_end() override { out().put(fmt::format("1..{}\n# {}\n", total(), summary())); }
};

}  // namespace

std::unique_ptr<TestReport> make_test_tap_report(TestReportOptions options, Output output) {
  return std::make_unique<TapReport>(std::move(options), std::move(output));
}

}  // namespace rdmascope::cli
