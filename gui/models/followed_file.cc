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

void FollowedFile::look() {
  if (followed_ || !file_) return;  // it does not change any more
  followed_ = file_->followed();
  emit changed();
}

}  // namespace rdmascope::gui
