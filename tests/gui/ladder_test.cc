// The ladder: what is drawn between two lifelines, where it stands, and that a click on it leads to the packet.
#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <QScrollBar>
#include <QTemporaryDir>

#include "gui/ladder_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope;
using namespace rdmascope::gui;

class LadderTest : public QObject {
  Q_OBJECT

 private slots:
  void ladder_knows_what_is_missing() {
    const auto file = open(loss);
    QVERIFY(file);
    Ladder ladder;
    ladder.set(file.get(), file->followed(), 1);
    QCOMPARE(ladder.ends()[0], "10.77.0.1 0x000022");
    QCOMPARE(ladder.size(), file->index().size() - 1);  // the last frame is no InfiniBand
    QCOMPARE(ladder.label(0, true).words, "Read Request  PSN 14069709  8192 B wanted  AckReq");
    QCOMPARE(ladder.label(1, false).words, "Read Response First  PSN +0  MSN 1  1024 B");
    // Frame 21 has PSN 14069727 after 14069725: `read` shows it.
    const LadderGap* gap = ladder.gap_before(20, LadderGap::Kind::missing);
    QVERIFY(gap);
    QCOMPARE(gap->psn, 14069726u);
    QCOMPARE(ladder.missing_label(*gap, true), "PSN 14069726: response not seen");
    QCOMPARE(ladder.missing_label(*gap, false), "PSN +17: response not seen");
    QCOMPARE(ladder.finding(35)->rule->id, "H-IMPLIED-NAK");
    QVERIFY(ladder.label(141, true).nak == LadderLabel::Nak::other);
    QVERIFY(ladder.label(141, true).words.startsWith("NAK PSN Sequence Error  PSN 14069"));
    QVERIFY(ladder.tip(35).contains("H-IMPLIED-NAK: "));
    // H-TIMEOUT says 71.967 ms of silence before frame 328.
    const LadderGap* pause = ladder.gap_before(327, LadderGap::Kind::pause);
    QVERIFY(pause);
    QVERIFY(pause->ns > 70'000'000);
  }

  void ladder_sees_damaged_packets() {
    const auto file = open(corrupt);
    QVERIFY(file);
    Ladder ladder;
    ladder.set(file.get(), file->followed(), 1);
    // Frame 6 has the PSN that comes next and is damaged; before frame 27 that of the damaged frame 26 is missing,
    // whose connection is not to be told.
    const auto before = [&](std::uint64_t frame) {
      return ladder.gap_before(*ladder.step_of(frame), LadderGap::Kind::missing);
    };
    QVERIFY(!before(6) && !before(7) && !before(13) && !before(16));
    QVERIFY(before(27));
    QCOMPARE(before(27)->count, 1u);
    QCOMPARE(ladder.label(*ladder.step_of(6), false).words, "Write First  PSN +4  1024 B  damaged");
  }

  void completions_stand_on_the_lifeline_of_their_queue_pair() {
    const auto file = open(SOURCE_DIR "/tests/golden/captures/cqe-clean.pcapng");
    QVERIFY(file);
    Ladder ladder;
    ladder.set(file.get(), file->followed(), 1);
    QCOMPARE(ladder.size(), std::size_t{23});                                               // 15 packets and 8 entries
    QVERIFY(ladder.gaps().size() == 1 && ladder.gaps()[0].kind == LadderGap::Kind::pause);  // no PSN is missed
    const std::size_t sent = *ladder.step_of(63), received = *ladder.step_of(72);
    QVERIFY(ladder[sent].completion && ladder[sent].side == 0 && !ladder[sent - 1].completion);
    QVERIFY(ladder[received].completion && ladder[received].side == 1);
    QCOMPARE(ladder.label(sent, true).words, "CQE: send RDMA_READ  64 B");
    QCOMPARE(ladder.label(received, true).words, "CQE: receive SEND_IMM  16 B");
    QVERIFY(ladder.tip(sent).contains("Completed by frame 62"));
    LadderView view;
    view.resize(1000, 640);
    view.show();
    view.show_ladder(std::move(ladder));
    QSignalSpy chosen(&view, &LadderView::packetChosen);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(400, qRound(view.step_y(sent)) - 4));
    QCOMPARE(chosen.takeLast()[0].toULongLong(), 63u);
    shoot(view, "ladder-completions");
    view.set_by_time(true);
    view.zoom(60'000);
    view.select(68);
    shoot(view, "ladder-completions-time");
  }

