// A ladder that can be scrolled, zoomed, clicked and saved. Paints what is visible only.
#pragma once

#include <QAbstractScrollArea>

#include "gui/ladder_paint.h"
#include "gui/models/ladder.h"

namespace rdmascope::gui {

class LadderView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit LadderView(QWidget* parent = nullptr);

  // Shows the ladder as it is now; `waiting`: what to say while there is none.
  void show_ladder(Ladder ladder, const QString& waiting = {});
  const Ladder& ladder() const { return ladder_; }
  const LadderScale& scale() const { return scale_; }
  double step_y(std::size_t step) const;  // in the viewport

  // By the ending of the name, .svg or .png: all of it, or where that would be too large what is visible. Empty, or
  // why it failed.
  QString save(const QString& path) const;

 public slots:
  void select(quint64 frame);  // scrolls there; no signal
  void set_absolute(bool absolute);
  void set_by_time(bool by_time);
  void zoom(double factor);  // larger than 1: closer

 signals:
  void packetChosen(quint64 frame);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  bool viewportEvent(QEvent* event) override;

 private:
  LadderPainter::Look look() const;
  double page() const;  // pixels below the names
  double top() const;
  void set_top(double top);
  void update_bars();
  void fit();
  void zoom_at(double factor, double y);
  void choose(std::size_t step);
  void reveal(std::size_t step);
  std::optional<std::size_t> step_at(double y) const;  // in the viewport
  bool save_picture(const QString& path, double from, double height) const;

  Ladder ladder_;
  LadderScale scale_;
  QString waiting_;
  std::optional<std::size_t> chosen_;
  bool absolute_ = true;
  bool fits_ = true;  // by time, all of it is visible, until somebody zooms
  double unit_ = 1;   // pixels per step of the scroll bar: a picture may be higher than an int can say
};

}  // namespace rdmascope::gui
