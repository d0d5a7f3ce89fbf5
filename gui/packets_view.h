// Packet list over field tree and bytes, with the filter bar on top. What is chosen in one is chosen in all.
#pragma once

#include <QWidget>

#include "gui/filter_bar.h"
#include "gui/hex_view.h"
#include "gui/models/field_tree.h"
#include "gui/models/find_run.h"
#include "gui/models/packet_model.h"

class QLabel;
class QProgressBar;
class QTableView;
class QTimer;
class QTreeView;

namespace rdmascope::gui {

class PacketsView final : public QWidget {
  Q_OBJECT

 public:
  explicit PacketsView(QWidget* parent = nullptr);

  void set_file(CaptureFile* file);
  void set_filter(const QString& text);
  // Frames count from 1. False: it does not pass the filter, or there is none.
  bool go_to(quint64 frame, const QString& field = {});
  quint64 current() const;  // 0: none
  // Begins to look for the next packet, or the one before, that has the text in its line, the bytes, or passes; a
  // search that goes on ends. findDone() says what came of it. A sentence when that cannot be looked for.
  QString find(FindIn where, const QString& what, bool backwards);
  bool is_finding() const { return search_ != nullptr; }
  void stop_finding();
  void next_in_connection(bool backwards);
  void next_marked(bool backwards);
  void toggle_mark();
  void toggle_time_reference();
  void copy_line() const;
  void copy_tree() const;
  void copy_hex() const;
  void copy_json() const;  // an object a line for each chosen packet, as `read -T ndjson` with its analysis
  // Writes the packets of the list to a new capture file: pcap or pcapng by its ending. A sentence if that fails.
  QString export_to(const QString& path) const;
  QString comparison() const;  // of the chosen field, for a filter; empty: it has none
  void set_dark(bool dark);

  PacketModel& model() { return *packets_; }
  FieldTree& tree() { return *fields_; }
  HexView& hex() { return *hex_; }
  FilterBar& filter_bar() { return *filter_; }
  QTableView& list() { return *list_; }
  QTreeView& tree_view() { return *tree_; }

 signals:
  void currentChanged(quint64 frame);
  void countChanged();
  void columnsWanted();  // the dialog of columns
  void findDone(bool found, bool backwards);

 private:
  void show_row(int row);
  void choose_row(int row);
  void choose_any();  // that was chosen before a filter came, or the first
  void make_search_bar();
  void end_search(int row);
  void field_chosen(const QModelIndex& index);
  void make_header();
  void sort_by(int column);  // one click on its header
  void arrange();            // columns as the user's settings say
  void keep_columns();       // the other way round
  void header_menu(const QPoint& at);

  CaptureFile* file_ = nullptr;
  PacketModel* packets_;
  FieldTree* fields_;
  FilterBar* filter_;
  QTableView* list_;
  QTreeView* tree_;
  HexView* hex_;
  quint64 keep_ = 0;  // frame to choose again once it passes the filter; 0: none
  QWidget* search_bar_;
  QProgressBar* searched_;
  std::unique_ptr<FindRun> search_;
  std::uint64_t searches_ = 0;  // begun so far
  QTimer* moved_;               // columns were, a moment ago
  bool arranging_ = false;      // columns; not by the user
};

}  // namespace rdmascope::gui
