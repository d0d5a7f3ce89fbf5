// The frames of a list in another order: sorted in a thread of its own, as a list may have millions.
#pragma once

#include <QObject>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "gui/models/frame_index.h"

namespace rdmascope::gui {

// What the index tells of a frame without a look at its bytes.
enum class SortKey : std::uint8_t { number, time, length };

class SortRun final : public QObject {
  Q_OBJECT

 public:
  // Frames from 0, in the order of the capture; those that are equal stay in it.
  SortRun(const FrameIndex& index, std::vector<std::uint32_t> frames, SortKey key, bool descending,
          QObject* parent = nullptr);
  ~SortRun() override;  // cancels
  void start();         // when its signals are connected

  // When it is done.
  std::vector<std::uint32_t> take() { return std::move(frames_); }

 signals:
  void done();  // not said when it is cancelled

 private:
  void run();

  const FrameIndex& index_;
  std::vector<std::uint32_t> frames_;
  SortKey key_;
  bool descending_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace rdmascope::gui
