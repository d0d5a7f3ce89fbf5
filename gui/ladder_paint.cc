#include "gui/ladder_paint.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace rdmascope::gui {
namespace {

using Kind = Ladder::Kind;
constexpr double arrow_length = 8, arrow_half = 3.5, margin = 6;

// The middle of a pixel: lines there are sharp and equally strong.
double sharp(double at) { return std::floor(at) + 0.5; }

// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double f : {1.0, 2.0, 5.0})
    if (f * power >= least) return f * power;
  return 10 * power;
}

}  // namespace

LadderPainter::LadderPainter(const Ladder& ladder, const Look& look, double width)
    : ladder_(ladder), look_(look), width_(std::max(width, least_width)) {
  const QFontMetricsF metrics(look.font);
  text_height_ = metrics.height();
  head_ = text_height_ + 2 * margin;
  // Left: frame, time, time since the one before. Right: the rule of a finding.
  left_ = sharp(metrics.horizontalAdvance("00000000  0000.000000  +00.0 ms") + 3 * margin);
  right_ = sharp(width_ - metrics.horizontalAdvance("H-SLOW-RESPONSE") - 5 * margin);
  labels_ = look.scale.spacing == LadderScale::Spacing::time || look.scale.row >= text_row(look.font) - 0.5;
}

double LadderPainter::text_row(const QFont& font) { return QFontMetricsF(font).height() + 7; }

QColor LadderPainter::ink(Shade shade) const { return colour(shade, look_.palette); }

void LadderPainter::put(QPainter& p, const QRectF& where, Qt::Alignment how, const QString& words, const QColor& ink) {
  p.setPen(ink);
  const QFontMetricsF metrics(look_.font);
  p.drawText(where, int(how | Qt::AlignVCenter | Qt::TextSingleLine),
             metrics.elidedText(words, Qt::ElideRight, where.width()));
}

void LadderPainter::paint(QPainter& p, double top, double height) {
  p.setFont(look_.font);
  p.fillRect(QRectF(0, 0, width_, height), look_.palette.color(QPalette::Base));
  if (ladder_.empty()) return;
  p.save();
  p.setClipRect(QRectF(0, head_, width_, height - head_));
  p.translate(0, head_);
  const double body = height - head_;
  lifelines(p, std::min(body, ladder_.height(look_.scale) - top));
  if (look_.scale.spacing == LadderScale::Spacing::rows)
    rows(p, top, body);
  else
    by_time(p, top, body);
  p.restore();
  names(p);
}

void LadderPainter::names(QPainter& p) {
  const QColor plain = look_.palette.color(QPalette::Text);
  p.fillRect(QRectF(0, 0, width_, head_), look_.palette.color(QPalette::AlternateBase));
  p.setPen(QPen(ink(Shade::dim), 1));
  p.drawLine(QPointF(0, head_), QPointF(width_, head_));
  put(p, {margin, 0, left_ - 2 * margin, head_}, Qt::AlignLeft,
      look_.scale.spacing == LadderScale::Spacing::rows ? "Frame, seconds, since before" : "Seconds", ink(Shade::dim));
  const double half = (right_ - left_) / 2 - margin;
  put(p, {left_ + margin, 0, half, head_}, Qt::AlignLeft, ladder_.ends()[0], plain);
  put(p, {right_ - margin - half, 0, half, head_}, Qt::AlignRight, ladder_.ends()[1], plain);
}

void LadderPainter::lifelines(QPainter& p, double height) {
  p.setPen(QPen(ink(Shade::dim), 1));
  for (const double x : {left_, right_}) p.drawLine(QPointF(x, 0), QPointF(x, height));
}

// --- One under the other ---------------------------------------------------------------------------------------------

void LadderPainter::rows(QPainter& p, double top, double height) {
  const double row = look_.scale.row;
  const auto from = static_cast<std::size_t>(std::max(0.0, top) / row);
  const std::size_t to = std::min(ladder_.rows(), static_cast<std::size_t>((top + height) / row) + 1);
  for (std::size_t r = from; r < to; ++r) {
    const double at = static_cast<double>(r) * row - top;
    const Ladder::Row what = ladder_.row(r);
    const double y = at + 0.8 * row;
    if (what.gap && what.gap->kind == LadderGap::Kind::pause) {
      pause(p, *what.gap, at + row / 2);
    } else if (what.gap) {
      missing(p, *what.gap, y, labels_);
    } else {
      if (look_.chosen == what.step) {
        QColor back = look_.palette.color(QPalette::Highlight);
        back.setAlpha(70);
        p.fillRect(QRectF(0, at, width_, row), back);
      }
      step(p, what.step, y, labels_, false);
      if (labels_) times(p, what.step, at + row / 2);
    }
  }
}

