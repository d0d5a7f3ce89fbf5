// Where and how to capture: interfaces with what each can see, filter, limits, files.
#pragma once

#include <QDialog>

#include "gui/models/capture_choice.h"

class QCheckBox;
class QDialogButtonBox;
class QLabel;
class QLineEdit;
class QSpinBox;
class QTableWidget;
class QTimer;

namespace rdmascope::gui {

class CaptureDialog final : public QDialog {
  Q_OBJECT

 public:
  explicit CaptureDialog(const CaptureChoice& choice, QWidget* parent = nullptr);

  CaptureChoice choice() const;
  QString command() const;       // as it is shown
  QString filter_error() const;  // as it is shown; empty: none known

  QTableWidget& interfaces() { return *interfaces_; }
  QLineEdit& filter() { return *filter_; }

 private:
  void list_interfaces();
  QWidget* make_files();
  void changed();
  void check_filter();
  void ask_for_file();

  QTableWidget* interfaces_;
  QLabel* problem_;
  QLineEdit *filter_, *file_;
  QTimer* filter_timer_;
  QString checked_;
  QCheckBox *promiscuous_, *completions_;
  QSpinBox *snap_length_, *buffer_, *stop_seconds_, *stop_packets_, *next_mb_, *next_seconds_, *next_packets_, *keep_;
  QLabel* command_;
  QDialogButtonBox* buttons_;
};

}  // namespace rdmascope::gui
