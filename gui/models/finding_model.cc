#include "gui/models/finding_model.h"

#include <QGuiApplication>

#include <algorithm>
#include <map>

#include "check/rule.h"
#include "gui/models/words.h"

namespace rdmascope::gui {
namespace {

// Numbers of CDI's connections come behind those of InfiniBand, and what is of neither last.
constexpr std::uint64_t cdi_key = std::uint64_t{1} << 32, no_key = UINT64_MAX;

QString connection_of(const FoundRow& f) {
  if (f.cdi_flow != 0) return QString("CDI %1").arg(f.cdi_flow);
  return f.connection != 0 ? QString::number(f.connection) : QString();
}

}  // namespace

void FindingModel::set(std::shared_ptr<const Followed> followed) {
  beginResetModel();
  followed_ = std::move(followed);
  build();
  endResetModel();
}

void FindingModel::group(Grouping grouping) {
  if (grouping == grouping_) return;
  beginResetModel();
  grouping_ = grouping;
  build();
  endResetModel();
}

std::uint64_t FindingModel::key_of(const FoundRow& f) const {
  if (grouping_ == Grouping::by_class) return static_cast<std::uint64_t>(f.kind);
  if (f.cdi_flow != 0) return cdi_key + f.cdi_flow;
  return f.connection != 0 ? f.connection : no_key;
}

void FindingModel::build() {
  tops_.clear();
  rules_.clear();
  if (!followed_) return;
  // Rules in the order of the catalogue, as `check` lists them.
  std::map<const check::RuleInfo*, std::size_t> place;
  for (const check::Rule* rule : check::all_rules()) place.emplace(&rule->info, place.size());
  std::map<std::uint64_t, std::map<std::size_t, std::vector<std::uint32_t>>> sorted;
  for (std::size_t i = 0; i < followed_->findings.size(); ++i) {
    const FoundRow& f = followed_->findings[i];
    sorted[key_of(f)][place[f.rule]].push_back(static_cast<std::uint32_t>(i));
  }
  for (auto& [key, rules] : sorted) {
    TopGroup& top = tops_.emplace_back();
    top.key = key;
    for (auto& [at, found] : rules) {
      top.count += found.size();
      const int row = static_cast<int>(top.rules.size());
      top.rules.push_back(static_cast<int>(rules_.size()));
      rules_.push_back({followed_->findings[found[0]].rule, static_cast<int>(tops_.size()) - 1, row, std::move(found)});
    }
  }
}

// --- The tree --------------------------------------------------------------------------------------------------------

FindingModel::Level FindingModel::level(const QModelIndex& index) {
  const quintptr id = index.internalId();
  return id == 0 ? Level::top : id < of_finding ? Level::rule : Level::finding;
}

const FindingModel::RuleGroup& FindingModel::rule_group(const QModelIndex& index) const {
  if (level(index) == Level::finding) return rules_[index.internalId() - of_finding];
  const TopGroup& top = tops_[index.internalId() - 1];
  return rules_[static_cast<std::size_t>(top.rules[static_cast<std::size_t>(index.row())])];
}

QModelIndex FindingModel::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || column < 0 || column >= column_count || row >= rowCount(parent)) return {};
  if (!parent.isValid()) return createIndex(row, column, quintptr{0});
  if (level(parent) == Level::top) return createIndex(row, column, static_cast<quintptr>(parent.row()) + 1);
  const auto place = static_cast<quintptr>(&rule_group(parent) - rules_.data());
  return createIndex(row, column, of_finding + place);
}

QModelIndex FindingModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || level(index) == Level::top) return {};
  if (level(index) == Level::rule) return createIndex(static_cast<int>(index.internalId() - 1), 0, quintptr{0});
  const RuleGroup& group = rule_group(index);
  return createIndex(group.row, 0, static_cast<quintptr>(group.top) + 1);
}

int FindingModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(tops_.size());
  if (parent.column() != 0 || level(parent) == Level::finding) return 0;
  if (level(parent) == Level::top) return static_cast<int>(tops_[static_cast<std::size_t>(parent.row())].rules.size());
  return static_cast<int>(rule_group(parent).found.size());
}

int FindingModel::columnCount(const QModelIndex&) const { return column_count; }

