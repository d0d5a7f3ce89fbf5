// The connections of a capture, one per row.
#pragma once

#include <QAbstractTableModel>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

class ConnectionModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    number,
    ends,
    transport,
    paired,
    pmtu,
    packets,
    bytes,
    rate,
    messages,
    resent,
    p50,
    p99,
    verdict,
    column_count
  };
  // Values to sort by come under Qt::UserRole.
  enum Role { sort_role = Qt::UserRole };

  using QAbstractTableModel::QAbstractTableModel;
  // nullptr: none.
  void set(std::shared_ptr<const Followed> followed);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  const ConnectionRow& at(int row) const { return followed_->connections[static_cast<std::size_t>(row)]; }
  // -1: there is none of that id.
  int row_of(std::uint32_t id) const;

 private:
  QString shown(const ConnectionRow& c, const LatencyRow& latency, int column) const;

  std::shared_ptr<const Followed> followed_;
};

}  // namespace rdmascope::gui