void LadderPainter::times(QPainter& p, std::size_t i, double y) {
  const QFontMetricsF metrics(look_.font);
  const double frame_end = margin + metrics.horizontalAdvance("00000000"),
               time_end = frame_end + metrics.horizontalAdvance("  0000.000000"), h = text_height_;
  const QColor plain = look_.palette.color(QPalette::Text);
  put(p, {0, y - h / 2, frame_end, h}, Qt::AlignRight, QString::number(ladder_[i].frame), plain);
  put(p, {frame_end, y - h / 2, time_end - frame_end, h}, Qt::AlignRight,
      seconds(ladder_.time(i) - ladder_.capture_start()), ink(Shade::dim));
  if (i > 0)
    put(p, {time_end, y - h / 2, left_ - margin - time_end, h}, Qt::AlignRight,
        '+' + duration(ladder_.time(i) - ladder_.time(i - 1)), ink(Shade::dim));
}

// --- By time ---------------------------------------------------------------------------------------------------------

// One arrow per line of pixels: of what is there the most notable one. That keeps a million steps as quick as a
// hundred.
void LadderPainter::by_time(QPainter& p, double top, double height) {
  clock(p, top, height);
  const double room = text_row(look_.font);
  const LadderScale& scale = look_.scale;
  double last = -1e9;  // line before
  for (std::size_t i = ladder_.first_at(top - room, scale); i < ladder_.size();) {
    const double y = ladder_.y(i, scale);
    if (y > top + height + room) break;
    const std::size_t next = std::max(i + 1, ladder_.first_at(std::floor(y) + 1, scale));
    const std::size_t shown = ladder_.notable(i, next) > 0 ? ladder_.first_notable(i) : i;
    const bool chosen = look_.chosen && *look_.chosen >= i && *look_.chosen < next;
    const double free = y - last;
    if (chosen) {
      QColor back = look_.palette.color(QPalette::Highlight);
      back.setAlpha(70);
      const QRectF labelled(0, y - top - room * 0.8, width_, room), bare(0, y - top - 3, width_, 7);
      p.fillRect(free >= room ? labelled : bare, back);
    }
    step(p, chosen ? *look_.chosen : shown, y - top, free >= room, next - i > 1);
    if (const LadderGap* gap = ladder_.gap_before(i, LadderGap::Kind::missing))
      missing(p, *gap, free >= 2 * room ? y - top - room : y - top - 2, free >= 2 * room);
    last = y;
    i = next;
  }
}

void LadderPainter::clock(QPainter& p, double top, double height) {
  const double room = text_row(look_.font), ns_per_pixel = look_.scale.ns_per_pixel;
  const double step = round_step(3 * room * ns_per_pixel);  // ns
  const double begin = static_cast<double>(ladder_.time(0) - ladder_.capture_start());
  const double from = begin + (top - room) * ns_per_pixel, to = from + (height + room) * ns_per_pixel,
               end = begin + static_cast<double>(ladder_.duration());
  for (double t = std::ceil(std::max(from, begin) / step) * step; t <= std::min(to, end + step / 10); t += step) {
    const double y = (t - begin) / ns_per_pixel + look_.scale.row - top;
    p.setPen(QPen(ink(Shade::dim), 1));
    p.drawLine(QPointF(left_ - 5, y), QPointF(left_, y));
    put(p, {margin, y - room / 2, left_ - 3 * margin, room}, Qt::AlignRight, seconds(std::llround(t)), ink(Shade::dim));
  }
}

// --- What stands there -----------------------------------------------------------------------------------------------

void LadderPainter::step(QPainter& p, std::size_t i, double y, bool with_text, bool many) {
  y = sharp(y);
  const StepRow& s = ladder_[i];
  if (s.completion) return completion(p, i, y, with_text);
  LadderLabel label;
  if (with_text) label = ladder_.label(i, look_.absolute);
  Shade shade = Shade::dim;
  if (s.kind == Kind::request) shade = s.retransmission ? Shade::anomaly : Shade::request;
  if (s.kind == Kind::read_response || s.kind == Kind::atomic_response) shade = Shade::response;
  if (s.kind == Kind::acknowledge) shade = Shade::acknowledge;
  if (s.kind == Kind::nak) shade = label.nak == LadderLabel::Nak::rnr ? Shade::anomaly : Shade::violation;
  QPen pen(ink(shade), many || s.kind == Kind::nak ? 2 : 1);
  if (s.retransmission) pen.setDashPattern({6, 3});
  p.setPen(pen);
  arrow(p, y, s.side == 0, s.kind == Kind::nak, false);
  if (with_text)
    put(p, {left_ + 2 * margin, y - text_height_ - 1, right_ - left_ - 4 * margin, text_height_}, Qt::AlignHCenter,
        label.words,
        shade == Shade::dim || shade == Shade::acknowledge ? look_.palette.color(QPalette::Text) : ink(shade));
  found_at(p, i, y, with_text);
}

