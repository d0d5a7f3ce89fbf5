// check for people: the connections, what was found by rule, the counts, and the verdict last, where it stays on the
// screen.
#include <fmt/format.h>

#include <algorithm>

#include "check/cdi.h"
#include "cli/check_report_forms.h"
#include "cli/check_table.h"

namespace rdmascope::cli {
namespace {

using check::Class;
using check::Connection;

constexpr std::size_t most_rows = 40, most_courses = 10;
constexpr std::string_view red = "\033[31m", yellow = "\033[33m", green = "\033[32m", grey = "\033[90m",
                           bold_red = "\033[1;31m";

std::string_view color_of(Class kind) {
  return kind == Class::violation ? red : kind == Class::anomaly ? yellow : grey;
}

class TextReport final : public Report {
 public:
  using Report::Report;

 private:
  struct Line {
    std::uint32_t id;
    std::vector<TableCell> cells;
    std::string_view color;
  };

  struct Course {
    std::uint32_t number = 0;
    std::string title;
    std::string_view color;
    std::vector<std::string> story;
  };

  void put_connection(const Connection& c) override {
    // Of many, those with findings are shown first; the others fill the room that is left.
    const bool found = c.found[0] + c.found[1] + c.found[2] > 0;
    std::vector<Line>& lines = found ? found_ : clean_;
    ++(found ? found_count_ : clean_count_);
    if (lines.size() == most_rows && !options_.all_connections) return;
    std::string_view color;
    const std::string verdict = verdict_of(c, color);
    const bool both = c.paired != check::PairedBy::nothing;
    const std::uint64_t messages = std::uint64_t{c.flow[0]->message_count} + c.flow[1]->message_count,
                        completed = c.flow[0]->completed + c.flow[1]->completed;
    Line line{c.id, {}, color};
    line.cells.emplace_back(std::uint64_t{c.id});
    line.cells.emplace_back(ends_of(c));
    line.cells.emplace_back(std::string(transport_name(c.transport)));
    line.cells.emplace_back(c.transport == dissect::Transport::ud ? "-" : c.pmtu ? fmt::format("{}", c.pmtu) : "?");
    line.cells.emplace_back(both ? std::string(name(c.paired)) : c.reliable() ? "not paired" : "-");
    line.cells.emplace_back(both || c.packets[1] > 0 ? fmt::format("{}+{}", c.packets[0], c.packets[1])
                                                     : fmt::format("{}", c.packets[0]));
    line.cells.emplace_back(messages == 0  ? "-"
                            : c.reliable() ? fmt::format("{}/{}", completed, messages)
                                           : fmt::format("{}", messages));
    line.cells.emplace_back(std::uint64_t{c.flow[0]->retransmitted + c.flow[1]->retransmitted});
    line.cells.emplace_back(verdict);
    lines.push_back(std::move(line));
  }

  static std::string verdict_of(const Connection& c, std::string_view& color) {
    if (c.found[0] + c.found[1] + c.found[2] == 0 && c.not_judged > 0) return fmt::format("{} not judged", c.not_judged);
    return verdict_of(c.found, color);
  }

  // Those with findings have the room first, as above.
  void put_cdi(const check::CdiFlow& flow, const std::vector<std::string>& story) override {
    const bool found = flow.found[0] + flow.found[1] + flow.found[2] > 0;
    std::vector<Course>& courses = found ? found_cdi_ : clean_cdi_;
    ++cdi_count_;
    if (courses.size() == most_courses && !options_.all_connections) return;
    Course& course = courses.emplace_back();
    course.number = flow.number;
    course.title = fmt::format("CDI {}  {} -> {}{}", flow.number, to_text(flow.tx().end), to_text(flow.rx().end),
                               flow.stream_name.empty() ? "" : fmt::format("  \"{}\"", flow.stream_name));
    if (flow.version()) course.title += fmt::format("  version {}", to_text(*flow.version()));
    course.title += "  " + verdict_of(flow.found, course.color);
    course.story = story;
  }

  static std::string verdict_of(const std::array<std::uint32_t, 3>& found, std::string_view& color) {
    std::string out;
    constexpr std::string_view names[3][2] = {
        {"violation", "violations"}, {"anomaly", "anomalies"}, {"artifact", "artifacts"}};
    for (std::size_t kind = 0; kind < found.size(); ++kind) {
      if (found[kind] == 0) continue;
      if (out.empty()) color = color_of(static_cast<Class>(kind));
      out += (out.empty() ? "" : ", ") + counted(found[kind], names[kind][0], names[kind][1]);
    }
    if (!out.empty()) return out;
    color = green;
    return "clean";
  }

  void put_courses() {
    std::vector<Course>& courses = found_cdi_;
    for (Course& course : clean_cdi_)
      if (courses.size() < most_courses || options_.all_connections) courses.push_back(std::move(course));
    std::ranges::sort(courses, {}, &Course::number);
    for (const Course& course : courses) {
      colored(course.color, course.title);
      out().put('\n');
      for (const std::string& line : course.story) out().put(fmt::format("  {}\n", line));
    }
    if (cdi_count_ > courses.size())
      out().put(fmt::format("and {} more CDI connections; --all shows every one\n", cdi_count_ - courses.size()));
    if (!courses.empty()) out().put('\n');
  }

