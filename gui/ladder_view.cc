#include "gui/ladder_view.h"

#include <QFileInfo>
#include <QHelpEvent>
#include <QImage>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QSvgGenerator>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace rdmascope::gui {
namespace {

using Spacing = LadderScale::Spacing;
constexpr double most_bar = 1e9;
constexpr double least_row = 2, most_row = 60;
constexpr double least_ns = 1, most_ns = 1e9;  // per pixel
constexpr double key_zoom = 1.5, wheel_zoom = 1.25;
constexpr double most_png = 20'000, most_svg = 100'000;  // pixels high
constexpr double least_saved_width = 1000;
constexpr double near_enough = 8;  // pixels from an arrow

}  // namespace

LadderView::LadderView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFocusPolicy(Qt::StrongFocus);
  scale_.row = LadderPainter::text_row(font());
  verticalScrollBar()->setSingleStep(static_cast<int>(scale_.row));
  setAccessibleName("Ladder diagram");
}

void LadderView::show_ladder(Ladder ladder, const QString& waiting) {
  ladder_ = std::move(ladder);
  waiting_ = waiting;
  chosen_.reset();
  fits_ = true;
  fit();
  update_bars();
  set_top(0);
  viewport()->update();
}

void LadderView::fit() {
  if (!fits_) return;
  const double room = std::max(100.0, page() - 3 * LadderPainter::text_row(font()));
  scale_.ns_per_pixel = std::clamp(static_cast<double>(ladder_.duration()) / room, least_ns, most_ns);
}

LadderPainter::Look LadderView::look() const { return {scale_, font(), palette(), absolute_, chosen_}; }

// --- Painting --------------------------------------------------------------------------------------------------------

void LadderView::paintEvent(QPaintEvent*) {
  QPainter p(viewport());
  if (ladder_.empty()) {
    p.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    p.setPen(colour(Shade::dim, palette()));
    p.drawText(viewport()->rect(), Qt::AlignCenter, waiting_);
    return;
  }
  p.translate(-horizontalScrollBar()->value(), 0);
  LadderPainter(ladder_, look(), viewport()->width()).paint(p, top(), viewport()->height());
}

void LadderView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) {
    scale_.row = LadderPainter::text_row(font());
    update_bars();
  }
  QAbstractScrollArea::changeEvent(event);
}

QString LadderView::save(const QString& path) const {
  if (ladder_.empty()) return "there is no diagram to save";
  const bool svg = QFileInfo(path).suffix().toLower() == "svg";
  if (!svg && QFileInfo(path).suffix().toLower() != "png")
    return QString("cannot save %1: the name must end in .svg or .png").arg(path);
  const double head = viewport()->height() - page();
  const double whole = ladder_.height(scale_) + head;
  const bool fits = whole <= (svg ? most_svg : most_png);
  const bool good = fits ? save_picture(path, 0, whole) : save_picture(path, top(), viewport()->height());
  return good ? QString() : QString("cannot write %1").arg(path);
}

bool LadderView::save_picture(const QString& path, double from, double height) const {
  const double width = std::max<double>(viewport()->width(), least_saved_width);
  const QSize size(static_cast<int>(width), static_cast<int>(std::ceil(height)));
  LadderPainter ladder(ladder_, look(), width);
  if (QFileInfo(path).suffix().toLower() == "svg") {
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setResolution(logicalDpiY());  // letters as large as on the screen
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(), size));
    svg.setTitle(ladder_.ends()[0] + " - " + ladder_.ends()[1]);
    QPainter p;
    if (!p.begin(&svg)) return false;
    ladder.paint(p, from, height);
    return p.end();
  }
  QImage image(size, QImage::Format_RGB32);
  if (image.isNull()) return false;
  QPainter p(&image);
  ladder.paint(p, from, height);
  p.end();
  return image.save(path, "PNG");
}

// --- Scrolling and zooming -------------------------------------------------------------------------------------------

double LadderView::page() const {
  const double head = LadderPainter(ladder_, look(), viewport()->width()).head();
  return std::max(1.0, viewport()->height() - head);
}

double LadderView::top() const { return verticalScrollBar()->value() * unit_; }

void LadderView::set_top(double top) { verticalScrollBar()->setValue(static_cast<int>(std::lround(top / unit_))); }

void LadderView::update_bars() {
  const double height = ladder_.height(scale_), beyond = std::max(0.0, height - page());
  unit_ = std::max(1.0, beyond / most_bar);
  verticalScrollBar()->setRange(0, static_cast<int>(std::ceil(beyond / unit_)));
  verticalScrollBar()->setPageStep(std::max(1, static_cast<int>(page() / unit_)));
  horizontalScrollBar()->setRange(0, std::max(0, static_cast<int>(LadderPainter::least_width) - viewport()->width()));
  horizontalScrollBar()->setPageStep(viewport()->width());
}

void LadderView::resizeEvent(QResizeEvent*) {
  fit();
  update_bars();
}

void LadderView::scrollContentsBy(int, int) { viewport()->update(); }

