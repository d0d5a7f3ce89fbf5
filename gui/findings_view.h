// What was found: the verdict on top, the findings as a tree, and beside it what the chosen rule means.
#pragma once

#include <QWidget>

#include "gui/models/finding_model.h"
#include "gui/models/followed_file.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QTextBrowser;
class QTreeView;

namespace rdmascope::gui {

class FindingsView : public QWidget {
  Q_OBJECT

 public:
  explicit FindingsView(QWidget* parent = nullptr);
  // nullptr, or when the file is gone: empty.
  void set_file(CaptureFile* file);

  QString verdict() const;
  // Not where a window shows it already.
  void set_verdict_shown(bool shown) { verdict_shown_ = shown; }

 public slots:
  void select(quint64 frame);  // its first finding, if it has one; no signal

 signals:
  void packetChosen(quint64 frame, const QString& field);
  void filterWanted(const QString& filter);  // rdmascope.finding.rule == "H-LOSS"

 private:
  void make_tree();
  void show_file();
  void show_verdict();
  void show_rule(const QModelIndex& index);
  void clicked(const QModelIndex& index);
  void menu(const QPoint& at);
  void opened();

  FollowedFile file_;
  bool verdict_shown_ = true;
  FindingModel* findings_;
  QLabel* verdict_;
  QStackedWidget* pages_;
  QLabel* waiting_;
  QComboBox* grouping_;
  QTreeView* tree_;
  QTextBrowser* page_;
};

}  // namespace rdmascope::gui
