// Completion queue entries: the table says what `read` says of them, and leads to the entry and to what caused it.
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QLabel>
#include <QMenu>
#include <QStackedWidget>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>

#include "dissect/filter.h"
#include "gui/completions_view.h"
#include "gui/models/words.h"
#include "tests/gui/opened.h"

using namespace rdmascope;
using namespace rdmascope::gui;

namespace {

const QString entries = SOURCE_DIR "/tests/golden/captures/cqe-clean.pcapng",
              faulty = SOURCE_DIR "/tests/golden/captures/cqe-lies.pcapng",
              vectors = SOURCE_DIR "/tests/golden/captures/cqe-vectors.pcapng";

QString shown(const CompletionModel& model, int row, int column) { return model.index(row, column).data().toString(); }

int menu_action(QWidget& view, const QString& part) {
  const QList<QMenu*> menus = view.findChildren<QMenu*>();
  for (int i = 0; i < menus.last()->actions().size(); ++i)
    if (menus.last()->actions()[i]->text().contains(part)) return i;
  return -1;
}

}  // namespace

class CompletionsTest : public QObject {
  Q_OBJECT

 private slots:
  void table_is_what_the_tool_prints() {
    for (const QString& path : {entries, faulty, vectors}) {
      const auto file = open(path);
      QVERIFY(file);
      CompletionModel model;
      const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
      model.set(file.get(), file->followed());
      const QStringList lines = tool({"read", path,
                                      "-Y",   "cqe",
                                      "-T",   "fields",
                                      "-e",   "frame.number",
                                      "-e",   "frame.time_relative",
                                      "-e",   "cqe.qpn",
                                      "-e",   "cqe.queue",
                                      "-e",   "cqe.operation",
                                      "-e",   "cqe.wqe",
                                      "-e",   "cqe.byte_count",
                                      "-e",   "cqe.status",
                                      "-e",   "cqe.record.ci"})
                                    .split('\n', Qt::SkipEmptyParts);
      QVERIFY(!lines.isEmpty());
      int row = 0;
      for (const QString& line : lines) {
        const QStringList told = line.split('\t');
        if (told[7].isEmpty()) continue;  // of a family whose layout is not public
        QVERIFY(row < model.rowCount());
        const auto same = [&](int column, const QString& word) {
          return QTest::qCompare(shown(model, row, column), word, "shown", "told", __FILE__, __LINE__);
        };
        QVERIFY(same(CompletionModel::frame, told[0]));
        QCOMPARE(shown(model, row, CompletionModel::time).toDouble(), told[1].toDouble());
        if (told[2].isEmpty())
          QVERIFY(shown(model, row, CompletionModel::pair).isEmpty());
        else
          QCOMPARE(shown(model, row, CompletionModel::pair).toUInt(nullptr, 0), told[2].toUInt(nullptr, 0));
        QVERIFY(same(CompletionModel::direction, told[3]));
        QVERIFY(same(CompletionModel::operation, told[4]));
        QVERIFY(same(CompletionModel::work_entry, told[5]));
        QVERIFY(same(CompletionModel::bytes, told[6]));
        QVERIFY(same(CompletionModel::status, told[7]));
        QVERIFY(same(CompletionModel::queue_index, told[8]));
        ++row;
      }
      QCOMPARE(row, model.rowCount());
      QCOMPARE(static_cast<std::uint64_t>(row), file->followed()->totals.completions);
    }
  }

  // Worked out by hand from make_captures.py, cqe_clean().
  void entries_are_linked_to_what_caused_them() {
    const auto file = open(entries);
    QVERIFY(file);
    CompletionModel model;
    model.set(file.get(), file->followed());
    const auto of = [&](quint64 frame, int column) { return shown(model, model.row_of(frame), column); };
    struct Expected {
      quint64 frame;
      const char *by, *connection;
    };
    constexpr Expected expected[] = {{1, "", ""},      {60, "59", "1"}, {63, "62", "1"},
                                     {67, "66", "1"},  {69, "68", "1"}, {72, "70", "1"},
                                     {73, "71?", "1"}, {75, "74", "1"}, {77, "76?", "1"}};
    for (const Expected& e : expected) {
      QCOMPARE(of(e.frame, CompletionModel::completed_by), e.by);
      QCOMPARE(of(e.frame, CompletionModel::connection), e.connection);
    }
    QCOMPARE(of(18, CompletionModel::owner), "1, round 2");
    QCOMPARE(of(10, CompletionModel::syndrome), "0x15, vendor 0x81");
    QCOMPARE(model.row_of(62), model.row_of(63));  // the packet leads to its entry
    QCOMPARE(model.row_of(80), -1);
    QVERIFY(model.advice(model.row_of(10))[0].startsWith("It means: the peer never acknowledged"));
    QVERIFY(model.advice(model.row_of(60)).isEmpty());
  }

