// How a live capture goes, above its packets: counts, loss, the files of a ring, and the button that ends it.
#pragma once

#include <QStringList>
#include <QWidget>

class QCheckBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace rdmascope::gui {

class CaptureRun;

class CaptureBar final : public QWidget {
  Q_OBJECT

 public:
  explicit CaptureBar(QWidget* parent = nullptr);

  void set_run(CaptureRun* run);  // nullptr: none
  bool follows() const;           // the list shows what comes
  void set_follows(bool follows);
  QString text() const;

 signals:
  void stopWanted();
  void restartWanted();
  void saveWanted();
  void fileWanted(const QString& path);  // an earlier one of the ring
  void followsChanged(bool follows);

 private:
  void show_status();

  CaptureRun* run_ = nullptr;
  QStringList files_;
  QLabel *where_, *text_;
  QCheckBox* follows_;
  QToolButton* earlier_;
  QPushButton *stop_, *restart_, *save_;
};

}  // namespace rdmascope::gui
