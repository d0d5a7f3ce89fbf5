// Which frames pass a display filter: looked for in the background, in order, while the index may still grow.
#pragma once

#include <QObject>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "dissect/filter.h"
#include "gui/models/capture_file.h"

namespace rdmascope::gui {

class FilterRun final : public QObject {
  Q_OBJECT

 public:
  FilterRun(const CaptureFile& file, dissect::Filter filter, QObject* parent = nullptr);
  ~FilterRun() override;  // cancels
  void start();           // when its signals are connected

  bool running() const { return running_; }
  std::size_t looked_at() const { return looked_at_; }
  // Adds what was found since the last call to `rows`, numbers from 0.
  void take(std::vector<std::uint32_t>& rows);

 signals:
  void found();  // about ten times a second, and at the end
  void done();

 private:
  void run();

  const CaptureFile& file_;
  dissect::Filter filter_;
  std::mutex mutex_;  // of fresh_
  std::vector<std::uint32_t> fresh_;
  std::atomic<bool> stop_ = false, running_ = true;
  std::atomic<std::size_t> looked_at_ = 0;
  std::thread thread_;
};

}  // namespace rdmascope::gui
