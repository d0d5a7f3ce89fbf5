// Connections of AWS CDI, one per row; and the course of one of them, a sentence per row.
#pragma once

#include <QAbstractTableModel>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

class CdiModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    number,
    transmitter,
    receiver,
    stream,
    version,
    messages,
    missing,
    connects,
    pings,
    round_trip,
    states,
    verdict,
    column_count
  };

  using QAbstractTableModel::QAbstractTableModel;
  // nullptr: none.
  void set(std::shared_ptr<const Followed> followed);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  const CdiRow& at(int row) const { return followed_->cdi[static_cast<std::size_t>(row)]; }
  // -1: there is none of that number.
  int row_of(std::uint32_t wanted) const;

 private:
  QString shown(const CdiRow& row, int column) const;

  std::shared_ptr<const Followed> followed_;
};

class CdiStory final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { time, frame, what, column_count };

  using QAbstractTableModel::QAbstractTableModel;
  // nullptr: none.
  void set(std::shared_ptr<const Followed> followed, int row);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  // Where what this row tells begins; 0: nowhere.
  quint64 frame_of(int row) const { return row_->frames[static_cast<std::size_t>(row)]; }

 private:
  std::shared_ptr<const Followed> followed_;
  const CdiRow* row_ = nullptr;
};

}  // namespace rdmascope::gui
