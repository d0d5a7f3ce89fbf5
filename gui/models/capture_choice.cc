#include "gui/models/capture_choice.h"

#include "gui/models/kept.h"

namespace rdmascope::gui {
template <class Choice, class Do>
static void each_choice(Choice& c, const Do& what) {
  what("interfaces", c.interfaces);
  what("filter", c.filter);
  what("promiscuous", c.promiscuous);
  what("completions", c.completions);
  what("snap_length", c.snap_length);
  what("buffer_mib", c.buffer_mib);
  what("stop_after_s", c.stop_after_s);
  what("stop_after_packets", c.stop_after_packets);
  what("next_after_mb", c.next_after_mb);
  what("next_after_s", c.next_after_s);
  what("next_after_packets", c.next_after_packets);
  what("keep_files", c.keep_files);
}

QStringList CaptureChoice::arguments(const QString& path) const {
  QStringList out{"capture"};
  for (const QString& interface : interfaces) out << "-i" << interface;
  out << "-w" << path;
  if (!filter.trimmed().isEmpty()) out << "-f" << filter.trimmed();
  if (snap_length > 0) out << "-s" << QString::number(snap_length);
  if (!promiscuous) out << "-p";
  if (completions) out << "--completions";
  if (buffer_mib != CaptureChoice().buffer_mib) out << "-B" << QString::number(buffer_mib);
  const auto limit = [&out](const char* option, const char* key, int value, int times = 1) {
    if (value > 0) out << option << QString("%1:%2").arg(key).arg(qint64{value} * times);
  };
  limit("-a", "duration", stop_after_s);
  limit("-a", "packets", stop_after_packets);
  limit("-b", "filesize", next_after_mb, 1000);
  limit("-b", "duration", next_after_s);
  limit("-b", "packets", next_after_packets);
  if (is_ring()) limit("-b", "files", keep_files);
  return out;
}

void CaptureChoice::save() const { keep("capture", *this); }
CaptureChoice CaptureChoice::saved() { return kept<CaptureChoice>("capture"); }

}  // namespace rdmascope::gui
