// Graphs of a connection: throughput, PSNs, latencies, what is under way, congestion. A range of time that is drawn
// with the mouse filters the packets.
#pragma once

#include <QWidget>

#include <memory>
#include <optional>

#include "gui/models/followed_file.h"
#include "gui/models/graph.h"

class QComboBox;
class QLabel;

namespace rdmascope::gui {

class Plot final : public QWidget {
  Q_OBJECT

 public:
  explicit Plot(QWidget* parent = nullptr);
  void set(Graph graph);
  const Graph& graph() const { return graph_; }
  QRect area() const;  // without axes and names

 signals:
  void rangeDrawn(qint64 begin_ns, qint64 end_ns);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  double x_of(double ns) const;
  double y_of(double value) const;
  std::int64_t time_at(int x) const;
  void paint_axes(QPainter& painter) const;
  void paint_series(QPainter& painter, const Series& series, const QColor& color) const;

  Graph graph_;
  double highest_ = 1;
  std::optional<int> drawn_from_, drawn_to_;
};

class GraphsView final : public QWidget {
  Q_OBJECT

 public:
  explicit GraphsView(QWidget* parent = nullptr);
  // nullptr, or when the file is gone: empty.
  void set_file(CaptureFile* file);
  void choose(std::uint32_t connection, GraphKind kind);
  Plot& plot() { return *plot_; }

 public slots:
  void select(quint64 frame);  // its connection

 signals:
  void filterWanted(const QString& filter);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void draw();

  FollowedFile file_;
  QComboBox *connection_, *kind_;
  Plot* plot_;
  QLabel* hint_;
  bool is_stale_ = false;  // what is chosen is not drawn yet
};

}  // namespace rdmascope::gui
