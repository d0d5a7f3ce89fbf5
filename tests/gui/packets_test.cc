// The packet list, the field tree, bytes and filter, against what `rdmascope read` prints.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include <algorithm>

#include "gui/models/capture_file.h"
#include "gui/packets_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

class PacketsTest : public QObject {
  Q_OBJECT

 private slots:
  void listIsWhatTheToolPrints() {
    for (const QString& path : {loss, cdi}) {
      const auto file = open(path);
      PacketModel model;
      QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
      model.set_file(file.get());
      const QStringList columns = {"frame.number",     "frame.time_relative", "_ws.col.Source", "_ws.col.Destination",
                                   "_ws.col.Protocol", "frame.len",           "_ws.col.Info"};
      QStringList arguments = {"read", path, "-T", "fields"};
      for (const QString& c : columns) arguments << "-e" << c;
      const QStringList lines = tool(arguments).split('\n', Qt::SkipEmptyParts);
      QVERIFY(lines.size() > 10);
      QCOMPARE(model.rowCount(), static_cast<int>(lines.size()));
      for (int row = 0; row < model.rowCount(); ++row)
        QCOMPARE(model.line(row).split('\t').mid(0, columns.size()).join('\t'), lines[row]);
      model.set_file(nullptr);
    }
  }

  void treeIsWhatTheToolPrints() {
    const auto file = open(loss);
    FieldTree tree;
    QAbstractItemModelTester tester(&tree, QAbstractItemModelTester::FailureReportingMode::QtTest);
    // Times are of the reader's choice.
    const QStringList packets = tool({"read", loss, "-V"}).split("\n\n", Qt::SkipEmptyParts);
    QCOMPARE(static_cast<std::size_t>(packets.size()), file->index().size());
    for (int n = 0; n < packets.size(); n += 7) {
      tree.show(file.get(), static_cast<std::size_t>(n));
      QStringList lines;
      for (int i = 1; i < tree.rowCount(); ++i) {
        const QModelIndex heading = tree.index(i, 0);
        lines << heading.data().toString();
        for (int k = 0; k < tree.rowCount(heading); ++k) lines << "    " + tree.index(k, 0, heading).data().toString();
      }
      const QString text = packets[n];
      QVERIFY2(text.contains(lines.join('\n')), qPrintable(lines.join('\n') + "\n--- is not in ---\n" + text));
    }
  }

  void filterIsThatOfTheTool() {
    const auto file = open(loss);
    PacketModel model;
    model.set_file(file.get());
    for (const QString& filter : {QString("infiniband.bth.opcode == 14"), QString("rdmascope.finding"),
                                  QString("frame.number == 3 or frame.number > 40")}) {
      QSignalSpy changed(&model, &PacketModel::countChanged);
      QVERIFY(!model.set_filter(filter));
      QTRY_VERIFY_WITH_TIMEOUT(!model.is_filtering(), 20000);
      QCoreApplication::processEvents();
      QStringList frames;
      for (int row = 0; row < model.rowCount(); ++row) frames << QString::number(model.frame_of(row) + 1);
      QCOMPARE(frames.join('\n') + '\n', tool({"read", loss, "-T", "fields", "-e", "frame.number", "-Y", filter}));
    }
    const auto error = model.set_filter("infiniband.bth.psn ==");
    QVERIFY(error);
    model.set_file(nullptr);
  }

  void whatIsChosenInOneIsChosenInAll() {
    const auto file = open(loss);
    PacketsView view;
    view.resize(1200, 800);
    view.set_file(file.get());
    view.show();
    QVERIFY(view.go_to(5, "infiniband.bth.psn"));
    QCOMPARE(view.current(), quint64(5));
    const QModelIndex field = view.tree_view().currentIndex();
    QVERIFY(field.data().toString().startsWith("Packet Sequence Number"));
    const BitRange range = field.data(FieldTree::range).value<BitRange>();
    QCOMPARE(range.count, std::uint64_t(24));
    QCOMPARE(view.hex().chosen(), range);
    // And from the bytes to the field, with the mouse.
    const std::size_t opcode = range.first / 8 - 9;
    QTest::mouseClick(view.hex().viewport(), Qt::LeftButton, {}, view.hex().place_of(opcode).center());
    QVERIFY2(view.tree_view().currentIndex().data().toString().contains("Opcode"),
             qPrintable(view.tree_view().currentIndex().data().toString()));
    // A bit of a byte: the innermost field that has it.
    const QModelIndex solicited = view.tree().at_bit((opcode + 1) * 8);
    QVERIFY2(solicited.data().toString().contains("Solicited"), qPrintable(solicited.data().toString()));
    view.set_file(nullptr);
  }

