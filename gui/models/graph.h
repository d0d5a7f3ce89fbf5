// Curves of a connection: what was sent, when, and how long it took. Times are nanoseconds since the first frame of the
// capture.
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
  QString name;
  Shade shade = Shade::request;
  bool is_line = true;  // else single points
  std::vector<GraphPoint> points;
};

struct Graph {
  QString unit;  // of the values: "bit/s", "PSN", "s"
  std::int64_t begin_ns = 0, end_ns = 0;
  std::vector<Series> series;
};

enum class GraphKind : std::uint8_t { throughput, psn, latency };

// Of one connection, by its id.
Graph make_graph(const CaptureFile& file, const Followed& followed, std::uint32_t connection, GraphKind kind);

}  // namespace rdmascope::gui
