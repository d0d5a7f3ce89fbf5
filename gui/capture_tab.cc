#include "gui/capture_tab.h"

#include <QDir>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryFile>
#include <QTimer>
#include <QVBoxLayout>
#include <QtConcurrent>

#include "gui/capture_bar.h"
#include "gui/columns_dialog.h"
#include "gui/completions_view.h"
#include "gui/connections_view.h"
#include "gui/findings_view.h"
#include "gui/graphs_view.h"
#include "gui/models/capture_file.h"
#include "gui/models/capture_run.h"
#include "gui/packets_view.h"

namespace rdmascope::gui {

CaptureTab::CaptureTab(QWidget* parent)
    : QWidget(parent),
      error_bar_(new QWidget),
      error_(new QLabel),
      bar_(new CaptureBar),
      views_(new QTabWidget),
      packets_(new PacketsView),
      connections_(new ConnectionsView),
      findings_(new FindingsView),
      graphs_(new GraphsView),
      completions_(new CompletionsView) {
  views_->setDocumentMode(true);
  views_->setTabPosition(QTabWidget::South);
  views_->addTab(packets_, tr("&Packets"));
  views_->addTab(connections_, tr("Co&nnections"));
  views_->addTab(findings_, tr("&Findings"));
  views_->addTab(graphs_, tr("&Graphs"));
  views_->setTabVisible(views_->addTab(completions_, tr("C&ompletions")), false);
  auto* const all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  all->addWidget(make_error_bar());
  all->addWidget(bar_);
  all->addWidget(views_);

  connect(packets_, &PacketsView::countChanged, this, &CaptureTab::statusChanged);
  connect(packets_, &PacketsView::currentChanged, this, &CaptureTab::statusChanged);
  connect(packets_, &PacketsView::columnsWanted, this, [this] { ColumnsDialog(this).exec(); });
  connect(packets_, &PacketsView::currentChanged, connections_, &ConnectionsView::select);
  connect(packets_, &PacketsView::currentChanged, findings_, &FindingsView::select);
  connect(packets_, &PacketsView::currentChanged, graphs_, &GraphsView::select);
  connect(packets_, &PacketsView::currentChanged, completions_, &CompletionsView::select);
  connect(completions_, &CompletionsView::anyChanged, this,
          [this] { views_->setTabVisible(views_->indexOf(completions_), completions_->any()); });
  connect(connections_, &ConnectionsView::packetChosen, this, [this](quint64 frame) { go_to(frame); });
  const auto show_filtered = [this](const QString& text) {
    packets_->set_filter(text);
    views_->setCurrentWidget(packets_);
  };
  connect(connections_, &ConnectionsView::filterWanted, this, show_filtered);
  connect(findings_, &FindingsView::packetChosen, this, &CaptureTab::go_to);
  connect(findings_, &FindingsView::filterWanted, this, show_filtered);
  connect(graphs_, &GraphsView::filterWanted, this, show_filtered);
  connect(completions_, &CompletionsView::packetChosen, this, [this](quint64 frame) { go_to(frame); });
  connect(completions_, &CompletionsView::filterWanted, this, show_filtered);
  findings_->set_verdict_shown(false);

  connect(bar_, &CaptureBar::stopWanted, this, &CaptureTab::stop_capture);
  connect(bar_, &CaptureBar::restartWanted, this, &CaptureTab::restart_capture);
  connect(bar_, &CaptureBar::fileWanted, this, &CaptureTab::fileWanted);
  connect(bar_, &CaptureBar::followsChanged, this, &CaptureTab::follow_newest);
  connect(&packets_->model(), &QAbstractItemModel::rowsInserted, this, &CaptureTab::follow_newest);
  connect(&look_, &QTimer::timeout, this, [this] {
    if (!file_ || told_cut_ || !file_->was_cut()) return;
    told_cut_ = true;
    show_error(tr("%1 was made shorter by another program while it is shown: packets behind that place read as zeros, "
                  "and what is "
                  "said of them is not true. Open it again.")
                   .arg(file_->path()));
  });
  look_.start(1000);
  // Who scrolls up wants to read; who scrolls to the end, to follow.
  QScrollBar* const scrolled = packets_->list().verticalScrollBar();
  connect(scrolled, &QScrollBar::actionTriggered, this, [this, scrolled] {
    if (is_capturing()) bar_->set_follows(scrolled->sliderPosition() >= scrolled->maximum());
  });
}

CaptureTab::~CaptureTab() {
  const bool kept = finish_saving().isEmpty() || saved_;
  run_.reset();
  set_file(nullptr);
  // What could not be saved stays where it is.
  if (!own_file_.isEmpty() && kept) QFile::remove(own_file_);
}

QWidget* CaptureTab::make_error_bar() {
  auto* const bar = new QHBoxLayout(error_bar_);
  error_->setWordWrap(true);
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* const close = new QPushButton(tr("Close"));
  bar->addWidget(error_, 1);
  bar->addWidget(close);
  bar->setContentsMargins(8, 4, 8, 4);
  error_bar_->setAutoFillBackground(true);
  error_bar_->setStyleSheet("QWidget { background: #7a1f1f; color: white; } QPushButton { padding: 2px 10px; }");
  error_bar_->hide();
  connect(close, &QPushButton::clicked, error_bar_, &QWidget::hide);
  return error_bar_;
}

// --- The file --------------------------------------------------------------------------------------------------------

void CaptureTab::set_file(std::unique_ptr<CaptureFile> file) {
  // Views let go before the file goes.
  const auto hand_to_views = [this](CaptureFile* shown) {
    packets_->set_file(shown);
    connections_->set_file(shown);
    findings_->set_file(shown);
    graphs_->set_file(shown);
    completions_->set_file(shown);
  };
  hand_to_views(nullptr);
  file_ = std::move(file);
  told_cut_ = false;
  if (!file_) return;
  connect(file_.get(), &CaptureFile::failed, this, &CaptureTab::show_error, Qt::QueuedConnection);
  for (const auto signal : {&CaptureFile::grown, &CaptureFile::indexed, &CaptureFile::followed_up})
    connect(file_.get(), signal, this, &CaptureTab::statusChanged, Qt::QueuedConnection);
  hand_to_views(file_.get());
  file_->start();
  emit titleChanged();
}

void CaptureTab::open(const QString& path) { set_file(std::make_unique<CaptureFile>(path)); }

void CaptureTab::open_copy(const QString& path, const QString& title) {
  if (!make_own_file()) return;
  QFile::remove(own_file_);
  QFile original(path);
  if (!original.copy(own_file_)) return show_error(tr("cannot copy %1: %2").arg(path, original.errorString()));
  own_title_ = title;
  open(own_file_);
}

bool CaptureTab::make_own_file() {
  QTemporaryFile file(QDir::tempPath() + "/rdmascope-XXXXXX.pcapng");
  file.setAutoRemove(false);
  if (!file.open()) {
    show_error(tr("no file can be made in %1: %2").arg(QDir::tempPath(), file.errorString()));
    return false;
  }
  own_file_ = file.fileName();
  return true;
}

// --- Live ------------------------------------------------------------------------------------------------------------

void CaptureTab::capture(const CaptureChoice& choice) {
  run_.reset();
  set_file(nullptr);
  error_bar_->hide();
  if (!own_file_.isEmpty()) QFile::remove(own_file_);
  own_file_.clear();
  saved_ = false;
  choice_ = choice;
  QString path = choice.file;
  if (path.isEmpty()) {
    if (!make_own_file()) return;
    path = own_file_;
    own_title_ = tr("Captured on %1").arg(choice.interfaces.join(", "));
  }
  run_ = std::make_unique<CaptureRun>(choice.arguments(path));
  // The next one of a ring takes the place of the one before.
  connect(run_.get(), &CaptureRun::fileBegun, this,
          [this](const QString& begun) { set_file(std::make_unique<CaptureFile>(begun, CaptureFile::Growth::grows)); });
  connect(run_.get(), &CaptureRun::statusChanged, this, &CaptureTab::statusChanged);
  connect(run_.get(), &CaptureRun::ended, this, [this](const QString& error) {
    if (file_) file_->finish();
    if (!error.isEmpty()) show_error(error);
    emit titleChanged();
    emit statusChanged();
  });
  bar_->set_run(run_.get());
  bar_->set_follows(true);
  run_->start();
  emit titleChanged();
  emit statusChanged();
}

void CaptureTab::stop_capture() {
  if (run_) run_->stop();
}

void CaptureTab::stop_and_wait() {
  if (run_) run_->stop_and_wait();
}

void CaptureTab::restart_capture() {
  if (choice_) capture(CaptureChoice(*choice_));
}

bool CaptureTab::is_capturing() const { return run_ && run_->running(); }

bool CaptureTab::is_unsaved() const { return !own_file_.isEmpty() && !saved_ && file_ && file_->index().size() > 0; }

void CaptureTab::follow_newest() {
  if (is_capturing() && bar_->follows()) packets_->list().scrollToBottom();
}

QString CaptureTab::save_as(const QString& path) {
  if (!file_) return tr("there is nothing to save");
  if (is_capturing()) return tr("the capture still goes on; stop it first");
  if (QFileInfo(path) == QFileInfo(file_->path()))
    return tr("%1 is the file that is shown; choose another name").arg(path);
  const QString from = file_->path();
  auto* const watcher = new QFutureWatcher<QString>(this);
  connect(watcher, &QFutureWatcher<QString>::finished, this, [this, watcher, path] {
    watcher->deleteLater();
    const QString error = watcher->result();
    if (!error.isEmpty()) return show_error(tr("cannot save to %1: %2").arg(path, error));
    saved_ = true;
    emit savedAs(path);
    emit statusChanged();
  });
  saving_ = QtConcurrent::run([from, path]() -> QString {
    QFile::remove(path);
    QFile source(from);
    if (source.copy(path)) return {};
    return source.errorString();
  });
  watcher->setFuture(saving_);
  return {};
}

QString CaptureTab::finish_saving() {
  if (!saving_.isValid()) return {};
  saving_.waitForFinished();
  return saving_.result();
}

// --- What is shown ---------------------------------------------------------------------------------------------------

QString CaptureTab::title() const {
  if (is_capturing()) return tr("Capturing on %1").arg(choice_->interfaces.join(", "));
  if (!own_file_.isEmpty()) return own_title_;
  return file_ ? QFileInfo(file_->path()).fileName() : tr("Capture");
}

QString CaptureTab::error() const { return error_bar_->isHidden() ? QString() : error_->text(); }

void CaptureTab::show_error(const QString& why) {
  error_->setText(why);
  error_bar_->show();
  emit statusChanged();
}

QString CaptureTab::status() const {
  if (!file_) return {};
  const qulonglong all = file_->index().size();
  const PacketModel& model = packets_->model();
  QString out = tr("%L1 packets").arg(all);
  if (model.is_filtered()) out += tr(", %L1 shown").arg(model.rowCount());
  if (!model.marks().empty()) out += tr(", %L1 marked").arg(model.marks().size());
  if (packets_->current() > 0) out += tr(", at %L1").arg(packets_->current());
  if (is_capturing())
    out += tr(", capturing");
  else if (file_->reading())
    out += tr(", reading");
  if (file_->following() && !is_capturing()) out += tr(", following the connections");
  if (model.is_filtering() && !is_capturing()) out += tr(", filtering");
  return out;
}

QString CaptureTab::verdict() const {
  const std::shared_ptr<const Followed> known = file_ ? file_->followed() : nullptr;
  if (!known) return {};
  const QString sentence = QString::fromStdString(known->verdict);
  if (known->frames == file_->index().size() && !is_capturing()) return sentence;
  return tr("%1 (so far: the first %L2 packets)").arg(sentence).arg(static_cast<qulonglong>(known->frames));
}

// Where a filter hides the packet, the filter goes: who clicks wants to see it.
void CaptureTab::go_to(quint64 frame, const QString& field) {
  views_->setCurrentWidget(packets_);
  bar_->set_follows(false);
  if (packets_->go_to(frame, field)) return;
  packets_->set_filter({});
  packets_->go_to(frame, field);
}

}  // namespace rdmascope::gui
