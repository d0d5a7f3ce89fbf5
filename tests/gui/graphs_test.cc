// Curves against the counts of the same connections, and a range of time drawn with the mouse.
#include <QSignalSpy>
#include <QTest>

#include "dissect/filter.h"
#include "gui/graphs_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

class GraphsTest : public QObject {
  Q_OBJECT

 private slots:
  void curvesAreWhatWasCounted() {
    for (const QString& path : {loss, corrupt}) {
      const auto file = rdmascope::gui::open(path);
      QVERIFY(file);
      const std::shared_ptr<const Followed> known = file->followed();
      const ConnectionRow& row = known->connections[0];
      const Graph sent = make_graph(*file, *known, row.id, GraphKind::throughput);
      QCOMPARE(sent.series.size(), std::size_t(2));
      for (std::size_t side = 0; side < 2; ++side) {
        const std::vector<GraphPoint>& points = sent.series[side].points;
        const double width = static_cast<double>(points[1].ns - points[0].ns) / 1e9;
        double bits = 0;
        for (const GraphPoint& p : points) bits += p.value * width;
        QVERIFY2(std::abs(bits / 8 - static_cast<double>(row.bytes[side])) < 1, qPrintable(QString::number(bits / 8)));
      }
      std::size_t again = 0, requests = 0;
      for (const Series& s : make_graph(*file, *known, row.id, GraphKind::psn).series)
        (s.shade == Shade::violation ? again : requests) += s.points.size();
      QCOMPARE(again, static_cast<std::size_t>(row.retransmitted));
      QVERIFY(requests > 0);
      std::size_t completed = 0;
      for (const Series& s : make_graph(*file, *known, row.id, GraphKind::latency).series)
        for (const GraphPoint& p : s.points) {
          ++completed;
          QVERIFY(p.value > 0);
        }
      QVERIFY(completed > 0 && completed <= row.completed);
      QVERIFY(make_graph(*file, *known, 999, GraphKind::psn).series.empty());
    }
  }

  void rangeOfTimeIsAFilter() {
    const auto file = rdmascope::gui::open(loss);
    QVERIFY(file);
    GraphsView view;
    view.resize(1100, 600);
    view.set_file(file.get());
    view.show();
    view.choose(1, GraphKind::psn);
    QSignalSpy wanted(&view, &GraphsView::filterWanted);
    Plot& plot = view.plot();
    const QRect area = plot.area();
    QTest::mousePress(&plot, Qt::LeftButton, {}, QPoint(area.left(), area.center().y()));
    QTest::mouseMove(&plot, area.center());
    QTest::mouseRelease(&plot, Qt::LeftButton, {}, area.center());
    QCOMPARE(wanted.size(), 1);
    const QString filter = wanted[0][0].toString();
    QVERIFY2(filter.startsWith("rdmascope.flow == 1 and frame.time_relative >= 0.000000000"), qPrintable(filter));
    QVERIFY(
        std::holds_alternative<rdmascope::dissect::Filter>(rdmascope::dissect::Filter::compile(filter.toStdString())));
    // A click is no range.
    QTest::mouseClick(&plot, Qt::LeftButton, {}, area.center());
    QCOMPARE(wanted.size(), 1);
    for (const auto& [kind, name] :
         {std::pair(GraphKind::throughput, "graph-throughput"), std::pair(GraphKind::psn, "graph-psn"),
          std::pair(GraphKind::latency, "graph-latency")}) {
      view.choose(1, kind);
      shoot(view, name);
    }
    view.set_file(nullptr);
    QVERIFY(plot.graph().series.empty());
  }
};

QTEST_MAIN(GraphsTest)
#include "graphs_test.moc"
