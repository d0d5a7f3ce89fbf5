#include "gui/models/test_run.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>

#include <algorithm>

#include "gui/models/kept.h"
#include "gui/models/tool.h"

namespace rdmascope::gui {
namespace {

constexpr int list_patience_ms = 20'000;
constexpr qsizetype most_log_lines = 5000;

TestEvent event_of(const QJsonObject& said) {
  TestEvent out;
  const auto* const kind = std::ranges::find(replay::Event::kinds, said["kind"].toString().toStdString());
  if (kind != std::end(replay::Event::kinds)) out.kind = static_cast<TestEvent::Kind>(kind - replay::Event::kinds);
  out.good = said["good"].toBool(true);
  out.line = said["line"].toInt();
  out.time_ns = static_cast<qint64>(said["time_ns"].toDouble());
  out.frame = static_cast<quint64>(said["frame"].toDouble());
  out.text = said["text"].toString();
  return out;
}

QStringList words_of(const QJsonValue& list) {
  QStringList out;
  for (const QJsonValue& item : list.toArray()) out << item.toString();
  return out;
}

TestCase case_of(const QJsonObject& said) {
  TestCase out;
  out.id = said["id"].toString();
  out.title = said["title"].toString();
  out.script = said["script"].toString();
  out.covers = words_of(said["covers"]);
  out.verdict = said["verdict"].toString();
  out.message = said["message"].toString();
  out.details = words_of(said["details"]);
  for (const QJsonValue& event : said["steps"].toArray()) out.events.push_back(event_of(event.toObject()));
  return out;
}

// The objects that the tool lists.
QJsonArray listed(const QStringList& arguments, QString& why) {
  const QString tool = tool_path();
  why = tool.isEmpty() ? no_tool() : QString();
  if (!why.isEmpty()) return {};
  QProcess process;
  process.start(tool, arguments, QIODevice::ReadOnly);
  if (!process.waitForFinished(list_patience_ms) || process.exitStatus() != QProcess::NormalExit) {
    why = QObject::tr("%1 does not answer: %2").arg(as_typed(arguments), process.errorString());
    end_process(process);
    return {};
  }
  if (process.exitCode() != 0)
    why = without_name(QString::fromUtf8(process.readAllStandardError()).section('\n', 0, 0));
  return QJsonDocument::fromJson(process.readAllStandardOutput()).array();
}

}  // namespace

// --- The bench -------------------------------------------------------------------------------------------------------

template <class Choice, class Do>
static void each_choice(Choice& c, const Do& what) {
  what("dut", c.dut);
  what("wire", c.wire);
  what("token_file", c.token_file);
  what("roce_v1", c.roce_v1);
  what("destructive", c.destructive);
  what("sampled", c.sampled);
  what("repeat", c.repeat);
  what("seed", c.seed);
  what("timeout_factor", c.timeout_factor);
}

QStringList BenchChoice::arguments() const {
  const BenchChoice usual;
  QStringList out{"--dut", dut};
  if (!wire.isEmpty()) out << "--wire" << wire;
  if (!token_file.isEmpty()) out << "--token-file" << token_file;
  if (roce_v1)
    out << "--roce"
        << "v1";
  if (destructive) out << "--destructive";
  if (sampled) out << "--sampled";
  if (repeat != usual.repeat) out << "--repeat" << QString::number(repeat);
  if (seed != usual.seed) out << "--seed" << QString::number(seed);
  if (timeout_factor != usual.timeout_factor) out << "--timeout-factor" << QString::number(timeout_factor);
  return out;
}

void BenchChoice::save() const { keep("tester", *this); }
BenchChoice BenchChoice::saved() { return kept<BenchChoice>("tester"); }

// --- The run ---------------------------------------------------------------------------------------------------------

TestRun::TestRun(const BenchChoice& bench, const QStringList& scripts, QObject* parent)
    : QObject(parent), arguments_(QStringList{"test"} + scripts + bench.arguments()) {
  connect(&process_, &QProcess::readyReadStandardOutput, this, &TestRun::read);
  connect(&process_, &QProcess::readyReadStandardError, this, &TestRun::read);
  connect(&process_, &QProcess::finished, this,
          [this](int status, QProcess::ExitStatus how) { end(status, how == QProcess::CrashExit); });
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    running_ = false;
    emit ended(tr("cannot start %1: %2").arg(process_.program(), process_.errorString()));
  });
  process_.setStandardInputFile(QProcess::nullDevice());
}

TestRun::~TestRun() {
  process_.disconnect(this);
  end_process(process_);
  if (!folder_.isEmpty()) QDir(folder_).removeRecursively();
}

