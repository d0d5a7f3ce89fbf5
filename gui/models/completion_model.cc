#include "gui/models/completion_model.h"

#include <fmt/format.h>

#include <QGuiApplication>

#include <algorithm>

#include "dissect/headers.h"
#include "dissect/text.h"
#include "gui/models/words.h"

namespace rdmascope::gui {
namespace {

using dissect::Completion;
using dissect::CqeRecord;

QString hex(std::uint64_t value, int digits) { return text(fmt::format("0x{:0{}x}", value, digits)); }

// The value of a field of the entry's pseudo header, as filters and the tree have it.
QString said(const dissect::Packet& packet, std::string_view name) {
  const dissect::Layer* const layer = packet.find(dissect::header<dissect::Cqe>);
  if (!layer) return {};
  const auto field = std::ranges::find(layer->header->fields, name, &dissect::Field::name);
  dissect::Value value;
  if (field == layer->header->fields.end() || !read(packet, *layer, *field, 0, value)) return {};
  dissect::Text out;
  put_value(out, *field, value);
  return text(out.view());
}

}  // namespace

void CompletionModel::set(const CaptureFile* file, std::shared_ptr<const Followed> followed) {
  beginResetModel();
  file_ = file;
  followed_ = std::move(followed);
  list();
  endResetModel();
}

void CompletionModel::set_only_notable(bool only) {
  beginResetModel();
  only_notable_ = only;
  list();
  endResetModel();
}

void CompletionModel::list() {
  rows_.clear();
  for (Cells& c : cache_) c.frame = 0;
  if (!followed_) return;
  for (std::size_t i = 0; i < followed_->completions.size(); ++i) {
    const CompletionRow& row = followed_->completions[i];
    if (!only_notable_ || row.failed || row.worst >= 0) rows_.push_back(static_cast<std::uint32_t>(i));
  }
}

int CompletionModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int CompletionModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

int CompletionModel::row_of(quint64 wanted) const {
  const auto own = std::ranges::lower_bound(
      rows_, wanted, {}, [this](std::uint32_t i) { return quint64{followed_->completions[i].frame}; });
  if (own != rows_.end() && followed_->completions[*own].frame == wanted) return static_cast<int>(own - rows_.begin());
  // Entries come soon after what caused them.
  constexpr std::ptrdiff_t near = 10'000;
  const auto end = rows_.end() - own > near ? own + near : rows_.end();
  const auto caused =
      std::find_if(own, end, [&](std::uint32_t i) { return followed_->completions[i].ended == wanted; });
  return wanted == 0 || caused == end ? -1 : static_cast<int>(caused - rows_.begin());
}

quint64 CompletionModel::frame_of(const QModelIndex& index) const {
  const CompletionRow& row = at(index.row());
  return index.column() == completed_by && row.ended != 0 ? row.ended : row.frame;
}

QStringList CompletionModel::advice(int row) const {
  dissect::Packet packet;
  file_->load(at(row).frame - 1, packet);
  QStringList out;
  for (const auto& [title, name] : {std::pair("It means: ", "meaning"), std::pair("Usual cause: ", "cause"),
                                    std::pair("Look next at: ", "look_at")})
    if (const QString words = said(packet, name); !words.isEmpty()) out << title + words;
  return out;
}

QString CompletionModel::pair_filter(int row) const {
  const QString& number = cells(at(row)).text[pair];
  return number.isEmpty() ? QString() : "cqe.qpn == " + number;
}

// --- What it says ----------------------------------------------------------------------------------------------------

const CompletionModel::Cells& CompletionModel::cells(const CompletionRow& row) const {
  Cells& out = cache_[row.frame % cache_.size()];
  if (out.frame == row.frame) return out;
  out = {};
  out.frame = row.frame;
  dissect::Packet packet;
  dissect::Annotations annotations;
  file_->load(row.frame - 1, packet, annotations);
  out.text[frame] = QString::number(row.frame);
  if (packet.frame.has_time) out.text[time] = seconds(packet.frame.time_relative_ns);
  const auto record = packet.find<CqeRecord>();
  const std::optional<Completion> entry = dissect::completion_of(packet);
  if (!record || !entry) return out;
  out.text[queue] = hex(record->get<"cqn">(), 6);
  out.text[owner] = QString::number(entry->owner);
  if (record->get<"flags.index_valid">()) {
    out.text[queue_index] = QString::number(record->get<"ci">());
    // The bit turns over each time the ring is gone round.
    if (const std::uint64_t ring = record->get<"cqe_cnt">(); ring > 0)
      out.text[owner] += QString(", round %1").arg(record->get<"ci">() / ring + 1);
  }
  if (entry->qpn) {
    out.text[pair] = hex(*entry->qpn, 6);
    out.text[direction] = said(packet, "queue");
  }
  out.text[operation] = text(entry->operation);
  if (entry->wqe) out.text[work_entry] = QString::number(*entry->wqe);
  if (entry->byte_count) out.text[bytes] = QString::number(*entry->byte_count);
  out.text[status] = said(packet, "status");
  if (entry->failed()) {
    out.text[syndrome] = hex(entry->status, 2);
    if (entry->vendor) out.text[syndrome] += ", vendor " + hex(*entry->vendor, 2);
  }
  if (row.ended != 0) out.text[completed_by] = QString::number(row.ended) + (row.certain ? "" : "?");
  if (row.connection != 0) out.text[connection] = QString::number(row.connection);
  QStringList rules;
  for (const dissect::Note& note : annotations.notes)
    if (!rules.contains(text(note.rule))) rules << text(note.rule);
  out.text[finding] = rules.join(", ");
  return out;
}

QVariant CompletionModel::tip(const CompletionRow& row, int column) const {
  if (column == finding) {
    QStringList lines;
    for (const dissect::Note& note : followed_->annotations.of(row.frame).notes)
      lines << text(note.rule) + ": " + text(note.text);
    return lines.isEmpty() ? QVariant() : QVariant(lines.join('\n'));
  }
  if (column != completed_by || row.ended == 0) return {};
  return QString("message %1 of connection %2, from frame %3%4")
      .arg(row.message)
      .arg(row.connection)
      .arg(row.began)
      .arg(row.certain ? "" : "\nlikely: other messages would fit, too, if packets were captured later than entries");
}

QVariant CompletionModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !followed_) return {};
  const CompletionRow& row = at(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return cells(row).text[static_cast<std::size_t>(column)];
    case Qt::ToolTipRole:
      return tip(row, column);
    case Qt::TextAlignmentRole: {
      const bool words = column == direction || column == operation || column == status || column == syndrome ||
                         column == finding || column == owner;
      return int((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    case Qt::ForegroundRole: {
      const QPalette palette = QGuiApplication::palette();
      if (column == finding && row.worst >= 0) return colour(shade_of(static_cast<check::Class>(row.worst)), palette);
      if ((column == status || column == syndrome) && row.failed) return colour(Shade::violation, palette);
      return {};
    }
    default:
      return {};
  }
}

QVariant CompletionModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  struct Head {
    const char *title, *meaning;
  };
  static constexpr Head heads[] = {{"Frame", "of the entry"},
                                   {"Time", "seconds since the first frame"},
                                   {"CQ", "number of the completion queue"},
                                   {"Index", "consumer index of the queue, where the record has it"},
                                   {"Owner", "owner or phase bit, and how often the ring was gone round"},
                                   {"QP", "queue pair"},
                                   {"Queue", "send or receive"},
                                   {"Operation", "of the work request"},
                                   {"WQE", "counter or number of the work queue entry"},
                                   {"Bytes", "that were received, as far as the entry says"},
                                   {"Status", "in words"},
                                   {"Syndrome", "code of the failure, as the device gives it"},
                                   {"Completed by", "packet that completed it; ? where it is not certain"},
                                   {"Connection", "of the queue pair, where its number tells"},
                                   {"Findings", "rules"}};
  if (role == Qt::DisplayRole) return heads[section].title;
  if (role == Qt::ToolTipRole) return heads[section].meaning;
  return {};
}

}  // namespace rdmascope::gui
