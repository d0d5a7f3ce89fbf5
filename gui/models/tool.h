// The command line tool, which captures and tests for the desktop: a program of its own, so that it alone needs the
// rights to open interfaces, and goes on when a window hangs.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>

class QProcess;

namespace rdmascope::gui {

// Beside this program as installed, where the build puts it, or on the PATH. RDMASCOPE_TOOL says otherwise. Empty:
// there is none.
QString tool_path();
QString no_tool();  // what to say then

// "rdmascope capture -i lo 'udp port 4791'", for people to paste into a shell.
QString as_typed(const QStringList& arguments);

// Asks it to end, which completes its files, and waits; kills it when it does not.
void end_process(QProcess& process);
// Takes the whole lines out of what was read, without their ends.
QList<QByteArray> whole_lines(QByteArray& read);

// What the tool says on standard error, without its name in front: "rdmascope: sentence".
QString without_name(const QString& line);

}  // namespace rdmascope::gui
