// Completion queue entries of a capture, one per row, in order of the capture.
#pragma once

#include <QAbstractTableModel>

#include <array>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

class CompletionModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    frame,
    time,
    queue,
    queue_index,
    owner,
    pair,
    direction,
    operation,
    work_entry,
    bytes,
    status,
    syndrome,
    completed_by,
    connection,
    finding,
    column_count
  };

  using QAbstractTableModel::QAbstractTableModel;
  // nullptr: none. The file must live as long as it is shown.
  void set(const CaptureFile* file, std::shared_ptr<const Followed> followed);
  // Only entries that failed, or on which something was found.
  void set_only_notable(bool only);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  const CompletionRow& at(int row) const { return followed_->completions[rows_[static_cast<std::size_t>(row)]]; }
  // The row of the entry in this frame, or of the first one that this packet completed; -1: none.
  int row_of(quint64 frame) const;
  // The packet a double click on this row and column leads to.
  quint64 frame_of(const QModelIndex& index) const;
  // What happened, its usual cause and where to look, one paragraph each; nothing unless the entry failed.
  QStringList advice(int row) const;
  // "cqe.qpn == 0x4a"; empty: it names no queue pair.
  QString pair_filter(int row) const;

 private:
  // What a row shows, made at once for all its cells.
  struct Cells {
    std::uint32_t frame = 0;
    std::array<QString, column_count> text;
  };
  const Cells& cells(const CompletionRow& row) const;
  void list();
  QVariant tip(const CompletionRow& row, int column) const;

  const CaptureFile* file_ = nullptr;
  std::shared_ptr<const Followed> followed_;
  bool only_notable_ = false;
  std::vector<std::uint32_t> rows_;  // places in Followed::completions
  mutable std::array<Cells, 256> cache_;
};

}  // namespace rdmascope::gui