  void relatedPacketsAreLinks() {
    const auto file = open(loss);
    PacketsView view;
    view.set_file(file.get());
    const QString first = tool({"read", loss, "-T", "fields", "-e", "frame.number", "-e", "infiniband.request_in", "-Y",
                                "infiniband.request_in"})
                              .section('\n', 0, 0);
    QVERIFY(view.go_to(first.section('\t', 0, 0).toULongLong()));
    const QModelIndex link = view.tree().at_field("infiniband.request_in");
    QVERIFY(link.isValid());
    QCOMPARE(link.data(FieldTree::frame).toString(), first.section('\t', 1, 1));
    emit view.tree_view().doubleClicked(link);
    QCOMPARE(QString::number(view.current()), first.section('\t', 1, 1));
    view.set_file(nullptr);
  }

  void filterBarSaysWhatIsWrong() {
    FilterBar bar;
    bar.show();
    bar.set_text("infiniband.bth.psn == 5");
    QVERIFY(bar.error().isEmpty());
    bar.set_text("infiniband.bth.psm == 5");
    QVERIFY2(bar.error().contains("infiniband.bth.psn"), qPrintable(bar.error()));
    QSignalSpy applied(&bar, &FilterBar::applied);
    bar.apply();
    QCOMPARE(applied.size(), 0);
    bar.set_text("ip");
    bar.apply();
    QCOMPARE(applied.size(), 1);
    QCOMPARE(bar.history(), QStringList{"ip"});
  }

