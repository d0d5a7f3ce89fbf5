// The whole window: open, filter, click from findings and connections to packets, errors in words; and pictures of it.
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include "capture/mapping_guard.h"
#include "gui/capture_tab.h"
#include "gui/completions_view.h"
#include "gui/connections_view.h"
#include "gui/findings_view.h"
#include "gui/main_window.h"
#include "gui/models/capture_file.h"
#include "gui/packets_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

namespace {

// Until it is read and followed, and the views know.
void wait_for(CaptureTab& tab) {
  QTRY_VERIFY_WITH_TIMEOUT(tab.file().followed(), 60000);
  QTRY_COMPARE(tab.packets().model().rowCount(), static_cast<int>(tab.file().index().size()));
}

}  // namespace

class WindowTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { begin_with_own_settings("window"); }

  void opensAndTellsTheVerdict() {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    CaptureTab* const tab = window.open(loss);
    wait_for(*tab);
    QTRY_VERIFY(tab->verdict().startsWith("No violation"));
    QVERIFY(tab->packets().model().rowCount() > 30);
    QTRY_VERIFY(tab->packets().current() == 1);
    QTRY_VERIFY(tab->status().contains("packets") && !tab->status().contains("following"));
    QCoreApplication::processEvents();
    shoot(window, "window");
    // The next test finds it under the recent ones.
    QCOMPARE(QSettings().value("open/recent").toStringList().value(0), QFileInfo(loss).absoluteFilePath());
  }

  void filterIsAppliedByReturn() {
    MainWindow window;
    window.show();
    CaptureTab* const tab = window.open(loss);
    wait_for(*tab);
    const int all = tab->packets().model().rowCount();
    QTest::keyClicks(tab->packets().filter_bar().edit(), "infiniband.bth.opcode == 12");
    QTest::keyClick(tab->packets().filter_bar().edit(), Qt::Key_Escape);
    QTest::keyClick(tab->packets().filter_bar().edit(), Qt::Key_Return);
    QTRY_VERIFY(!tab->packets().model().is_filtering() && tab->packets().model().rowCount() > 0);
    QVERIFY(tab->packets().model().rowCount() < all);
    // What passes stays chosen, else the first is.
    const quint64 some = tab->packets().model().frame_of(2) + 1;
    QVERIFY(tab->packets().go_to(some));
    tab->packets().set_filter({});
    QTRY_COMPARE(tab->packets().current(), some);
    tab->packets().set_filter("infiniband.bth.opcode == 12");
    QTRY_COMPARE(tab->packets().current(), some);
    tab->packets().set_filter("frame.number < 3");
    QTRY_COMPARE(tab->packets().current(), quint64(1));
    tab->packets().set_filter("infiniband.bth.opcode == 12");
    QTRY_VERIFY(!tab->packets().model().is_filtering());
    QTRY_VERIFY(tab->status().contains("shown"));
  }

  void findingLeadsToTheField() {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    CaptureTab* const tab = window.open(corrupt);
    wait_for(*tab);
    const FoundRow* found = nullptr;
    for (const FoundRow& f : tab->file().followed()->findings)
      if (!found && f.frame != 0 && f.field == "infiniband.invariant.crc") found = &f;
    QVERIFY(found);
    // Behind a filter that hides it.
    tab->packets().set_filter("frame.number == 1");
    emit tab->findings().packetChosen(
        found->frame, QString::fromUtf8(found->field.data(), static_cast<qsizetype>(found->field.size())));
    QTRY_COMPARE(tab->packets().current(), quint64(found->frame));
    QVERIFY(tab->packets().tree_view().currentIndex().data().toString().contains("CRC"));
    QVERIFY(tab->packets().hex().chosen().count == 32);
    shoot(window, "bad-crc");
    tab->views().setCurrentIndex(2);
    shoot(window, "findings");
  }

  void completionsHaveATabWhenThereAreAny() {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    CaptureTab* const without = window.open(loss);
    wait_for(*without);
    CaptureTab* const with = window.open(SOURCE_DIR "/tests/golden/captures/cqe-clean.pcapng");
    wait_for(*with);
    const auto has_tab = [](CaptureTab& tab) {
      return tab.views().isTabVisible(tab.views().indexOf(&tab.completions()));
    };
    QTRY_VERIFY(has_tab(*with));
    QVERIFY(!has_tab(*without));
    QVERIFY(with->packets().go_to(68));
    with->views().setCurrentWidget(&with->completions());
    QTableView& table = with->completions().table();
    QCOMPARE(with->completions().model().at(table.currentIndex().row()).frame, 69u);
    shoot(window, "window-completions");
    emit table.activated(table.currentIndex().siblingAtColumn(CompletionModel::status));
    QCOMPARE(with->packets().current(), quint64(69));
    QCOMPARE(with->views().currentWidget(), static_cast<QWidget*>(&with->packets()));
    // The ladder has the entry, too.
    QCOMPARE(with->connections().chosen(), 1u);
  }

  void severalFilesAndErrorsInWords() {
    MainWindow window;
    window.show();
    CaptureTab* const bad = window.open("/no/such/capture.pcap");
    QTRY_VERIFY_WITH_TIMEOUT(bad->error().contains("/no/such/capture.pcap"), 10000);
    CaptureTab* const good = window.open(loss);
    wait_for(*good);
    QCOMPARE(window.count(), 2);
    QVERIFY(good->error().isEmpty());
    // Text that is no capture at all.
    CaptureTab* const text = window.open(SOURCE_DIR "/README.md");
    QTRY_VERIFY_WITH_TIMEOUT(!text->error().isEmpty(), 10000);
    shoot(window, "error");
  }

  void aFileThatGoesOrIsCutIsNoEndOfTheProgram() {
    rdmascope::capture::guard_mappings();
    const QTemporaryDir folder;
    const std::unique_ptr<CaptureFile> sample = open(loss);
    QVERIFY(sample);
    std::vector<std::size_t> rows(sample->index().size() * 100);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i % sample->index().size();
    const QString gone = folder.filePath("gone.pcap"), cut = folder.filePath("cut.pcap");
    for (const QString& path : {gone, cut}) QCOMPARE(sample->write(path.toStdString(), true, rows), QString());
    MainWindow window;
    window.show();
    CaptureTab* const first = window.open(gone);
    CaptureTab* const second = window.open(cut);
    wait_for(*first);
    wait_for(*second);
    QVERIFY(QFile::remove(gone));
    QVERIFY(QFile::resize(cut, 4096));
    QVERIFY(first->packets().go_to(rows.size()));
    QVERIFY(second->packets().go_to(rows.size()));
    QTRY_VERIFY(second->error().contains("was made shorter"));
    QVERIFY(first->error().isEmpty());
  }

  void saysWhatWasBrokenOff() {
    CaptureTab tab;
    tab.open(loss);
    tab.file().cancel();
    QTRY_VERIFY(!tab.file().reading() && !tab.file().following());
    if (tab.file().followed()) QSKIP("it was done before it could be stopped");
    const auto says_so = [&tab] {
      for (const QLabel* label : tab.findings().findChildren<QLabel*>())
        if (label->text().startsWith("Stopped")) return true;
      return tab.file().index().size() == 0;
    };
    QTRY_VERIFY(says_so());
  }

  void closesWhileItReads() {
    for (int i = 0; i < 5; ++i) {
      MainWindow window;
      window.show();
      window.open(loss);
      QTest::qWait(i * 3);
    }
  }

  void isReadableInTheDark() {
    const QPalette before = QApplication::palette();
    QApplication::setPalette(dark());
    {
      MainWindow window;
      window.resize(1280, 800);
      window.show();
      CaptureTab* const tab = window.open(corrupt);
      wait_for(*tab);
      QTRY_VERIFY(tab->packets().go_to(6, "infiniband.bth.opcode"));
      shoot(window, "window-dark");
      tab->views().setCurrentIndex(1);
      shoot(window, "connections-dark");
    }
    QApplication::setPalette(before);
  }
};

QTEST_MAIN(WindowTest)
#include "window_test.moc"
