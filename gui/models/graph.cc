#include "gui/models/graph.h"

#include <algorithm>

#include "check/psn.h"

namespace rdmascope::gui {
namespace {

using Kind = check::PacketFacts::Kind;

constexpr std::size_t bins = 500;

std::int64_t time_of(const CaptureFile& file, std::uint32_t frame) {
  return file.index()[frame - 1].time_ns - file.first_ns();
}

QString direction(const ConnectionRow& row, std::size_t side) {
  return QString("%1 to %2").arg(text(row.end[side]), text(row.end[1 - side]));
}

// Bits in equal parts of the connection's time, on the wire, by who sent them.
void add_throughput(Graph& graph, const CaptureFile& file, const std::vector<const StepRow*>& steps,
                    const ConnectionRow& row) {
  graph.unit = "bit/s";
  const std::int64_t width =
      std::max<std::int64_t>((graph.end_ns - graph.begin_ns) / static_cast<std::int64_t>(bins) + 1, 1);
  for (std::size_t side = 0; side < 2; ++side) {
    Series series{direction(row, side), side == 0 ? Shade::request : Shade::response, true, {}};
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
    Series first{direction(row, side), side == 0 ? Shade::request : Shade::response, false, {}};
    Series again{QString("sent again by %1").arg(text(row.end[side])), Shade::violation, false, {}};
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
    Series series{
        QString("asked by %1").arg(text(row.end[side])), side == 0 ? Shade::request : Shade::response, false, {}};
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

}  // namespace

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
  if (kind == GraphKind::throughput) add_throughput(graph, file, steps, *row);
  if (kind == GraphKind::psn) add_psns(graph, file, steps, *row);
  if (kind == GraphKind::latency) add_latencies(graph, file, followed, *row);
  return graph;
}

}  // namespace rdmascope::gui
