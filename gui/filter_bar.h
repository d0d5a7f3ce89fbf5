// The display filter: completes names of fields and values, is green when it can be used and red when not, with the
// error in words below.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QWidget>

#include <optional>

#include "dissect/filter.h"

class QCompleter;
class QLineEdit;
class QStringListModel;

namespace rdmascope::gui {

class FilterBar final : public QWidget {
  Q_OBJECT

 public:
  explicit FilterBar(QWidget* parent = nullptr);

  QString text() const;
  void set_text(const QString& text);  // does not apply it
  void apply();
  // The sentence that is shown; empty: the expression can be used.
  QString error() const { return error_->text(); }
  QStringList history() const;
  void set_history(const QStringList& history);
  QLineEdit* edit() const;

 signals:
  void applied(const QString& text);

 private:
  void check();
  void complete();
  void choose(const QString& word);

  QComboBox* box_;
  QLabel* error_;
  QCompleter* completer_;
  QStringListModel* words_;
};

}  // namespace rdmascope::gui
