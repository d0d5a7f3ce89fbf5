// A test script: Lua with the words of our scripts in colour and completed, numbers of lines, and a mark where
// something is wrong.
#pragma once

#include <QPlainTextEdit>

class QCompleter;
class QTimer;

namespace rdmascope::gui {

class ScriptEditor final : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit ScriptEditor(QWidget* parent = nullptr);

  // A sentence, if it cannot be read.
  QString open(const QString& path);
  QString save_as(const QString& path);
  const QString& path() const { return path_; }
  bool is_changed() const;

  void go_to(int line);
  // A line that something was said about, until the text changes; 0: none.
  void mark(int line, const QString& why);
  int marked() const { return marked_; }
  // What is wrong with the script as it stands, by the tester's own reading of it; empty: nothing.
  const QString& problem() const { return problem_; }

 signals:
  void problemChanged(const QString& problem);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  class Margin;
  void paint_margin(QPaintEvent* event);
  int margin_width() const;
  void show_marks();
  void check();
  QString word_before_cursor() const;
  void offer_words(int least_letters);
  void complete_with(const QString& word);

  Margin* margin_;
  QCompleter* completer_;
  QTimer* typing_;
  QString path_, problem_, why_;
  int marked_ = 0;
};

// "c09.lua:9: ..." is 9; 0: no line is named.
int line_in(const QString& message);

}  // namespace rdmascope::gui
