// Curves against the counts of the same connections, and a range of time drawn with the mouse.
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

#include "dissect/filter.h"
#include "dissect/walk.h"
#include "gui/graphs_view.h"
#include "gui/models/connection_model.h"
#include "gui/models/latency.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

namespace {

// 300 SENDs over RoCEv2, of which 90 to 149 are marked by a switch; the receiver sends a CNP for each tenth of these.
bool congest(const QString& path) {
  using namespace rdmascope::dissect;
  constexpr unsigned eth = 14, ip = 20, udp = 8, icrc = 4;
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return false;
  const auto put32 = [&](std::uint32_t v) { file.write(reinterpret_cast<const char*>(&v), 4); };
  for (const std::uint32_t v : {0xa1b23c4du, 0x00040002u, 0u, 0u, 65535u, 1u}) put32(v);
  std::uint32_t time_ns = 0;
  const auto put = [&](bool back, unsigned ecn, std::vector<std::uint8_t> transport) {
    std::vector<std::uint8_t> f(eth + ip + udp);
    f[0] = f[6] = 2, f[5] = back, f[11] = !back, f[12] = 8;
    const std::size_t whole = ip + udp + transport.size() + icrc;
    std::uint8_t* const h = f.data() + eth;
    h[0] = 0x45, h[1] = static_cast<std::uint8_t>(ecn), h[3] = static_cast<std::uint8_t>(whole), h[8] = 64, h[9] = 17;
    h[12] = h[16] = 10, h[15] = back ? 2 : 1, h[19] = back ? 1 : 2;
    unsigned sum = 0;
    for (int i = 0; i < 20; i += 2) sum += h[i] << 8 | h[i + 1];
    sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
    h[10] = static_cast<std::uint8_t>(sum >> 8), h[11] = static_cast<std::uint8_t>(sum);
    h[20] = 0xc0, h[22] = 0x12, h[23] = 0xb7, h[25] = static_cast<std::uint8_t>(whole - ip);
    f.insert(f.end(), transport.begin(), transport.end());
    f.resize(f.size() + icrc);
    Packet packet;
    packet.frame.link_type = 1;
    packet.frame.wire_bytes = static_cast<std::uint32_t>(f.size());
    walk(packet, f, {});
    const std::uint32_t crc = packet.icrc().expected;
    for (unsigned i = 0; i < icrc; ++i) f[f.size() - 1 - i] = static_cast<std::uint8_t>(crc >> 8 * i);
    for (const std::uint32_t v :
         {1u, time_ns, static_cast<std::uint32_t>(f.size()), static_cast<std::uint32_t>(f.size())})
      put32(v);
    file.write(reinterpret_cast<const char*>(f.data()), static_cast<qint64>(f.size()));
    time_ns += 10'000;
  };
  const auto bth = [](std::uint8_t opcode, std::uint8_t congestion, std::uint8_t qp, unsigned psn, bool ask) {
    return std::vector<std::uint8_t>{opcode,
                                     0,
                                     0xff,
                                     0xff,
                                     congestion,
                                     0,
                                     0,
                                     qp,
                                     static_cast<std::uint8_t>(ask << 7),
                                     0,
                                     static_cast<std::uint8_t>(psn >> 8),
                                     static_cast<std::uint8_t>(psn)};
  };
  for (unsigned psn = 0; psn < 300; ++psn) {
    const bool is_marked = psn >= 90 && psn < 150;
    std::vector<std::uint8_t> request = bth(0x04, 0, 0x22, psn, true), answer = bth(0x11, 0, 0x11, psn, false);
    request.resize(request.size() + 8);
    answer.insert(answer.end(),
                  {0x1f, 0, static_cast<std::uint8_t>((psn + 1) >> 8), static_cast<std::uint8_t>(psn + 1)});
    put(false, is_marked ? 3 : 2, request);
    put(true, 2, answer);
    if (!is_marked || psn % 10 != 9) continue;
    std::vector<std::uint8_t> cnp = bth(0x81, 0x40, 0x11, 0, false);
    cnp.resize(cnp.size() + 16);
    put(true, 1, cnp);
  }
  return true;
}

}  // namespace

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

  void latenciesAreCounted() {
    for (const QString& path : {loss, corrupt}) {
      const auto file = rdmascope::gui::open(path);
      QVERIFY(file);
      const std::shared_ptr<const Followed> known = file->followed();
      const ConnectionRow& row = known->connections[0];
      const Graph graph = make_graph(*file, *known, row.id, GraphKind::latencies);
      std::size_t counted = 0, expected = 0;
      for (const Series& s : graph.series)
        for (const GraphPoint& p : s.points) {
          QVERIFY(p.ns >= graph.begin_ns &&
                  graph.end_of_bar(static_cast<double>(p.ns)) <= 1.001 * static_cast<double>(graph.end_ns));
          counted += static_cast<std::size_t>(p.value);
        }
      for (const MessageRow& m : known->messages)
        expected += m.connection == row.id && latency_of(m.message).has_value();
      QCOMPARE(counted, expected);
      QVERIFY(expected > 5);
      // The first bar begins at or below the shortest one, and each message lies in its own bar.
      ConnectionModel model;
      model.set(known);
      QCOMPARE(graph.marks.size(), std::size_t{2});
      QCOMPARE(graph.marks[0].ns, model.index(0, ConnectionModel::p50).data(ConnectionModel::sort_role).toLongLong());
      QCOMPARE(graph.marks[1].ns, model.index(0, ConnectionModel::p99).data(ConnectionModel::sort_role).toLongLong());
      for (const double place : {0.0, 0.3, 1.0})
        QVERIFY(std::abs(graph.place_of(graph.at_place(place)) - place) < 1e-9);
    }
  }

  void outstandingGoesUpAndDown() {
    const auto file = rdmascope::gui::open(loss);
    QVERIFY(file);
    const std::shared_ptr<const Followed> known = file->followed();
    const Graph graph = make_graph(*file, *known, 1, GraphKind::outstanding);
    QCOMPARE(graph.series.size(), std::size_t{1});
    // By hand: at each time the messages that had begun and were not done.
    std::size_t looked = 0;
    for (std::size_t i = 1; i + 1 < graph.series[0].points.size(); i += 7) {
      const GraphPoint &p = graph.series[0].points[i], &next = graph.series[0].points[i + 1];
      if (next.ns <= p.ns + 1) continue;
      const std::int64_t at = file->first_ns() + p.ns + 1;
      std::size_t open = 0;
      for (const MessageRow& m : known->messages)
        open += m.message.start_ns <= at &&
                (m.message.state == rdmascope::check::MessageState::open || m.message.done_ns > at);
      QCOMPARE(static_cast<std::size_t>(next.value), open);
      ++looked;
    }
    QVERIFY(looked > 3);
    double most = 0;
    for (const GraphPoint& p : graph.series[0].points) {
      QVERIFY(p.value >= 0);
      most = std::max(most, p.value);
    }
    QVERIFY(most >= 1);
  }

  void marksAndCnpsAreCounted() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("congestion.pcap");
    QVERIFY(congest(path));
    const auto file = rdmascope::gui::open(path);
    QVERIFY(file);
    QCOMPARE(file->followed()->connections.size(), std::size_t{1});
    QVERIFY(tool({"check", path}).contains("60 packets marked by switches, 6 CNPs sent back"));
    const Graph graph = make_graph(*file, *file->followed(), 1, GraphKind::congestion);
    QCOMPARE(graph.series.size(), std::size_t{2});
    for (const Series& s : graph.series) {
      double all = 0;
      for (const GraphPoint& p : s.points) {
        all += p.value;
        // The marks lie between 30 % and 50 % of the time.
        QVERIFY(graph.place_of(static_cast<double>(p.ns)) > 0.28 && graph.place_of(static_cast<double>(p.ns)) < 0.52);
      }
      QCOMPARE(all, s.name.contains("CNPs") ? 6.0 : 60.0);
    }
    GraphsView view;
    view.resize(1100, 600);
    view.set_file(file.get());
    view.show();
    view.choose(1, GraphKind::congestion);
    shoot(view, "graph-congestion");
    // A capture without any says so.
    const auto calm = rdmascope::gui::open(loss);
    QVERIFY(make_graph(*calm, *calm->followed(), 1, GraphKind::congestion).series.empty());
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
    for (const bool is_dark : {false, true}) {
      if (is_dark) QApplication::setPalette(dark());
      for (const auto& [kind, name] :
           {std::pair(GraphKind::throughput, "graph-throughput"), std::pair(GraphKind::psn, "graph-psn"),
            std::pair(GraphKind::latency, "graph-latency"), std::pair(GraphKind::latencies, "graph-latencies"),
            std::pair(GraphKind::outstanding, "graph-outstanding")}) {
        view.choose(1, kind);
        QCoreApplication::processEvents();
        shoot(view, QString(name) + (is_dark ? "-dark" : ""));
      }
    }
    QApplication::setPalette({});
    // No range of latencies: there is no filter for it.
    view.choose(1, GraphKind::latencies);
    QTest::mousePress(&plot, Qt::LeftButton, {}, QPoint(area.left(), area.center().y()));
    QTest::mouseRelease(&plot, Qt::LeftButton, {}, area.center());
    QCOMPARE(wanted.size(), 1);
    view.set_file(nullptr);
    QVERIFY(plot.graph().series.empty());
  }
};

QTEST_MAIN(GraphsTest)
#include "graphs_test.moc"
