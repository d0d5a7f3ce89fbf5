#include "gui/models/connection_model.h"

#include <QGuiApplication>

#include <algorithm>

#include "check/verdict.h"
#include "gui/models/words.h"

namespace rdmascope::gui {
namespace {

bool reliable(const ConnectionRow& c) {
  return c.transport == dissect::Transport::rc || c.transport == dissect::Transport::xrc;
}
std::uint64_t all_bytes(const ConnectionRow& c) { return c.bytes[0] + c.bytes[1]; }

// Whole frames of both directions over the time from the first to the last; -1: no time passed.
double rate_of(const ConnectionRow& c) {
  if (c.last_ns <= c.first_ns) return -1;
  return static_cast<double>(all_bytes(c)) * 8e9 / static_cast<double>(c.last_ns - c.first_ns);
}

}  // namespace

void ConnectionModel::set(std::shared_ptr<const Followed> followed) {
  beginResetModel();
  followed_ = std::move(followed);
  endResetModel();
}

int ConnectionModel::row_of(std::uint32_t id) const {
  if (!followed_) return -1;
  const auto& list = followed_->connections;
  const auto found = std::ranges::lower_bound(list, id, {}, &ConnectionRow::id);
  return found != list.end() && found->id == id ? static_cast<int>(found - list.begin()) : -1;
}

int ConnectionModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !followed_ ? 0 : static_cast<int>(followed_->connections.size());
}

int ConnectionModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString ConnectionModel::shown(const ConnectionRow& c, const LatencyRow& latency, int column) const {
  const auto time = [](std::int64_t ns) { return ns < 0 ? QString() : duration(ns); };
  switch (column) {
    case number:
      return QString::number(c.id);
    case ends:
      return text(c.ends);
    case transport:
      return text(check::transport_name(c.transport));
    case paired:
      return c.paired ? text(c.paired_by) : reliable(c) ? QString("not paired") : QString("-");
    case pmtu:
      return c.transport == dissect::Transport::ud ? QString("-") : c.pmtu ? QString::number(c.pmtu) : QString("?");
    case packets:
      return c.paired || c.packets[1] > 0 ? QString("%1+%2").arg(c.packets[0]).arg(c.packets[1])
                                          : QString::number(c.packets[0]);
    case bytes:
      return byte_count(all_bytes(c));
    case rate:
      return rate_of(c) < 0 ? QString() : bit_rate(rate_of(c));
    case messages:
      if (c.transport == dissect::Transport::ud) return "-";
      return reliable(c) ? QString("%1/%2").arg(c.completed).arg(c.messages) : QString::number(c.messages);
    case resent:
      return QString::number(c.retransmitted);
    case p50:
      return time(latency.p50);
    case p99:
      return time(latency.p99);
    case verdict:
      return verdict_of(c.found, c.not_judged);
    default:
      return {};
  }
}

QVariant ConnectionModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !followed_) return {};
  const ConnectionRow& c = at(index.row());
  const LatencyRow& latency = followed_->latencies[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const bool words = column == ends || column == transport || column == paired || column == verdict;
  if (role == Qt::DisplayRole) return shown(c, latency, column);
  if (role == Qt::TextAlignmentRole) return int((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::ForegroundRole) {
    if (column == verdict) return colour(shade_of(c.found), QGuiApplication::palette());
    if (column == resent && c.retransmitted > 0) return colour(Shade::anomaly, QGuiApplication::palette());
    return {};
  }
  if (role == Qt::ToolTipRole) {
    if (column == packets || column == bytes)
      return QString("%1: %2 packets, %3 bytes\n%4: %5 packets, %6 bytes")
          .arg(text(c.end[0]))
          .arg(c.packets[0])
          .arg(c.bytes[0])
          .arg(text(c.end[1]))
          .arg(c.packets[1])
          .arg(c.bytes[1]);
    if (column == ends) return QString("frames %1 to %2").arg(c.first_frame).arg(c.last_frame);
    return {};
  }
  if (role != sort_role) return {};
  switch (column) {
    case number:
      return c.id;
    case pmtu:
      return c.pmtu;
    case packets:
      return quint64{c.packets[0] + c.packets[1]};
    case bytes:
      return quint64{all_bytes(c)};
    case rate:
      return rate_of(c);
    case messages:
      return quint64{c.messages};
    case resent:
      return quint64{c.retransmitted};
    case p50:
      return qint64{latency.p50};
    case p99:
      return qint64{latency.p99};
    case verdict:  // violations weigh more than any number of anomalies
      return c.found[0] * 1e20 + c.found[1] * 1e10 + c.found[2];
    default:
      return shown(c, latency, column);
  }
}

QVariant ConnectionModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  struct Head {
    const char *title, *meaning;
  };
  static constexpr Head heads[] = {{"#", "number, as in check and stats; rdmascope.flow in filters"},
                                   {"Connection", "address and queue pair of both ends"},
                                   {"Type", "transport service"},
                                   {"Paired by", "how it is known that both directions belong together"},
                                   {"PMTU", "path MTU in bytes"},
                                   {"Packets", "sent by the first and by the second end"},
                                   {"Bytes", "of whole frames, both directions"},
                                   {"Rate", "bytes over the time from the first to the last frame"},
                                   {"Messages", "complete / all"},
                                   {"Resent", "request packets that were sent again"},
                                   {"Latency p50", "half of the messages took no longer"},
                                   {"p99", "99 % of the messages took no longer"},
                                   {"Verdict", "findings by class"}};
  if (role == Qt::DisplayRole) return heads[section].title;
  if (role == Qt::ToolTipRole) return heads[section].meaning;
  return {};
}

}  // namespace rdmascope::gui
