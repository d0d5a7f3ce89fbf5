#include "gui/models/tool.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QObject>
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

QString without_name(const QString& line) {
  const QString name = "rdmascope: ";
  return line.startsWith(name) ? line.mid(name.size()) : line;
}

}  // namespace rdmascope::gui
