// What the tests of views share: captures that are opened and followed, the command line, and pictures of widgets.
#pragma once

#include <QPalette>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QWidget>

#include <memory>

#include "gui/models/capture_file.h"

namespace rdmascope::gui {

inline const QString loss = SOURCE_DIR "/samples/loss-read.pcap.zst",
                     corrupt = SOURCE_DIR "/samples/corrupt-write.pcap.zst",
                     cdi = SOURCE_DIR "/tests/golden/captures/cdi-exchange.pcapng";

// Settings of a test's own, empty, and the tool of this build.
inline void begin_with_own_settings(const QString& name) {
  qputenv("RDMASCOPE_TOOL", BUILD_DIR "/cli/rdmascope");
  QStandardPaths::setTestModeEnabled(true);
  QCoreApplication::setOrganizationName("rdmascope-test");
  QCoreApplication::setApplicationName("rdmascope-test-" + name);
  QSettings().clear();
}

// nullptr: it could not be followed. The signal comes from another thread, and may come before anybody waits for it.
inline std::unique_ptr<CaptureFile> open(const QString& path) {
  auto file = std::make_unique<CaptureFile>(path);
  bool done = false;
  QObject here;
  QObject::connect(file.get(), &CaptureFile::followed_up, &here, [&done] { done = true; });
  file->start();
  return QTest::qWaitFor([&done] { return done; }, 60'000) ? std::move(file) : nullptr;
}

// What the command line prints.
inline QString tool(const QStringList& arguments) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("TZ", "UTC");
  environment.insert("LC_ALL", "C.UTF-8");
  process.setProcessEnvironment(environment);
  process.start(BUILD_DIR "/cli/rdmascope", arguments);
  process.waitForFinished(60'000);
  return QString::fromUtf8(process.readAllStandardOutput());
}

inline QPalette dark() {
  QPalette p(QColor(0x33, 0x36, 0x3b));
  p.setColor(QPalette::Base, QColor(0x1e, 0x1f, 0x22));
  p.setColor(QPalette::AlternateBase, QColor(0x2b, 0x2d, 0x31));
  p.setColor(QPalette::Text, QColor(0xdf, 0xe1, 0xe5));
  p.setColor(QPalette::WindowText, QColor(0xdf, 0xe1, 0xe5));
  p.setColor(QPalette::Highlight, QColor(0x2e, 0x6f, 0xd0));
  return p;
}

// To look at.
inline void shoot(QWidget& widget, const QString& name) {
  QCoreApplication::processEvents();  // lays it out
  QVERIFY(widget.grab().save(QString(BUILD_DIR "/tests/gui/%1.png").arg(name)));
}

}  // namespace rdmascope::gui
