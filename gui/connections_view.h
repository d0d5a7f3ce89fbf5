// The connections of a capture; of the chosen one its messages and its ladder.
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/models/connection_model.h"
#include "gui/models/message_model.h"

class QLabel;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace rdmascope::gui {

class LadderView;

class ConnectionsView : public QWidget {
  Q_OBJECT

 public:
  explicit ConnectionsView(QWidget* parent = nullptr);
  // nullptr, or when the file is gone: empty.
  void set_file(CaptureFile* file);

  LadderView* ladder() const { return ladder_; }
  std::uint32_t chosen() const { return chosen_; }  // id; 0: none

 public slots:
  void choose(std::uint32_t connection);
  void select(quint64 frame);  // its connection, message and arrow; no signal

 signals:
  void packetChosen(quint64 frame);
  void filterWanted(const QString& filter);  // "rdmascope.flow == 3"

 private:
  void make_tables();
  QWidget* make_ladder();
  void refresh();
  void show_file();
  bool nothing_to_follow() const { return file_ && indexed_ && file_->index().size() == 0; }
  void row_changed();
  void message_clicked(const QModelIndex& index);
  void connection_menu(const QPoint& at);
  void save_ladder();

  QPointer<CaptureFile> file_;
  bool indexed_ = false;
  std::shared_ptr<const Followed> followed_;
  std::uint32_t chosen_ = 0;
  ConnectionModel* connections_;
  QSortFilterProxyModel* sorted_;
  MessageModel* messages_;
  QStackedWidget* pages_;
  QLabel* waiting_;
  QTableView *connection_table_ = nullptr, *message_table_ = nullptr;
  LadderView* ladder_ = nullptr;
};

}  // namespace rdmascope::gui
