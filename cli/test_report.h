// What `test` prints: text for people, a page to look at (HTML), TAP, JUnit and JSON for programs. A report hears
// verdicts as they come and the end.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "replay/report.h"

namespace rdmascope::cli {

enum class TestForm { text, tap, junit, json, ndjson, html };
inline constexpr Choice<TestForm> test_form_choices[] = {{"text", TestForm::text},     {"tap", TestForm::tap},
                                                         {"junit", TestForm::junit},   {"json", TestForm::json},
                                                         {"ndjson", TestForm::ndjson}, {"html", TestForm::html}};
// A report in a file has the form that its ending says.
inline constexpr Choice<TestForm> test_report_endings[] = {{".txt", TestForm::text},      {".tap", TestForm::tap},
                                                           {".xml", TestForm::junit},     {".json", TestForm::json},
                                                           {".ndjson", TestForm::ndjson}, {".html", TestForm::html}};

struct TestReportOptions {
  TestForm form = TestForm::text;
  bool color = false, utf8 = false;
  bool steps = false;     // text: of every test, else of those that did not pass
  bool diagrams = false;  // text: what passed between tester and device, drawn
  std::string dut;        // as the user named it
};

class TestReport {
 public:
  TestReport(TestReportOptions options, Output output);
  virtual ~TestReport() = default;

  // What happens, for those who tell it at once: a test begins (`id` is empty before the script has said it), one of
  // its events, a long loop goes on.
  virtual void begins(std::string_view id, std::string_view path) { static_cast<void>(id), static_cast<void>(path); }
  virtual void heard(const replay::Event& event) { static_cast<void>(event); }
  virtual void progress(std::uint64_t done, std::uint64_t all) { static_cast<void>(done), static_cast<void>(all); }

  // `path`: of its script, as shown.
  void add(const replay::Case& c, std::string_view path);
  // False: writing failed.
  bool finish();
  const std::string& error() const { return output_.error(); }

  std::uint64_t count(replay::Verdict verdict) const { return counts_[static_cast<std::size_t>(verdict)]; }
  std::uint64_t total() const;

 protected:
  virtual void put_case(const replay::Case& c, std::string_view path) = 0;
  virtual void put_end() = 0;

  dissect::Text& out() { return output_.text(); }
  void written() { output_.packet_done(); }
  // "12 tests: 10 passed, 1 failed, 1 not applicable"
  std::string summary() const;

  TestReportOptions options_;

 private:
  Output output_;
  std::array<std::uint64_t, 6> counts_{};
};

// To standard output, or to the file that `output` is.
std::unique_ptr<TestReport> make_test_report(TestReportOptions options, Output output = Output(true));
using MakeTestReport = std::unique_ptr<TestReport>(TestReportOptions options, Output output);
MakeTestReport make_test_text_report, make_test_tap_report, make_test_junit_report, make_test_json_report,
    make_test_ndjson_report, make_test_html_report;

// A case with all its events as a JSON object, and one event.
void put_json(dissect::Text& out, const replay::Case& c, std::string_view path);
void put_json(dissect::Text& out, const replay::Event& event);

// "line 9    1.250 ms  expect RC_SEND_ONLY psn S+0"
std::string step_line(const replay::Event& event);

// Two lifelines, time downwards: what the tester and the device sent and did.
void draw_conversation(dissect::Text& out, const replay::Case& c, bool utf8);

}  // namespace rdmascope::cli
