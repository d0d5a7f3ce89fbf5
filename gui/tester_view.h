// Conformance tests: the suite as a tree, the device and the wire to it, and what happens as it happens.
#pragma once

#include <QSplitter>
#include <QWidget>

#include <memory>

#include "gui/models/test_run.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QStandardItem;
class QStandardItemModel;
class QTabWidget;
class QTreeView;

namespace rdmascope::gui {

class ConversationView;
class ScriptEditor;

class TesterView final : public QWidget {
  Q_OBJECT

 public:
  explicit TesterView(QWidget* parent = nullptr);
  ~TesterView() override;

  BenchChoice bench() const;
  void set_bench(const BenchChoice& bench);
  // Scripts by id, file or area; none: the suite.
  void run(const QStringList& scripts);
  void run_selected();  // what is chosen in the tree; the script of the editor, if it is in no suite
  void run_again();     // what ran last
  void run_bad();       // what failed of it
  void stop();
  bool is_running() const { return run_ && run_->running(); }
  const TestRun* last_run() const { return run_.get(); }
  bool may_close();  // false: the user wants to keep a changed script

  void select(const QString& id);
  void open_script(const QString& path);
  // A sentence, if that fails.
  QString save_report(const QString& path) const;

  QString headline() const;  // "Failed: 1 of 12", "Running C09-060-05", as shown on top
  QString message() const;   // of the test that is shown
  QStandardItemModel& tree() { return *tree_; }
  ConversationView& conversation() { return *conversation_; }
  ScriptEditor& editor() { return *editor_; }
  QTabWidget& pages() { return *pages_; }

 signals:
  void recordingWanted(const QString& path);  // to be opened; the file goes with the next run
  void statusChanged();

 private:
  QWidget* make_bench();
  QWidget* make_tests();
  QWidget* make_result();
  QWidget* make_editor();
  void list_suite();
  void fill_mutants();
  void changed();
  QStringList selected() const;
  QStandardItem* item_of(const QString& id) const;
  void show_verdict(const TestCase& c);
  void show_case(int index);
  void show_details(const TestCase& c);
  void case_changed(int index);
  void ended(const QString& error);
  void ask_to_save_report();
  void ask_to_open_script();
  bool save_script(bool ask);
  void set_headline(const QString& text, bool bad, bool good);

  std::unique_ptr<TestRun> run_;
  QStringList last_scripts_;
  int shown_ = -1;       // case
  bool follows_ = true;  // shows the test that runs
  QStandardItemModel* tree_;
  QTreeView* tree_view_;
  QLineEdit* sought_;
  QComboBox *dut_, *wire_, *mutant_;
  QCheckBox *roce_v1_, *destructive_, *sampled_;
  QSpinBox *repeat_, *seed_;
  QDoubleSpinBox* timeout_factor_;
  QLineEdit* token_file_;
  QLabel *command_, *headline_, *title_, *message_;
  QProgressBar* progress_;
  QPushButton *run_selected_, *run_all_, *run_again_, *run_bad_, *stop_, *save_, *recording_;
  QTabWidget* pages_;
  ConversationView* conversation_;
  QPlainTextEdit *details_, *log_;
  ScriptEditor* editor_;
  QLabel* problem_;
};

}  // namespace rdmascope::gui
