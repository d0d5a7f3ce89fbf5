// What was found, as a tree: classes, their rules, the findings; or connections, their rules, the findings.
#pragma once

#include <QAbstractItemModel>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

class FindingModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { what, frame, connection, field, column_count };
  // Of a finding; of a group what all in it share. Empty where there is none.
  enum Role { frame_role = Qt::UserRole, connection_role, field_role, rule_role, count_role };
  enum class Grouping : std::uint8_t { by_class, by_connection };

  using QAbstractItemModel::QAbstractItemModel;
  void set(std::shared_ptr<const Followed> followed);  // nullptr: none
  void group(Grouping grouping);
  Grouping grouping() const { return grouping_; }

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  // nullptr: the row is a group.
  const FoundRow* found(const QModelIndex& index) const;
  // The rule of a finding or of a group of one; nullptr: there is none.
  const check::RuleInfo* rule(const QModelIndex& index) const;
  // The row of a finding; invalid: not there.
  QModelIndex index_of(const FoundRow& finding) const;

 private:
  struct RuleGroup {
    const check::RuleInfo* rule;
    int top;                           // place of its parent
    int row;                           // in its parent
    std::vector<std::uint32_t> found;  // places in Followed::findings
  };
  struct TopGroup {
    std::uint64_t key;       // class, or number of the connection
    std::vector<int> rules;  // places in rules_
    std::uint64_t count = 0;
  };
  // Internal id: 0 of a top group; of a rule, 1 + place of its parent; of a finding, 2^32 + place of its rule.
  static constexpr quintptr of_finding = quintptr{1} << 32;
  enum class Level : std::uint8_t { top, rule, finding };
  static Level level(const QModelIndex& index);
  const RuleGroup& rule_group(const QModelIndex& index) const;
  void build();
  std::uint64_t key_of(const FoundRow& f) const;
  QString title(const TopGroup& top) const;
  QVariant of_group(const QModelIndex& index, int role) const;
  QVariant of_finding_row(const FoundRow& f, int column, int role) const;

  std::shared_ptr<const Followed> followed_;
  Grouping grouping_ = Grouping::by_class;
  std::vector<TopGroup> tops_;
  std::vector<RuleGroup> rules_;
};

}  // namespace rdmascope::gui
