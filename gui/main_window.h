// The main window: captures in tabs, each with its packets, connections and findings; menus, keys, recent files.
#pragma once

#include <QMainWindow>

#include <memory>
#include <vector>

class QLabel;
class QMenu;
class QProgressBar;
class QTabWidget;

namespace rdmascope::gui {

class CaptureFile;
class CompletionsView;
class ConnectionsView;
class FindingsView;
class GraphsView;
class PacketsView;

// One capture: the views of it, and what went wrong, in words.
class CaptureTab final : public QWidget {
  Q_OBJECT

 public:
  explicit CaptureTab(const QString& path, QWidget* parent = nullptr);
  ~CaptureTab() override;

  CaptureFile& file() { return *file_; }
  PacketsView& packets() { return *packets_; }
  ConnectionsView& connections() { return *connections_; }
  FindingsView& findings() { return *findings_; }
  CompletionsView& completions() { return *completions_; }
  QTabWidget& views() { return *views_; }
  QString error() const;   // that is shown; empty: none
  QString status() const;  // "110 packets, 12 shown"
  QString verdict() const;
  void go_to(quint64 frame, const QString& field = {});

 signals:
  void statusChanged();

 private:
  void show_error(const QString& why);

  std::unique_ptr<CaptureFile> file_;
  QWidget* error_bar_;
  QLabel* error_;
  QTabWidget* views_;
  PacketsView* packets_;
  ConnectionsView* connections_;
  FindingsView* findings_;
  GraphsView* graphs_;
  CompletionsView* completions_;
};

class MainWindow final : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  CaptureTab* open(const QString& path);
  CaptureTab* current() const;  // nullptr: nothing is open
  int count() const;

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void make_menus();
  void show_status();
  void ask_to_open();
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
