#include "gui/hex_view.h"

#include <QFontDatabase>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace rdmascope::gui {
namespace {

constexpr int margin = 6, offset_digits = 4;

QString hex(std::uint64_t value, int digits) { return QString("%1").arg(value, digits, 16, QLatin1Char('0')); }

}  // namespace

HexView::HexView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Bytes of the packet"));
  measure();
}

QSize HexView::sizeHint() const { return {text_x(per_line) + margin + 20, line_height_ * 8}; }

void HexView::measure() {
  char_width_ = fontMetrics().horizontalAdvance('0');
  line_height_ = fontMetrics().height() + 2;
  verticalScrollBar()->setPageStep(std::max(1, viewport()->height() / line_height_));
  verticalScrollBar()->setRange(
      0, std::max(0, lines() - std::max(1, (viewport()->height() - bits_height()) / line_height_)));
}

void HexView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::FontChange) measure();
}

void HexView::resizeEvent(QResizeEvent*) { measure(); }

void HexView::set_bytes(std::span<const std::uint8_t> bytes) {
  bytes_.assign(bytes.begin(), bytes.end());
  chosen_ = {};
  measure();
  verticalScrollBar()->setValue(0);
  viewport()->update();
}

void HexView::set_chosen(BitRange range) {
  chosen_ = range;
  measure();
  if (range.count > 0) {
    const int first = static_cast<int>(range.first / 8 / per_line);
    const int visible = std::max(1, (viewport()->height() - bits_height()) / line_height_);
    QScrollBar* const bar = verticalScrollBar();
    if (first < bar->value() || first >= bar->value() + visible) bar->setValue(std::max(0, first - visible / 2));
  }
  viewport()->update();
}

int HexView::column_x(int byte) const {
  return margin + char_width_ * (offset_digits + 2 + byte * 3 + (byte >= per_line / 2 ? 1 : 0));
}
int HexView::text_x(int byte) const { return column_x(per_line) + char_width_ * (1 + byte); }
int HexView::bits_height() const { return has_bits() ? line_height_ + margin : 0; }

QRect HexView::place_of(std::size_t byte) const {
  const int line = static_cast<int>(byte / per_line) - verticalScrollBar()->value();
  return {column_x(static_cast<int>(byte % per_line)), line * line_height_, 2 * char_width_, line_height_};
}

void HexView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().base());
  const std::uint64_t first = chosen_.first / 8, end = chosen_.count == 0 ? 0 : (chosen_.first + chosen_.count + 7) / 8;
  const int top = verticalScrollBar()->value(), ascent = fontMetrics().ascent() + 1;
  const int room = viewport()->height() - bits_height();
  for (int line = top; line < lines() && (line - top) * line_height_ < room; ++line) {
    const int y = (line - top) * line_height_;
    painter.setPen(palette().color(QPalette::Disabled, QPalette::Text));
    painter.drawText(margin, y + ascent, hex(static_cast<std::uint64_t>(line) * per_line, offset_digits));
    for (int i = 0; i < per_line; ++i) {
      const std::size_t at = static_cast<std::size_t>(line) * per_line + static_cast<std::size_t>(i);
      if (at >= bytes_.size()) break;
      const bool is_chosen = at >= first && at < end;
      if (is_chosen) {
        // The gap to the next byte belongs to the mark, so that it reads as one.
        const bool goes_on = at + 1 < end && i + 1 < per_line && at + 1 < bytes_.size();
        const int width = goes_on ? column_x(i + 1) - column_x(i) : 2 * char_width_;
        painter.fillRect(column_x(i), y, width, line_height_, palette().highlight());
        painter.fillRect(text_x(i), y, char_width_, line_height_, palette().highlight());
      }
      painter.setPen(palette().color(is_chosen ? QPalette::HighlightedText : QPalette::Text));
      painter.drawText(column_x(i), y + ascent, hex(bytes_[at], 2));
      const QChar shown = bytes_[at] >= 0x20 && bytes_[at] < 0x7f ? QChar(bytes_[at]) : QChar('.');
      painter.drawText(text_x(i), y + ascent, QString(shown));
    }
  }
  if (!has_bits() || first >= bytes_.size()) return;
  // Only the bits of the field are bright.
  const int y = room + margin / 2;
  painter.setPen(palette().color(QPalette::Mid));
  painter.drawLine(0, room, viewport()->width(), room);
  int x = margin;
  for (std::uint64_t byte = first; byte < std::min<std::uint64_t>(end, bytes_.size()) && byte < first + 8; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::uint64_t at = byte * 8 + bit;
      const bool inside = at >= chosen_.first && at < chosen_.first + chosen_.count;
      painter.setPen(palette().color(inside ? QPalette::Active : QPalette::Disabled, QPalette::Text));
      QFont bold = font();
      bold.setBold(inside);
      painter.setFont(bold);
      painter.drawText(x, y + ascent, bytes_[byte] >> (7 - bit) & 1 ? "1" : "0");
      x += char_width_ + (bit == 3 ? char_width_ / 2 : 0);
    }
    x += char_width_;
  }
}

void HexView::mousePressEvent(QMouseEvent* event) {
  const int line = event->pos().y() / line_height_ + verticalScrollBar()->value(), x = event->pos().x();
  for (int i = 0; i < per_line; ++i) {
    const bool digits = x >= column_x(i) - char_width_ / 2 && x < column_x(i) + char_width_ * 5 / 2;
    const bool character = x >= text_x(i) && x < text_x(i) + char_width_;
    const std::size_t byte = static_cast<std::size_t>(line) * per_line + static_cast<std::size_t>(i);
    if ((digits || character) && byte < bytes_.size()) return emit bitChosen(static_cast<quint64>(byte) * 8);
  }
}

void HexView::keyPressEvent(QKeyEvent* event) {
  const std::int64_t step = event->key() == Qt::Key_Left    ? -1
                            : event->key() == Qt::Key_Right ? 1
                            : event->key() == Qt::Key_Up    ? -per_line
                            : event->key() == Qt::Key_Down  ? per_line
                                                            : 0;
  const std::int64_t to = static_cast<std::int64_t>(chosen_.first / 8) + step;
  if (step == 0 || to < 0 || to >= static_cast<std::int64_t>(bytes_.size()))
    return QAbstractScrollArea::keyPressEvent(event);
  emit bitChosen(static_cast<quint64>(to) * 8);
}

}  // namespace rdmascope::gui
