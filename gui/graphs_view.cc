#include "gui/graphs_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace rdmascope::gui {
namespace {

constexpr int left = 90, right = 40, top = 30, bottom = 30, ticks = 6;

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
  setCursor(graph_.axis == Graph::Axis::time ? Qt::CrossCursor : Qt::ArrowCursor);
  update();
}

QRect Plot::area() const { return rect().adjusted(left, top, -right, -bottom); }

double Plot::x_of(double ns) const { return area().left() + graph_.place_of(ns) * area().width(); }
double Plot::y_of(double value) const { return area().bottom() - value / highest_ * area().height(); }
std::int64_t Plot::time_at(int x) const {
  const double part = std::clamp((x - area().left()) / std::max(1.0, static_cast<double>(area().width())), 0.0, 1.0);
  return static_cast<std::int64_t>(graph_.at_place(part));
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
  // Half a packet was never sent.
  const double least = graph_.unit.isEmpty() || graph_.unit == "PSN" ? 1 : 0;
  for (double value = 0, step = std::max(least, step_for(highest_)); value <= highest_; value += step) {
    line_of(a.left(), y_of(value), a.right(), y_of(value));
    painter.drawText(QRectF(0, y_of(value) - 10, left - 6, 20), Qt::AlignRight | Qt::AlignVCenter,
                     shown(value, graph_.unit));
  }
  const auto begin = static_cast<double>(graph_.begin_ns), end = static_cast<double>(graph_.end_ns);
  const auto tick = [&](double ns, const QString& words) {
    line_of(x_of(ns), a.top(), x_of(ns), a.bottom());
    painter.drawText(QRectF(x_of(ns) - 60, a.bottom() + 4, 120, 20), Qt::AlignHCenter | Qt::AlignTop, words);
  };
  if (graph_.axis == Graph::Axis::duration) {
    for (double tenfold = std::pow(10, std::floor(std::log10(begin))); tenfold <= end; tenfold *= 10)
      for (const double factor : {1.0, 2.0, 5.0})
        if (const double ns = tenfold * factor; ns >= begin && ns <= end)
          tick(ns, duration(static_cast<std::int64_t>(ns)));
  } else {
    const double step = step_for(std::max(1.0, end - begin));
    for (double ns = std::ceil(begin / step) * step; ns <= end; ns += step)
      tick(ns, seconds(static_cast<std::int64_t>(ns)) + " s");
  }
  painter.drawRect(a);
}

void Plot::paint_series(QPainter& painter, const Series& s, const QColor& color) const {
  painter.setPen(QPen(color, 1.5));
  if (s.form == Series::Form::bars) {
    // What stands behind is seen through it.
    QColor fill = color;
    fill.setAlpha(150);
    for (const GraphPoint& p : s.points) {
      const auto ns = static_cast<double>(p.ns);
      const double x = x_of(ns), end = std::max(x + 1, x_of(graph_.end_of_bar(ns)) - 1);
      painter.fillRect(QRectF(QPointF(x, y_of(p.value)), QPointF(end, y_of(0))), fill);
      painter.drawLine(QPointF(x, y_of(p.value)), QPointF(end, y_of(p.value)));
    }
    return;
  }
  painter.setBrush(color);
  QPolygonF line;
  QPointF last(-10, -10);
  for (const GraphPoint& p : s.points) {
    const QPointF at(x_of(static_cast<double>(p.ns)), y_of(p.value));
    if (s.form == Series::Form::line) {
      line << at;
    } else if (std::abs(at.x() - last.x()) > 0.7 || std::abs(at.y() - last.y()) > 0.7) {
      // Points that fall on each other are painted once.
      painter.drawEllipse(at, 1.8, 1.8);
      last = at;
    }
  }
  painter.setBrush(Qt::NoBrush);
  if (s.form == Series::Form::line) painter.drawPolyline(line);
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
    paint_series(painter, s, color);
    painter.fillRect(name_x, 11, 10, 10, color);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(name_x + 15, 20, s.name);
    name_x += 35 + fontMetrics().horizontalAdvance(s.name);
  }
  painter.setPen(QPen(palette().color(QPalette::Text), 1, Qt::DashLine));
  for (std::size_t i = 0; i < graph_.marks.size(); ++i) {
    const double x = x_of(static_cast<double>(graph_.marks[i].ns));
    painter.drawLine(QPointF(x, area().top()), QPointF(x, area().bottom()));
    // To the side that has room, and below the name of the one before.
    const double y = area().top() + 4 + 18 * static_cast<double>(i);
    const bool at_left = x > area().center().x();
    painter.drawText(at_left ? QRectF(x - 165, y, 160, 16) : QRectF(x + 5, y, 160, 16),
                     int(at_left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, graph_.marks[i].name);
  }
  if (!drawn_from_ || !drawn_to_) return;
  QColor mark = palette().color(QPalette::Highlight);
  mark.setAlpha(80);
  painter.fillRect(QRect(QPoint(std::min(*drawn_from_, *drawn_to_), area().top()),
                         QPoint(std::max(*drawn_from_, *drawn_to_), area().bottom())),
                   mark);
}

