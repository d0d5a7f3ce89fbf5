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

  void setFile(CaptureFile* file);
  void setFilter(const QString& text);
  // Frames count from 1. False: it does not pass the filter, or there is none.
  bool goTo(quint64 frame, const QString& field = {});
  quint64 current() const;  // 0: none
  // The next packet, or the one before, that has the text in its line, the bytes, or passes. False: there is none.
  bool find(FindIn where, const QString& what, bool backwards);
  void nextInConnection(bool backwards);
  void nextMarked(bool backwards);
  void toggleMark();
  void toggleTimeReference();
  void copyLine() const;
  void copyTree() const;
  void copyHex() const;
  // Writes the packets of the list to a new capture file: pcap or pcapng by its ending. A sentence if that fails.
  QString exportTo(const QString& path) const;
  QString comparison() const;  // of the chosen field, for a filter; empty: it has none
  void setDark(bool dark);

  PacketModel& model() { return *packets_; }
  FieldTree& tree() { return *fields_; }
  HexView& hex() { return *hex_; }
  FilterBar& filterBar() { return *filter_; }
  QTableView& list() { return *list_; }
  QTreeView& treeView() { return *tree_; }

 signals:
  void currentChanged(quint64 frame);
  void countChanged();

 private:
  void showRow(int row);
  void chooseRow(int row);
  template <class Fits>
  bool step(bool backwards, const Fits& fits);
  void fieldChosen(const QModelIndex& index);

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
