#include "gui/models/graph.h"

#include <algorithm>
#include <cmath>

#include "check/psn.h"
#include "gui/models/latency.h"

namespace rdmascope::gui {
namespace {

using Kind = check::PacketFacts::Kind;

constexpr std::size_t bins = 500;
constexpr std::size_t most_steps_drawn =
    4000;  // of a count that goes up and down; more are drawn as the most of each bin
constexpr double bars_of_tenfold = 10;

std::int64_t time_of(const CaptureFile& file, std::uint32_t frame) {
  return file.index()[frame - 1].time_ns - file.first_ns();
}

QString direction(const ConnectionRow& row, std::size_t side) {
  return QString("%1 to %2").arg(text(row.end[side]), text(row.end[1 - side]));
}

std::int64_t bin_width(const Graph& graph) {
  return std::max<std::int64_t>((graph.end_ns - graph.begin_ns) / static_cast<std::int64_t>(bins) + 1, 1);
}

// Bits in equal parts of the connection's time, on the wire, by who sent them.
void add_throughput(Graph& graph, const CaptureFile& file, const std::vector<const StepRow*>& steps,
                    const ConnectionRow& row) {
  graph.unit = "bit/s";
  const std::int64_t width = bin_width(graph);
  for (std::size_t side = 0; side < 2; ++side) {
    Series series{direction(row, side), side == 0 ? Shade::request : Shade::response, Series::Form::line, {}};
    std::vector<double> bytes(bins);
    for (const StepRow* s : steps)
      if (s->side == side) {
        const auto bin = static_cast<std::size_t>((time_of(file, s->frame) - graph.begin_ns) / width);
        bytes[std::min(bin, bins - 1)] += file.index()[s->frame - 1].wire;
      }
    for (std::size_t i = 0; i < bins; ++i)
      series.points.push_back(
          {graph.begin_ns + static_cast<std::int64_t>(i) * width, bytes[i] * 8 * 1e9 / static_cast<double>(width)});
    graph.series.push_back(std::move(series));
  }
}

// PSNs of requests since the first one of their side. What is sent again lies below the line.
void add_psns(Graph& graph, const CaptureFile& file, const std::vector<const StepRow*>& steps,
              const ConnectionRow& row) {
  graph.unit = "PSN";
  for (std::size_t side = 0; side < 2; ++side) {
    Series first{direction(row, side), side == 0 ? Shade::request : Shade::response, Series::Form::points, {}};
    Series again{QString("sent again by %1").arg(text(row.end[side])), Shade::violation, Series::Form::points, {}};
    const StepRow* begin = nullptr;
    for (const StepRow* s : steps) {
      if (s->side != side || s->kind != Kind::request) continue;
      if (!begin) begin = s;
      (s->retransmission ? again : first)
          .points.push_back({time_of(file, s->frame), static_cast<double>(check::psn_diff(s->psn, begin->psn))});
    }
    for (Series* series : {&first, &again})
      if (!series->points.empty()) graph.series.push_back(std::move(*series));
  }
}

// Of messages that were completed, at the time they began.
void add_latencies(Graph& graph, const CaptureFile& file, const Followed& followed, const ConnectionRow& row) {
  graph.unit = "s";
  for (std::size_t side = 0; side < 2; ++side) {
    Series series{QString("asked by %1").arg(text(row.end[side])),
                  side == 0 ? Shade::request : Shade::response,
                  Series::Form::points,
                  {}};
    for (const MessageRow& m : followed.messages) {
      const check::Message& message = m.message;
      if (m.connection != row.id || m.side != side || message.done_ns <= message.start_ns || !message.has_first)
        continue;
      series.points.push_back(
          {message.start_ns - file.first_ns(), static_cast<double>(message.done_ns - message.start_ns) / 1e9});
    }
    std::ranges::sort(series.points, {}, &GraphPoint::ns);
    if (!series.points.empty()) graph.series.push_back(std::move(series));
  }
}

// How many messages took how long.
void add_histogram(Graph& graph, const Followed& followed, const ConnectionRow& row) {
  graph.axis = Graph::Axis::duration;
  std::vector<std::int64_t> all;
  std::array<std::vector<std::int64_t>, 2> of;
  for (const MessageRow& m : followed.messages) {
    const std::optional<std::int64_t> latency = latency_of(m.message);
    if (m.connection != row.id || !latency) continue;
    all.push_back(std::max<std::int64_t>(*latency, 1));
    of[m.side].push_back(all.back());
  }
  if (all.empty()) return;
  const auto bar_of = [](std::int64_t ns) {
    return static_cast<int>(std::floor(std::log10(static_cast<double>(ns)) * bars_of_tenfold + 1e-9));
  };
  const auto begin_of = [](int bar) { return std::llround(std::ceil(std::pow(10, bar / bars_of_tenfold) - 1e-6)); };
  const auto [least, most] = std::ranges::minmax(all);
  // Not less than a tenfold, so that it is seen where it lies.
  int first = bar_of(least), last = bar_of(most);
  while (last - first < static_cast<int>(bars_of_tenfold)) {
    ++last;
    if (first > 0) --first;
  }
  graph.begin_ns = begin_of(first);
  graph.end_ns = begin_of(last + 1);
  for (std::size_t side = 0; side < 2; ++side) {
    if (of[side].empty()) continue;
    std::vector<double> count(static_cast<std::size_t>(last - first + 1));
    for (const std::int64_t ns : of[side]) ++count[static_cast<std::size_t>(bar_of(ns) - first)];
    Series series{QString("asked by %1, %2 messages").arg(text(row.end[side])).arg(of[side].size()),
                  side == 0 ? Shade::request : Shade::response,
                  Series::Form::bars,
                  {}};
    for (std::size_t i = 0; i < count.size(); ++i)
      if (count[i] > 0) series.points.push_back({begin_of(first + static_cast<int>(i)), count[i]});
    graph.series.push_back(std::move(series));
  }
  for (const std::size_t percent : {std::size_t{50}, std::size_t{99}}) {
    const std::int64_t ns = percentile(all, percent);
    graph.marks.push_back({ns, QString("p%1 %2").arg(percent).arg(duration(ns))});
  }
}

// Requests that were sent and not answered yet, from their first packet on.
void add_outstanding(Graph& graph, const CaptureFile& file, const Followed& followed, const ConnectionRow& row) {
  struct Change {
    std::int64_t ns;
    int by;
  };
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<Change> changes;
    for (const MessageRow& m : followed.messages) {
      if (m.connection != row.id || m.side != side || !m.message.has_first ||
          m.message.state == check::MessageState::unreliable)
        continue;
      const std::int64_t start = m.message.start_ns - file.first_ns(), done = m.message.done_ns - file.first_ns();
      changes.push_back({start, 1});
      if (m.message.state != check::MessageState::open && done >= start) changes.push_back({done, -1});
    }
    if (changes.empty()) continue;
    // What ends when another begins is not under way together with it.
    std::ranges::sort(changes, {}, [](const Change& c) { return std::pair(c.ns, c.by); });
    Series series{QString("asked by %1").arg(text(row.end[side])),
                  side == 0 ? Shade::request : Shade::response,
                  Series::Form::line,
                  {}};
    double now = 0;
    if (changes.size() <= most_steps_drawn) {
      series.points.push_back({graph.begin_ns, 0});
      for (const Change& c : changes) {
        series.points.push_back({c.ns, now});
        series.points.push_back({c.ns, now += c.by});
      }
      series.points.push_back({graph.end_ns, now});
    } else {
      const std::int64_t width = bin_width(graph);
      std::size_t next = 0;
      for (std::size_t i = 0; i < bins; ++i) {
        const std::int64_t begin = graph.begin_ns + static_cast<std::int64_t>(i) * width;
        double most = now;
        for (; next < changes.size() && (changes[next].ns < begin + width || i + 1 == bins); ++next)
          most = std::max(most, now += changes[next].by);
        series.points.push_back({begin, most});
      }
    }
    graph.series.push_back(std::move(series));
  }
}

// Packets that a switch marked, and CNPs, in equal parts of the connection's time. By who sent them: a CNP goes against
// the marks.
void add_congestion(Graph& graph, const CaptureFile& file, const std::vector<const StepRow*>& steps,
                    const ConnectionRow& row) {
  constexpr std::int64_t intervals = 100;
  graph.bar_ns = std::max<std::int64_t>((graph.end_ns - graph.begin_ns) / intervals + 1, 1);
  constexpr Shade shades[2][2] = {{Shade::anomaly, Shade::artifact}, {Shade::request, Shade::response}};
  for (const bool cnp : {false, true})
    for (std::size_t side = 0; side < 2; ++side) {
      std::vector<double> count(static_cast<std::size_t>(intervals));
      std::size_t all = 0;
      for (const StepRow* s : steps) {
        if (s->side != side || !(cnp ? s->cnp : s->marked)) continue;
        const std::int64_t bin = (time_of(file, s->frame) - graph.begin_ns) / graph.bar_ns;
        ++count[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, intervals - 1))];
        ++all;
      }
      if (all == 0) continue;
      Series series{QString("%1 %2 from %3").arg(all).arg(cnp ? "CNPs" : "marked packets", text(row.end[side])),
                    shades[cnp][side],
                    Series::Form::bars,
                    {}};
      for (std::size_t i = 0; i < count.size(); ++i)
        if (count[i] > 0)
          series.points.push_back({graph.begin_ns + static_cast<std::int64_t>(i) * graph.bar_ns, count[i]});
      graph.series.push_back(std::move(series));
    }
}

}  // namespace

