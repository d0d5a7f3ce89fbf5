#include "gui/models/find_run.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "dissect/annotations.h"

namespace rdmascope::gui {
namespace {

constexpr std::chrono::milliseconds between_signals{100}, while_waiting{20};
constexpr int batch = 1024;  // rows between two looks at the clock

// "12b7", "12 b7", "12:b7"; nullopt: no bytes.
std::optional<QByteArray> bytes_of(const QString& what) {
  QString digits = what;
  for (const QChar c : {' ', ':', '-', '\t'}) digits.remove(c);
  if (digits.startsWith("0x", Qt::CaseInsensitive)) digits.remove(0, 2);
  const auto is_hex = [](QChar c) { return c.isDigit() || (c.toLower() >= 'a' && c.toLower() <= 'f'); };
  if (digits.isEmpty() || digits.size() % 2 != 0 || !std::all_of(digits.begin(), digits.end(), is_hex))
    return std::nullopt;
  return QByteArray::fromHex(digits.toLatin1());
}

}  // namespace

QString FindRun::error_of(FindIn where, const QString& what) {
  if (what.trimmed().isEmpty()) return tr("Say what to look for.");
  if (where == FindIn::bytes && !bytes_of(what))
    return tr("%1 are no bytes: write two hex digits for each, as 12 b7.").arg(what);
  if (where != FindIn::filter) return {};
  const auto compiled = dissect::Filter::compile(what.toStdString());
  const auto* const wrong = std::get_if<dissect::FilterError>(&compiled);
  return wrong ? tr("At character %1: %2").arg(wrong->column).arg(QString::fromStdString(wrong->message)) : QString();
}

FindRun::FindRun(const CaptureFile& file, FindTask task, QObject* parent)
    : QObject(parent), file_(file), task_(std::move(task)), packet_(std::make_unique<dissect::Packet>()) {
  if (task_.where == FindIn::filter) {
    auto compiled = dissect::Filter::compile(task_.what.toStdString());
    if (auto* const filter = std::get_if<dissect::Filter>(&compiled)) filter_ = std::move(*filter);
  }
  if (task_.where == FindIn::bytes) bytes_ = bytes_of(task_.what).value_or(QByteArray());
}

FindRun::~FindRun() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void FindRun::start() {
  thread_ = std::thread([this] { run(); });
}

double FindRun::progress() const {
  const int all = task_.backwards ? task_.from : task_.rows - task_.from - 1;
  return all > 0 ? std::min(1.0, static_cast<double>(looked_at_) / all) : 1;
}

FindRun::Fits FindRun::make_fits() {
  switch (task_.where) {
    case FindIn::filter:
      return [this](std::size_t frame) {
        if (filter_.uses_annotations())
          file_.load(frame, *packet_, annotations_);
        else
          file_.load(frame, *packet_);
        return filter_.matches(*packet_);
      };
    case FindIn::bytes:
      return [this, searcher = std::boyer_moore_horspool_searcher(bytes_.begin(), bytes_.end())](std::size_t frame) {
        const IndexedFrame& f = file_.index()[frame];
        const auto* const begin = reinterpret_cast<const char*>(f.bytes());
        return std::search(begin, begin + f.captured, searcher) != begin + f.captured;
      };
    case FindIn::connection:
      return [this](std::size_t frame) {
        const std::shared_ptr<const Followed> followed = file_.followed();
        return followed && connection_text(followed->annotations.of(frame + 1)) == task_.what;
      };
    case FindIn::text:
      break;
  }
  return [this](std::size_t frame) {
    task_.form.make(file_, frame, *packet_, annotations_, texts_);
    packet_->drop_annotations();
    for (std::size_t i = 0; i < texts_.size(); ++i)
      if ((i >= task_.shown.size() || task_.shown[i]) && texts_[i].contains(task_.what, Qt::CaseInsensitive))
        return true;
    return false;
  };
}

void FindRun::run() {
  // What only following the connections tells is waited for.
  while (filter_.uses_annotations() && !stop_ && !file_.followed() && (file_.reading() || file_.following()))
    std::this_thread::sleep_for(while_waiting);
  const Fits fits = make_fits();
  const int by = task_.backwards ? -1 : 1;
  auto last = std::chrono::steady_clock::now();
  int found = -1;
  for (int row = task_.from + by; row >= 0 && row < task_.rows && !stop_; row += by) {
    const std::size_t frame =
        task_.frames ? (*task_.frames)[static_cast<std::size_t>(row)] : static_cast<std::size_t>(row);
    if (fits(frame)) {
      found = row;
      break;
    }
    if (++looked_at_ % batch != 0) continue;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < between_signals) continue;
    last = now;
    emit progressed();
  }
  if (!stop_) emit done(found);
}

}  // namespace rdmascope::gui
