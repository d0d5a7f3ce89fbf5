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
    connect(file_, &CaptureFile::following_ended, this, &FollowedFile::look);
    connect(file_, &QObject::destroyed, this, [this] { set(nullptr); });
  }
  emit changed();
}

FollowedFile::State FollowedFile::state() const {
  if (!file_) return State::no_file;
  if (followed_) return State::there;
  if (indexed_ && file_->index().size() == 0) return State::no_packets;
  return file_->reading() || file_->following() ? State::waiting : State::stopped;
}

// A file that grows is followed again and again. Who looks at something shall not lose it each time: only what is a
// good deal more is told of, and the last.
void FollowedFile::look() {
  if (!file_) return;
  std::shared_ptr<const Followed> now = file_->followed();
  if (now && now == followed_) return;
  if (followed_ && file_->following() && now->frames < followed_->frames + followed_->frames / 4) return;
  followed_ = std::move(now);
  emit changed();
}

}  // namespace rdmascope::gui
