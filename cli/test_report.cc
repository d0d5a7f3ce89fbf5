#include "cli/test_report.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace rdmascope::cli {

using replay::Case;
using replay::Event;
using replay::Verdict;

TestReport::TestReport(TestReportOptions options, Output output)
    : options_(std::move(options)), output_(std::move(output)) {}

void TestReport::add(const Case& c, std::string_view path) {
  ++counts_[static_cast<std::size_t>(c.verdict)];
  put_case(c, path);
  output_.packet_done();
}

bool TestReport::finish() {
  put_end();
  output_.flush();
  return output_.error().empty();
}

std::uint64_t TestReport::total() const { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

std::string TestReport::summary() const {
  std::vector<std::string> parts;
  for (const Verdict v : {Verdict::passed, Verdict::failed, Verdict::error, Verdict::known_deviation,
                          Verdict::not_applicable, Verdict::skipped})
    if (count(v) > 0)
      parts.push_back(v == Verdict::error || v == Verdict::known_deviation
                          ? fmt::format("{} {}{}", count(v), name(v), count(v) == 1 ? "" : "s")
                          : fmt::format("{} {}", count(v), name(v)));
  return fmt::format("{} test{}{}{}", total(), total() == 1 ? "" : "s", parts.empty() ? "" : ": ",
                     fmt::join(parts, ", "));
}

std::unique_ptr<TestReport> make_test_report(TestReportOptions options, Output output) {
  static constexpr MakeTestReport* const makers[] = {make_test_text_report,   make_test_tap_report,
                                                     make_test_junit_report,  make_test_json_report,
                                                     make_test_ndjson_report, make_test_html_report};
  return makers[static_cast<std::size_t>(options.form)](std::move(options), std::move(output));
}

std::string step_line(const Event& event) {
  const auto what = [&]() -> std::string {
    switch (event.kind) {
      case Event::Kind::sent:
        return "tester -> DUT  " + event.text;
      case Event::Kind::received:
        return "DUT -> tester  " + event.text;
      case Event::Kind::posted:
      case Event::Kind::completion:
        return "DUT            " + event.text;
      case Event::Kind::printed:
        return "print          " + event.text;
      case Event::Kind::step:
      case Event::Kind::note:
        break;
    }
    return event.text;
  }();
  const std::string line = event.line > 0 ? fmt::format("{:>5}", event.line) : "     ";
  return fmt::format("{} {:>13.6f} ms  {}{}", line, static_cast<double>(event.time_ns) / 1e6, what,
                     event.good ? "" : "  <- here");
}

}  // namespace rdmascope::cli
