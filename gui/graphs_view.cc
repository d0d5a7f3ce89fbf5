#include "gui/graphs_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace rdmascope::gui {
namespace {

constexpr int left = 90, right = 16, top = 30, bottom = 30, ticks = 6;

// 1, 2 or 5 times a power of ten, so that about `ticks` fit.
double step_for(double range) {
  const double rough = range / ticks, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

QString shown(double value, const QString& unit) {
  if (unit == "bit/s") return value == 0 ? QString("0") : bit_rate(value);
  if (unit == "s") return value == 0 ? QString("0") : duration(static_cast<std::int64_t>(value * 1e9));
  return QString::number(value, 'f', 0);
}

}  // namespace

// --- Plot ------------------------------------------------------------------------------------------------------------

Plot::Plot(QWidget* parent) : QWidget(parent) {
  setMinimumSize(300, 200);
  setCursor(Qt::CrossCursor);
  setAccessibleName(tr("Graph"));
}

void Plot::set(Graph graph) {
  graph_ = std::move(graph);
  highest_ = 0;
  for (const Series& s : graph_.series)
    for (const GraphPoint& p : s.points) highest_ = std::max(highest_, p.value);
  if (highest_ <= 0) highest_ = 1;
  highest_ *= 1.05;
  drawn_from_.reset();
  update();
}

QRect Plot::area() const { return rect().adjusted(left, top, -right, -bottom); }

double Plot::x_of(std::int64_t ns) const {
  const double whole = std::max<double>(1, static_cast<double>(graph_.end_ns - graph_.begin_ns));
  return area().left() + static_cast<double>(ns - graph_.begin_ns) / whole * area().width();
}
double Plot::y_of(double value) const { return area().bottom() - value / highest_ * area().height(); }
std::int64_t Plot::time_at(int x) const {
  const double part = std::clamp((x - area().left()) / std::max(1.0, static_cast<double>(area().width())), 0.0, 1.0);
  return graph_.begin_ns + static_cast<std::int64_t>(part * static_cast<double>(graph_.end_ns - graph_.begin_ns));
}

void Plot::paint_axes(QPainter& painter) const {
  const QRect a = area();
  const QColor dim = colour(Shade::dim, palette());
  QColor grid = dim;
  grid.setAlpha(60);
  const auto line_of = [&](double x1, double y1, double x2, double y2) {
    painter.setPen(grid);
    painter.drawLine(QPointF(x1, y1), QPointF(x2, y2));
    painter.setPen(dim);
  };
  for (double value = 0, step = step_for(highest_); value <= highest_; value += step) {
    line_of(a.left(), y_of(value), a.right(), y_of(value));
    painter.drawText(QRectF(0, y_of(value) - 10, left - 6, 20), Qt::AlignRight | Qt::AlignVCenter,
                     shown(value, graph_.unit));
  }
  const double whole = std::max(1.0, static_cast<double>(graph_.end_ns - graph_.begin_ns)), step = step_for(whole);
  const double first = std::ceil(static_cast<double>(graph_.begin_ns) / step) * step;
  for (double ns = first; ns <= static_cast<double>(graph_.end_ns); ns += step) {
    const double x = x_of(static_cast<std::int64_t>(ns));
    line_of(x, a.top(), x, a.bottom());
    painter.drawText(QRectF(x - 60, a.bottom() + 4, 120, 20), Qt::AlignHCenter | Qt::AlignTop,
                     seconds(static_cast<std::int64_t>(ns)) + " s");
  }
  painter.drawRect(a);
}

void Plot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().base());
  if (graph_.series.empty()) {
    painter.setPen(colour(Shade::dim, palette()));
    painter.drawText(rect(), Qt::AlignCenter, tr("Nothing to draw"));
    return;
  }
  paint_axes(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  int name_x = left;
  for (const Series& s : graph_.series) {
    const QColor color = colour(s.shade, palette());
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(color);
    QPolygonF line;
    QPointF last(-10, -10);
    for (const GraphPoint& p : s.points) {
      const QPointF at(x_of(p.ns), y_of(p.value));
      if (s.is_line) {
        line << at;
      } else if (std::abs(at.x() - last.x()) > 0.7 || std::abs(at.y() - last.y()) > 0.7) {
        // Points that fall on each other are painted once.
        painter.drawEllipse(at, 1.8, 1.8);
        last = at;
      }
    }
    painter.setBrush(Qt::NoBrush);
    if (s.is_line) painter.drawPolyline(line);
    painter.fillRect(name_x, 11, 10, 10, color);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(name_x + 15, 20, s.name);
    name_x += 35 + fontMetrics().horizontalAdvance(s.name);
  }
  if (!drawn_from_ || !drawn_to_) return;
  QColor mark = palette().color(QPalette::Highlight);
  mark.setAlpha(80);
  painter.fillRect(QRect(QPoint(std::min(*drawn_from_, *drawn_to_), area().top()),
                         QPoint(std::max(*drawn_from_, *drawn_to_), area().bottom())),
                   mark);
}

