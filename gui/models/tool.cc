#include "gui/models/tool.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QObject>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>

namespace rdmascope::gui {

QString tool_path() {
  if (const QString said = qEnvironmentVariable("RDMASCOPE_TOOL"); !said.isEmpty()) return said;
  const QString here = QCoreApplication::applicationDirPath();
  for (const QString& path : {here + "/rdmascope", here + "/../cli/rdmascope"})
    if (QFileInfo(path).isExecutable() && QFileInfo(path).isFile()) return QFileInfo(path).canonicalFilePath();
  return QStandardPaths::findExecutable("rdmascope");
}

QString no_tool() {
  return QObject::tr(
      "The program rdmascope, which captures and tests, is neither beside this one nor on the PATH; "
      "install it, or set RDMASCOPE_TOOL to where it is");
}

QString as_typed(const QStringList& arguments) {
  static const QRegularExpression plain("^[A-Za-z0-9_@%+=:,./-]+$");
  QStringList words{"rdmascope"};
  for (QString word : arguments) {
    if (!plain.match(word).hasMatch()) word = "'" + word.replace("'", "'\\''") + "'";
    words << word;
  }
  return words.join(' ');
}

void end_process(QProcess& process) {
  constexpr int patience_ms = 3000;
  if (process.state() == QProcess::NotRunning) return;
  process.terminate();
  if (!process.waitForFinished(patience_ms)) process.kill();
  process.waitForFinished(patience_ms);
}

QList<QByteArray> whole_lines(QByteArray& read) {
  const qsizetype end = read.lastIndexOf('\n');
  if (end < 0) return {};
  const QList<QByteArray> out = read.left(end).split('\n');
  read.remove(0, end + 1);
  return out;
}

QString without_name(const QString& line) {
  const QString name = "rdmascope: ";
  return line.startsWith(name) ? line.mid(name.size()) : line;
}

}  // namespace rdmascope::gui
