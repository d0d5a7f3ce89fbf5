// What `test` prints: text for people, TAP, JUnit and JSON for programs. A report hears verdicts as they come and the end.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "replay/report.h"

namespace rdmascope::cli {

enum class TestForm { text, tap, junit, json };
inline constexpr Choice<TestForm> test_form_choices[] = {
    {"text", TestForm::text}, {"tap", TestForm::tap}, {"junit", TestForm::junit}, {"json", TestForm::json}};

struct TestReportOptions {
  TestForm form = TestForm::text;
  bool color = false, utf8 = false;
  bool steps = false;     // text: of every test, else of those that did not pass
  bool diagrams = false;  // text: what passed between tester and device, drawn
  std::string dut;        // as the user named it
};

class TestReport {
 public:
  explicit TestReport(TestReportOptions options);
  virtual ~TestReport() = default;

  // `path`: of its script, as shown.
  void add(const replay::Case& c, std::string_view path);
  // False: standard output failed.
  bool finish();
  const std::string& error() const { return output_.error(); }

  std::uint64_t count(replay::Verdict verdict) const { return counts_[static_cast<std::size_t>(verdict)]; }
  std::uint64_t total() const;

 protected:
  virtual void put_case(const replay::Case& c, std::string_view path) = 0;
  virtual void put_end() = 0;

  dissect::Text& out() { return output_.text(); }
  // "12 tests: 10 passed, 1 failed, 1 not applicable"
  std::string summary() const;

  TestReportOptions options_;

 private:
  Output output_;
  std::array<std::uint64_t, 6> counts_{};
};

std::unique_ptr<TestReport> make_test_report(TestReportOptions options);
std::unique_ptr<TestReport> make_test_text_report(TestReportOptions options);
std::unique_ptr<TestReport> make_test_tap_report(TestReportOptions options);
std::unique_ptr<TestReport> make_test_junit_report(TestReportOptions options);
std::unique_ptr<TestReport> make_test_json_report(TestReportOptions options);

// "line 9    1.250 ms  expect RC_SEND_ONLY psn S+0"
std::string step_line(const replay::Event& event);

// Two lifelines, time downwards: what the tester and the device sent and did.
void draw_conversation(dissect::Text& out, const replay::Case& c, bool utf8);

}  // namespace rdmascope::cli
