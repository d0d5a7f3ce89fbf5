// test for people: a line for each verdict, the story of those that did not pass, the counts last.
#include <fmt/format.h>

#include "cli/test_report.h"

namespace rdmascope::cli {
namespace {

using replay::Case;
using replay::Event;
using replay::Verdict;

constexpr std::size_t most_steps = 200;

struct Look {
  std::string_view word, color;
};
Look look_of(Verdict v) {
  switch (v) {
    case Verdict::passed:
      return {"ok", "\033[32m"};
    case Verdict::failed:
      return {"FAIL", "\033[1;31m"};
    case Verdict::error:
      return {"ERROR", "\033[1;31m"};
    case Verdict::known_deviation:
      return {"known", "\033[33m"};
    case Verdict::not_applicable:
      return {"n/a", "\033[33m"};
    case Verdict::skipped:
      break;
  }
  return {"skip", "\033[33m"};
}

class TextReport final : public TestReport {
 public:
  using TestReport::TestReport;

 private:
  void put_case(const Case& c, std::string_view) override {
    const Look look = look_of(c.verdict);
    colored(look.color, fmt::format("{:<6}", look.word));
    line(fmt::format("{:<20}  {}", c.id, c.title));
    const bool bad = c.verdict == Verdict::failed || c.verdict == Verdict::error;
    if (c.verdict != Verdict::passed) line("      " + c.message);
    for (const std::string& detail : c.details) line("      " + detail);
    if (options_.steps || (bad && !options_.diagrams)) put_steps(c);
    if (options_.diagrams) draw_conversation(out(), c, options_.utf8);
  }

  void put_steps(const Case& c) {
    if (c.events.empty()) return;
    line("       line             time");
    // Of a long story the end tells why.
    const std::size_t begin = !options_.steps && c.events.size() > most_steps ? c.events.size() - most_steps : 0;
    if (begin > 0) line(fmt::format("      ({} earlier steps; --steps shows them)", begin));
    for (std::size_t i = begin; i < c.events.size(); ++i) {
      const Event& event = c.events[i];
      if (!event.good && options_.color) out().put("\033[31m");
      out().put("      ");
      out().printable(step_line(event));
      if (!event.good && options_.color) out().put("\033[0m");
      out().put('\n');
    }
    out().put('\n');
  }

  void put_end() override {
    const bool bad = count(Verdict::failed) + count(Verdict::error) > 0;
    colored(bad ? look_of(Verdict::failed).color : look_of(Verdict::passed).color, summary());
    out().put('\n');
  }

  void line(std::string_view text) {
    out().printable(text);
    out().put('\n');
  }

  void colored(std::string_view color, std::string_view text) {
    if (options_.color) out().put(color);
    out().put(text);
    if (options_.color) out().put("\033[0m");
  }
};

}  // namespace

std::unique_ptr<TestReport> make_test_text_report(TestReportOptions options, Output output) {
  return std::make_unique<TextReport>(std::move(options), std::move(output));
}

}  // namespace rdmascope::cli
