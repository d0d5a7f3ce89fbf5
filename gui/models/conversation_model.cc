#include "gui/models/conversation_model.h"

namespace rdmascope::gui {

using Kind = TestEvent::Kind;

ConversationModel::ConversationModel(QObject* parent) : QAbstractTableModel(parent) {}

void ConversationModel::set(const TestCase* shown) {
  beginResetModel();
  case_ = shown;
  rows_ = case_ ? static_cast<int>(case_->events.size()) : 0;
  endResetModel();
}

void ConversationModel::grow() {
  const int now = case_ ? static_cast<int>(case_->events.size()) : 0;
  if (now <= rows_) return;
  // What was asked for before was met: the row in front is no longer the one that runs.
  const int before = rows_ - 1;
  beginInsertRows({}, rows_, now - 1);
  rows_ = now;
  endInsertRows();
  if (before >= 0) emit dataChanged(index(before, 0), index(before, columns - 1));
}

int ConversationModel::line_of(const QModelIndex& index) const {
  return index.isValid() && case_ ? case_->events[static_cast<std::size_t>(index.row())].line : 0;
}

int ConversationModel::first_bad() const {
  for (int row = 0; row < rows_; ++row)
    if (!case_->events[static_cast<std::size_t>(row)].good) return row;
  return -1;
}

int ConversationModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : rows_; }

QVariant ConversationModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rows_) return {};
  const TestEvent& event = case_->events[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == time) return QString::number(static_cast<double>(event.time_ns) / 1e6, 'f', 3);
      if (index.column() == line) return event.line > 0 ? QString::number(event.line) : QString();
      return event.text;
    case Qt::ToolTipRole:
      return event.text;
    case Qt::TextAlignmentRole:
      return index.column() == what ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case kind:
      return static_cast<int>(event.kind);
    case good:
      return event.good;
    case running:
      return case_->verdict.isEmpty() && index.row() == rows_ - 1 && event.kind == Kind::step;
    default:
      return {};
  }
}

QVariant ConversationModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static constexpr const char* titles[columns] = {"Time, ms", "Line", "Tester and device"};
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section >= columns) return {};
  return QString(titles[section]);
}

Shade shade_of_verdict(const QString& verdict) {
  if (verdict == "passed") return Shade::good;
  if (verdict == "failed" || verdict == "error") return Shade::violation;
  if (verdict == "known deviation" || verdict == broken_off) return Shade::anomaly;
  return Shade::dim;
}

}  // namespace rdmascope::gui
