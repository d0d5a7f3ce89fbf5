#include "gui/models/followed_file.h"

namespace rdmascope::gui {

void FollowedFile::set(CaptureFile* file) {
  if (file_) file_->disconnect(this);
  file_ = file;
  indexed_ = file_ && file_->progress() == 1;
  followed_ = file_ ? file_->followed() : nullptr;
  if (file_) {
    connect(file_, &CaptureFile::followed_up, this, &FollowedFile::look);
    connect(file_, &CaptureFile::indexed, this, [this] {
      indexed_ = true;
      look();
    });
    connect(file_, &QObject::destroyed, this, [this] { set(nullptr); });
  }
  emit changed();
}

FollowedFile::State FollowedFile::state() const {
  if (!file_) return State::no_file;
  if (followed_) return State::there;
  return indexed_ && file_->index().size() == 0 ? State::no_packets : State::waiting;
}

// A file that grows is followed again and again.
void FollowedFile::look() {
  if (!file_) return;
  std::shared_ptr<const Followed> now = file_->followed();
  if (now && now == followed_) return;
  followed_ = std::move(now);
  emit changed();
}

}  // namespace rdmascope::gui
