// The packet list, the field tree, bytes and filter, against what `rdmascope read` prints.
#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QProcess>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include "gui/models/capture_file.h"
#include "gui/packets_view.h"
#include "tests/gui/opened.h"

using namespace rdmascope::gui;

namespace {

QString tool(const QStringList& arguments) {
  QProcess process;
  process.setProcessEnvironment([] {
    QProcessEnvironment e = QProcessEnvironment::systemEnvironment();
    e.insert("TZ", "UTC");
    e.insert("LC_ALL", "C.UTF-8");
    return e;
  }());
  process.start(BUILD_DIR "/cli/rdmascope", arguments);
  process.waitForFinished(60000);
  return QString::fromUtf8(process.readAllStandardOutput());
}

}  // namespace

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
    QVERIFY(view.go_to(1));
    QVERIFY(view.find(FindIn::text, "acknowledge", false) || view.find(FindIn::text, "response", false));
    QVERIFY(view.current() > 1);
    QVERIFY(view.go_to(1));
    QVERIFY(view.find(FindIn::filter, "infiniband.bth.opcode == 14", false));
    const quint64 last = view.current();
    QVERIFY(view.find(FindIn::bytes, "12b7", false));  // UDP port 4791
    QCOMPARE(view.current(), last + 1);
    QVERIFY(!view.find(FindIn::text, "no such words", false));
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
