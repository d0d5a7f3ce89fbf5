// A test as two lifelines, time downwards: what the tester sent and demanded on the left, what the device did on the
// right. Steps that were met are green, the one that was not is red, the one that runs has a mark.
#pragma once

#include <QTableView>

#include "gui/models/conversation_model.h"

namespace rdmascope::gui {

class ConversationView final : public QTableView {
  Q_OBJECT

 public:
  explicit ConversationView(QWidget* parent = nullptr);

  void set_case(const TestCase* shown);  // nullptr: none
  void grow();
  ConversationModel& conversation() { return *conversation_; }

 signals:
  void lineChosen(int line);  // of the script

 private:
  ConversationModel* conversation_;
};

}  // namespace rdmascope::gui