const FoundRow* FindingModel::found(const QModelIndex& index) const {
  if (!index.isValid() || level(index) != Level::finding) return nullptr;
  return &followed_->findings[rule_group(index).found[static_cast<std::size_t>(index.row())]];
}

const check::RuleInfo* FindingModel::rule(const QModelIndex& index) const {
  return !index.isValid() || level(index) == Level::top ? nullptr : rule_group(index).rule;
}

QModelIndex FindingModel::index_of(const FoundRow& finding) const {
  const auto place = static_cast<std::uint32_t>(&finding - followed_->findings.data());
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const auto& found = rules_[i].found;
    const auto at = std::ranges::lower_bound(found, place);
    if (at != found.end() && *at == place) return createIndex(static_cast<int>(at - found.begin()), 0, of_finding + i);
  }
  return {};
}

// --- What it says ----------------------------------------------------------------------------------------------------

QString FindingModel::title(const TopGroup& top) const {
  if (grouping_ == Grouping::by_class) {
    constexpr const char* titles[] = {"Violations: a sender broke the specification",
                                      "Anomalies: legal, but not healthy", "Artifacts: the capture itself is at fault"};
    return titles[top.key];
  }
  if (top.key == no_key) return "Of no connection";
  if (top.key > cdi_key) return QString("CDI %1").arg(top.key - cdi_key);
  const auto& list = followed_->connections;
  const auto c = std::ranges::lower_bound(list, top.key, {}, &ConnectionRow::id);
  return QString("Connection %1  %2").arg(top.key).arg(c != list.end() && c->id == top.key ? text(c->ends) : QString());
}

QVariant FindingModel::of_group(const QModelIndex& index, int role) const {
  const bool is_top = level(index) == Level::top;
  const TopGroup& top = tops_[static_cast<std::size_t>(is_top ? index.row() : rule_group(index).top)];
  const quint64 count = is_top ? top.count : rule_group(index).found.size();
  if (role == count_role) return count;
  if (role == rule_role) return is_top ? QVariant() : QVariant(text(rule_group(index).rule->id));
  if (role == connection_role && grouping_ == Grouping::by_connection && top.key < cdi_key) return quint64{top.key};
  if (index.column() != what) return {};
  if (role == Qt::DisplayRole) {
    if (is_top) return QString("%1 (%2)").arg(title(top)).arg(count);
    const check::RuleInfo& rule = *rule_group(index).rule;
    return QString("%1  %2 (%3)").arg(text(rule.id), text(rule.title)).arg(count);
  }
  if (role == Qt::ForegroundRole) {
    const bool by_class = grouping_ == Grouping::by_class;
    if (is_top && !by_class) return {};
    const check::Class kind =
        by_class ? static_cast<check::Class>(top.key) : followed_->findings[rule_group(index).found[0]].kind;
    return colour(shade_of(kind), QGuiApplication::palette());
  }
  return {};
}

QVariant FindingModel::of_finding_row(const FoundRow& f, int column, int role) const {
  switch (role) {
    case Qt::DisplayRole:
      if (column == what) return text(f.text);
      if (column == frame) return f.frame != 0 ? QVariant(quint64{f.frame}) : QVariant();
      if (column == connection) return connection_of(f);
      return text(f.field);
    case Qt::ToolTipRole:
      return column == what ? QVariant(text(f.text)) : QVariant();
    case frame_role:
      return f.frame != 0 ? QVariant(quint64{f.frame}) : QVariant();
    case connection_role:
      return f.connection != 0 ? QVariant(quint64{f.connection}) : QVariant();
    case field_role:
      return text(f.field);
    case rule_role:
      return text(f.rule->id);
    case count_role:
      return quint64{1};
    default:
      return {};
  }
}

QVariant FindingModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !followed_) return {};
  if (role == Qt::TextAlignmentRole)
    return int((index.column() == frame || index.column() == connection ? Qt::AlignRight : Qt::AlignLeft) |
               Qt::AlignVCenter);
  if (const FoundRow* f = found(index)) return of_finding_row(*f, index.column(), role);
  return of_group(index, role);
}

QVariant FindingModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= column_count) return {};
  static constexpr const char* titles[] = {"Finding", "Frame", "Connection", "Field"};
  return titles[section];
}

}  // namespace rdmascope::gui
