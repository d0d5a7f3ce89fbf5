// The file that a view shows, and what following its connections tells: still to come, there, or never to come.
#pragma once

#include <QPointer>

#include <memory>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

class FollowedFile final : public QObject {
  Q_OBJECT

 public:
  // Stopped: the user broke it off.
  enum class State : std::uint8_t { no_file, waiting, no_packets, stopped, there };

  using QObject::QObject;
  // nullptr, or when the file is gone: none.
  void set(CaptureFile* file);

  State state() const;
  CaptureFile* file() const { return file_; }
  const std::shared_ptr<const Followed>& followed() const { return followed_; }  // nullptr unless it is there

 signals:
  void changed();  // state() and what comes with it

 private:
  void look();

  QPointer<CaptureFile> file_;
  std::shared_ptr<const Followed> followed_;
  bool indexed_ = false;
};

}  // namespace rdmascope::gui
