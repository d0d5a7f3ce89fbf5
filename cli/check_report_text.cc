// check for people: the connections, what was found by rule, the counts, and the verdict last, where it stays on the
// screen.
#include <fmt/format.h>

#include <algorithm>

#include "cli/check_report_forms.h"
#include "cli/check_table.h"

namespace rdmascope::cli {
namespace {

using check::Class;
using check::Connection;

constexpr std::size_t most_rows = 40;
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
    std::string out;
    const auto add = [&](Class kind, std::string_view singular, std::string_view plural) {
      const std::uint32_t n = c.found[static_cast<std::size_t>(kind)];
      if (n == 0) return;
      if (out.empty()) color = color_of(kind);
      out += (out.empty() ? "" : ", ") + counted(n, singular, plural);
    };
    add(Class::violation, "violation", "violations");
    add(Class::anomaly, "anomaly", "anomalies");
    add(Class::artifact, "artifact", "artifacts");
    if (!out.empty()) return out;
    if (c.not_judged > 0) return fmt::format("{} not judged", c.not_judged);
    color = green;
    return "clean";
  }

  void put_end(const check::Totals& totals) override {
    put_connections();
    for (const auto& [kind, title] : {std::pair{Class::violation, "Violations: a sender broke the specification"},
                                      std::pair{Class::anomaly, "Anomalies: legal, but not healthy"},
                                      std::pair{Class::artifact, "Artifacts: the capture itself is at fault"}})
      put_findings(kind, title);
    put_totals(totals);
    const bool bad = tallies_.count(Class::violation) > 0, ill = tallies_.unhealthy();
    colored(bad ? bold_red : ill || totals.rdma + totals.completions == 0 ? yellow : green, verdict(totals, tallies_));
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
};

}  // namespace

std::unique_ptr<Report> make_text_report(ReportOptions options) {
  return std::make_unique<TextReport>(std::move(options));
}

}  // namespace rdmascope::cli
