// Columns and colouring rules of the packet list: what they show, that they are kept, and the dialogs that change them.
#include <QAbstractItemModelTester>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTest>
#include <QTreeWidget>

#include "gui/colours_dialog.h"
#include "gui/columns_dialog.h"
#include "gui/packets_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

namespace {

const QString psn = "infiniband.bth.psn";

QString shown(const PacketModel& model, int row, const QString& column) {
  return model.index(row, model.column_of(column)).data().toString();
}

// Titles from left to right, of columns that are not hidden.
QStringList titles(PacketsView& view) {
  const QHeaderView& header = *view.list().horizontalHeader();
  QStringList out;
  for (int place = 0; place < header.count(); ++place)
    if (const int column = header.logicalIndex(place); !header.isSectionHidden(column))
      out << view.model().headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  return out;
}

QPushButton* button(QDialog& dialog, const QString& words) {
  for (QPushButton* b : dialog.findChildren<QPushButton*>())
    if (b->text() == words) return b;
  return nullptr;
}

}  // namespace

class LooksTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { begin_with_own_settings("looks"); }
  void init() {
    PacketColumns::of_user().set(PacketColumns::defaults());
    ColourRules::of_user().set(ColourRules::defaults());
  }
  void cleanupTestCase() { QSettings().clear(); }

  void fieldsAreColumns() {
    const auto file = open(loss);
    QVERIFY(file);
    PacketModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.set_file(file.get());
    const QString before = model.line(4);
    for (const QString& field : {psn, QString("ip.addr"), QString("rdmascope.finding.rule")}) {
      QCOMPARE(PacketColumns::of_user().add_field(field), QString());
      const QStringList told = tool({"read", loss, "-T", "fields", "-e", field}).split('\n');
      for (int row = 0; row < model.rowCount(); ++row) QCOMPARE(shown(model, row, field), told[row]);
    }
    QCOMPARE(model.columnCount(), 12);
    PacketColumns::of_user().remove_field("ip.addr");
    QCOMPARE(model.column_of("ip.addr"), -1);
    QCOMPARE(shown(model, 4, psn), tool({"read", loss, "-T", "fields", "-e", psn}).split('\n')[4]);
    PacketColumns::of_user().set(PacketColumns::defaults());
    QCOMPARE(model.line(4), before);
    const QString why = PacketColumns::of_user().add_field("infiniband.bth.psm");
    QVERIFY2(why.contains("infiniband.bth.psm") && why.contains(psn), qPrintable(why));
    model.set_file(nullptr);
  }

  void columnsAreMovedHiddenAndKept() {
    PacketsView one, other;
    QCOMPARE(titles(one).first(), "No.");
    PacketColumns::of_user().add_field(psn);
    QCOMPARE(titles(one)[6], "bth.psn");
    QCOMPARE(titles(one)[7], "Info");
    QHeaderView& header = *one.list().horizontalHeader();
    header.moveSection(header.visualIndex(one.model().column_of(psn)), 0);
    header.resizeSection(PacketModel::info, 333);
    QTRY_COMPARE_WITH_TIMEOUT(titles(other).first(), "bth.psn", 5000);
    QCOMPARE(other.list().columnWidth(PacketModel::info), 333);
    // Its menu hides and shows.
    emit header.customContextMenuRequested(QPoint(5, 5));
    QMenu* const menu = one.findChildren<QMenu*>().last();
    for (QAction* action : menu->actions())
      if (action->text() == "Length") action->trigger();
    QVERIFY(!titles(one).contains("Length") && !titles(other).contains("Length"));
    QVERIFY(std::ranges::any_of(menu->actions(), [](QAction* a) { return a->text() == "Remove " + psn; }));
    menu->close();
    // As the next start of the program reads them.
    QSettings settings;
    QCOMPARE(settings.beginReadArray("packets/columns"), 10);
    settings.setArrayIndex(0);
    QCOMPARE(settings.value("name").toString(), psn);
    settings.endArray();
    // Nonsense in the settings does no harm.
    PacketColumns::of_user().set({{"no.such.field", "X", 50, true}, {psn, {}, -5, false}, {psn, "again", 50, true}});
    QCOMPARE(PacketColumns::of_user().all().size(), std::size_t{10});
    QVERIFY(PacketColumns::of_user().all()[0].width > 0);
    QVERIFY(!titles(one).isEmpty());
  }

  void fieldTreeMakesColumns() {
    const auto file = open(loss);
    PacketsView view;
    view.resize(1200, 700);
    view.show();
    view.set_file(file.get());
    QVERIFY(view.go_to(5, psn));
    const QModelIndex field = view.tree_view().currentIndex();
    QCOMPARE(field.data(FieldTree::name).toString(), psn);
    PacketColumns::of_user().add_field(field.data(FieldTree::name).toString());
    PacketColumns::of_user().add_field("infiniband.aeth.msn");
    QCoreApplication::processEvents();
    QCOMPARE(view.list().selectionModel()->selectedRows().size(), 1);  // with the new columns
    shoot(view, "columns");
    view.set_file(nullptr);
  }

  void dialogOfColumns() {
    ColumnsDialog dialog;
    dialog.show();
    auto* const field = dialog.findChild<QLineEdit*>();
    QTest::keyClicks(field, "infiniband.bth.pns");
    QTest::mouseClick(button(dialog, "&Add"), Qt::LeftButton);
    QVERIFY2(dialog.error().contains(psn), qPrintable(dialog.error()));
    dialog.accept();  // refuses as well
    QVERIFY(dialog.isVisible());
    field->setText(psn);
    QTest::mouseClick(button(dialog, "&Add"), Qt::LeftButton);
    QCOMPARE(dialog.error(), QString());
    auto* const list = dialog.findChild<QTreeWidget*>();
    list->setCurrentItem(list->topLevelItem(6));
    list->topLevelItem(6)->setText(0, "PSN");
    QTest::mouseClick(button(dialog, "&Up"), Qt::LeftButton);
    list->topLevelItem(1)->setCheckState(0, Qt::Unchecked);
    shoot(dialog, "columns-dialog");
    dialog.accept();
    const std::vector<ColumnSetting>& now = PacketColumns::of_user().all();
    QCOMPARE(now[5].name, psn);
    QCOMPARE(now[5].title, "PSN");
    QVERIFY(!now[1].shown);
    ColumnsDialog again;
    QTest::mouseClick(again.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::RestoreDefaults), Qt::LeftButton);
    again.accept();
    QVERIFY(PacketColumns::of_user().all() == PacketColumns::defaults());
  }

  // Against what `read -Y` finds: each packet has the colours of the first rule whose filter it passes. Of rules that
  // are not named no packet passes.
  void firstRuleThatFitsGivesTheColours() {
    struct Named {
      QString path;
      QStringList rules;
    };
    const Named captures[] = {
        {corrupt, {"Bad checksum", "Anomaly", "NAK", "Malformed", "Retransmission", "Acknowledge", "No RDMA"}},
        {cdi, {"Anomaly", "Management"}},
        {SOURCE_DIR "/tests/golden/captures/b02-cnp-0x81.pcap", {"CNP"}},
        {SOURCE_DIR "/tests/golden/captures/cqe-lies.pcapng",
         {"Violation", "Anomaly", "Failed completion", "Malformed", "No RDMA"}}};
    const std::vector<ColourRule>& rules = ColourRules::of_user().all();
    for (const Named& capture : captures) {
      const auto file = open(capture.path);
      PacketModel model;
      model.set_file(file.get());
      std::vector<const ColourRule*> expected(static_cast<std::size_t>(model.rowCount()));
      for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
        if (!capture.rules.contains(rule->name)) continue;
        const QString frames = tool({"read", capture.path, "-T", "fields", "-e", "frame.number", "-Y", rule->filter});
        for (const QString& frame : frames.split('\n', Qt::SkipEmptyParts)) expected[frame.toUInt() - 1] = &*rule;
      }
      for (int row = 0; row < model.rowCount(); ++row) {
        const ColourRule* const rule = expected[static_cast<std::size_t>(row)];
        const ColourRule wanted = rule ? *rule : ColourRule{};
        QCOMPARE(model.index(row, 0).data(Qt::BackgroundRole).value<QColor>(), wanted.background);
        QCOMPARE(model.index(row, 0).data(Qt::ForegroundRole).value<QColor>(), wanted.text);
      }
      model.set_file(nullptr);
    }
  }

  void shippedRulesCanBeReadAndUsed() {
    for (const ColourRule& rule : ColourRules::defaults()) {
      QVERIFY2(ColourRules::error_of(rule.filter).isEmpty(), qPrintable(rule.name));
      for (const bool is_dark : {false, true}) {
        const RowColours c = colours_of(rule, is_dark);
        const QPalette palette = is_dark ? dark() : QPalette(Qt::white);
        const QColor behind = c.background.isValid() ? c.background
                              : is_dark              ? palette.color(QPalette::Base)
                                                     : QColor(Qt::white);
        // WCAG asks for 4.5.
        QVERIFY2(contrast(c.text, behind) >= 4.5,
                 qPrintable(QString("%1 %2: %3").arg(rule.name).arg(is_dark).arg(contrast(c.text, behind))));
      }
    }
    QCOMPARE(contrast(Qt::black, Qt::white), 21.0);
  }

  void changedRulesRepaintTheList() {
    const auto file = open(loss);
    PacketModel model;
    model.set_file(file.get());
    QSignalSpy changed(&model, &PacketModel::dataChanged);
    std::vector<ColourRule> rules = ColourRules::defaults();
    rules.insert(rules.begin(), {"First", "frame.number == 1", QColor("#123456"), QColor("#fedcba"), true});
    rules.insert(rules.begin(), {"Off", "frame.number == 1", Qt::red, Qt::green, false});
    rules.insert(rules.begin(), {"Broken", "frame.number ==", Qt::red, Qt::green, true});
    ColourRules::of_user().set(rules);
    QVERIFY(!changed.isEmpty());
    QCOMPARE(model.index(0, 0).data(Qt::BackgroundRole).value<QColor>(), QColor("#fedcba"));
    QSettings settings;
    QCOMPARE(settings.beginReadArray("packets/colours"), static_cast<int>(rules.size()));
    settings.setArrayIndex(2);
    QCOMPARE(settings.value("background").toString(), "#fedcba");
    settings.endArray();
    ColourRules::of_user().set(ColourRules::defaults());
    QVERIFY(!QSettings().contains("packets/colours/size"));
    model.set_file(nullptr);
  }

  void dialogOfColours() {
    ColoursDialog dialog;
    dialog.show();
    shoot(dialog, "colours-dialog");
    auto* const list = dialog.findChild<QListWidget*>();
    const int before = list->count();
    list->setCurrentRow(0);
    QTest::mouseClick(button(dialog, "&Add"), Qt::LeftButton);
    QCOMPARE(list->count(), before + 1);
    QVERIFY(!dialog.error().isEmpty());  // it has no filter yet
    const QList<QLineEdit*> edits = dialog.findChildren<QLineEdit*>();
    QLineEdit *name = nullptr, *filter = nullptr;
    for (QLineEdit* e : edits) (e->placeholderText().isEmpty() ? name : filter) = e;
    name->clear();
    QTest::keyClicks(name, "Reads");
    QTest::keyClicks(filter, "infiniband.bth.opcode = 12");
    dialog.accept();
    QVERIFY(dialog.isVisible());
    QVERIFY2(dialog.error().startsWith("At character"), qPrintable(dialog.error()));
    filter->clear();
    QTest::keyClicks(filter, "infiniband.bth.opcode == 12");
    QCOMPARE(dialog.error(), QString());
    dialog.set_colour(true, QColor("#ddeeff"));
    QTest::mouseClick(button(dialog, "&Up"), Qt::LeftButton);
    list->item(2)->setCheckState(Qt::Unchecked);
    dialog.accept();
    const std::vector<ColourRule>& now = ColourRules::of_user().all();
    QCOMPARE(now[0].name, "Reads");
    QCOMPARE(now[0].background, QColor("#ddeeff"));
    QVERIFY(!now[2].on && now[1].on);
    const QPalette light = QApplication::palette();
    QApplication::setPalette(dark());
    {
      ColoursDialog again;
      again.show();
      QCoreApplication::processEvents();
      shoot(again, "colours-dialog-dark");
      again.choose(0);
      QTest::mouseClick(button(again, "&Remove"), Qt::LeftButton);
      QCOMPARE(again.rules().size(), now.size() - 1);
      QTest::mouseClick(again.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::RestoreDefaults),
                        Qt::LeftButton);
      again.accept();
    }
    QApplication::setPalette(light);
    QVERIFY(ColourRules::of_user().all() == ColourRules::defaults());
  }
};

QTEST_MAIN(LooksTest)
#include "looks_test.moc"
