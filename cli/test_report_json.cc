// test for programs: one object with every verdict and its story.
#include <fmt/format.h>

#include "cli/test_report.h"

namespace rdmascope::cli {
namespace {

using replay::Case;
using replay::Event;
using replay::Verdict;

std::string_view name(Event::Kind kind) {
  static constexpr std::string_view names[] = {"step", "sent", "received", "posted", "completion", "printed", "note"};
  return names[static_cast<std::size_t>(kind)];
}

class JsonReport final : public TestReport {
 public:
  explicit JsonReport(TestReportOptions options) : TestReport(std::move(options)) {
    out().put("{\"dut\":");
    text(options_.dut);
    out().put(",\"tests\":[");
  }

 private:
  void put_case(const Case& c, std::string_view path) override {
    out().put(total() > 1 ? ",\n{\"id\":" : "\n{\"id\":");
    text(c.id);
    out().put(",\"title\":");
    text(c.title);
    out().put(",\"script\":");
    text(path);
    out().put(",\"covers\":");
    list(c.covers);
    out().put(fmt::format(",\"verdict\":\"{}\",\"message\":", replay::name(c.verdict)));
    text(c.message);
    out().put(",\"details\":");
    list(c.details);
    out().put(fmt::format(",\"duration_ns\":{},\"steps\":[", c.duration_ns));
    const char* comma = "";
    for (const Event& event : c.events) {
      out().put(fmt::format("{}{{\"kind\":\"{}\",\"good\":{},\"line\":{},\"time_ns\":{},\"connection\":{},\"frame\":{},\"text\":",
                            comma, name(event.kind), event.good, event.line, event.time_ns, event.connection, event.frame));
      text(event.text);
      out().put('}');
      comma = ",";
    }
    out().put("]}");
  }

  void put_end() override {
    out().put(fmt::format("\n],\"passed\":{},\"failed\":{},\"errors\":{},\"known_deviations\":{},"
                          "\"not_applicable\":{},\"skipped\":{}}}\n",
                          count(Verdict::passed), count(Verdict::failed), count(Verdict::error),
                          count(Verdict::known_deviation), count(Verdict::not_applicable), count(Verdict::skipped)));
  }

  void text(std::string_view s) {
    out().put('"');
    out().json_escaped(s);
    out().put('"');
  }
  void list(const std::vector<std::string>& items) {
    out().put('[');
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out().put(',');
      text(items[i]);
    }
    out().put(']');
  }
};

}  // namespace

std::unique_ptr<TestReport> make_test_json_report(TestReportOptions options) {
  return std::make_unique<JsonReport>(std::move(options));
}

}  // namespace rdmascope::cli
