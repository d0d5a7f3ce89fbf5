// Conformance tests that run: the tool plays them and tells what happens; here it becomes cases with their events.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QStringList>

#include <deque>
#include <vector>

#include "replay/report.h"

namespace rdmascope::gui {

struct TestEvent {
  using Kind = replay::Event::Kind;
  Kind kind = Kind::step;
  bool good = true;
  int line = 0;        // of the script; 0: none
  qint64 time_ns = 0;  // since the script began
  quint64 frame = 0;   // in the recording, of those of its script; 0: none
  QString text;
};

// Verdicts that the tool does not give: of a script whose parts have them, and of a test that was not brought to an
// end.
inline const QString in_parts = "in parts", broken_off = "broken off";

// A verdict, or a test that still runs.
struct TestCase {
  QString id, title, script;
  QStringList covers;
  QString verdict;  // "passed", as the tool says it; empty: it runs
  QString message;
  QStringList details;
  std::vector<TestEvent> events;

  bool is_bad() const { return verdict == "failed" || verdict == "error"; }
};

// Which device, over which wire, and how; as the options of `rdmascope test`. Empty and 0: as usual.
struct BenchChoice {
  QString dut = "model", wire, token_file;
  bool roce_v1 = false, destructive = false, sampled = false;
  int repeat = 1, seed = 1;
  double timeout_factor = 1;

  QStringList arguments() const;
  void save() const;  // for the next time (QSettings)
  static BenchChoice saved();
};

class TestRun final : public QObject {
  Q_OBJECT

 public:
  // `scripts`: ids, files or areas; none: the suite.
  TestRun(const BenchChoice& bench, const QStringList& scripts, QObject* parent = nullptr);
  ~TestRun() override;  // ends it

  void start();
  void stop();  // the test that runs is broken off
  bool running() const { return running_; }
  const std::deque<TestCase>& cases() const { return cases_; }  // in the order they began; they stay where they are
  int find(const QString& id) const;                            // the last one of this id; -1: none
  const QString& summary() const { return summary_; }           // "12 tests: 10 passed, 2 failed"; empty: not yet
  const QStringList& log() const { return log_; }               // what the tool said besides, a line each
  // Files that the run has made, in a folder that goes with it.
  QString recording() const { return folder_ + "/recording.pcapng"; }
  // ".xml" is JUnit; ".json", ".html", ".tap", ".txt" as well.
  QString report(const QString& ending) const { return folder_ + "/report" + ending; }
  static QStringList report_endings() { return {".html", ".xml", ".json", ".tap", ".txt"}; }
  QStringList arguments() const { return arguments_; }  // as people would type them: without files of our own

 signals:
  void caseChanged(int index);  // began, or has its verdict
  void eventHeard(int index);   // one more at the end of its events
  void progressed(quint64 done, quint64 total);
  void logged(const QString& line);
  void ended(const QString& error);  // empty: as it should, whatever the verdicts

 private:
  void read();
  void take(const QJsonObject& said);
  void settle();
  void end(int status, bool crashed);

  QStringList arguments_, log_;
  QString folder_, summary_;
  QProcess process_;
  QByteArray rest_, error_rest_;
  std::deque<TestCase> cases_;
  bool running_ = false;
};

// One line of --list -T json, or of --list-mutants.
struct ListedScript {
  QString id, title, script, file, node;
  QStringList covers;
};
struct ListedMutant {
  QString name, breaks, what, model;
};
// What the tool lists. On an error `why` has a sentence.
std::vector<ListedScript> list_scripts(QString& why);
std::vector<ListedMutant> list_mutants(QString& why);

}  // namespace rdmascope::gui
