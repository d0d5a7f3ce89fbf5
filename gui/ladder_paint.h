// Draws a part of a ladder: for the screen, and for pictures that are saved.
#pragma once

#include <QFont>
#include <QPalette>

#include <optional>

#include "gui/models/ladder.h"
#include "gui/models/words.h"

class QPainter;

namespace rdmascope::gui {

class LadderPainter {
 public:
  struct Look {
    LadderScale scale;
    QFont font;
    QPalette palette;
    bool absolute = true;
    std::optional<std::size_t> chosen;  // step
  };
  LadderPainter(const Ladder& ladder, const Look& look, double width);

  double head() const { return head_; }  // height of the names on top
  // Fills width x height: the names, and below what stands from `top` on.
  void paint(QPainter& painter, double top, double height);

  static double text_row(const QFont& font);  // height of a row that has room for text
  static constexpr double least_width = 760;

 private:
  void names(QPainter& p);
  void lifelines(QPainter& p, double height);
  void rows(QPainter& p, double top, double height);
  void by_time(QPainter& p, double top, double height);
  void clock(QPainter& p, double top, double height);
  void step(QPainter& p, std::size_t i, double y, bool with_text, bool many);
  void completion(QPainter& p, std::size_t i, double y, bool with_text);
  void found_at(QPainter& p, std::size_t i, double y, bool with_text);
  void arrow(QPainter& p, double y, bool to_right, bool cross, bool short_of);
  void missing(QPainter& p, const LadderGap& gap, double y, bool with_text);
  void pause(QPainter& p, const LadderGap& gap, double y);
  void times(QPainter& p, std::size_t i, double y);
  void put(QPainter& p, const QRectF& where, Qt::Alignment how, const QString& words, const QColor& ink);
  QColor ink(Shade shade) const;

  const Ladder& ladder_;
  Look look_;
  double width_, head_, text_height_;
  double left_, right_;  // lifelines
  bool labels_;          // rows have room for text
};

}  // namespace rdmascope::gui
