// Graphs of a connection: what was sent, when, how long it took, how much was under way, where switches were full.
// Times are nanoseconds since the first frame of the capture.
#pragma once

#include <QString>

#include <array>
#include <cstdint>
#include <vector>

#include "gui/models/capture_file.h"
#include "gui/models/words.h"

namespace rdmascope::gui {

struct GraphPoint {
  std::int64_t ns;
  double value;
};

struct Series {
  enum class Form : std::uint8_t { line, points, bars };
  QString name;
  Shade shade = Shade::request;
  Form form = Form::line;
  std::vector<GraphPoint> points;  // bars: where each begins
};

// A place on the axis of times that has a name.
struct GraphMark {
  std::int64_t ns;
  QString name;
};

struct Graph {
  // What lies below: when it was, or how long it took, of which each tenfold has the same room.
  enum class Axis : std::uint8_t { time, duration };
  QString unit;  // of the values: "bit/s", "PSN", "s"; empty: they are counted
  Axis axis = Axis::time;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t bar_ns = 0;  // width of a bar; of durations nothing: a bar is a tenth of a tenfold
  std::vector<Series> series;
  std::vector<GraphMark> marks;

  // From the left, 0 to 1; and the other way round.
  double place_of(double ns) const;
  double at_place(double place) const;
  double end_of_bar(double ns) const;
};

enum class GraphKind : std::uint8_t { throughput, psn, latency, latencies, outstanding, congestion };
// As a list to choose from has them.
struct GraphTitle {
  GraphKind kind;
  const char* words;
};
inline constexpr GraphTitle graph_titles[] = {{GraphKind::throughput, "Throughput"},
                                              {GraphKind::psn, "PSNs of requests"},
                                              {GraphKind::outstanding, "Outstanding requests"},
                                              {GraphKind::latency, "Latency over time"},
                                              {GraphKind::latencies, "Latency histogram"},
                                              {GraphKind::congestion, "Congestion: ECN marks and CNPs"}};

// Of one connection, by its id.
Graph make_graph(const CaptureFile& file, const Followed& followed, std::uint32_t connection, GraphKind kind);

}  // namespace rdmascope::gui
