// rdmascope-gui [FILE...] [-Y FILTER] [--goto N]
#include <QApplication>
#include <QCommandLineParser>
#include <QStyleHints>

#include "capture/mapping_guard.h"
#include "gui/capture_tab.h"
#include "gui/main_window.h"
#include "gui/models/capture_file.h"
#include "gui/packets_view.h"

int main(int argc, char** argv) {
  rdmascope::capture::guard_mappings();
  QApplication app(argc, argv);
  QApplication::setApplicationName("rdmascope");
  QApplication::setOrganizationName("rdmascope");
  QApplication::setApplicationVersion(RDMASCOPE_VERSION);
  QCommandLineParser parser;
  parser.setApplicationDescription("Look at RDMA captures: packets, connections, what breaks the specification.");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("FILE", "capture files to open", "[FILE...]");
  const QCommandLineOption filter({"Y", "display-filter"}, "show only packets that match", "FILTER");
  const QCommandLineOption frame("goto", "go to this packet", "N");
  parser.addOptions({filter, frame});
  parser.process(app);
  rdmascope::gui::MainWindow window;
  for (const QString& path : parser.positionalArguments()) {
    rdmascope::gui::CaptureTab* const tab = window.open(path);
    if (parser.isSet(filter)) tab->packets().set_filter(parser.value(filter));
    if (parser.isSet(frame)) {
      // As soon as it is there.
      const quint64 wanted = parser.value(frame).toULongLong();
      QObject::connect(&tab->packets(), &rdmascope::gui::PacketsView::countChanged, tab,
                       [tab, wanted, done = false]() mutable {
                         if (!done && tab->file().index().size() >= wanted) done = tab->packets().go_to(wanted);
                       });
    }
  }
  window.show();
  return QApplication::exec();
}
