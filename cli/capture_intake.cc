#include "cli/capture_intake.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace rdmascope::cli {
namespace {

constexpr std::size_t batch_frames = 1024;
// Batches under way, for each source: some megabytes of small packets, at most what sources give at once of large ones.
constexpr std::size_t batches_per_source = 32;

}  // namespace

Intake::Intake(std::vector<std::unique_ptr<capture::Source>> sources)
    : sources_(std::move(sources)), running_(sources_.size()) {
  for (std::size_t i = 0; i < sources_.size() * batches_per_source; ++i) spare_.push_back(std::make_unique<LiveBatch>());
  for (std::size_t i = 0; i < sources_.size(); ++i) threads_.emplace_back([this, i] { read(i); });
}

Intake::~Intake() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
}

void Intake::read(std::size_t number) {
  capture::Source& source = *sources_[number];
  std::vector<capture::Frame> frames(batch_frames);
  std::uint64_t lost = 0;
  std::unique_ptr<LiveBatch> batch;
  std::optional<std::string> error;
  for (;;) {
    if (!batch) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return leaving_ || !spare_.empty(); });
      if (leaving_) break;
      batch = std::move(spare_.back());
      spare_.pop_back();
    }
    const Result<std::size_t> count = source.read(frames);
    if (!count) error = count.error();
    if (!count || (*count == 0 && source.at_end())) break;
    if (*count == 0) {
      const std::lock_guard lock(mutex_);
      if (leaving_) break;
      continue;
    }
    batch->source = number;
    batch->frames.assign(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(*count));
    std::size_t bytes = 0;
    for (const capture::Frame& frame : batch->frames) bytes += frame.bytes.size() + frame.options.size();
    if (!source.frames_stay() && !source.give_memory(batch->memory, bytes)) {
      batch->memory.grow(bytes);
      std::uint8_t* to = batch->memory.data();
      for (capture::Frame& frame : batch->frames)
        for (std::span<const std::uint8_t>* piece : {&frame.bytes, &frame.options}) {
          if (!piece->empty()) std::memcpy(to, piece->data(), piece->size());
          *piece = {to, piece->size()};
          to += piece->size();
        }
    }
    const std::uint64_t lost_now = source.dropped().value_or(0);
    batch->lost_before = lost_now - lost;
    lost = lost_now;
    const std::lock_guard lock(mutex_);
    full_.push_back(std::move(batch));
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  if (error) errors_.push_back(*error);
  --running_;
  changed_.notify_all();
}

LiveBatch* Intake::next(std::int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  if (current_) {
    spare_.push_back(std::move(current_));
    changed_.notify_all();
  }
  const auto something = [this] { return !full_.empty() || running_ == 0; };
  while (!something()) {
    const std::int64_t left_ns = deadline_ns - monotonic_ns();
    if (left_ns <= 0) return nullptr;
    changed_.wait_for(lock, std::chrono::nanoseconds(left_ns));
  }
  if (full_.empty()) return nullptr;
  current_ = std::move(full_.front());
  full_.pop_front();
  return current_.get();
}

bool Intake::at_end() {
  const std::lock_guard lock(mutex_);
  return running_ == 0 && full_.empty();
}

std::vector<std::string> Intake::take_errors() {
  const std::lock_guard lock(mutex_);
  return std::exchange(errors_, {});
}

}  // namespace rdmascope::cli
