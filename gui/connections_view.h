// The connections of a capture, of InfiniBand and of CDI. Of the chosen one its messages and its ladder, or its course.
#pragma once

#include <QWidget>

#include "gui/models/cdi_model.h"
#include "gui/models/connection_model.h"
#include "gui/models/followed_file.h"
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
  std::uint32_t chosen() const { return chosen_; }          // id; 0: none
  std::uint32_t chosen_cdi() const { return chosen_cdi_; }  // number; 0: none

 public slots:
  void choose(std::uint32_t connection);
  void choose_cdi(std::uint32_t number);
  void select(quint64 frame);  // its connection, message and arrow; no signal

 signals:
  void packetChosen(quint64 frame);
  void filterWanted(const QString& filter);  // "rdmascope.flow == 3"

 private:
  void make_tables();
  void make_cdi_tables();
  QWidget* make_ladder();
  void show_file();
  void row_changed();
  void cdi_row_changed();
  void cdi_menu(const QPoint& at);
  void message_clicked(const QModelIndex& index);
  void connection_menu(const QPoint& at);
  void save_ladder();

  FollowedFile file_;
  std::uint32_t chosen_ = 0, chosen_cdi_ = 0;
  ConnectionModel* connections_;
  QSortFilterProxyModel* sorted_;
  MessageModel* messages_;
  CdiModel* cdi_;
  CdiStory* story_;
  QStackedWidget* pages_;
  QLabel* waiting_;
  QTableView *connection_table_ = nullptr, *message_table_ = nullptr, *cdi_table_ = nullptr, *story_table_ = nullptr;
  QStackedWidget* course_ = nullptr;  // messages and ladder, or a story
  LadderView* ladder_ = nullptr;
};

}  // namespace rdmascope::gui
