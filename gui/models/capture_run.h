// A live capture: the tool writes to a file, which somebody else reads as it grows, and tells how it goes.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QStringList>

#include <optional>

namespace rdmascope::gui {

// What `rdmascope capture --status json` says. What is not known is missing.
struct CaptureStatus {
  double seconds = 0;
  quint64 packets = 0, bytes = 0, filtered = 0, written = 0, files = 0;
  std::optional<quint64> lost;
  std::optional<double> rdma_share;  // 0 to 1
  double rate = 0;                   // packets per second, since the status before
  QString file;                      // that is being written
};

// "lo: 12,345 packets, 1,200/s, 98 % RDMA, 0 lost, 12 s"
QString as_text(const CaptureStatus& status);

class CaptureRun final : public QObject {
  Q_OBJECT

 public:
  // `arguments`: of the tool, "capture" first; with -w.
  explicit CaptureRun(QStringList arguments, QObject* parent = nullptr);
  ~CaptureRun() override;  // stops it

  void start();
  void stop();  // the file is completed; ended() follows
  void stop_and_wait();
  bool running() const { return running_; }
  const CaptureStatus& status() const { return status_; }
  const QStringList& arguments() const { return arguments_; }
  // What it said besides, a sentence each, the newest last.
  const QStringList& notes() const { return notes_; }

 signals:
  void fileBegun(const QString& path);  // has its header, or will in a moment
  void statusChanged();
  void noted(const QString& sentence);
  void ended(const QString& error);  // empty: as it should

 private:
  void read();
  void take_line(const QByteArray& line);
  void take_status(const QJsonObject& said);
  void end(int status);

  QStringList arguments_, notes_;
  QProcess process_;
  QByteArray rest_;  // of a line
  CaptureStatus status_;
  bool running_ = false;
};

}  // namespace rdmascope::gui
