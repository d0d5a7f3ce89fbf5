#include "gui/models/field_tree.h"

#include <fmt/format.h>

#include "dissect/field_index.h"
#include "dissect/headers.h"
#include "dissect/tree.h"

namespace rdmascope::gui {

using namespace dissect;

FieldTree::FieldTree(QObject* parent) : QAbstractItemModel(parent), packet_(std::make_unique<Packet>()) {}

FieldTree::Row FieldTree::make_row(const Layer& layer, const Field* field, unsigned n, unsigned count) const {
  Row row;
  const std::uint64_t begin = std::uint64_t{layer.at} * 8;
  if (!field) {
    if (layer.in_frame()) row.range = {begin, std::uint64_t{layer.bytes} * 8};
    row.name = layer.header->name;
    return row;
  }
  row.name = shared_name(*layer.header, *field);
  if (row.name.empty()) row.name = full_name(*layer.header, *field);
  if (field->kind != Field::Kind::generated && layer.in_frame()) {
    const std::uint64_t at = std::uint64_t{field->at} + std::uint64_t{n} * field->stride;
    const bool is_rest = field->width == 0;
    row.range = {begin + at, is_rest ? std::uint64_t{layer.bytes} * 8 - at : std::uint64_t{field->width} * count};
  }
  Value value;
  if (count != 1 || !read(*packet_, layer, *field, n, value)) return row;
  // A double click goes there.
  if (value.kind == Value::Kind::number && names_a_frame(*field)) row.frame = value.number;
  Text text;
  put_value(text, *field, value);
  const bool quoted = value.kind == Value::Kind::text || field->show == Show::named;
  const bool is_bytes = value.kind == Value::Kind::bytes && field->show == Show::bytes;
  const std::string_view quote = quoted ? "\"" : "";
  if (!is_bytes) row.comparison = fmt::format("{} == {}{}{}", row.name, quote, text.view(), quote);
  return row;
}

void FieldTree::show(const CaptureFile* file, std::size_t number) {
  beginResetModel();
  groups_.clear();
  packet_->reset({});
  if (file && number < file->index().size()) {
    file->load(number, *packet_, annotations_);
    Text text, time;
    time.seconds(packet_->frame.time_relative_ns);
    std::vector<TreeLine> lines;
    put_tree(text, *packet_, time.view(), &lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const TreeLine& line = lines[i];
      const std::size_t end = i + 1 < lines.size() ? lines[i + 1].at : text.size();
      std::string_view words = text.view().substr(line.at, end - line.at);
      words.remove_suffix(words.ends_with('\n') ? 1 : 0);
      if (!line.heading) words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
      Row row = make_row(*line.layer, line.field, line.first, line.count);
      row.text = words;
      if (line.heading)
        groups_.push_back({std::move(row), {}});
      else if (!groups_.empty())
        groups_.back().rows.push_back(std::move(row));
    }
  }
  endResetModel();
}

QModelIndex FieldTree::at_bit(std::uint64_t bit) const {
  QModelIndex best;
  std::uint64_t smallest = UINT64_MAX;
  const auto look = [&](const Row& row, const QModelIndex& here) {
    if (row.range.count == 0 || bit < row.range.first || bit - row.range.first >= row.range.count) return;
    if (row.range.count > smallest) return;
    smallest = row.range.count;
    best = here;
  };
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const QModelIndex heading = index(static_cast<int>(g), 0);
    look(groups_[g].heading, heading);
    for (std::size_t r = 0; r < groups_[g].rows.size(); ++r)
      look(groups_[g].rows[r], index(static_cast<int>(r), 0, heading));
  }
  return best;
}

QModelIndex FieldTree::at_field(std::string_view wanted) const {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t r = 0; r < groups_[g].rows.size(); ++r) {
      const Row& row = groups_[g].rows[r];
      if (row.name == wanted) return index(static_cast<int>(r), 0, index(static_cast<int>(g), 0));
    }
  // A finding has the name of the field in its header, a row that by which filters know it.
  const std::vector<FieldRef> refs = find_fields(wanted);
  if (refs.empty() || !refs[0].field) return {};
  const std::string shared = shared_name(*refs[0].header, *refs[0].field);
  return shared.empty() || shared == wanted ? QModelIndex() : at_field(shared);
}

QModelIndex FieldTree::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  // 0: a heading; else the number of its heading, from 1.
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : 0);
}

QModelIndex FieldTree::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalId() == 0) return {};
  return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int FieldTree::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(groups_.size());
  if (parent.internalId() != 0 || parent.column() > 0) return 0;
  return static_cast<int>(groups_[static_cast<std::size_t>(parent.row())].rows.size());
}

QVariant FieldTree::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const auto at = static_cast<std::size_t>(index.row());
  const Row& row = index.internalId() == 0 ? groups_[at].heading : groups_[index.internalId() - 1].rows[at];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
      return QString::fromStdString(row.text);
    case range:
      return QVariant::fromValue(row.range);
    case name:
      return QString::fromStdString(row.name);
    case comparison:
      return QString::fromStdString(row.comparison);
    case frame:
      return QVariant::fromValue<quint64>(row.frame);
    default:
      return {};
  }
}

}  // namespace rdmascope::gui