double Graph::place_of(double ns) const {
  const auto begin = static_cast<double>(begin_ns), end = static_cast<double>(end_ns);
  if (axis == Axis::time) return (ns - begin) / std::max(1.0, end - begin);
  return std::log10(std::max(ns, 1.0) / begin) / std::log10(end / begin);
}

double Graph::at_place(double place) const {
  const auto begin = static_cast<double>(begin_ns), end = static_cast<double>(end_ns);
  return axis == Axis::time ? begin + place * (end - begin) : begin * std::pow(end / begin, place);
}

double Graph::end_of_bar(double ns) const {
  return axis == Axis::time ? ns + static_cast<double>(bar_ns) : ns * std::pow(10, 1 / bars_of_tenfold);
}

Graph make_graph(const CaptureFile& file, const Followed& followed, std::uint32_t connection, GraphKind kind) {
  Graph graph;
  const auto row = std::ranges::lower_bound(followed.connections, connection, {}, &ConnectionRow::id);
  if (row == followed.connections.end() || row->id != connection) return graph;
  std::vector<const StepRow*> steps;
  for (const StepRow& s : followed.steps)
    if (s.connection == connection) steps.push_back(&s);
  if (steps.empty()) return graph;
  const auto [first, last] =
      std::ranges::minmax_element(steps, {}, [&](const StepRow* s) { return time_of(file, s->frame); });
  graph.begin_ns = time_of(file, (*first)->frame);
  graph.end_ns = time_of(file, (*last)->frame);
  switch (kind) {
    case GraphKind::throughput:
      add_throughput(graph, file, steps, *row);
      break;
    case GraphKind::psn:
      add_psns(graph, file, steps, *row);
      break;
    case GraphKind::latency:
      add_latencies(graph, file, followed, *row);
      break;
    case GraphKind::latencies:
      add_histogram(graph, followed, *row);
      break;
    case GraphKind::outstanding:
      add_outstanding(graph, file, followed, *row);
      break;
    case GraphKind::congestion:
      add_congestion(graph, file, steps, *row);
      break;
  }
  return graph;
}

}  // namespace rdmascope::gui
