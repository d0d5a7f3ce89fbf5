// Completion queue entries as a table, and of the chosen one what its status means.
#pragma once

#include <QWidget>

#include "gui/models/completion_model.h"
#include "gui/models/followed_file.h"

class QLabel;
class QStackedWidget;
class QTableView;
class QTextBrowser;

namespace rdmascope::gui {

class CompletionsView : public QWidget {
  Q_OBJECT

 public:
  explicit CompletionsView(QWidget* parent = nullptr);
  // nullptr, or when the file is gone: empty.
  void set_file(CaptureFile* file);
  bool any() const;  // the capture has entries

  CompletionModel& model() { return *completions_; }
  QTableView& table() { return *table_; }

 public slots:
  void select(quint64 frame);  // of the entry, or of the packet that caused it; no signal

 signals:
  void anyChanged();
  void packetChosen(quint64 frame);
  void filterWanted(const QString& filter);

 private:
  void show_file();
  void show_advice();
  void opened(const QModelIndex& index);
  void menu(const QPoint& at);

  FollowedFile file_;
  CompletionModel* completions_;
  QStackedWidget* pages_;
  QLabel *waiting_, *count_;
  QTableView* table_;
  QTextBrowser* advice_;
};

}  // namespace rdmascope::gui
