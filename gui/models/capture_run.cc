#include "gui/models/capture_run.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QLocale>

#include "gui/models/tool.h"

namespace rdmascope::gui {
namespace {

constexpr int most_notes = 1000;

}  // namespace

QString as_text(const CaptureStatus& status) {
  const QLocale locale;
  QStringList parts{QObject::tr("%1 packets").arg(locale.toString(status.packets)),
                    QObject::tr("%1/s").arg(locale.toString(static_cast<qulonglong>(status.rate)))};
  if (status.rdma_share) parts << QObject::tr("about %1 % RDMA").arg(*status.rdma_share * 100, 0, 'f', 0);
  if (status.filtered > 0) parts << QObject::tr("%1 filtered out").arg(locale.toString(status.filtered));
  parts << (status.lost ? QObject::tr("%1 lost").arg(locale.toString(*status.lost)) : QObject::tr("loss unknown"));
  parts << QObject::tr("%1 s").arg(status.seconds, 0, 'f', 0);
  if (status.files > 1) parts << QObject::tr("file %1: %2").arg(status.files).arg(QFileInfo(status.file).fileName());
  return parts.join(", ");
}

CaptureRun::CaptureRun(QStringList arguments, QObject* parent) : QObject(parent), arguments_(std::move(arguments)) {
  connect(&process_, &QProcess::readyReadStandardError, this, &CaptureRun::read);
  connect(&process_, &QProcess::finished, this,
          [this](int status, QProcess::ExitStatus how) { end(how == QProcess::NormalExit ? status : -1); });
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    running_ = false;
    emit ended(tr("cannot start %1: %2").arg(process_.program(), process_.errorString()));
  });
  process_.setStandardOutputFile(QProcess::nullDevice());
  process_.setStandardInputFile(QProcess::nullDevice());
}

CaptureRun::~CaptureRun() {
  process_.disconnect(this);
  end_process(process_);
}

void CaptureRun::start() {
  const QString tool = tool_path();
  if (tool.isEmpty()) return emit ended(no_tool());
  running_ = true;
  process_.start(tool, arguments_ + QStringList{"--status", "json"}, QIODevice::ReadOnly);
}

void CaptureRun::stop() {
  if (process_.state() != QProcess::NotRunning) process_.terminate();
}

void CaptureRun::stop_and_wait() { end_process(process_); }

void CaptureRun::read() {
  rest_ += process_.readAllStandardError();
  for (const QByteArray& line : whole_lines(rest_)) take_line(line);
}

void CaptureRun::take_line(const QByteArray& line) {
  if (line.startsWith('{')) {
    const QJsonDocument said = QJsonDocument::fromJson(line);
    if (said.isObject()) return take_status(said.object());
  }
  if (line.trimmed().isEmpty()) return;
  notes_ << without_name(QString::fromUtf8(line));
  if (notes_.size() > most_notes) notes_.removeFirst();
  emit noted(notes_.last());
}

void CaptureRun::take_status(const QJsonObject& said) {
  const CaptureStatus before = status_;
  const auto number = [&](const char* key) { return static_cast<quint64>(said[key].toDouble()); };
  CaptureStatus& now = status_;
  now.seconds = said["seconds"].toDouble();
  now.packets = number("packets");
  now.bytes = number("bytes");
  now.filtered = number("filtered");
  now.written = number("written");
  now.files = number("files");
  now.file = said["file"].toString();
  now.lost.reset();
  if (said.contains("lost")) now.lost = number("lost");
  now.rdma_share.reset();
  if (said.contains("rdma_share")) now.rdma_share = said["rdma_share"].toDouble();
  const double seconds = now.seconds - before.seconds;
  if (seconds > 0.1) now.rate = static_cast<double>(now.packets - before.packets) / seconds;
  // Of the whole capture.
  if (said["event"] == "ended" && now.seconds > 0) now.rate = static_cast<double>(now.packets) / now.seconds;
  if (!now.file.isEmpty() && now.file != before.file) emit fileBegun(now.file);
  emit statusChanged();
}

void CaptureRun::end(int status) {
  read();
  if (!rest_.isEmpty()) take_line(std::exchange(rest_, {}));
  running_ = false;
  if (status == 0) return emit ended({});
  emit ended(!notes_.isEmpty() ? notes_.last() : tr("The capture ended without a word, with status %1").arg(status));
}

}  // namespace rdmascope::gui
