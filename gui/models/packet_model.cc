#include "gui/models/packet_model.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "dissect/annotations.h"
#include "gui/models/colour_rules.h"

namespace rdmascope::gui {
using namespace dissect;

PacketModel::PacketModel(QObject* parent) : QAbstractTableModel(parent) {
  connect(&PacketColumns::of_user(), &PacketColumns::changed, this, &PacketModel::take_columns);
  connect(&ColourRules::of_user(), &ColourRules::changed, this, &PacketModel::refresh);
  take_columns();
}
PacketModel::~PacketModel() = default;

void PacketModel::set_file(CaptureFile* file) {
  beginResetModel();
  run_.reset();
  sort_.reset();
  order_.clear();
  if (file_) file_->disconnect(this);
  file_ = file;
  rows_.clear();
  marks_.clear();
  row_.reference.reset();
  filtered_ = false;
  annotated_filter_.clear();
  shown_ = 0;
  for (Cells& c : cache_) c.frame = SIZE_MAX;
  if (file_) {
    shown_ = static_cast<int>(file_->index().size());
    connect(file_, &CaptureFile::grown, this, &PacketModel::grow, Qt::QueuedConnection);
    connect(file_, &CaptureFile::indexed, this, &PacketModel::sort_again, Qt::QueuedConnection);
    connect(file_, &CaptureFile::followed_up, this, &PacketModel::know_more, Qt::QueuedConnection);
  }
  endResetModel();
  emit countChanged();
  sort_again();
}

std::optional<FilterError> PacketModel::set_filter(const QString& text) {
  auto compiled = Filter::compile(text.toStdString());
  if (const FilterError* error = std::get_if<FilterError>(&compiled)) return *error;
  annotated_filter_ = std::get<Filter>(compiled).uses_annotations() ? text : QString();
  beginResetModel();
  run_.reset();
  sort_.reset();
  order_.clear();
  rows_.clear();
  filtered_ = file_ && !text.trimmed().isEmpty();
  shown_ = filtered_ || !file_ ? 0 : static_cast<int>(file_->index().size());
  if (filtered_) {
    run_ = std::make_unique<FilterRun>(*file_, std::get<Filter>(compiled));
    connect(run_.get(), &FilterRun::found, this, &PacketModel::grow, Qt::QueuedConnection);
    connect(run_.get(), &FilterRun::done, this, &PacketModel::countChanged, Qt::QueuedConnection);
    connect(run_.get(), &FilterRun::done, this, &PacketModel::sort_again, Qt::QueuedConnection);
    run_->start();
  }
  endResetModel();
  emit countChanged();
  sort_again();
  return std::nullopt;
}

void PacketModel::set_time_form(TimeForm form) {
  row_.time_form = form;
  refresh();
}

void PacketModel::set_dark(bool dark) {
  dark_ = dark;
  refresh();
}

// Rows come at the end only.
void PacketModel::grow() {
  if (!file_) return;
  std::vector<std::uint32_t> fresh;
  if (run_) run_->take(fresh);
  const int end = filtered_ ? shown_ + static_cast<int>(fresh.size()) : static_cast<int>(file_->index().size());
  if (end > shown_) {
    beginInsertRows({}, shown_, end - 1);
    rows_.insert(rows_.end(), fresh.begin(), fresh.end());
    shown_ = end;
    endInsertRows();
  }
  emit countChanged();
}

// While a file grows the filter looks at what was known at the time; at the end it looks again.
void PacketModel::know_more() {
  if (file_ && file_->grows() && !file_->following() && !annotated_filter_.isEmpty())
    set_filter(annotated_filter_);
  else
    refresh();
}

// Every row may look different now.
void PacketModel::refresh() {
  for (Cells& c : cache_) c.frame = SIZE_MAX;
  if (shown_ > 0) emit dataChanged(index(0, 0), index(shown_ - 1, columnCount() - 1));
}

// --- Sorting ---------------------------------------------------------------------------------------------------------

void PacketModel::sort_by(std::optional<Sorting> sorting) {
  if (sorting == sorting_) return;
  sorting_ = sorting;
  sort_again();
}

bool PacketModel::is_complete() const { return file_ && !file_->reading() && !is_filtering(); }

// What is there; once more when all is there.
void PacketModel::sort_again() {
  sort_.reset();
  if (!file_) return;
  if (!sorting_) return take_order({});
  if (shown_ == 0) return;
  std::vector<std::uint32_t> frames = rows_;
  if (!filtered_) {
    frames.resize(static_cast<std::size_t>(shown_));
    std::iota(frames.begin(), frames.end(), 0u);
  }
  const SortKey key = sorting_->column == time     ? SortKey::time
                      : sorting_->column == length ? SortKey::length
                                                   : SortKey::number;
  sort_ = std::make_unique<SortRun>(file_->index(), std::move(frames), key, sorting_->descending);
  connect(
      sort_.get(), &SortRun::done, this,
      [this, number = ++sorts_] {
        if (!sort_ || number != sorts_) return;  // cancelled while this was on its way
        take_order(sort_->take());
        sort_.reset();
        if (is_complete() && order_.size() < static_cast<std::size_t>(shown_)) sort_again();
      },
      Qt::QueuedConnection);
  sort_->start();
}

void PacketModel::take_order(std::vector<std::uint32_t> order) {
  if (order.empty() && order_.empty()) return;
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList kept = persistentIndexList();
  std::map<std::size_t, int> rows;  // by frame: those that somebody holds; all may be chosen, so one look at each row
  std::vector<std::size_t> frames;
  for (const QModelIndex& i : kept) rows.emplace(frames.emplace_back(frame_of(i.row())), -1);
  order_ = std::move(order);
  for (int row = 0; row < shown_ && !rows.empty(); ++row) {
    const std::size_t frame = frame_of(row);
    if (frame < rows.begin()->first || frame > rows.rbegin()->first) continue;
    if (const auto held = rows.find(frame); held != rows.end()) held->second = row;
  }
  QModelIndexList moved;
  for (qsizetype i = 0; i < kept.size(); ++i)
    moved << index(rows[frames[static_cast<std::size_t>(i)]], kept[i].column());
  changePersistentIndexList(kept, moved);
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
  emit sorted();
}

// --- Columns ---------------------------------------------------------------------------------------------------------

int PacketModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : of_list + static_cast<int>(row_.fields.size());
}

