// test as a page to look at and to hand on: one file, no scripts, nothing from elsewhere. What failed is open.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/test_report.h"
#include "cli/xml.h"

namespace rdmascope::cli {
namespace {

using replay::Case;
using replay::Verdict;

constexpr std::string_view style = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color-scheme: light dark; }
details { border-left: 6px solid #888; margin: .3em 0; padding: .3em .8em; background: rgba(128,128,128,.08); }
details.passed { border-color: #2e7d32; } details.failed, details.error { border-color: #c62828; }
details.known { border-color: #b26a00; }
summary { cursor: pointer; } summary b { display: inline-block; min-width: 9em; }
pre { overflow-x: auto; font-size: 13px; line-height: 1.25; } .covers { opacity: .7; } .why { font-weight: 600; }
)";

std::string_view class_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::failed:
      return "failed";
    case Verdict::error:
      return "error";
    case Verdict::known_deviation:
      return "known";
    case Verdict::not_applicable:
    case Verdict::skipped:
      break;
  }
  return "other";
}

class HtmlReport final : public TestReport {
 public:
  using TestReport::TestReport;

 private:
  // The sentence about all of them stands on top, so cases wait for the end.
  void put_case(const Case& c, std::string_view path) override {
    const bool bad = c.verdict == Verdict::failed || c.verdict == Verdict::error;
    cases_ += fmt::format("<details class=\"{}\"{}><summary>{} <b>{}</b> {}</summary>\n", class_of(c.verdict),
                          bad ? " open" : "", replay::name(c.verdict), xml(c.id), xml(c.title));
    cases_ += fmt::format("<p class=\"covers\">{} covers {}</p>\n", xml(path),
                          xml(fmt::format("{}", fmt::join(c.covers, ", "))));
    if (!c.message.empty()) cases_ += fmt::format("<p class=\"why\">{}</p>\n", xml(c.message));
    for (const std::string& detail : c.details) cases_ += fmt::format("<p>{}</p>\n", xml(detail));
    dissect::Text drawn;
    draw_conversation(drawn, c, true);
    cases_ += fmt::format("<pre>{}</pre></details>\n", xml_lines(std::string(drawn.view())));
  }

  void put_end() override {
    const std::string title = fmt::format("rdmascope test of {}", options_.dut);
    out().put(fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n",
                          xml(title)));
    out().put(
        fmt::format("<style>{}</style></head><body>\n<h1>{}</h1>\n<p>{}</p>\n", style, xml(title), xml(summary())));
    out().put(cases_);
    out().put("</body></html>\n");
  }

  std::string cases_;
};

}  // namespace

std::unique_ptr<TestReport> make_test_html_report(TestReportOptions options, Output output) {
  return std::make_unique<HtmlReport>(std::move(options), std::move(output));
}

}  // namespace rdmascope::cli
