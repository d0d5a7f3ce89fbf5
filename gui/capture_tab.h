// One capture: the views of it, how it goes while it is live, and what went wrong, in words.
#pragma once

#include <QFuture>
#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>

#include "gui/models/capture_choice.h"

class QLabel;
class QTabWidget;

namespace rdmascope::gui {

class CaptureBar;
class CaptureFile;
class CaptureRun;
class CompletionsView;
class ConnectionsView;
class FindingsView;
class GraphsView;
class PacketsView;

class CaptureTab final : public QWidget {
  Q_OBJECT

 public:
  explicit CaptureTab(QWidget* parent = nullptr);
  ~CaptureTab() override;  // a capture that runs is ended, a file of our own removed

  void open(const QString& path);
  // A copy of it, which is in no file of the user's: the original may go.
  void open_copy(const QString& path, const QString& title);
  void capture(const CaptureChoice& choice);
  void stop_capture();
  void stop_and_wait();  // until its file is complete
  void restart_capture();
  bool is_capturing() const;
  const std::optional<CaptureChoice>& choice() const { return choice_; }  // of a capture
  // Packets that are in no file of the user's.
  bool is_unsaved() const;
  // Empty: it goes on in the background, savedAs() follows, or error(). Else a sentence why not.
  QString save_as(const QString& path);
  QString finish_saving();  // waits for it; empty: it is saved

  bool has_file() const { return file_ != nullptr; }  // a capture has none before it has begun
  CaptureFile& file() { return *file_; }
  PacketsView& packets() { return *packets_; }
  ConnectionsView& connections() { return *connections_; }
  FindingsView& findings() { return *findings_; }
  CompletionsView& completions() { return *completions_; }
  CaptureBar& bar() { return *bar_; }
  QTabWidget& views() { return *views_; }
  QString title() const;   // of the tab
  QString error() const;   // that is shown; empty: none
  QString status() const;  // "110 packets, 12 shown"
  QString verdict() const;
  void go_to(quint64 frame, const QString& field = {});

 signals:
  void statusChanged();
  void titleChanged();
  void fileWanted(const QString& path);  // in a tab of its own
  void savedAs(const QString& path);

 private:
  QWidget* make_error_bar();
  void show_error(const QString& why);
  void set_file(std::unique_ptr<CaptureFile> file);
  void follow_newest();

  std::unique_ptr<CaptureFile> file_;
  std::unique_ptr<CaptureRun> run_;
  std::optional<CaptureChoice> choice_;
  bool make_own_file();
  QString own_file_;   // a temporary one; empty: none
  QString own_title_;  // of what is in it
  bool saved_ = false;
  QTimer look_;  // whether the file is still whole
  bool told_cut_ = false;
  QFuture<QString> saving_;  // the sentence that says why not
  QWidget* error_bar_;
  QLabel* error_;
  CaptureBar* bar_;
  QTabWidget* views_;
  PacketsView* packets_;
  ConnectionsView* connections_;
  FindingsView* findings_;
  GraphsView* graphs_;
  CompletionsView* completions_;
};

}  // namespace rdmascope::gui
