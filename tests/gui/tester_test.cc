// The tester in the window: a run that passes, a mutant that fails, reports, the recording, a script that is edited.
#include <QAbstractItemView>
#include <QComboBox>
#include <QCompleter>
#include <QFile>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>

#include <QAbstractItemModelTester>

#include "gui/capture_tab.h"
#include "gui/conversation_view.h"
#include "gui/main_window.h"
#include "gui/models/capture_file.h"
#include "gui/script_editor.h"
#include "gui/tester_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

namespace {

constexpr int patience_ms = 60000;

void wait_for(TesterView& view) { QTRY_VERIFY_WITH_TIMEOUT(!view.is_running(), patience_ms); }

}  // namespace

class TesterTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { begin_with_own_settings("tester"); }

  void listsTheSuite() {
    TesterView view;
    const QStandardItemModel& tree = view.tree();
    QStringList areas;
    for (int i = 0; i < tree.rowCount(); ++i) areas << tree.item(i)->text();
    QCOMPARE(areas, QStringList({"cdi", "mad", "transport"}));
    for (int i = 0; i < tree.rowCount(); ++i) QVERIFY(tree.item(i)->rowCount() > 10);
  }

  void aCorrectDevicePasses() {
    TesterView view;
    ConversationModel& model = view.conversation().conversation();
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    view.run({"C09-060-05"});
    QVERIFY(view.is_running());
    wait_for(view);
    QVERIFY2(view.headline().contains("passed"), qPrintable(view.headline()));
    QVERIFY(model.rowCount() > 3);
    QCOMPARE(model.first_bad(), -1);
    QVERIFY(view.last_run()->summary().contains("passed"));
  }

  void aMutantFailsWhereItShould() {
    MainWindow window;
    window.resize(1400, 900);
    window.show();
    TesterView* const view = window.show_tester();
    QCOMPARE(window.show_tester(), view);
    BenchChoice bench;
    bench.dut = "model:mutant=complete-early";
    view->set_bench(bench);
    view->select("C09-060-05");
    view->run_selected();
    wait_for(*view);
    QVERIFY2(view->headline().contains("failed"), qPrintable(view->headline()));
    QVERIFY(!view->message().isEmpty());
    ConversationModel& model = view->conversation().conversation();
    QVERIFY(model.rowCount() > 0);
    // The script is open where it failed.
    QVERIFY(view->editor().path().endsWith(".lua"));
    QVERIFY(view->editor().marked() > 0);
    QCOMPARE(view->editor().marked(), line_in(view->message()));
    QTest::qWait(50);
    shoot(window, "tester");
    view->pages().setCurrentIndex(1);
    shoot(window, "tester-script");

    // What is shown is what the tool's report says.
    const QTemporaryDir folder;
    QCOMPARE(view->save_report(folder.filePath("r.xml")), QString());
    QFile report(folder.filePath("r.xml"));
    QVERIFY(report.open(QIODevice::ReadOnly));
    QVERIFY(report.readAll().contains("<failure type=\"failed\""));
    QVERIFY(!view->save_report(folder.filePath("r.doc")).isEmpty());

    // The recording is a capture in a tab of its own.
    emit view->recordingWanted(view->last_run()->recording());
    CaptureTab* const tab = window.current();
    QVERIFY(tab);
    QTRY_VERIFY_WITH_TIMEOUT(tab->file().followed(), patience_ms);
    QVERIFY(tab->file().index().size() > 0);
  }

  void isReadableInTheDark() {
    const QPalette before = QApplication::palette();
    QApplication::setPalette(dark());
    {
      MainWindow window;
      window.resize(1400, 900);
      window.show();
      TesterView* const view = window.show_tester();
      BenchChoice bench;
      bench.dut = "model:mutant=complete-early";
      view->set_bench(bench);
      view->run({"C09-060-05"});
      wait_for(*view);
      QTest::qWait(50);
      shoot(window, "tester-dark");
      view->pages().setCurrentIndex(1);
      shoot(window, "tester-script-dark");
    }
    QApplication::setPalette(before);
  }

  void aMutantIsChosenByItsName() {
    TesterView view;
    auto* const mutants = view.findChild<QComboBox*>("mutants");
    QVERIFY(mutants && mutants->count() > 200);
    mutants->setCurrentIndex(mutants->findData("complete-early"));
    QCOMPARE(view.bench().dut, QString("model:mutant=complete-early"));
    mutants->setCurrentIndex(0);
    QCOMPARE(view.bench().dut, QString("model"));
  }

  void stopsAndSaysWhatIsWrong() {
    TesterView view;
    view.run({"transport"});
    QTRY_VERIFY_WITH_TIMEOUT(view.last_run()->cases().size() > 2, patience_ms);
    view.stop();
    wait_for(view);
    BenchChoice bench;
    bench.dut = "nothing";
    view.set_bench(bench);
    view.run({"C09-060-05"});
    wait_for(view);
    QVERIFY2(view.headline().contains("--dut nothing: no such device"), qPrintable(view.headline()));
  }

  void partsHaveVerdictsOfTheirOwn() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("parts.lua");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "test{id='P-1', title='parts', covers={'X'}}\nsub('good', function() print('well') end)\n"
        "sub('bad', function() fail('on purpose') end)\n");
    file.close();
    TesterView view;
    view.open_script(path);
    view.run({path});
    wait_for(view);
    const TestRun& run = *view.last_run();
    QCOMPARE(run.cases().size(), std::size_t(3));
    QCOMPARE(run.cases()[0].verdict, in_parts);
    QCOMPARE(run.cases()[1].id, QString("P-1/good"));
    QCOMPARE(run.cases()[1].verdict, QString("passed"));
    QCOMPARE(run.cases()[2].verdict, QString("failed"));
    QVERIFY(view.message().contains("on purpose"));
    QCOMPARE(line_in(view.message()), 3);
  }

  void editorFindsWhatIsWrongAsOneTypes() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("x.lua");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("test{id='E-1', title='x', covers={'X'}}\n-- more\n");
    file.close();
    ScriptEditor editor;
    editor.resize(700, 400);
    QCOMPARE(editor.open(path), QString());
    QCOMPARE(editor.problem(), QString());
    editor.moveCursor(QTextCursor::End);
    editor.insertPlainText("if true the\n");
    QTRY_VERIFY(!editor.problem().isEmpty());
    QCOMPARE(editor.marked(), 3);
    QVERIFY(editor.is_changed());
    shoot(editor, "editor");
    editor.setPlainText("test{id='E-1', titel='x', covers={'X'}}\n");
    QTRY_VERIFY(editor.problem().contains("titel"));
    // A script that computes for ever is not waited for.
    editor.setPlainText("while true do end\n");
    QTRY_VERIFY(!editor.problem().isEmpty() && !editor.problem().contains("titel"));
    QVERIFY(!editor.open("/no/such.lua").isEmpty());
  }

  void editorCompletesTheWordsOfScripts() {
    ScriptEditor editor;
    editor.resize(700, 400);
    editor.show();
    editor.setFocus();
    QAbstractItemView* const offered = editor.findChild<QCompleter*>()->popup();
    QTest::keyClicks(&editor, "rc.dut:po");
    QVERIFY(!offered->isVisible());  // too short to be asked at each word
    QTest::keyClicks(&editor, "s");
    QTRY_VERIFY(offered->isVisible());
    QTest::keyClicks(&editor, "t_re");
    QCOMPARE(editor.findChild<QCompleter*>()->completionCount(), 2);  // post_read and post_receive
    QCoreApplication::processEvents();
    QVERIFY(offered->grab().save(BUILD_DIR "/tests/gui/editor-words.png"));
    QTest::keyClick(offered, Qt::Key_Return);
    QCOMPARE(editor.toPlainText(), QString("rc.dut:post_read"));
    QVERIFY(!offered->isVisible());
    // A word that is whole needs no list; another line is begun as ever.
    QTest::keyClick(&editor, Qt::Key_Return);
    QTest::keyClicks(&editor, "local");
    QVERIFY(!offered->isVisible());
    QTest::keyClick(&editor, Qt::Key_Return);
    QTest::keyClicks(&editor, "q9");
    QTest::keyClick(&editor, Qt::Key_Space, Qt::ControlModifier);
    QVERIFY(!offered->isVisible());  // there is none
    QTest::keyClick(&editor, Qt::Key_Backspace);
    QTest::keyClick(&editor, Qt::Key_Backspace);
    QTest::keyClick(&editor, Qt::Key_Space, Qt::ControlModifier);
    QTRY_VERIFY(offered->isVisible());  // all
    QTest::keyClick(offered, Qt::Key_Escape);
    QVERIFY(!offered->isVisible());
    QCOMPARE(editor.toPlainText(), QString("rc.dut:post_read\nlocal\n"));
  }
};

QTEST_MAIN(TesterTest)
#include "tester_test.moc"
