// The colouring rules of the packet list: their order, names, filters and colours.
#pragma once

#include <QDialog>

#include "gui/models/colour_rules.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace rdmascope::gui {

class ColoursDialog final : public QDialog {
  Q_OBJECT

 public:
  explicit ColoursDialog(QWidget* parent = nullptr);

  const std::vector<ColourRule>& rules() const { return rules_; }
  void choose(int rule);
  void set_colour(bool background, const QColor& colour);  // of the chosen rule; invalid: as usual
  QString error() const;                                   // of the chosen rule, as it is shown; empty: none
  void accept() override;

 private:
  void show_rules(std::vector<ColourRule> rules);
  void show_chosen();
  void paint(int rule);
  void ask_colour(bool background);
  void add();
  void remove();
  void move(int by);
  int chosen() const;

  std::vector<ColourRule> rules_;
  bool showing_ = false;  // fields are filled; not by the user
  QListWidget* list_;
  QLineEdit *name_, *filter_;
  QPushButton *text_, *background_;
  QLabel* error_;
};

}  // namespace rdmascope::gui