  void ladder_finds_rows_and_times() {
    const auto file = open(loss);
    QVERIFY(file);
    Ladder ladder;
    ladder.set(file.get(), file->followed(), 1);
    std::size_t steps = 0, gaps = 0;
    for (std::size_t r = 0; r < ladder.rows(); ++r) {
      const Ladder::Row row = ladder.row(r);
      if (row.gap) {
        QCOMPARE(row.gap, &ladder.gaps()[gaps++]);
        QCOMPARE(std::size_t{row.gap->before}, row.step);
      } else {
        QCOMPARE(row.step, steps++);
        QCOMPARE(ladder.row_of(row.step), r);
      }
    }
    QCOMPARE(steps, ladder.size());
    QCOMPARE(gaps, ladder.gaps().size());
    for (const auto spacing : {LadderScale::Spacing::rows, LadderScale::Spacing::time}) {
      const LadderScale scale{spacing, 20, 1e4};
      QCOMPARE(ladder.first_at(0, scale), std::size_t{0});
      QCOMPARE(ladder.first_at(1e12, scale), ladder.size());
      QVERIFY(ladder.y(ladder.size() - 1, scale) <= ladder.height(scale));
    }
    for (std::size_t i = 0; i < ladder.size(); ++i) {
      const bool notable = ladder[i].retransmission || ladder[i].kind == Ladder::Kind::nak || ladder.finding(i);
      QCOMPARE(ladder.notable(i, i + 1) > 0, notable);
      if (notable) QCOMPARE(ladder.first_notable(i), i);
    }
  }

