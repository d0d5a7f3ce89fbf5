// What passed between tester and device in one test, row by row in the order of time; drawn by ConversationView.
#pragma once

#include <QAbstractTableModel>

#include "gui/models/test_run.h"
#include "gui/models/words.h"

namespace rdmascope::gui {

class ConversationModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { time, line, what, columns };
  enum Role { kind = Qt::UserRole, good, running };

  explicit ConversationModel(QObject* parent = nullptr);

  // nullptr shows nothing. The case must live as long as it is shown; set() again when it was replaced.
  void set(const TestCase* shown);
  void grow();  // it has more events
  const TestCase* shown() const { return case_; }
  int line_of(const QModelIndex& index) const;  // of the script; 0: none
  int first_bad() const;                        // row; -1: none

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& = {}) const override { return columns; }
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const TestCase* case_ = nullptr;
  int rows_ = 0;
};

// Of a verdict in words; good is green, bad red.
Shade shade_of_verdict(const QString& verdict);

}  // namespace rdmascope::gui
