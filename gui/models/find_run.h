// Looks for the next packet of a list, or the one before, that has a text, bytes, a connection, or passes a filter: in
// a thread of its own, as a list may have millions.
#pragma once

#include <QObject>
#include <QString>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "dissect/filter.h"
#include "gui/models/capture_file.h"
#include "gui/models/packet_row.h"

namespace rdmascope::gui {

enum class FindIn { text, bytes, filter, connection };

struct FindTask {
  FindIn where = FindIn::text;
  QString what;
  bool backwards = false;
  int from = -1;                                     // row; it is not looked at itself
  int rows = 0;                                      // of the list
  std::optional<std::vector<std::uint32_t>> frames;  // of the rows, from 0; nullopt: row n is frame n
  PacketRow form;                                    // how rows are written
  std::vector<bool> shown;                           // columns whose text counts
};

class FindRun final : public QObject {
  Q_OBJECT

 public:
  // What is wrong with what is sought, in one sentence; empty: nothing.
  static QString error_of(FindIn where, const QString& what);

  // Of a task without an error.
  FindRun(const CaptureFile& file, FindTask task, QObject* parent = nullptr);
  ~FindRun() override;  // cancels
  void start();         // when its signals are connected

  bool backwards() const { return task_.backwards; }
  double progress() const;  // 0 to 1

 signals:
  void progressed();   // about ten times a second
  void done(int row);  // -1: there is none. Not said when it is cancelled.

 private:
  using Fits = std::function<bool(std::size_t frame)>;
  void run();
  Fits make_fits();

  const CaptureFile& file_;
  FindTask task_;
  dissect::Filter filter_;
  QByteArray bytes_;
  std::unique_ptr<dissect::Packet> packet_;
  dissect::Annotations annotations_;
  std::vector<QString> texts_;
  std::atomic<int> looked_at_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace rdmascope::gui
