// Packet list over field tree and bytes, with the filter bar on top. What is chosen in one is chosen in all.
#pragma once

#include <QWidget>

#include "gui/filter_bar.h"
#include "gui/hex_view.h"
#include "gui/models/field_tree.h"
#include "gui/models/packet_model.h"

class QLabel;
class QTableView;
class QTreeView;

namespace rdmascope::gui {

enum class FindIn { text, bytes, filter };

class PacketsView final : public QWidget {
  Q_OBJECT

 public:
  explicit PacketsView(QWidget* parent = nullptr);

  void set_file(CaptureFile* file);
  void set_filter(const QString& text);
  // Frames count from 1. False: it does not pass the filter, or there is none.
  bool go_to(quint64 frame, const QString& field = {});
  quint64 current() const;  // 0: none
  // The next packet, or the one before, that has the text in its line, the bytes, or passes. False: there is none.
  bool find(FindIn where, const QString& what, bool backwards);
  void next_in_connection(bool backwards);
  void next_marked(bool backwards);
  void toggle_mark();
  void toggle_time_reference();
  void copy_line() const;
  void copy_tree() const;
  void copy_hex() const;
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

 private:
  void show_row(int row);
  void choose_row(int row);
  template <class Fits>
  bool step(bool backwards, const Fits& fits);
  void field_chosen(const QModelIndex& index);

  CaptureFile* file_ = nullptr;
  PacketModel* packets_;
  FieldTree* fields_;
  FilterBar* filter_;
  QTableView* list_;
  QTreeView* tree_;
  HexView* hex_;
  bool choosing_ = false;  // a choice is being passed on
};

}  // namespace rdmascope::gui