void LadderView::zoom(double factor) {
  const double head = viewport()->height() - page();
  const bool seen = chosen_ && step_y(*chosen_) > head && step_y(*chosen_) < viewport()->height();
  zoom_at(factor, seen ? step_y(*chosen_) : head + page() / 2);
}

// What stands at `y` stays there.
void LadderView::zoom_at(double factor, double y) {
  const double below = y - (viewport()->height() - page());
  if (scale_.spacing == Spacing::rows) {
    const double row = std::clamp(scale_.row * factor, least_row, most_row);
    const double at = (top() + below) / scale_.row;
    scale_.row = row;
    update_bars();
    set_top(at * row - below);
  } else {
    const double ns = std::clamp(scale_.ns_per_pixel / factor, least_ns, most_ns);
    const double at = (top() + below - scale_.row) * scale_.ns_per_pixel;
    scale_.ns_per_pixel = ns;
    fits_ = false;
    update_bars();
    set_top(at / ns + scale_.row - below);
  }
  viewport()->update();
}

void LadderView::set_absolute(bool absolute) {
  absolute_ = absolute;
  viewport()->update();
}

void LadderView::set_by_time(bool by_time) {
  const std::size_t first = std::min(ladder_.first_at(top(), scale_), ladder_.size() - (ladder_.empty() ? 0 : 1));
  scale_.spacing = by_time ? Spacing::time : Spacing::rows;
  scale_.row = LadderPainter::text_row(font());
  update_bars();
  if (!ladder_.empty()) set_top(ladder_.y(first, scale_) - scale_.row);
  if (chosen_) reveal(*chosen_);
  viewport()->update();
}

void LadderView::wheelEvent(QWheelEvent* event) {
  if (!(event->modifiers() & Qt::ControlModifier)) return QAbstractScrollArea::wheelEvent(event);
  zoom_at(std::pow(wheel_zoom, event->angleDelta().y() / 120.0), event->position().y());
  event->accept();
}

// --- Choosing --------------------------------------------------------------------------------------------------------

double LadderView::step_y(std::size_t step) const {
  return viewport()->height() - page() + ladder_.y(step, scale_) - top();
}

std::optional<std::size_t> LadderView::step_at(double y) const {
  const double at = y - (viewport()->height() - page()) + top();
  if (ladder_.empty() || at < top() || at > ladder_.height(scale_)) return std::nullopt;
  if (scale_.spacing == Spacing::rows) {
    const auto r = static_cast<std::size_t>(at / scale_.row);
    if (r >= ladder_.rows()) return std::nullopt;
    const Ladder::Row row = ladder_.row(r);
    return row.gap ? std::nullopt : std::optional(row.step);
  }
  const std::size_t below = ladder_.first_at(at, scale_);
  std::optional<std::size_t> nearest;
  double distance = near_enough;
  for (const std::size_t step : {below, below - 1}) {
    if (step >= ladder_.size()) continue;
    const double d = std::abs(ladder_.y(step, scale_) - at);
    if (d < distance) nearest = step, distance = d;
  }
  // A label belongs to the arrow below it.
  if (!nearest && below < ladder_.size() && ladder_.y(below, scale_) - at < LadderPainter::text_row(font()))
    nearest = below;
  return nearest;
}

void LadderView::reveal(std::size_t step) {
  const double y = ladder_.y(step, scale_), row = std::max(scale_.row, 4.0);
  if (y - row < top() || y + row > top() + page()) set_top(y - page() / 2);
}

void LadderView::select(quint64 frame) {
  const std::optional<std::size_t> step = ladder_.step_of(frame);
  if (step == chosen_) return;
  chosen_ = step;
  if (step) reveal(*step);
  viewport()->update();
}

void LadderView::choose(std::size_t step) {
  chosen_ = step;
  reveal(step);
  viewport()->update();
  emit packetChosen(ladder_[step].frame);
}

void LadderView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto step = step_at(event->position().y())) choose(*step);
}

void LadderView::mouseReleaseEvent(QMouseEvent* event) { event->accept(); }

void LadderView::keyPressEvent(QKeyEvent* event) {
  if (ladder_.empty()) return QAbstractScrollArea::keyPressEvent(event);
  const std::size_t last = ladder_.size() - 1;
  const std::size_t seen = std::min(last, ladder_.first_at(top(), scale_));
  switch (event->key()) {
    case Qt::Key_Down:
      return choose(chosen_ ? std::min(*chosen_ + 1, last) : seen);
    case Qt::Key_Up:
      return choose(chosen_ ? *chosen_ - (*chosen_ > 0) : seen);
    case Qt::Key_PageDown:
      return set_top(top() + page());
    case Qt::Key_PageUp:
      return set_top(top() - page());
    case Qt::Key_Home:
      return choose(0);
    case Qt::Key_End:
      return choose(last);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(key_zoom);
    case Qt::Key_Minus:
      return zoom(1 / key_zoom);
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

bool LadderView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (const auto step = step_at(help->pos().y()))
    QToolTip::showText(help->globalPos(), ladder_.tip(*step), viewport());
  else
    QToolTip::hideText();
  return true;
}

}  // namespace rdmascope::gui