void TestRun::start() {
  const QString tool = tool_path();
  if (tool.isEmpty()) return emit ended(no_tool());
  QTemporaryDir folder(QDir::tempPath() + "/rdmascope-test-XXXXXX");
  if (!folder.isValid()) return emit ended(tr("no folder can be made in %1 for the recording").arg(QDir::tempPath()));
  folder.setAutoRemove(false);
  folder_ = folder.path();
  QStringList arguments = arguments_ + QStringList{"-T", "ndjson", "--record", recording()};
  for (const QString& ending : report_endings()) arguments << "--report" << report(ending);
  running_ = true;
  process_.start(tool, arguments, QIODevice::ReadOnly);
}

void TestRun::stop() {
  if (process_.state() != QProcess::NotRunning) process_.terminate();
}

int TestRun::find(const QString& id) const {
  for (std::size_t i = cases_.size(); i-- > 0;)
    if (cases_[i].id == id) return static_cast<int>(i);
  return -1;
}

void TestRun::read() {
  rest_ += process_.readAllStandardOutput();
  for (const QByteArray& line : whole_lines(rest_)) take(QJsonDocument::fromJson(line).object());
  error_rest_ += process_.readAllStandardError();
  for (const QByteArray& line : whole_lines(error_rest_)) {
    if (log_.size() >= most_log_lines) log_.removeFirst();
    log_ << without_name(QString::fromUtf8(line));
    emit logged(log_.last());
  }
}

void TestRun::take(const QJsonObject& said) {
  if (const QJsonValue begins = said["begins"]; begins.isObject()) {
    if (!begins["id"].toString().contains('/')) settle();
    TestCase fresh;
    fresh.id = begins["id"].toString();
    fresh.script = begins["script"].toString();
    cases_.push_back(std::move(fresh));
    emit caseChanged(static_cast<int>(cases_.size()) - 1);
  } else if (const QJsonValue event = said["event"]; event.isObject()) {
    if (cases_.empty()) return;
    cases_.back().events.push_back(event_of(event.toObject()));
    emit eventHeard(static_cast<int>(cases_.size()) - 1);
  } else if (const QJsonValue verdict = said["verdict"]; verdict.isObject()) {
    TestCase ended = case_of(verdict.toObject());
    int index = find(ended.id);
    if (index < 0 || !cases_[static_cast<std::size_t>(index)].verdict.isEmpty()) {
      cases_.emplace_back();
      index = static_cast<int>(cases_.size()) - 1;
    }
    cases_[static_cast<std::size_t>(index)] = std::move(ended);
    emit caseChanged(index);
  } else if (const QJsonValue progress = said["progress"]; progress.isObject()) {
    emit progressed(static_cast<quint64>(progress["done"].toDouble()),
                    static_cast<quint64>(progress["total"].toDouble()));
  } else if (said.contains("summary")) {
    summary_ = said["summary"].toString();
  }
}

// A script of parts has no verdict of its own; one that was broken off has none either.
void TestRun::settle() {
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    if (!cases_[i].verdict.isEmpty()) continue;
    const bool has_parts = std::ranges::any_of(cases_, [&](const TestCase& other) {
      return other.id.startsWith(cases_[i].id + "/") && !other.verdict.isEmpty();
    });
    cases_[i].verdict = has_parts ? in_parts : broken_off;
    emit caseChanged(static_cast<int>(i));
  }
}

void TestRun::end(int status, bool crashed) {
  read();
  settle();
  running_ = false;
  // 1: tests have failed, which is a result.
  if (crashed) return emit ended(tr("The tester was ended before it was done"));
  if (status <= 1 || !summary_.isEmpty()) return emit ended({});
  emit ended(log_.isEmpty() ? tr("The tester ended without a word, with status %1").arg(status) : log_.last());
}

// --- Lists -----------------------------------------------------------------------------------------------------------

std::vector<ListedScript> list_scripts(QString& why) {
  std::vector<ListedScript> out;
  for (const QJsonValue& item : listed({"test", "--list", "-T", "json"}, why))
    out.push_back({item["id"].toString(), item["title"].toString(), item["script"].toString(), item["file"].toString(),
                   item["node"].toString(), words_of(item["covers"])});
  return out;
}

std::vector<ListedMutant> list_mutants(QString& why) {
  std::vector<ListedMutant> out;
  for (const QJsonValue& item : listed({"test", "--list-mutants", "-T", "json"}, why))
    out.push_back(
        {item["name"].toString(), item["breaks"].toString(), item["what"].toString(), item["model"].toString()});
  return out;
}

}  // namespace rdmascope::gui
