// The main window: captures in tabs; menus, keys, recent files.
#pragma once

#include <QMainWindow>

class QLabel;
class QMenu;
class QProgressBar;
class QTabWidget;

namespace rdmascope::gui {

class CaptureTab;
class TesterView;
struct CaptureChoice;

class MainWindow final : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  CaptureTab* open(const QString& path);
  CaptureTab* capture(const CaptureChoice& choice);
  TesterView* show_tester();    // there is one
  CaptureTab* current() const;  // nullptr: nothing is open, or the tester is in front
  TesterView* tester() const;   // nullptr: it is not open
  int count() const;

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  CaptureTab* add_tab();
  // False: the user wants to keep what is in it.
  bool may_close(CaptureTab& tab);
  void close_tab(int index);
  void make_menus();
  void show_status();
  void ask_to_open();
  void ask_to_capture();
  void start_or_stop();
  bool ask_to_save(CaptureTab& tab);
  void ask_go_to();
  void ask_find();
  void find_again(bool backwards);
  void export_shown();
  void remember_recent(const QString& path);
  void fill_recent();
  bool is_dark() const;

  QTabWidget* tabs_;
  QMenu* recent_;
  QLabel* verdict_;
  QLabel* status_;
  QProgressBar* progress_;
  QString sought_;
  int sought_in_ = 0;  // of FindIn
};

}  // namespace rdmascope::gui
