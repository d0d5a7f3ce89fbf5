// Live capture in the window: loopback, while packets are sent. Needs the right to capture; says so where it is
// missing.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QLineEdit>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>

#include "gui/capture_bar.h"
#include "gui/capture_dialog.h"
#include "gui/capture_tab.h"
#include "gui/main_window.h"
#include "gui/models/capture_file.h"
#include "gui/models/capture_run.h"
#include "gui/packets_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

namespace {

constexpr std::uint16_t port = 4791;
// A CNP, as a peer of its own could send it: only that there is something to show matters here.
constexpr std::uint8_t cnp[32] = {0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x00, 0x11};

class Sender {
 public:
  Sender() : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {}
  ~Sender() { ::close(socket_); }
  void send(int count) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; ++i)
      static_cast<void>(::sendto(socket_, cnp, sizeof cnp, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to));
  }

 private:
  int socket_;
};

CaptureChoice on_loopback() {
  CaptureChoice out;
  out.interfaces << "lo";
  out.filter = QString("udp dst port %1").arg(port);
  return out;
}

}  // namespace

class LiveTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { begin_with_own_settings("live"); }

  void choiceIsTheCommandLine() {
    CaptureChoice choice = on_loopback();
    QCOMPARE(choice.arguments("x.pcapng"),
             QStringList({"capture", "-i", "lo", "-w", "x.pcapng", "-f", "udp dst port 4791"}));
    choice.promiscuous = false;
    choice.next_after_mb = 5;
    choice.keep_files = 3;
    choice.stop_after_packets = 10;
    choice.save();
    QCOMPARE(CaptureChoice::saved().arguments("x"), choice.arguments("x"));
    QVERIFY(choice.arguments("x").join(' ').endsWith("-p -a packets:10 -b filesize:5000 -b files:3"));
  }

  void dialogShowsWhatItWillDo() {
    CaptureDialog dialog(on_loopback());
    dialog.show();
    QVERIFY(dialog.interfaces().rowCount() > 0);
    QVERIFY(dialog.command().startsWith("rdmascope capture -i lo "));
    QCOMPARE(dialog.choice().interfaces, QStringList("lo"));
    dialog.filter().setText("udp dst port");
    QTRY_VERIFY(dialog.filter_error().contains("syntax error"));
    dialog.filter().setText("udp");
    QTRY_VERIFY(dialog.filter_error().isEmpty());
    QTest::qWait(50);
    shoot(dialog, "capture-dialog");
    dialog.interfaces().clearSelection();
    QCOMPARE(dialog.command(), QString("Choose where to capture"));
  }

  void noSuchInterfaceIsSaidInTheWindow() {
    MainWindow window;
    CaptureChoice choice = on_loopback();
    choice.interfaces = QStringList("nosuch0");
    CaptureTab* const tab = window.capture(choice);
    QTRY_VERIFY_WITH_TIMEOUT(tab->error().contains("nosuch0"), 20000);
    QVERIFY(!tab->is_capturing() && !tab->is_unsaved());
  }

  void showsPacketsAsTheyCome() {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    CaptureTab* const tab = window.capture(on_loopback());
    Sender sender;
    QTRY_VERIFY_WITH_TIMEOUT(!tab->error().isEmpty() || (sender.send(10), tab->packets().model().rowCount() > 0),
                             20000);
    if (tab->error().contains("permi")) QSKIP("no right to capture on lo here");
    QCOMPARE(tab->error(), QString());
    QVERIFY(tab->is_capturing() && tab->is_unsaved());
    // The list shows the newest, and findings come while it goes on.
    const int before = tab->packets().model().rowCount();
    sender.send(500);
    QTRY_VERIFY_WITH_TIMEOUT(tab->packets().model().rowCount() >= before + 500, 20000);
    const auto newest_is_visible = [&] {
      return tab->packets().list().rowAt(tab->packets().list().viewport()->height() - 1) < 0 ||
             tab->packets().list().rowAt(tab->packets().list().viewport()->height() - 5) >=
                 tab->packets().model().rowCount() - 2;
    };
    QTRY_VERIFY(newest_is_visible());
    QTRY_VERIFY_WITH_TIMEOUT(tab->verdict().contains("so far"), 20000);
    QTRY_VERIFY(tab->bar().text().contains("lost"));
    shoot(window, "capture");
    // A filter while it goes on.
    tab->packets().set_filter("infiniband.bth.opcode == 0x81");
    sender.send(50);
    QTRY_VERIFY(tab->packets().model().rowCount() >= before + 550);
    tab->packets().set_filter("frame.number < 3");
    QTRY_COMPARE(tab->packets().model().rowCount(), 2);
    // What following tells, which at first is known of some packets only.
    tab->packets().set_filter("rdmascope.finding.rule == \"F-01\"");
    sender.send(50);

    tab->stop_capture();
    QTRY_VERIFY_WITH_TIMEOUT(!tab->is_capturing(), 20000);
    QTRY_VERIFY_WITH_TIMEOUT(!tab->file().reading() && !tab->file().following(), 20000);
    QTRY_VERIFY(!tab->verdict().contains("so far") && !tab->verdict().isEmpty());
    QTRY_COMPARE(quint64(tab->packets().model().rowCount()), quint64(tab->file().index().size()));
    tab->packets().set_filter({});
    // Everything that was counted is shown.
    QTRY_COMPARE(quint64(tab->packets().model().rowCount()), quint64(tab->file().index().size()));
    const QTemporaryDir folder;
    QSignalSpy saved(tab, &CaptureTab::savedAs);
    QCOMPARE(tab->save_as(folder.filePath("saved.pcapng")), QString());
    QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, 20000);
    QVERIFY(!tab->is_unsaved());
    const std::unique_ptr<CaptureFile> again = open(folder.filePath("saved.pcapng"));
    QVERIFY(again);
    QCOMPARE(again->index().size(), tab->file().index().size());
    QVERIFY(tab->save_as("/no/such/folder/x.pcapng").isEmpty());
    QTRY_VERIFY(tab->error().contains("/no/such/folder/x.pcapng"));
  }

  void ringGoesOnToTheNextFile() {
    const QTemporaryDir folder;
    CaptureTab tab;
    CaptureChoice choice = on_loopback();
    choice.file = folder.filePath("ring.pcapng");
    choice.next_after_packets = 100;
    choice.keep_files = 2;
    choice.stop_after_packets = 450;
    QStringList begun;
    tab.capture(choice);
    connect(&tab, &CaptureTab::titleChanged, this, [&] {
      if (tab.has_file() && !begun.contains(tab.file().path())) begun << tab.file().path();
    });
    Sender sender;
    QTRY_VERIFY_WITH_TIMEOUT(!tab.error().isEmpty() || (sender.send(20), !tab.is_capturing()), 30000);
    if (tab.error().contains("permi")) QSKIP("no right to capture on lo here");
    QCOMPARE(tab.error(), QString());
    QVERIFY(begun.size() >= 2);
    QVERIFY(!tab.is_unsaved());
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 2);
    // The last one is shown: 50 packets.
    QTRY_COMPARE(tab.file().index().size(), std::size_t(50));
  }

  void closesWhileItCaptures() {
    for (int i = 0; i < 3; ++i) {
      CaptureTab tab;
      tab.capture(on_loopback());
      QTest::qWait(i * 40);
    }
  }
};

QTEST_MAIN(LiveTest)
#include "live_test.moc"
