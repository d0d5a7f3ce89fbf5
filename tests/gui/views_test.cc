// Connections, messages and findings: the models say what the command line says, and the views let one go
// from there to the packet.
#include <QAbstractItemModelTester>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QMenu>
#include <QProcess>
#include <QStackedWidget>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QTreeView>

#include <set>

#include "gui/connections_view.h"
#include "gui/findings_view.h"
#include "gui/ladder_view.h"
#include "gui/models/words.h"
#include "tests/gui/opened.h"

using namespace rdmascope;
using namespace rdmascope::gui;

namespace {

QJsonDocument command(const QStringList& arguments) {
  QProcess process;
  process.start(BUILD_DIR "/cli/rdmascope", arguments);
  process.waitForFinished(60'000);
  QJsonParseError error;
  const QJsonDocument out = QJsonDocument::fromJson(process.readAllStandardOutput(), &error);
  if (out.isNull()) qWarning() << arguments << error.errorString() << process.readAllStandardError();
  return out;
}

QString cell(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

}  // namespace

class ViewsTest : public QObject {
  Q_OBJECT

 private:
  void files() {
    QTest::addColumn<QString>("path");
    QTest::newRow("loss-read") << loss;
    QTest::newRow("corrupt-write") << corrupt;
    QTest::newRow("cdi-exchange") << cdi;
  }

 private slots:
  void words_have_three_figures() {
    QCOMPARE(duration(0), "0 ns");
    QCOMPARE(duration(999), "999 ns");
    QCOMPARE(duration(480'000), "480 us");
    QCOMPARE(duration(999'960), "1.00 ms");
    QCOMPARE(duration(71'967'000), "72.0 ms");
    QCOMPARE(duration(-1'500'000'000), "-1.50 s");
    QCOMPARE(byte_count(8192), "8.00 KiB");
    QCOMPARE(bit_rate(12'345'678), "12.3 Mbit/s");
    QCOMPARE(seconds(362'000), "0.000362");
    QCOMPARE(seconds(-1'000'000'001), "-1.000000001");
    QCOMPARE(verdict_of({2, 1, 0}, 0), "2 violations, 1 anomaly");
    QCOMPARE(verdict_of({}, 3), "3 not judged");
  }

  void connections_are_those_of_check_data() { files(); }
  void connections_are_those_of_check() {
    QFETCH(QString, path);
    const auto file = open(path);
    QVERIFY(file);
    ConnectionModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.set(file->followed());
    const QJsonArray expected = command({"check", "-T", "json", path})["connections"].toArray();
    QCOMPARE(model.rowCount(), expected.size());
    for (int i = 0; i < model.rowCount(); ++i) {
      const QJsonObject c = expected[i].toObject();
      const QJsonArray ends = c["ends"].toArray();
      const auto sum = [&](const char* key) { return ends[0][key].toInteger() + ends[1][key].toInteger(); };
      const auto of_requests = [&](const char* key) {
        return ends[0]["requests"][key].toInteger() + ends[1]["requests"][key].toInteger();
      };
      QCOMPARE(cell(model, i, ConnectionModel::number), QString::number(c["id"].toInteger()));
      QCOMPARE(cell(model, i, ConnectionModel::transport), c["transport"].toString());
      QVERIFY(cell(model, i, ConnectionModel::ends).startsWith(ends[0]["address"].toString()));
      QVERIFY(cell(model, i, ConnectionModel::ends).contains(ends[1]["address"].toString()));
      if (c.contains("paired_by")) QCOMPARE(cell(model, i, ConnectionModel::paired), c["paired_by"].toString());
      if (c.contains("path_mtu"))
        QCOMPARE(cell(model, i, ConnectionModel::pmtu), QString::number(c["path_mtu"].toInteger()));
      const auto value = [&](int column) {
        return model.index(i, column).data(ConnectionModel::sort_role).toLongLong();
      };
      QCOMPARE(value(ConnectionModel::packets), sum("packets"));
      QCOMPARE(value(ConnectionModel::bytes), sum("bytes"));
      QCOMPARE(value(ConnectionModel::messages), of_requests("messages"));
      QCOMPARE(value(ConnectionModel::resent), of_requests("retransmitted"));
      const QJsonObject found = c["found"].toObject();
      QCOMPARE(cell(model, i, ConnectionModel::verdict),
               verdict_of({static_cast<std::uint32_t>(found["violations"].toInt()),
                           static_cast<std::uint32_t>(found["anomalies"].toInt()),
                           static_cast<std::uint32_t>(found["artifacts"].toInt())},
                          static_cast<std::uint64_t>(c["not_judged"].toInteger())));
    }
    model.set(nullptr);
    QCOMPARE(model.rowCount(), 0);
  }

  void messages_are_those_of_stats_data() { files(); }
  void messages_are_those_of_stats() {
    QFETCH(QString, path);
    const auto file = open(path);
    QVERIFY(file);
    const auto followed = file->followed();
    std::map<qint64, std::vector<QJsonObject>> expected;
    for (const auto& m : command({"stats", path, "messages", "-T", "json"}).array())
      expected[m.toObject()["connection"].toInteger()].push_back(m.toObject());
    MessageModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const ConnectionRow& c : followed->connections) {
      model.set(followed, c.id, file->first_ns());
      const auto& of = expected[c.id];
      QCOMPARE(model.rowCount(), static_cast<int>(of.size()));
      for (int i = 0; i < model.rowCount(); ++i) {
        const QJsonObject& m = of[static_cast<std::size_t>(i)];
        QCOMPARE(cell(model, i, MessageModel::operation), m["operation"].toString());
        QCOMPARE(cell(model, i, MessageModel::state), m["state"].toString());
        QVERIFY(cell(model, i, MessageModel::from).startsWith(m["from"].toString()));
        const auto same = [&](int column, const char* key) {
          return cell(model, i, column) == (m[key].isDouble() ? QString::number(m[key].toInteger()) : QString());
        };
        QVERIFY(same(MessageModel::first_frame, "first_frame"));
        QVERIFY(same(MessageModel::answer_frame, "answer_frame"));
        QVERIFY(same(MessageModel::psn, "first_psn"));
        QVERIFY(same(MessageModel::psns, "psns"));
        QVERIFY(same(MessageModel::bytes, "bytes"));
        QVERIFY(same(MessageModel::msn, "msn"));
        QVERIFY(same(MessageModel::resent, "retransmitted"));
        if (m["latency_ns"].isDouble())
          QCOMPARE(cell(model, i, MessageModel::latency), duration(m["latency_ns"].toInteger()));
      }
    }
  }

  void latency_is_that_of_stats() {
    const auto file = open(loss);
    QVERIFY(file);
    ConnectionModel model;
    model.set(file->followed());
    QCOMPARE(model.rowCount(), 1);
    const QJsonArray operations = command({"stats", loss, "latency", "-T", "json"})["operations"].toArray();
    QCOMPARE(operations.size(), 1);  // one operation on one connection: the same messages
    for (const auto& [column, key] :
         {std::pair(ConnectionModel::p50, "p50_ns"), std::pair(ConnectionModel::p99, "p99_ns")})
      QCOMPARE(model.index(0, column).data(ConnectionModel::sort_role).toLongLong(), operations[0][key].toInteger());
  }

  void messages_sort_by_value() {
    const auto file = open(loss);
    QVERIFY(file);
    MessageModel model;
    model.set(file->followed(), 1, file->first_ns());
    const QPersistentModelIndex first = model.index(0, 0);
    const quint64 frame = model.frame_of(first);
    model.sort(MessageModel::latency, Qt::DescendingOrder);
    for (int i = 1; i < model.rowCount(); ++i)
      QVERIFY(model.index(i - 1, MessageModel::latency).data(MessageModel::sort_role).toLongLong() >=
              model.index(i, MessageModel::latency).data(MessageModel::sort_role).toLongLong());
    QCOMPARE(model.frame_of(first), frame);  // follows its row
    QVERIFY(first.row() > 0);
    model.sort(-1, Qt::AscendingOrder);
    QCOMPARE(first.row(), 0);
    QCOMPARE(model.row_of(file->followed()->steps[8]), 0);  // its last response
    QCOMPARE(model.row_of(file->followed()->steps[9]), 1);
  }

  void findings_are_those_of_check_data() { files(); }
  void findings_are_those_of_check() {
    QFETCH(QString, path);
    const auto file = open(path);
    QVERIFY(file);
    const QJsonDocument report = command({"check", "-T", "json", path});
    std::multiset<QString> expected;
    for (const auto& value : report["findings"].toArray()) {
      const QJsonObject f = value.toObject();
      expected.insert(QString("%1 %2 %3 %4 %5")
                          .arg(f["class"].toString(), f["rule"].toString())
                          .arg(f["frame"].toInteger())
                          .arg(f["connection"].toInteger())
                          .arg(f["field"].toString()));
    }
    FindingModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const auto grouping : {FindingModel::Grouping::by_class, FindingModel::Grouping::by_connection}) {
      model.group(grouping);
      model.set(file->followed());
      std::multiset<QString> shown;
      std::vector<std::pair<QString, qint64>> rules;
      for (int top = 0; top < model.rowCount(); ++top) {
        const QModelIndex group = model.index(top, 0);
        for (int r = 0; r < model.rowCount(group); ++r) {
          const QModelIndex rule = model.index(r, 0, group);
          QCOMPARE(rule.data(FindingModel::count_role).toInt(), model.rowCount(rule));
          rules.emplace_back(rule.data(FindingModel::rule_role).toString(), model.rowCount(rule));
          for (int i = 0; i < model.rowCount(rule); ++i) {
            const QModelIndex at = model.index(i, 0, rule);
            const FoundRow* f = model.found(at);
            QVERIFY(f);
            QCOMPARE(model.index_of(*f), at);
            QCOMPARE(at.data().toString(), text(f->text));
            shown.insert(QString("%1 %2 %3 %4 %5")
                             .arg(text(name(f->kind)), at.data(FindingModel::rule_role).toString())
                             .arg(at.data(FindingModel::frame_role).toLongLong())
                             .arg(at.data(FindingModel::connection_role).toLongLong())
                             .arg(at.data(FindingModel::field_role).toString()));
          }
        }
      }
      QCOMPARE(shown, expected);
      if (grouping != FindingModel::Grouping::by_class) continue;
      const QJsonArray told = report["rules"].toArray();
      QCOMPARE(static_cast<qsizetype>(rules.size()), told.size());
      for (std::size_t i = 0; i < rules.size(); ++i) {
        const QJsonObject rule = told[static_cast<qsizetype>(i)].toObject();
        QCOMPARE(rules[i].first, rule["rule"].toString());
        QCOMPARE(rules[i].second, rule["count"].toInteger());
      }
    }
    // The sentences are what the text report gives as its example of each rule.
    QProcess process;
    process.start(BUILD_DIR "/cli/rdmascope", {"check", path});
    QVERIFY(process.waitForFinished(60'000));
    model.group(FindingModel::Grouping::by_class);
    const QString printed = process.readAllStandardOutput();
    for (int top = 0; top < model.rowCount(); ++top)
      for (int r = 0; r < model.rowCount(model.index(top, 0)); ++r)
        QVERIFY(printed.contains(model.index(0, 0, model.index(r, 0, model.index(top, 0))).data().toString()));
  }

  void connections_view_leads_to_packets() {
    CaptureFile file(loss);
    ConnectionsView view;
    view.resize(1500, 800);
    view.show();
    view.set_file(&file);
    const auto* pages = view.findChild<QStackedWidget*>();
    QCOMPARE(pages->currentIndex(), 0);
    QCOMPARE(qobject_cast<QLabel*>(pages->widget(0))->text(), "Following the connections...");
    file.start();
    QTRY_COMPARE_WITH_TIMEOUT(view.chosen(), 1u, 60'000);
    shoot(view, "connections-light");
    QSignalSpy chosen(&view, &ConnectionsView::packetChosen);
    auto* messages = view.findChild<QTableView*>("messages");
    QTest::mouseClick(messages->viewport(), Qt::LeftButton, {},
                      messages->visualRect(messages->model()->index(2, MessageModel::first_frame)).center());
    QCOMPARE(chosen.takeLast()[0].toULongLong(),
             messages->model()->index(2, MessageModel::first_frame).data().toULongLong());
    const LadderView& ladder = *view.ladder();
    QTest::mouseClick(ladder.viewport(), Qt::LeftButton, {}, QPoint(300, qRound(ladder.step_y(19)) - 3));
    QCOMPARE(chosen.takeLast()[0].toULongLong(), ladder.ladder()[19].frame);
    view.select(143);
    QVERIFY(chosen.isEmpty());
    QSignalSpy filter(&view, &ConnectionsView::filterWanted);
    auto* connections = view.findChild<QTableView*>("connections");
    emit connections->customContextMenuRequested(connections->visualRect(connections->model()->index(0, 0)).center());
    view.findChild<QMenu*>()->actions()[0]->trigger();
    QCOMPARE(filter.takeLast()[0].toString(), "rdmascope.flow == 1");
    view.set_file(nullptr);
    QCOMPARE(view.findChild<QStackedWidget*>()->currentIndex(), 0);
  }

  void views_without_connections_say_so() {
    const auto file = open(SOURCE_DIR "/tests/golden/captures/cqe-worked.pcapng");
    QVERIFY(file);
    QVERIFY(file->followed()->connections.empty() && file->followed()->cdi.empty());
    ConnectionsView view;
    view.set_file(file.get());
    const auto* pages = view.findChild<QStackedWidget*>();
    QCOMPARE(pages->currentIndex(), 0);
    QCOMPARE(qobject_cast<QLabel*>(pages->widget(0))->text(), "No connections");
    view.select(1);
    view.choose(1);
    view.choose_cdi(1);
    QCOMPARE(view.chosen(), 0u);
    QCOMPARE(view.ladder()->ladder().size(), std::size_t{0});
  }

  void cdi_connections_are_those_of_stats() {
    const auto file = open(cdi);
    QVERIFY(file);
    CdiModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.set(file->followed());
    const QJsonArray told = command({"stats", cdi, "cdi", "-T", "json"}).array();
    QVERIFY(!told.isEmpty());
    QCOMPARE(model.rowCount(), told.size());
    for (int i = 0; i < model.rowCount(); ++i) {
      const QJsonObject c = told[i].toObject();
      QCOMPARE(cell(model, i, CdiModel::number), QString("CDI %1").arg(c["flow"].toInteger()));
      QCOMPARE(cell(model, i, CdiModel::transmitter), c["tx"].toString());
      QCOMPARE(cell(model, i, CdiModel::receiver), c["rx"].toString());
      QCOMPARE(cell(model, i, CdiModel::stream), c["stream"].toString());
      QCOMPARE(cell(model, i, CdiModel::version), c["version"].toString());
      QCOMPARE(cell(model, i, CdiModel::missing), QString::number(c["missing"].toInteger()));
      QCOMPARE(cell(model, i, CdiModel::connects), QString::number(c["connected"].toInteger()));
      QCOMPARE(cell(model, i, CdiModel::pings),
               QString("%1/%2").arg(c["answered"].toInteger()).arg(c["pings"].toInteger()));
      QCOMPARE(cell(model, i, CdiModel::states), c["tx_state"].toString() + ", " + c["rx_state"].toString());
      const CdiRow& row = model.at(i);
      QCOMPARE(row.messages[0] + row.messages[1], static_cast<std::uint64_t>(c["messages"].toInteger()));
    }
    // The course is what `check` prints.
    const QString printed = tool({"check", cdi});
    CdiStory story;
    const QAbstractItemModelTester story_tester(&story, QAbstractItemModelTester::FailureReportingMode::QtTest);
    story.set(file->followed(), 0);
    QVERIFY(story.rowCount() > 2);
    for (int i = 0; i < story.rowCount(); ++i) {
      const QString line = cell(story, i, CdiStory::time) + "  " + cell(story, i, CdiStory::what);
      QVERIFY2(printed.contains(line), qPrintable(line));
      QVERIFY(story.frame_of(i) > 0 && story.frame_of(i) <= file->index().size());
    }
  }

  void cdi_story_leads_to_packets() {
    const auto file = open(cdi);
    QVERIFY(file);
    ConnectionsView view;
    view.resize(1300, 700);
    view.show();
    view.set_file(file.get());
    QCOMPARE(view.findChild<QStackedWidget*>()->currentIndex(), 1);
    QCOMPARE(view.chosen_cdi(), 1u);
    QSignalSpy chosen(&view, &ConnectionsView::packetChosen), filter(&view, &ConnectionsView::filterWanted);
    auto* const story = view.findChild<QTableView*>("story");
    QTest::mouseClick(story->viewport(), Qt::LeftButton, {},
                      story->visualRect(story->model()->index(1, CdiStory::what)).center());
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen[0][0].toString(), cell(*story->model(), 1, CdiStory::frame));
    auto* const table = view.findChild<QTableView*>("cdi");
    emit table->customContextMenuRequested(table->visualRect(table->model()->index(0, 0)).center());
    view.findChildren<QMenu*>().last()->actions()[0]->trigger();
    QCOMPARE(filter.takeLast()[0].toString(), "cdi.probe.flow == 1");
    view.findChildren<QMenu*>().last()->close();
    view.select(2);
    QCOMPARE(view.chosen_cdi(), file->followed()->annotations.of(2).cdi_flow);
    shoot(view, "connections-cdi");
    view.set_file(nullptr);
    QCOMPARE(view.chosen_cdi(), 0u);
  }

  void views_empty_themselves_when_the_file_goes() {
    auto file = open(loss);
    QVERIFY(file);
    ConnectionsView connections;
    FindingsView findings;
    connections.set_file(file.get());
    findings.set_file(file.get());
    QCOMPARE(connections.chosen(), 1u);
    QVERIFY(!findings.verdict().isEmpty());
    file.reset();
    QCOMPARE(connections.chosen(), 0u);
    QVERIFY(connections.ladder()->ladder().empty());
    QVERIFY(findings.verdict().isEmpty());
    connections.grab();
    findings.grab();
  }

  void findings_view_leads_to_packets() {
    const auto file = open(corrupt);
    QVERIFY(file);
    FindingsView view;
    view.resize(1300, 700);
    view.show();
    view.set_file(file.get());
    QCOMPARE(view.verdict(), command({"check", "-T", "json", corrupt})["sentence"].toString());
    view.grab();  // lays it out
    auto* tree = view.findChild<QTreeView*>();
    QSignalSpy chosen(&view, &FindingsView::packetChosen);
    const QModelIndex rule = tree->model()->index(0, 0, tree->model()->index(0, 0));
    tree->expand(rule);
    const QModelIndex first = tree->model()->index(0, 0, rule);
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(first).center());
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen[0][0].toULongLong(), 5u);
    QCOMPARE(chosen[0][1].toString(), "infiniband.invariant.crc");
    QVERIFY(view.findChild<QTextBrowser*>()->toPlainText().startsWith("F-01"));
    view.select(9);
    QCOMPARE(chosen.size(), 1);
    QVERIFY(view.findChild<QTextBrowser*>()->toPlainText().startsWith("H-"));
    QSignalSpy filter(&view, &FindingsView::filterWanted);
    emit tree->customContextMenuRequested(tree->visualRect(first).center());
    view.findChild<QMenu*>()->actions()[0]->trigger();
    QCOMPARE(filter.takeLast()[0].toString(), "rdmascope.finding.rule == \"F-01\"");
    view.findChild<QMenu*>()->close();
    shoot(view, "findings-light");
    QApplication::setPalette(dark());
    QCoreApplication::processEvents();
    shoot(view, "findings-dark");
    QApplication::setPalette({});
  }
};

QTEST_MAIN(ViewsTest)
#include "views_test.moc"