  void findsTextBytesAndFilters() {
    const auto file = open(loss);
    PacketsView view;
    view.set_file(file.get());
    // The packet that was found; 0: none.
    const auto find = [&](FindIn where, const QString& what, bool backwards) -> quint64 {
      QSignalSpy done(&view, &PacketsView::findDone);
      const QString why = view.find(where, what, backwards);
      if (!why.isEmpty() || (done.isEmpty() && !done.wait(20'000))) return 0;
      return done[0][0].toBool() ? view.current() : 0;
    };
    QVERIFY(view.go_to(1));
    QCOMPARE(find(FindIn::text, "READ RESPONSE last", false), quint64(9));
    QCOMPARE(find(FindIn::text, "read request", true), quint64(1));
    QCOMPARE(find(FindIn::filter, "infiniband.bth.opcode == 14", false), quint64(3));
    QCOMPARE(find(FindIn::bytes, "12 B7", false), quint64(4));  // UDP port 4791
    QCOMPARE(find(FindIn::filter, "rdmascope.finding.rule == \"H-IMPLIED-NAK\"", false), quint64(36));
    QCOMPARE(find(FindIn::text, "no such words", false), quint64(0));
    QCOMPARE(view.current(), quint64(36));
    // Of the rows of the list only.
    view.set_filter("frame.number >= 100");
    QTRY_VERIFY_WITH_TIMEOUT(!view.model().is_filtering(), 20000);
    QCoreApplication::processEvents();
    QVERIFY(view.go_to(110));
    QCOMPARE(find(FindIn::bytes, "12b7", true), quint64(109));
    // Column that is hidden.
    QVERIFY(find(FindIn::text, "RoCEv2", true) == 108);
    view.list().setColumnHidden(PacketModel::protocol, true);
    QVERIFY(find(FindIn::text, "RoCEv2", true) == 0);
    // In words.
    QVERIFY(view.find(FindIn::filter, "infiniband.bth.psn ==", false).startsWith("At character"));
    QVERIFY(view.find(FindIn::bytes, "12b", false).contains("hex digits"));
    QVERIFY(!view.find(FindIn::text, " ", false).isEmpty());
    view.set_file(nullptr);
  }

  void searchIsCancelledAndShowsHowFarItIs() {
    const auto file = open(loss);
    PacketsView view;
    view.resize(900, 600);
    view.show();
    view.set_file(file.get());
    QVERIFY(view.go_to(1));
    QSignalSpy done(&view, &PacketsView::findDone);
    // Another search ends the one before, whatever that has found meanwhile.
    QCOMPARE(view.find(FindIn::text, "Response", false), QString());
    QCOMPARE(view.find(FindIn::filter, "frame.number == 200", false), QString());
    QTRY_COMPARE(view.current(), quint64(200));
    QCOMPARE(done.size(), 1);
    QCOMPARE(view.find(FindIn::text, "Response", true), QString());
    view.stop_finding();
    QVERIFY(!view.is_finding());
    QTest::qWait(50);
    QCOMPARE(done.size(), 1);
    QCOMPARE(view.current(), quint64(200));
    // A list of many rows: each of the twenty millions is frame 1.
    FindTask task{FindIn::text, "nothing of the kind",   false, -1, 200'000'000,
                  std::nullopt, view.model().row_form(), {}};
    task.where = FindIn::connection;
    task.frames = std::vector<std::uint32_t>(20'000'000);
    FindRun run(*file, std::move(task));
    QSignalSpy progressed(&run, &FindRun::progressed);
    run.start();
    QVERIFY(progressed.wait(10'000));
    QVERIFY(run.progress() > 0 && run.progress() < 1);
    view.set_file(nullptr);
  }

  void nextOfAConnectionAndOfMarks() {
    const auto file = open(corrupt);
    PacketsView view;
    view.set_file(file.get());
    QVERIFY(view.go_to(1));
    view.next_in_connection(false);
    QTRY_COMPARE(view.current(), quint64(2));
    for (const quint64 frame : {5, 9, 12}) {
      QVERIFY(view.go_to(frame));
      view.toggle_mark();
    }
    QVERIFY(view.go_to(7));
    view.next_marked(false);
    QCOMPARE(view.current(), quint64(9));
    view.next_marked(true);
    QCOMPARE(view.current(), quint64(5));
    view.next_marked(true);
    QCOMPARE(view.current(), quint64(5));
    view.set_filter("frame.number != 9");
    QTRY_VERIFY_WITH_TIMEOUT(!view.model().is_filtering(), 20000);
    QCoreApplication::processEvents();
    // What passes stays chosen; 9 does not pass.
    QCOMPARE(view.current(), quint64(5));
    view.next_marked(false);
    QCOMPARE(view.current(), quint64(12));
    view.next_marked(true);
    QCOMPARE(view.current(), quint64(5));
    view.set_file(nullptr);
  }

  void sortsByWhatTheIndexKnows() {
    const auto file = open(loss);
    PacketsView view;
    view.resize(1100, 700);
    view.show();
    PacketModel& model = view.model();
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    view.set_file(file.get());
    QHeaderView& header = *view.list().horizontalHeader();
    QSignalSpy sorted(&model, &PacketModel::sorted);
    // What is expected is sorted here, of what the tool prints: frame number, time, length.
    const auto expected = [](const QString& filter, int by, bool descending) {
      QStringList arguments = {"read", loss,       "-T", "fields", "-e", "frame.number", "-e", "frame.time_epoch",
                               "-e",   "frame.len"};
      if (!filter.isEmpty()) arguments << "-Y" << filter;
      QStringList lines = tool(arguments).split('\n', Qt::SkipEmptyParts);
      std::ranges::stable_sort(lines, [&](const QString& a, const QString& b) {
        const double x = a.split('\t')[by].toDouble(), y = b.split('\t')[by].toDouble();
        return descending ? x > y : x < y;
      });
      QStringList numbers;
      for (const QString& line : lines) numbers << line.split('\t')[0];
      return numbers;
    };
    const auto shown = [&] {
      QStringList numbers;
      for (int row = 0; row < model.rowCount(); ++row) numbers << QString::number(model.frame_of(row) + 1);
      return numbers;
    };
    QVERIFY(view.go_to(40));
    const auto click = [&](int column) {
      sorted.clear();
      emit header.sectionClicked(column);
      QTRY_COMPARE_WITH_TIMEOUT(sorted.size(), 1, 20000);
    };
    click(PacketModel::length);
    QCOMPARE(shown(), expected({}, 2, false));
    QCOMPARE(header.sortIndicatorSection(), static_cast<int>(PacketModel::length));
    QCOMPARE(view.current(), quint64(40));  // what is chosen stays chosen, and in sight
    QVERIFY(view.list().viewport()->rect().intersects(view.list().visualRect(view.list().currentIndex())));
    for (int row = 0; row < model.rowCount(); ++row) QCOMPARE(model.row_of(model.frame_of(row)), row);
    shoot(view, "packets-sorted");
    click(PacketModel::length);
    QCOMPARE(shown(), expected({}, 2, true));
    QCOMPARE(header.sortIndicatorOrder(), Qt::DescendingOrder);
    // A filter is sorted, too, and a search goes down the list as it is seen.
    sorted.clear();
    view.set_filter("infiniband.bth.opcode == 12 or infiniband.bth.opcode == 14");
    QTRY_VERIFY_WITH_TIMEOUT(!model.is_filtering() && !sorted.empty(), 20000);
    const QStringList filtered = expected("infiniband.bth.opcode == 12 or infiniband.bth.opcode == 14", 2, true);
    QTRY_COMPARE_WITH_TIMEOUT(shown(), filtered, 20000);
    view.list().setCurrentIndex(model.index(0, 0));
    QSignalSpy found(&view, &PacketsView::findDone);
    QCOMPARE(view.find(FindIn::filter, "infiniband.bth.opcode == 12", false), QString());
    QTRY_COMPARE_WITH_TIMEOUT(found.size(), 1, 20000);
    const quint64 first_request = expected("infiniband.bth.opcode == 12", 2, true)[0].toULongLong();
    QCOMPARE(view.current(), first_request);
    // Exported in the order of the capture all the same.
    QTemporaryDir folder;
    QCOMPARE(view.export_to(folder.filePath("out.pcapng")), QString());
    QCOMPARE(tool({"read", folder.filePath("out.pcapng"), "-T", "fields", "-e", "infiniband.bth.psn"}),
             tool({"read", loss, "-T", "fields", "-e", "infiniband.bth.psn", "-Y",
                   "infiniband.bth.opcode == 12 or infiniband.bth.opcode == 14"}));
    // As captured again; and a header that would need a look at each packet has no arrow.
    sorted.clear();
    view.set_filter({});
    QTRY_COMPARE_WITH_TIMEOUT(shown(), expected({}, 2, true), 20000);
    click(PacketModel::length);
    QCOMPARE(shown(), expected({}, 0, false));
    QCOMPARE(header.sortIndicatorSection(), -1);
    emit header.sectionClicked(PacketModel::info);
    QCOMPARE(header.sortIndicatorSection(), -1);
    QVERIFY(!model.sorting());
    click(PacketModel::number);
    click(PacketModel::number);
    QCOMPARE(shown(), expected({}, 0, true));
    click(PacketModel::time);
    QCOMPARE(shown(), expected({}, 1, false));
    view.set_file(nullptr);
  }

  void whatComesWhileItIsSortedIsSortedInTheEnd() {
    PacketModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.sort_by(PacketModel::Sorting{PacketModel::number, true});
    CaptureFile file(loss);
    model.set_file(&file);
    file.start();
    QTRY_VERIFY_WITH_TIMEOUT(
        !file.reading() && model.rowCount() > 0 && model.frame_of(0) + 1 == static_cast<std::size_t>(model.rowCount()),
        20000);
    QCOMPARE(model.frame_of(model.rowCount() - 1), std::size_t{0});
    model.set_file(nullptr);
  }

  void copiesTheJsonOfTheTool() {
    const auto file = open(loss);
    PacketsView view;
    view.set_file(file.get());
    QVERIFY(view.go_to(36));
    view.copy_json();
    const QString copied = QApplication::clipboard()->text();
    QVERIFY(copied.contains("\"frame\":"));
    QCOMPARE(copied, tool({"read", loss, "-T", "ndjson", "--analysis", "always", "-Y", "frame.number == 36"}));
    view.set_file(nullptr);
  }

  void exportedPacketsAreThoseOfTheList() {
    const auto file = open(loss);
    QTemporaryDir folder;
    PacketsView view;
    view.set_file(file.get());
    view.set_filter("infiniband.bth.opcode == 12");
    QTRY_VERIFY_WITH_TIMEOUT(!view.model().is_filtering(), 20000);
    QCoreApplication::processEvents();
    const QString out = folder.filePath("out.pcapng");
    QCOMPARE(view.export_to(out), QString());
    QCOMPARE(tool({"read", out, "-T", "fields", "-e", "infiniband.bth.psn"}),
             tool({"read", loss, "-T", "fields", "-e", "infiniband.bth.psn", "-Y", "infiniband.bth.opcode == 12"}));
    QVERIFY(view.export_to("/nowhere/out.pcapng").contains("/nowhere/out.pcapng"));
    view.set_file(nullptr);
  }

  void whatCannotBeOpenedIsSaid() {
    CaptureFile missing("/no/such/file.pcap");
    QSignalSpy failed(&missing, &CaptureFile::failed);
    missing.start();
    QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 10000);
    QVERIFY2(failed[0][0].toString().contains("/no/such/file.pcap"), qPrintable(failed[0][0].toString()));
    // Cut in the middle: what stands before is shown.
    QTemporaryDir folder;
    const QString cut = folder.filePath("cut.pcapng");
    QFile whole(cdi), part(cut);
    QVERIFY(whole.open(QIODevice::ReadOnly) && part.open(QIODevice::WriteOnly));
    part.write(whole.readAll().left(2000));
    part.close();
    CaptureFile corrupt(cut);
    QSignalSpy also(&corrupt, &CaptureFile::failed), done(&corrupt, &CaptureFile::indexed);
    corrupt.start();
    QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 10000);
    QTRY_COMPARE_WITH_TIMEOUT(also.size(), 1, 10000);
    QVERIFY(corrupt.index().size() > 2 && corrupt.index().size() < 14);
    // Deleted while it is open: its bytes stay.
    QVERIFY(QFile::remove(cut));
    PacketModel model;
    model.set_file(&corrupt);
    QVERIFY(model.line(0).contains("Reset"));
    model.set_file(nullptr);
  }
};

QTEST_MAIN(PacketsTest)
#include "packets_test.moc"