void Plot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || graph_.series.empty() || graph_.axis != Graph::Axis::time) return;
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
    : QWidget(parent), connection_(new QComboBox), kind_(new QComboBox), plot_(new Plot), hint_(new QLabel) {
  for (const GraphTitle& title : graph_titles) kind_->addItem(title.words, static_cast<int>(title.kind));
  connection_->setMinimumContentsLength(50);
  auto* const bar = new QHBoxLayout;
  bar->addWidget(new QLabel(tr("Connection")));
  bar->addWidget(connection_);
  bar->addWidget(kind_);
  bar->addStretch();
  hint_->setText(tr("Draw over a range of time to filter by it"));
  bar->addWidget(hint_);
  auto* const all = new QVBoxLayout(this);
  all->addLayout(bar);
  all->addWidget(plot_, 1);
  connect(&file_, &FollowedFile::changed, this, &GraphsView::refresh);
  connect(connection_, &QComboBox::currentIndexChanged, this, &GraphsView::draw);
  connect(kind_, &QComboBox::currentIndexChanged, this, &GraphsView::draw);
  connect(plot_, &Plot::rangeDrawn, this, [this](qint64 begin, qint64 end) {
    emit filterWanted(QString("rdmascope.flow == %1 and frame.time_relative >= %2 and frame.time_relative <= %3")
                          .arg(connection_->currentData().toUInt())
                          .arg(static_cast<double>(begin) / 1e9, 0, 'f', 9)
                          .arg(static_cast<double>(end) / 1e9, 0, 'f', 9));
  });
}

void GraphsView::set_file(CaptureFile* file) { file_.set(file); }

// The chosen connection stays chosen while a file grows.
void GraphsView::refresh() {
  constexpr int most = 10'000;  // a list of more helps nobody
  const QVariant chosen = connection_->currentData();
  {
    const QSignalBlocker quiet(connection_);
    connection_->clear();
    if (const Followed* const followed = file_.followed().get())
      for (const ConnectionRow& row : followed->connections) {
        connection_->addItem(QString("%1  %2").arg(row.id).arg(text(row.ends)), row.id);
        if (connection_->count() == most) break;
      }
    if (const int same = connection_->findData(chosen); same >= 0) connection_->setCurrentIndex(same);
  }
  draw();
}

void GraphsView::choose(std::uint32_t connection, GraphKind kind) {
  kind_->setCurrentIndex(kind_->findData(static_cast<int>(kind)));
  connection_->setCurrentIndex(connection_->findData(connection));
}

void GraphsView::select(quint64 frame) {
  const Followed* const known = file_.followed().get();
  if (!known || frame == 0) return;
  const std::uint32_t flow = known->annotations.of(frame).flow;
  if (const int index = connection_->findData(flow); flow != 0 && index >= 0) connection_->setCurrentIndex(index);
}

// A graph that nobody sees costs as much as one that is seen: it waits.
void GraphsView::draw() {
  is_stale_ = !isVisible();
  if (is_stale_) return;
  const Followed* const known = file_.followed().get();
  if (!known || connection_->currentIndex() < 0)
    plot_->set({});
  else
    plot_->set(make_graph(*file_.file(), *known, connection_->currentData().toUInt(),
                          static_cast<GraphKind>(kind_->currentData().toInt())));
  hint_->setVisible(!plot_->graph().series.empty() && plot_->graph().axis == Graph::Axis::time);
}

void GraphsView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (is_stale_) draw();
}

}  // namespace rdmascope::gui