  void put_end(const check::Totals& totals) override {
    put_connections();
    put_courses();
    for (const auto& [kind, title] : {std::pair{Class::violation, "Violations: a sender broke the specification"},
                                      std::pair{Class::anomaly, "Anomalies: legal, but not healthy"},
                                      std::pair{Class::artifact, "Artifacts: the capture itself is at fault"}})
      put_findings(kind, title);
    put_totals(totals);
    const bool bad = tallies_.count(Class::violation) > 0, ill = tallies_.unhealthy();
    colored(bad ? bold_red : ill || totals.nothing_to_judge() ? yellow : green, verdict(totals, tallies_));
    out().put('\n');
  }

  void put_connections() {
    std::vector<Line>& lines = found_;
    for (Line& line : clean_)
      if (lines.size() < most_rows || options_.all_connections) lines.push_back(std::move(line));
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.id < b.id; });
    if (lines.empty()) return;
    Table table(output_, TableForm::text,
                {{"", "#"},
                 {"", "connection", Shown::dec, true},
                 {"", "type", Shown::dec, true},
                 {"", "MTU"},
                 {"", "paired by", Shown::dec, true},
                 {"", "packets"},
                 {"", "messages"},
                 {"", "resent"},
                 {"", "verdict", Shown::dec, true}});
    for (Line& line : lines) table.row(std::move(line.cells), options_.color ? line.color : std::string_view());
    table.end();
    const std::uint64_t left_out = found_count_ + clean_count_ - lines.size();
    if (left_out > 0)
      out().put(fmt::format("and {} more, {} of them with findings; --all shows every one\n", left_out,
                            found_count_ - std::min<std::uint64_t>(found_count_, most_rows)));
    out().put('\n');
  }

  void put_findings(Class kind, std::string_view title) {
    const std::vector<const Tally*> tallies = tallies_.of(kind);
    if (tallies.empty()) return;
    colored(color_of(kind), title);
    out().put('\n');
    std::size_t width = 0;
    for (const Tally* t : tallies) width = std::max(width, t->rule->id.size());
    for (const Tally* t : tallies) {
      out().put("  ");
      colored(color_of(kind), fmt::format("{:<{}}", t->rule->id, width));
      out().put(fmt::format("  {}\n{:{}}{}\n{:{}}{}\n", t->rule->title, "", width + 4, where(*t), "", width + 4,
                            t->examples.front()));
    }
    out().put('\n');
  }

  static std::string where(const Tally& t) {
    std::string out = t.count == 1 ? "once" : fmt::format("{} times", t.count);
    if (t.first_frame != 0)
      out += t.first_frame == t.last_frame ? fmt::format(", frame {}", t.first_frame)
                                           : fmt::format(", frames {} to {}", t.first_frame, t.last_frame);
    if (!t.connections.empty())
      out += fmt::format(", connection{} {}{}", t.connections.size() > 1 ? "s" : "", fmt::join(t.connections, ", "),
                         t.more_connections ? " and more" : "");
    return out;
  }

  void put_totals(const check::Totals& t) {
    const std::int64_t ns =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(t.last_ns) - static_cast<std::uint64_t>(t.first_ns));
    dissect::Text time;
    time.seconds(ns, 3);
    std::string entries = t.completions > 0 ? fmt::format(", {} CQE", t.completions) : "";
    if (t.mads > 0) entries += fmt::format(", {} MAD", t.mads);
    if (t.cdi > 0) entries += fmt::format(", {} CDI", t.cdi);
    out().put(fmt::format(
        "{} in {} s, {} RDMA{}{}; ICRC {} good, {} bad, {} not verified\n", counted(t.frames, "frame"), time.view(),
        t.rdma, entries, options_.filtered ? " that pass the filter" : "", t.icrc_good, t.icrc_bad, t.icrc_unverified));
    std::vector<std::string> gaps;
    if (t.not_judged > 0)
      gaps.push_back(
          counted(t.not_judged, "response whose request is not known", "responses whose requests are not known"));
    if (t.cut > 0)
      gaps.push_back(counted(t.cut, "frame the capture did not keep whole", "frames the capture did not keep whole"));
    if (t.refused > 0)
      gaps.push_back(
          counted(t.refused, "packet of connections beyond the limit", "packets of connections beyond the limit"));
    if (!gaps.empty()) out().put(fmt::format("Not judged: {}\n", fmt::join(gaps, ", ")));
    if (tallies_.count(Class::violation) + tallies_.count(Class::anomaly) + tallies_.count(Class::artifact) > 0)
      out().put("`rdmascope rules ID` explains a rule\n");
  }

  void colored(std::string_view color, std::string_view text) {
    if (options_.color) out().put(color);
    out().put(text);
    if (options_.color) out().put("\033[0m");
  }

  std::vector<Line> found_, clean_;
  std::uint64_t found_count_ = 0, clean_count_ = 0;
  std::vector<Course> found_cdi_, clean_cdi_;
  std::uint64_t cdi_count_ = 0;
};

}  // namespace

std::unique_ptr<Report> make_text_report(ReportOptions options) {
  return std::make_unique<TextReport>(std::move(options));
}

}  // namespace rdmascope::cli