void Plot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || graph_.series.empty()) return;
  drawn_from_ = drawn_to_ = event->pos().x();
  update();
}

void Plot::mouseMoveEvent(QMouseEvent* event) {
  if (!drawn_from_) return;
  drawn_to_ = event->pos().x();
  update();
}

void Plot::mouseReleaseEvent(QMouseEvent* event) {
  if (!drawn_from_) return;
  constexpr int shortest = 4;  // less is a click
  const int from = *drawn_from_, to = event->pos().x();
  drawn_from_.reset();
  update();
  if (std::abs(to - from) >= shortest) emit rangeDrawn(time_at(std::min(from, to)), time_at(std::max(from, to)));
}

// --- View ------------------------------------------------------------------------------------------------------------

GraphsView::GraphsView(QWidget* parent)
    : QWidget(parent), connection_(new QComboBox), kind_(new QComboBox), plot_(new Plot) {
  for (const auto& [words, kind] :
       {std::pair(tr("Throughput"), GraphKind::throughput), std::pair(tr("PSNs of requests"), GraphKind::psn),
        std::pair(tr("Latency of messages"), GraphKind::latency)})
    kind_->addItem(words, static_cast<int>(kind));
  connection_->setMinimumContentsLength(50);
  auto* const bar = new QHBoxLayout;
  bar->addWidget(new QLabel(tr("Connection")));
  bar->addWidget(connection_);
  bar->addWidget(kind_);
  bar->addStretch();
  bar->addWidget(new QLabel(tr("Draw over a range of time to filter by it")));
  auto* const all = new QVBoxLayout(this);
  all->addLayout(bar);
  all->addWidget(plot_, 1);
  connect(connection_, &QComboBox::currentIndexChanged, this, &GraphsView::draw);
  connect(kind_, &QComboBox::currentIndexChanged, this, &GraphsView::draw);
  connect(plot_, &Plot::rangeDrawn, this, [this](qint64 begin, qint64 end) {
    emit filterWanted(QString("rdmascope.flow == %1 and frame.time_relative >= %2 and frame.time_relative <= %3")
                          .arg(connection_->currentData().toUInt())
                          .arg(static_cast<double>(begin) / 1e9, 0, 'f', 9)
                          .arg(static_cast<double>(end) / 1e9, 0, 'f', 9));
  });
}

void GraphsView::set_file(CaptureFile* file) {
  if (file_) file_->disconnect(this);
  file_ = file;
  connection_->clear();
  plot_->set({});
  if (!file_) return;
  connect(file_, &CaptureFile::followed_up, this, &GraphsView::refresh, Qt::QueuedConnection);
  refresh();
}

void GraphsView::refresh() {
  const std::shared_ptr<const Followed> known = file_ ? file_->followed() : nullptr;
  if (!known || connection_->count() > 0) return;
  constexpr int most = 10'000;  // a list of more helps nobody
  for (const ConnectionRow& row : known->connections) {
    connection_->addItem(QString("%1  %2").arg(row.id).arg(text(row.ends)), row.id);
    if (connection_->count() == most) break;
  }
}

void GraphsView::choose(std::uint32_t connection, GraphKind kind) {
  kind_->setCurrentIndex(kind_->findData(static_cast<int>(kind)));
  connection_->setCurrentIndex(connection_->findData(connection));
}

void GraphsView::select(quint64 frame) {
  const std::shared_ptr<const Followed> known = file_ ? file_->followed() : nullptr;
  if (!known || frame == 0) return;
  const std::uint32_t flow = known->annotations.of(frame).flow;
  if (const int index = connection_->findData(flow); flow != 0 && index >= 0) connection_->setCurrentIndex(index);
}

void GraphsView::draw() {
  const std::shared_ptr<const Followed> known = file_ ? file_->followed() : nullptr;
  if (!known || connection_->currentIndex() < 0) return plot_->set({});
  plot_->set(make_graph(*file_, *known, connection_->currentData().toUInt(),
                        static_cast<GraphKind>(kind_->currentData().toInt())));
}

}  // namespace rdmascope::gui
