#include "gui/models/sort_run.h"

#include <algorithm>
#include <utility>

namespace rdmascope::gui {
namespace {

struct Cancelled {};

}  // namespace

SortRun::SortRun(const FrameIndex& index, std::vector<std::uint32_t> frames, SortKey key, bool descending,
                 QObject* parent)
    : QObject(parent), index_(index), frames_(std::move(frames)), key_(key), descending_(descending) {}

SortRun::~SortRun() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void SortRun::start() {
  thread_ = std::thread([this] { run(); });
}

void SortRun::run() {
  const auto value = [this](std::uint32_t frame) -> std::int64_t {
    switch (key_) {
      case SortKey::time:
        return index_[frame].time_ns;
      case SortKey::length:
        return index_[frame].wire;
      case SortKey::number:
        break;
    }
    return frame;
  };
  // Sorting cannot be asked to stop in any other way.
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    if (stop_.load(std::memory_order_relaxed)) throw Cancelled();
    return descending_ ? value(a) > value(b) : value(a) < value(b);
  };
  try {
    std::ranges::stable_sort(frames_, is_before);
  } catch (const Cancelled&) {
    return;
  }
  emit done();
}

}  // namespace rdmascope::gui
