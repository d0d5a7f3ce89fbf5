// The messages of one connection, one per row, in order of their end unless sorted.
#pragma once

#include <QAbstractTableModel>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

class MessageModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    number,
    operation,
    state,
    latency,
    bytes,
    first_frame,
    last_frame,
    answer_frame,
    psn,
    psns,
    msn,
    resent,
    start,
    from,
    address,
    key,
    column_count
  };
  enum Role { sort_role = Qt::UserRole };

  using QAbstractTableModel::QAbstractTableModel;
  // Times are shown since `first_ns`. nullptr: none.
  void set(std::shared_ptr<const Followed> followed, std::uint32_t connection, std::int64_t first_ns);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  // Here and not in a proxy: there may be millions.
  void sort(int column, Qt::SortOrder order) override;

  const MessageRow& at(int row) const { return followed_->messages[rows_[static_cast<std::size_t>(row)]]; }
  // Frame a click on this row and column leads to.
  quint64 frame_of(const QModelIndex& index) const;
  // The row whose message a packet belongs to or answers; -1: none.
  int row_of(const StepRow& step) const;

 private:
  std::int64_t value(const MessageRow& m, int column) const;  // to sort by; -1: none
  QString shown(const MessageRow& m, int column) const;

  std::shared_ptr<const Followed> followed_;
  const ConnectionRow* connection_ = nullptr;
  std::int64_t first_ns_ = 0;
  std::vector<std::uint32_t> rows_;  // places in Followed::messages
};

}  // namespace rdmascope::gui