  void only_what_is_notable() {
    const auto file = open(faulty);
    QVERIFY(file);
    CompletionModel model;
    model.set(file.get(), file->followed());
    const int all = model.rowCount();
    model.set_only_notable(true);
    QVERIFY(model.rowCount() > 0 && model.rowCount() < all);
    for (int row = 0; row < model.rowCount(); ++row)
      QVERIFY(model.at(row).failed || !shown(model, row, CompletionModel::finding).isEmpty());
    QVERIFY(model.index(0, CompletionModel::finding).data(Qt::ForegroundRole).value<QColor>() ==
            colour(Shade::violation, QGuiApplication::palette()));
  }

  void view_leads_to_packets() {
    const auto file = open(entries);
    QVERIFY(file);
    CompletionsView view;
    view.resize(1300, 700);
    view.show();
    QSignalSpy any(&view, &CompletionsView::anyChanged);
    view.set_file(file.get());
    QVERIFY(view.any() && any.size() == 1);
    QSignalSpy chosen(&view, &CompletionsView::packetChosen), filter(&view, &CompletionsView::filterWanted);
    view.select(68);
    QVERIFY(chosen.isEmpty());
    const int row = view.table().currentIndex().row();
    QCOMPARE(view.model().at(row).frame, 69u);
    const auto place = [&](int column) { return view.table().visualRect(view.model().index(row, column)).center(); };
    const auto double_click = [&](int column) {
      QTest::mouseClick(view.table().viewport(), Qt::LeftButton, {}, place(column));
      QTest::mouseDClick(view.table().viewport(), Qt::LeftButton, {}, place(column));
      return chosen.isEmpty() ? 0 : chosen.takeLast()[0].toULongLong();
    };
    QCOMPARE(double_click(CompletionModel::status), 69u);
    QCOMPARE(double_click(CompletionModel::completed_by), 68u);
    chosen.clear();
    QTest::keyClick(&view.table(), Qt::Key_Return);
    QCOMPARE(chosen.size(), 1);
    emit view.table().customContextMenuRequested(place(CompletionModel::pair));
    QMenu* const menu = view.findChildren<QMenu*>().last();
    menu->actions()[menu_action(view, "begins")]->trigger();
    QCOMPARE(chosen.last()[0].toULongLong(), 65u);
    for (const char* part : {"that time", "connection", "queue pair"}) {
      menu->actions()[menu_action(view, part)]->trigger();
      const auto compiled = dissect::Filter::compile(filter.last()[0].toString().toStdString());
      QVERIFY2(std::holds_alternative<dissect::Filter>(compiled), qPrintable(filter.last()[0].toString()));
    }
    QCOMPARE(filter.last()[0].toString(), "cqe.qpn == 0x000022");
    menu->close();
    view.select(10);
    QVERIFY(view.findChild<QTextBrowser*>()->toPlainText().contains("never acknowledged"));
    view.findChild<QCheckBox*>()->setChecked(true);
    QCOMPARE(view.model().at(view.table().currentIndex().row()).frame, 10u);
    view.findChild<QCheckBox*>()->setChecked(false);
    view.select(73);
    shoot(view, "completions-light");
    QApplication::setPalette(dark());
    view.select(10);
    QCoreApplication::processEvents();
    shoot(view, "completions-dark");
    QApplication::setPalette({});
    view.set_file(nullptr);
    QVERIFY(!view.any());
    QCOMPARE(view.model().rowCount(), 0);
  }

  void capture_without_entries_says_so() {
    const auto file = open(loss);
    QVERIFY(file);
    CompletionsView view;
    view.set_file(file.get());
    QVERIFY(!view.any());
    QCOMPARE(view.findChild<QStackedWidget*>()->currentIndex(), 0);
    QCOMPARE(qobject_cast<QLabel*>(view.findChild<QStackedWidget*>()->widget(0))->text(),
             "No completion queue entries");
    view.select(3);
  }
};

QTEST_MAIN(CompletionsTest)
#include "completions_test.moc"
