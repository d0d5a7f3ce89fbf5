// What the user chose for a live capture, and how it is said to the tool.
#pragma once

#include <QString>
#include <QStringList>

namespace rdmascope::gui {

// 0 and empty: not asked for.
struct CaptureChoice {
  QStringList interfaces;
  QString filter;
  QString file;  // empty: one of our own, until it is saved
  bool promiscuous = true, completions = false;
  int snap_length = 0;  // bytes
  int buffer_mib = 16;
  int stop_after_s = 0, stop_after_packets = 0;
  int next_after_mb = 0, next_after_s = 0, next_after_packets = 0, keep_files = 0;  // the ring

  bool is_ring() const { return next_after_mb > 0 || next_after_s > 0 || next_after_packets > 0; }
  // Of `rdmascope`, "capture" first; they write to `path`.
  QStringList arguments(const QString& path) const;

  void save() const;  // for the next time (QSettings)
  static CaptureChoice saved();
};

}  // namespace rdmascope::gui
