#include "gui/models/cdi_model.h"

#include <QGuiApplication>

#include <algorithm>

#include "gui/models/words.h"

namespace rdmascope::gui {

void CdiModel::set(std::shared_ptr<const Followed> followed) {
  beginResetModel();
  followed_ = std::move(followed);
  endResetModel();
}

int CdiModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !followed_ ? 0 : static_cast<int>(followed_->cdi.size());
}
int CdiModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

int CdiModel::row_of(std::uint32_t wanted) const {
  if (!followed_) return -1;
  const auto found = std::ranges::find(followed_->cdi, wanted, &CdiRow::number);
  return found == followed_->cdi.end() ? -1 : static_cast<int>(found - followed_->cdi.begin());
}

QString CdiModel::shown(const CdiRow& row, int column) const {
  switch (column) {
    case number:
      return QString("CDI %1").arg(row.number);
    case transmitter:
      return text(row.tx);
    case receiver:
      return text(row.rx);
    case stream:
      return text(row.stream);
    case version:
      return text(row.version);
    case messages:
      return QString("%1+%2").arg(row.messages[0]).arg(row.messages[1]);
    case missing:
      return QString::number(row.missing[0] + row.missing[1]);
    case connects:
      return QString::number(row.connects);
    case pings:
      return QString("%1/%2").arg(row.pongs).arg(row.pings);
    case round_trip:
      return row.pongs > 0 ? duration(row.round_trip_ns) : QString();
    case states:
      return text(row.tx_state) + ", " + text(row.rx_state);
    case verdict:
      return verdict_of(row.found, 0);
    default:
      return {};
  }
}

QVariant CdiModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !followed_) return {};
  const CdiRow& row = at(index.row());
  const int column = index.column();
  if (role == Qt::DisplayRole) return shown(row, column);
  if (role == Qt::TextAlignmentRole) {
    const bool figures = column >= messages && column <= round_trip;
    return int((figures ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ForegroundRole) {
    if (column == verdict) return colour(shade_of(row.found), QGuiApplication::palette());
    if (column == missing && row.missing[0] + row.missing[1] > 0)
      return colour(Shade::artifact, QGuiApplication::palette());
    if (column == pings && row.pongs < row.pings) return colour(Shade::anomaly, QGuiApplication::palette());
  }
  return {};
}

QVariant CdiModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  struct Head {
    const char *title, *meaning;
  };
  static constexpr Head heads[] = {{"#", "number, as in check and stats cdi; cdi.probe.flow in filters"},
                                   {"Transmitter", "UDP end of the client, which asks"},
                                   {"Receiver", "UDP end of the server, which answers"},
                                   {"Stream", "its name, as the transmitter says"},
                                   {"Version", "of the protocol, that both agreed on last"},
                                   {"Messages", "sent by transmitter and receiver"},
                                   {"Missing", "numbers that the capture lacks"},
                                   {"Connects", "how often the receiver said Connected"},
                                   {"Pings", "answered / all"},
                                   {"Round trip", "mean time from a Ping to its answer"},
                                   {"Now", "states of transmitter and receiver at the end of the capture"},
                                   {"Verdict", "findings by class"}};
  if (role == Qt::DisplayRole) return heads[section].title;
  if (role == Qt::ToolTipRole) return heads[section].meaning;
  return {};
}

// --- The course of one -----------------------------------------------------------------------------------------------

void CdiStory::set(std::shared_ptr<const Followed> followed, int row) {
  beginResetModel();
  followed_ = std::move(followed);
  row_ = followed_ && row >= 0 ? &followed_->cdi[static_cast<std::size_t>(row)] : nullptr;
  endResetModel();
}

int CdiStory::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !row_ ? 0 : static_cast<int>(row_->story.size());
}
int CdiStory::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant CdiStory::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !row_) return {};
  const int column = index.column();
  if (role == Qt::TextAlignmentRole) return int((column == what ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  // "4.024  the receiver answers"; a line about the list itself has no time.
  const QString line = text(row_->story[static_cast<std::size_t>(index.row())]);
  const quint64 at = frame_of(index.row());
  const qsizetype gap = at != 0 ? line.indexOf("  ") : -1;
  if (column == time) return gap < 0 ? QString() : line.left(gap);
  if (column == frame) return at != 0 ? QString::number(at) : QString();
  return gap < 0 ? line : line.mid(gap + 2);
}

QVariant CdiStory::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= column_count) return {};
  static constexpr const char* titles[] = {"Seconds", "Frame", "What happened"};
  return titles[section];
}

}  // namespace rdmascope::gui
