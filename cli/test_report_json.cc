// test for programs: one object with every verdict and its story, or what happens as lines, an object each.
#include <fmt/format.h>

#include "cli/test_report.h"

namespace rdmascope::cli {
namespace {

using replay::Case;
using replay::Event;
using replay::Verdict;

void put_text(dissect::Text& out, std::string_view s) {
  out.put('"');
  out.json_escaped(s);
  out.put('"');
}

void put_list(dissect::Text& out, const std::vector<std::string>& items) {
  out.put('[');
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.put(',');
    put_text(out, items[i]);
  }
  out.put(']');
}

class JsonReport final : public TestReport {
 public:
  JsonReport(TestReportOptions options, Output output) : TestReport(std::move(options), std::move(output)) {
    out().put("{\"dut\":");
    put_text(out(), options_.dut);
    out().put(",\"tests\":[");
  }

 private:
  void put_case(const Case& c, std::string_view path) override {
    out().put(total() > 1 ? ",\n" : "\n");
    put_json(out(), c, path);
  }

  void put_end() override {
    out().put(
        fmt::format("\n],\"passed\":{},\"failed\":{},\"errors\":{},\"known_deviations\":{},"
                    "\"not_applicable\":{},\"skipped\":{}}}\n",
                    count(Verdict::passed), count(Verdict::failed), count(Verdict::error),
                    count(Verdict::known_deviation), count(Verdict::not_applicable), count(Verdict::skipped)));
  }
};

// {"begins":{"id":...,"script":...}}, then {"event":{...}} as they happen, {"verdict":{...}} with the whole case, and
// at the end {"summary":"..."}.
class NdjsonReport final : public TestReport {
 public:
  using TestReport::TestReport;

  void begins(std::string_view id, std::string_view path) override {
    out().put("{\"begins\":{\"id\":");
    put_text(out(), id);
    out().put(",\"script\":");
    put_text(out(), path);
    line("}}\n");
  }
  void heard(const Event& event) override {
    out().put("{\"event\":");
    put_json(out(), event);
    line("}\n");
  }
  void progress(std::uint64_t done, std::uint64_t all) override {
    line(fmt::format("{{\"progress\":{{\"done\":{},\"total\":{}}}}}\n", done, all));
  }

 private:
  void put_case(const Case& c, std::string_view path) override {
    out().put("{\"verdict\":");
    put_json(out(), c, path);
    line("}\n");
  }
  void put_end() override {
    out().put("{\"summary\":");
    put_text(out(), summary());
    line("}\n");
  }
  void line(std::string_view rest) {
    out().put(rest);
    written();
  }
};

}  // namespace

void put_json(dissect::Text& out, const Event& event) {
  out.put(
      fmt::format("{{\"kind\":\"{}\",\"good\":{},\"line\":{},\"time_ns\":{},\"connection\":{},\"frame\":{},\"text\":",
                  Event::kinds[static_cast<std::size_t>(event.kind)], event.good, event.line, event.time_ns,
                  event.connection, event.frame));
  put_text(out, event.text);
  out.put('}');
}

void put_json(dissect::Text& out, const Case& c, std::string_view path) {
  out.put("{\"id\":");
  put_text(out, c.id);
  out.put(",\"title\":");
  put_text(out, c.title);
  out.put(",\"script\":");
  put_text(out, path);
  out.put(",\"covers\":");
  put_list(out, c.covers);
  out.put(fmt::format(",\"verdict\":\"{}\",\"message\":", replay::name(c.verdict)));
  put_text(out, c.message);
  out.put(",\"details\":");
  put_list(out, c.details);
  out.put(fmt::format(",\"duration_ns\":{},\"steps\":[", c.duration_ns));
  const char* comma = "";
  for (const Event& event : c.events) {
    out.put(comma);
    put_json(out, event);
    comma = ",";
  }
  out.put("]}");
}

std::unique_ptr<TestReport> make_test_json_report(TestReportOptions options, Output output) {
  return std::make_unique<JsonReport>(std::move(options), std::move(output));
}

std::unique_ptr<TestReport> make_test_ndjson_report(TestReportOptions options, Output output) {
  return std::make_unique<NdjsonReport>(std::move(options), std::move(output));
}

}  // namespace rdmascope::cli