// A diamond on the lifeline of its queue pair, with the words beside it.
void LadderPainter::completion(QPainter& p, std::size_t i, double y, bool with_text) {
  const StepRow& s = ladder_[i];
  if (look_.scale.spacing == LadderScale::Spacing::rows) y = sharp(y - 0.3 * look_.scale.row);
  LadderLabel label;
  if (with_text) label = ladder_.label(i, look_.absolute);
  const bool flushed = label.nak == LadderLabel::Nak::rnr;
  const QColor shade = ink(s.kind != Kind::nak ? Shade::good : flushed ? Shade::anomaly : Shade::violation);
  const double x = s.side == 0 ? left_ : right_, half = std::min(5.0, std::max(2.0, look_.scale.row / 3));
  p.save();
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(Qt::NoPen);
  p.setBrush(shade);
  const QPointF diamond[] = {{x, y - half}, {x + half, y}, {x, y + half}, {x - half, y}};
  p.drawPolygon(diamond, 4);
  p.restore();
  if (with_text)
    put(p, {left_ + 2 * margin, y - text_height_ / 2, right_ - left_ - 4 * margin, text_height_},
        s.side == 0 ? Qt::AlignLeft : Qt::AlignRight, label.words, shade);
  found_at(p, i, y, with_text);
}

void LadderPainter::found_at(QPainter& p, std::size_t i, double y, bool with_text) {
  const FoundRow* found = ladder_.finding(i);
  if (!found) return;
  p.save();
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(Qt::NoPen);
  p.setBrush(ink(shade_of(found->kind)));
  p.drawEllipse(QPointF(right_ + 2 * margin, y), 4, 4);
  p.restore();
  if (with_text)
    put(p, {right_ + 3.5 * margin, y - text_height_ / 2, width_ - right_ - 4 * margin, text_height_}, Qt::AlignLeft,
        text(found->rule->id), ink(shade_of(found->kind)));
}

// With the pen that is set. `short_of`: it does not arrive.
void LadderPainter::arrow(QPainter& p, double y, bool to_right, bool cross, bool short_of) {
  const double direction = to_right ? 1 : -1;
  const double from = to_right ? left_ : right_, whole = to_right ? right_ : left_;
  const double to = short_of ? whole - direction * (right_ - left_) * 0.12 : whole;
  p.drawLine(QPointF(from, y), QPointF(to, y));
  p.save();
  p.setRenderHint(QPainter::Antialiasing);
  const QColor ink = p.pen().color();
  if (short_of || cross) {
    const double x = cross ? to - direction * 2.5 * arrow_length : to;
    p.setPen(QPen(ink, 2));
    p.drawLine(QPointF(x - 4, y - 4), QPointF(x + 4, y + 4));
    p.drawLine(QPointF(x - 4, y + 4), QPointF(x + 4, y - 4));
  }
  if (!short_of) {
    p.setPen(Qt::NoPen);
    p.setBrush(ink);
    const QPointF head[] = {
        {to, y}, {to - direction * arrow_length, y - arrow_half}, {to - direction * arrow_length, y + arrow_half}};
    p.drawPolygon(head, 3);
  }
  p.restore();
}

void LadderPainter::missing(QPainter& p, const LadderGap& gap, double y, bool with_text) {
  y = sharp(y);
  QPen pen(ink(Shade::artifact), 1);
  pen.setDashPattern({2, 4});
  p.setPen(pen);
  arrow(p, y, gap.side == 0, false, true);
  if (with_text)
    put(p, {left_ + 2 * margin, y - text_height_ - 1, right_ - left_ - 4 * margin, text_height_}, Qt::AlignHCenter,
        ladder_.missing_label(gap, look_.absolute), ink(Shade::artifact));
}

void LadderPainter::pause(QPainter& p, const LadderGap& gap, double y) {
  // The lifelines are broken there.
  const double half = std::min(look_.scale.row / 2 - 1, 9.0);
  for (const double x : {left_, right_}) {
    p.fillRect(QRectF(x - 2, y - half, 4, 2 * half), look_.palette.color(QPalette::Base));
    QPen dots(ink(Shade::dim), 1);
    dots.setDashPattern({1, 3});
    p.setPen(dots);
    p.drawLine(QPointF(x, y - half), QPointF(x, y + half));
  }
  if (labels_)
    put(p, {left_, y - text_height_ / 2, right_ - left_, text_height_}, Qt::AlignHCenter,
        QString("nothing for %1").arg(duration(gap.ns)), ink(Shade::dim));
}

}  // namespace rdmascope::gui