void PacketModel::take_columns() {
  std::vector<FieldColumn> wanted;
  for (const ColumnSetting& c : PacketColumns::of_user().all())
    if (PacketColumns::column_of(c.name) == of_list)
      wanted.push_back({c.name, dissect::find_fields(c.name.toStdString())});
  // In which order they are seen, the view decides: here a column stays where it came.
  for (std::size_t i = row_.fields.size(); i-- > 0;) {
    if (std::ranges::find(wanted, row_.fields[i].name, &FieldColumn::name) != wanted.end()) continue;
    const int column = of_list + static_cast<int>(i);
    beginRemoveColumns({}, column, column);
    row_.fields.erase(row_.fields.begin() + static_cast<std::ptrdiff_t>(i));
    for (Cells& c : cache_) c.frame = SIZE_MAX;
    endRemoveColumns();
  }
  for (FieldColumn& field : wanted) {
    if (std::ranges::find(row_.fields, field.name, &FieldColumn::name) != row_.fields.end()) continue;
    beginInsertColumns({}, columnCount(), columnCount());
    row_.fields.push_back(std::move(field));
    for (Cells& c : cache_) c.frame = SIZE_MAX;
    endInsertColumns();
  }
  emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

int PacketModel::column_of(const QString& name) const {
  const int column = PacketColumns::column_of(name);
  if (column != of_list) return column;
  const auto field = std::ranges::find(row_.fields, name, &FieldColumn::name);
  return field == row_.fields.end() ? -1 : of_list + static_cast<int>(field - row_.fields.begin());
}

bool PacketModel::is_figure(int column) const {
  if (column < of_list) return column == number || column == length || column == time;
  const dissect::Field* const field = row_.fields[static_cast<std::size_t>(column - of_list)].fields[0].field;
  return field && field->show == dissect::Show::dec && field->names.empty();
}

// --- Rows ------------------------------------------------------------------------------------------------------------

int PacketModel::row_of(std::size_t frame) const {
  std::size_t row = frame;
  if (filtered_) {
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), frame);
    if (found == rows_.end() || *found != frame) return -1;
    row = static_cast<std::size_t>(found - rows_.begin());
  }
  if (row < order_.size()) row = static_cast<std::size_t>(std::ranges::find(order_, frame) - order_.begin());
  return row < static_cast<std::size_t>(shown_) ? static_cast<int>(row) : -1;
}

std::optional<std::vector<std::uint32_t>> PacketModel::frames() const {
  if (order_.empty()) return filtered_ ? std::optional(rows_) : std::nullopt;
  std::vector<std::uint32_t> out(static_cast<std::size_t>(shown_));
  for (int row = 0; row < shown_; ++row) out[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(frame_of(row));
  return out;
}

QString PacketModel::line(int row) const {
  QStringList out;
  for (const QString& text : cells(frame_of(row)).text) out << text;
  return out.join('\t');
}

void PacketModel::toggle_mark(std::size_t frame) {
  if (!marks_.erase(frame)) marks_.insert(frame);
  refresh();
}

void PacketModel::set_time_reference(std::optional<std::size_t> frame) {
  row_.reference = frame;
  refresh();
}

const PacketModel::Cells& PacketModel::cells(std::size_t frame) const {
  Cells& out = cache_[frame % cache_.size()];
  if (out.frame == frame) return out;
  static thread_local Packet packet;
  Annotations annotations;
  row_.make(*file_, frame, packet, annotations, out.text);
  out.rule = ColourRules::of_user().first_fit(packet);
  packet.drop_annotations();
  out.frame = frame;
  return out;
}

int PacketModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : shown_; }

QVariant PacketModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= shown_) return {};
  const std::size_t frame = frame_of(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return cells(frame).text[static_cast<std::size_t>(index.column())];
    case Qt::ToolTipRole: {
      if (index.column() != verdict || !file_->followed()) return {};
      QStringList lines;
      for (const Note& note : file_->followed()->annotations.of(frame + 1).notes)
        lines << QString("%1: %2").arg(QString::fromUtf8(note.rule.data(), static_cast<qsizetype>(note.rule.size())),
                                       QString::fromStdString(note.text));
      return lines.join('\n');
    }
    case Qt::ForegroundRole: {
      if (is_marked(frame)) return QColor(Qt::white);
      const QColor c = ColourRules::of_user().colours(cells(frame).rule, dark_).text;
      return c.isValid() ? QVariant(c) : QVariant();
    }
    case Qt::BackgroundRole: {
      if (is_marked(frame)) return QColor("#202a6a");
      const QColor c = ColourRules::of_user().colours(cells(frame).rule, dark_).background;
      return c.isValid() ? QVariant(c) : QVariant();
    }
    case Qt::TextAlignmentRole:
      return is_figure(index.column()) ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                       : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    default:
      return {};
  }
}

QVariant PacketModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  for (const ColumnSetting& c : PacketColumns::of_user().all())
    if (column_of(c.name) == section) {
      if (role == Qt::DisplayRole) return c.title;
      if (role == Qt::ToolTipRole && section >= of_list) return c.name;
    }
  return {};
}

}  // namespace rdmascope::gui
