// Which columns the packet list has: shown or not, their order and titles, and fields as columns.
#pragma once

#include <QDialog>

#include "gui/models/packet_columns.h"

class QLabel;
class QLineEdit;
class QTreeWidget;

namespace rdmascope::gui {

class ColumnsDialog final : public QDialog {
  Q_OBJECT

 public:
  explicit ColumnsDialog(QWidget* parent = nullptr);

  std::vector<ColumnSetting> columns() const;
  QString error() const;  // that is shown; empty: none
  void accept() override;

 private:
  void show_columns(const std::vector<ColumnSetting>& columns);
  void add();
  void remove();
  void move(int by);

  QTreeWidget* list_;
  QLineEdit* field_;
  QLabel* error_;
};

}  // namespace rdmascope::gui
