#include "gui/models/filter_run.h"

#include <chrono>
#include <utility>

#include "dissect/annotations.h"

namespace rdmascope::gui {
namespace {

constexpr std::size_t batch = 4096;
constexpr std::chrono::milliseconds between_signals{100}, while_waiting{20};

}  // namespace

FilterRun::FilterRun(const CaptureFile& file, dissect::Filter filter, QObject* parent)
    : QObject(parent), file_(file), filter_(std::move(filter)) {}

FilterRun::~FilterRun() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void FilterRun::start() {
  thread_ = std::thread([this] { run(); });
}

void FilterRun::take(std::vector<std::uint32_t>& rows) {
  const std::lock_guard lock(mutex_);
  rows.insert(rows.end(), fresh_.begin(), fresh_.end());
  fresh_.clear();
}

void FilterRun::run() {
  const bool needs_annotations = filter_.uses_annotations();
  // What only following the connections tells is waited for.
  while (needs_annotations && !stop_ && !file_.followed() && (file_.reading() || file_.following()))
    std::this_thread::sleep_for(while_waiting);
  auto last = std::chrono::steady_clock::now();
  const auto packet = std::make_unique<dissect::Packet>();
  dissect::Annotations annotations;
  std::vector<std::uint32_t> found;
  std::size_t at = 0;
  bool told = true;
  const auto tell = [&] {
    last = std::chrono::steady_clock::now();
    told = true;
    emit this->found();
  };
  while (!stop_) {
    const bool more_to_come = file_.reading() || (needs_annotations && file_.following());
    std::size_t end = std::min(file_.index().size(), at + batch);
    // A file that grows is followed in steps.
    if (const auto known = needs_annotations ? file_.followed() : nullptr) end = std::min(end, known->frames);
    if (at >= end) {
      if (!more_to_come) break;
      if (!told) tell();
      std::this_thread::sleep_for(while_waiting);
      continue;
    }
    for (; at < end; ++at) {
      if (needs_annotations)
        file_.load(at, *packet, annotations);
      else
        file_.load(at, *packet);
      if (filter_.matches(*packet)) found.push_back(static_cast<std::uint32_t>(at));
    }
    looked_at_ = at;
    {
      const std::lock_guard lock(mutex_);
      fresh_.insert(fresh_.end(), found.begin(), found.end());
    }
    found.clear();
    told = false;
    if (std::chrono::steady_clock::now() - last >= between_signals) tell();
  }
  // In this order: who sees that it has ended has the last rows in its queue.
  emit this->found();
  running_ = false;
  emit done();
}

}  // namespace rdmascope::gui