  void ladder_clicks_and_keys_choose_packets() {
    const auto file = open(loss);
    QVERIFY(file);
    LadderView view;
    view.resize(900, 500);
    view.show();
    Ladder ladder;
    ladder.set(file.get(), file->followed(), 1);
    view.show_ladder(std::move(ladder));
    QSignalSpy chosen(&view, &LadderView::packetChosen);
    const auto click = [&](std::size_t step) {
      QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(400, qRound(view.step_y(step)) - 4));
      return chosen.isEmpty() ? 0 : chosen.takeLast()[0].toULongLong();
    };
    QCOMPARE(click(6), 7u);
    view.select(300);
    QVERIFY(chosen.isEmpty());
    QVERIFY(view.step_y(299) > 0 && view.step_y(299) < view.viewport()->height());
    QCOMPARE(click(299), 300u);
    const auto key = [&](Qt::Key k) {
      QTest::keyClick(&view, k);
      return chosen.isEmpty() ? 0 : chosen.takeLast()[0].toULongLong();
    };
    QCOMPARE(key(Qt::Key_Down), 301u);
    QCOMPARE(key(Qt::Key_Up), 300u);
    QCOMPARE(key(Qt::Key_End), quint64{file->index().size() - 1});
    QCOMPARE(key(Qt::Key_Home), 1u);
    QCOMPARE(key(Qt::Key_PageDown), 0u);
    QVERIFY(view.verticalScrollBar()->value() > 300);
    view.set_by_time(true);
    view.select(300);
    for (int i = 0; i < 20; ++i) key(Qt::Key_Plus);
    QVERIFY(view.scale().ns_per_pixel < 1000);
    QVERIFY(view.step_y(299) > 0 && view.step_y(299) < view.viewport()->height());
    QCOMPARE(click(299), 300u);
    for (int i = 0; i < 60; ++i) key(Qt::Key_Plus);
    QCOMPARE(view.scale().ns_per_pixel, 1.0);
    for (int i = 0; i < 90; ++i) key(Qt::Key_Minus);
    QCOMPARE(view.scale().ns_per_pixel, 1e9);
  }

  void ladder_is_saved() {
    const auto file = open(corrupt);
    QVERIFY(file);
    LadderView view;
    view.resize(900, 500);
    QVERIFY(!view.save("x.svg").isEmpty());  // nothing there yet
    Ladder ladder;
    ladder.set(file.get(), file->followed(), 1);
    const double height = ladder.height(view.scale());
    view.show_ladder(std::move(ladder));
    const QTemporaryDir folder;
    QCOMPARE(view.save(folder.filePath("all.png")), QString());
    QCOMPARE(view.save(folder.filePath("all.svg")), QString());
    QVERIFY(QImage(folder.filePath("all.png")).height() > height);
    QFile svg(folder.filePath("all.svg"));
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray content = svg.readAll();
    QVERIFY(content.contains("<svg"));
    QVERIFY(content.contains("NAK PSN Sequence Error"));
    QVERIFY(svg.copy(BUILD_DIR "/tests/gui/ladder.svg") || QFile::exists(BUILD_DIR "/tests/gui/ladder.svg"));
    QVERIFY(!view.save(folder.filePath("all.gif")).isEmpty());
    QVERIFY(!view.save(folder.filePath("no/such.svg")).isEmpty());
    QVERIFY(!view.save(folder.filePath("no/such.png")).isEmpty());
  }

  void ladder_of_a_million_paints_quickly() {
    const auto file = open(loss);
    QVERIFY(file);
    constexpr std::size_t count = 1'000'000;
    const auto followed = file->followed();
    std::vector<StepRow> steps(count);
    std::vector<std::int64_t> times(count);
    for (std::size_t i = 0; i < count; ++i) {
      steps[i] = followed->steps[i % followed->steps.size()];
      times[i] = file->first_ns() + static_cast<std::int64_t>(i) * 3000;
    }
    LadderView view;
    view.resize(1000, 800);
    view.show();
    Ladder ladder;
    QElapsedTimer building;
    building.start();
    ladder.build(file.get(), followed, std::move(steps), std::move(times), 1);
    qInfo("%lld ms to build, %zu rows", building.elapsed(), ladder.rows());
    view.show_ladder(std::move(ladder));
    for (const bool by_time : {false, true})
      for (const double zoom : {1.0, 1e-3, 1e3, 1e4}) {
        view.set_by_time(by_time);
        view.zoom(zoom);
        QPixmap picture(view.viewport()->size());
        QElapsedTimer timer;
        constexpr int places = 10;
        timer.start();
        for (int i = 0; i < places; ++i) {
          view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum() / places * i);
          view.viewport()->render(&picture);
        }
        const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6 / places;
        qInfo("%s, zoom %g: %.2f ms for a paint", by_time ? "by time" : "rows", zoom, ms);
        QVERIFY2(ms < 250, "a paint takes too long, even for a build with sanitizers");
      }
  }

  void empty_ladder_does_nothing() {
    LadderView empty;
    for (const Qt::Key key : {Qt::Key_Down, Qt::Key_End, Qt::Key_Plus}) QTest::keyClick(&empty, key);
    empty.set_by_time(true);
    empty.zoom(2);
    empty.select(5);
    QTest::mouseClick(empty.viewport(), Qt::LeftButton, {}, QPoint(50, 50));
    empty.grab();
  }

  void pictures_of_the_ladder() {
    const auto file = open(loss), damaged = open(corrupt);
    QVERIFY(file && damaged);
    for (const bool is_dark : {false, true}) {
      LadderView view;
      if (is_dark) view.setPalette(dark());
      view.resize(1000, 800);
      const QString shade = is_dark ? "dark" : "light";
      Ladder ladder;
      ladder.set(file.get(), file->followed(), 1);
      view.show_ladder(std::move(ladder));
      view.select(143);
      shoot(view, "ladder-rows-" + shade);
      view.select(328);
      shoot(view, "ladder-pause-" + shade);
      view.set_absolute(false);
      view.set_by_time(true);
      view.select(143);
      shoot(view, "ladder-time-far-" + shade);
      view.zoom(250);
      shoot(view, "ladder-time-near-" + shade);
      view.set_by_time(false);
      view.zoom(0.3);
      shoot(view, "ladder-small-" + shade);
      view.set_by_time(false);
      Ladder other;
      other.set(damaged.get(), damaged->followed(), 1);
      view.show_ladder(std::move(other));
      shoot(view, "ladder-nak-" + shade);
      if (is_dark) continue;
      const auto third = open(SOURCE_DIR "/samples/ud-send.pcap.zst");
      QVERIFY(third);
      Ladder datagrams;
      datagrams.set(third.get(), third->followed(), third->followed()->connections.back().id);
      view.set_absolute(true);
      view.show_ladder(std::move(datagrams), "No InfiniBand packets");
      shoot(view, "ladder-datagrams");
    }
  }
};

QTEST_MAIN(LadderTest)
#include "ladder_test.moc"
