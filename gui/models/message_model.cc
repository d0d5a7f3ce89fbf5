#include "gui/models/message_model.h"

#include <fmt/format.h>

#include <QGuiApplication>

#include <algorithm>
#include <numeric>

#include "dissect/aeth.h"
#include "gui/models/words.h"

namespace rdmascope::gui {
namespace {

using check::Message;
using check::MessageState;

QString state_of(const Message& m) {
  if (m.state != MessageState::naked) return text(name(m.state));
  return "NAK: " + text(dissect::name_of(dissect::nak_codes, m.nak_code & 31u));
}

bool measured(const Message& m) { return m.state == MessageState::complete && m.done_ns >= m.start_ns; }

}  // namespace

void MessageModel::set(std::shared_ptr<const Followed> followed, std::uint32_t connection, std::int64_t first_ns) {
  beginResetModel();
  followed_ = std::move(followed);
  first_ns_ = first_ns;
  connection_ = nullptr;
  rows_.clear();
  if (followed_) {
    for (std::size_t i = 0; i < followed_->messages.size(); ++i)
      if (followed_->messages[i].connection == connection) rows_.push_back(static_cast<std::uint32_t>(i));
    const auto& list = followed_->connections;
    const auto found = std::ranges::lower_bound(list, connection, {}, &ConnectionRow::id);
    if (found != list.end() && found->id == connection) connection_ = &*found;
  }
  endResetModel();
}

int MessageModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int MessageModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

std::int64_t MessageModel::value(const MessageRow& row, int column) const {
  const Message& m = row.message;
  switch (column) {
    case number:
      return m.index;
    case from:
      return row.side;
    case operation:
      return static_cast<std::int64_t>(m.operation);
    case first_frame:
      return static_cast<std::int64_t>(m.first_frame);
    case last_frame:
      return static_cast<std::int64_t>(m.last_frame);
    case answer_frame:
      return m.answer_frame ? static_cast<std::int64_t>(m.answer_frame) : -1;
    case psn:
      return m.first_psn;
    case psns:
      return m.length_known ? m.psns : -1;
    case bytes:
      return static_cast<std::int64_t>(m.bytes);
    case address:  // the upper half of addresses comes behind the lower one
      return m.has_reth ? static_cast<std::int64_t>(m.va >> 1) : -1;
    case key:
      return m.has_reth ? m.r_key : -1;
    case msn:
      return m.state == MessageState::complete ? m.msn : -1;
    case resent:
      return m.retransmitted;
    case start:
      return m.start_ns;
    case latency:
      return measured(m) ? m.done_ns - m.start_ns : -1;
    case state:
      return static_cast<std::int64_t>(m.state) << 8 | m.nak_code;
    default:
      return 0;
  }
}

QString MessageModel::shown(const MessageRow& row, int column) const {
  const Message& m = row.message;
  switch (column) {
    case from:
      return connection_ ? text(connection_->end[row.side]) : QString();
    case operation:
      return text(name(m.operation));
    case address:
      return m.has_reth ? text(fmt::format("0x{:x}", m.va)) : QString();
    case key:
      return m.has_reth ? text(fmt::format("0x{:08x}", m.r_key)) : QString();
    case start:
      return seconds(m.start_ns - first_ns_);
    case latency:
      return measured(m) ? duration(m.done_ns - m.start_ns) : QString();
    case state:
      return state_of(m);
    default: {
      const std::int64_t v = value(row, column);
      return v < 0 ? QString() : QString::number(v);
    }
  }
}

QVariant MessageModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !followed_) return {};
  const MessageRow& m = at(index.row());
  const int column = index.column();
  if (role == Qt::DisplayRole) return shown(m, column);
  if (role == sort_role) return qint64{value(m, column)};
  if (role == Qt::TextAlignmentRole) {
    const bool words = column == from || column == operation || column == state;
    return int((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::ForegroundRole) {
    const QPalette palette = QGuiApplication::palette();
    if (column == resent && m.message.retransmitted > 0) return colour(Shade::anomaly, palette);
    if (column != state) return {};
    if (m.message.state == MessageState::naked) return colour(Shade::violation, palette);
    if (m.message.state == MessageState::missed) return colour(Shade::artifact, palette);
    if (m.message.state == MessageState::open) return colour(Shade::anomaly, palette);
  }
  return {};
}

QVariant MessageModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= column_count) return {};
  static constexpr const char* titles[] = {"#",     "Operation", "State",   "Latency", "Bytes", "First",
                                           "Last",  "Answer",    "PSN",     "PSNs",    "MSN",   "Resent",
                                           "Start", "From",      "Address", "R_Key"};
  return titles[section];
}

void MessageModel::sort(int column, Qt::SortOrder order) {
  if (rows_.empty()) return;
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  std::vector<std::int64_t> values(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i)
    values[i] = column < 0 ? rows_[i] : value(followed_->messages[rows_[i]], column);
  std::vector<std::uint32_t> new_to_old(rows_.size()), old_to_new(rows_.size()), sorted(rows_.size());
  std::iota(new_to_old.begin(), new_to_old.end(), 0u);
  // Equal ones in order of the capture, whatever the order before was.
  std::ranges::sort(new_to_old, [&](std::uint32_t a, std::uint32_t b) {
    if (values[a] != values[b]) return (values[a] < values[b]) == (order == Qt::AscendingOrder);
    return rows_[a] < rows_[b];
  });
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    old_to_new[new_to_old[i]] = static_cast<std::uint32_t>(i);
    sorted[i] = rows_[new_to_old[i]];
  }
  rows_ = std::move(sorted);
  for (const QModelIndex& old : persistentIndexList())
    changePersistentIndex(old, index(static_cast<int>(old_to_new[static_cast<std::size_t>(old.row())]), old.column()));
  emit layoutChanged({}, VerticalSortHint);
}

quint64 MessageModel::frame_of(const QModelIndex& index) const {
  const Message& m = at(index.row()).message;
  if (index.column() == answer_frame && m.answer_frame) return m.answer_frame;
  return index.column() == last_frame ? m.last_frame : m.first_frame;
}

int MessageModel::row_of(const StepRow& step) const {
  using Kind = check::PacketFacts::Kind;
  const std::uint8_t asks = step.kind == Kind::request || step.kind == Kind::other ? step.side : step.side ^ 1;
  // PSNs come again after 2^24: the latest that had begun by then.
  int found = -1;
  for (int row = 0; row < rowCount(); ++row) {
    const MessageRow& m = at(row);
    if (m.side != asks || m.message.first_frame > step.frame || !m.message.holds(step.psn)) continue;
    if (found < 0 || m.message.first_frame > at(found).message.first_frame) found = row;
  }
  return found;
}

}  // namespace rdmascope::gui
