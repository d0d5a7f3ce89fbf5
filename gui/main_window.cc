#include "gui/main_window.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QStatusBar>
#include <QStyle>
#include <QTabWidget>
#include <QTableView>
#include <QUrl>
#include <QVBoxLayout>

#include "capture/writer.h"
#include "gui/colours_dialog.h"
#include "gui/columns_dialog.h"
#include "gui/completions_view.h"
#include "gui/connections_view.h"
#include "gui/findings_view.h"
#include "gui/graphs_view.h"
#include "gui/models/capture_file.h"
#include "gui/packets_view.h"

namespace rdmascope::gui {
namespace {

constexpr int most_recent = 10, message_ms = 4000;

}  // namespace

// --- A capture -------------------------------------------------------------------------------------------------------

CaptureTab::CaptureTab(const QString& path, QWidget* parent)
    : QWidget(parent),
      file_(std::make_unique<CaptureFile>(path)),
      error_bar_(new QWidget),
      error_(new QLabel),
      views_(new QTabWidget),
      packets_(new PacketsView),
      connections_(new ConnectionsView),
      findings_(new FindingsView),
      graphs_(new GraphsView),
      completions_(new CompletionsView) {
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
  all->addWidget(error_bar_);
  all->addWidget(views_);

  connect(file_.get(), &CaptureFile::failed, this, &CaptureTab::show_error, Qt::QueuedConnection);
  for (const auto signal : {&CaptureFile::grown, &CaptureFile::indexed, &CaptureFile::followed_up})
    connect(file_.get(), signal, this, &CaptureTab::statusChanged, Qt::QueuedConnection);
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
  packets_->set_file(file_.get());
  connections_->set_file(file_.get());
  findings_->set_file(file_.get());
  graphs_->set_file(file_.get());
  completions_->set_file(file_.get());
  file_->start();
}

CaptureTab::~CaptureTab() {
  // Views let go before the file goes.
  packets_->set_file(nullptr);
  connections_->set_file(nullptr);
  findings_->set_file(nullptr);
  graphs_->set_file(nullptr);
  completions_->set_file(nullptr);
}

QString CaptureTab::error() const { return error_bar_->isHidden() ? QString() : error_->text(); }

void CaptureTab::show_error(const QString& why) {
  error_->setText(why);
  error_bar_->show();
  emit statusChanged();
}

QString CaptureTab::status() const {
  const qulonglong all = file_->index().size();
  const PacketModel& model = packets_->model();
  QString out = tr("%L1 packets").arg(all);
  if (model.is_filtered()) out += tr(", %L1 shown").arg(model.rowCount());
  if (!model.marks().empty()) out += tr(", %L1 marked").arg(model.marks().size());
  if (packets_->current() > 0) out += tr(", at %L1").arg(packets_->current());
  if (file_->reading()) out += tr(", reading");
  if (file_->following()) out += tr(", following the connections");
  if (model.is_filtering()) out += tr(", filtering");
  return out;
}

QString CaptureTab::verdict() const {
  const std::shared_ptr<const Followed> known = file_->followed();
  return known ? QString::fromStdString(known->verdict) : QString();
}

// Where a filter hides the packet, the filter goes: who clicks wants to see it.
void CaptureTab::go_to(quint64 frame, const QString& field) {
  views_->setCurrentWidget(packets_);
  if (packets_->go_to(frame, field)) return;
  packets_->set_filter({});
  packets_->go_to(frame, field);
}

// --- The window ------------------------------------------------------------------------------------------------------

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      tabs_(new QTabWidget),
      recent_(nullptr),
      verdict_(new QLabel),
      status_(new QLabel),
      progress_(new QProgressBar) {
  setWindowTitle("rdmascope");
  setAcceptDrops(true);
  tabs_->setTabsClosable(true);
  tabs_->setMovable(true);
  tabs_->setDocumentMode(true);
  auto* const center = new QWidget;
  auto* const all = new QVBoxLayout(center);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  verdict_->setMargin(4);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  verdict_->hide();
  all->addWidget(verdict_);
  all->addWidget(tabs_);
  setCentralWidget(center);
  progress_->setMaximumWidth(160);
  progress_->setRange(0, 1000);
  progress_->hide();
  statusBar()->addWidget(status_, 1);
  statusBar()->addPermanentWidget(progress_);
  make_menus();
  connect(tabs_, &QTabWidget::currentChanged, this, &MainWindow::show_status);
  connect(tabs_, &QTabWidget::tabCloseRequested, this, [this](int index) {
    QWidget* const tab = tabs_->widget(index);
    tabs_->removeTab(index);
    delete tab;
    show_status();
  });
  const QSettings settings;
  if (!restoreGeometry(settings.value("window/geometry").toByteArray())) resize(1280, 800);
  restoreState(settings.value("window/state").toByteArray());
  show_status();
}

MainWindow::~MainWindow() {
  while (tabs_->count() > 0) delete tabs_->widget(0);
}

CaptureTab* MainWindow::current() const { return qobject_cast<CaptureTab*>(tabs_->currentWidget()); }
int MainWindow::count() const { return tabs_->count(); }
bool MainWindow::is_dark() const { return palette().color(QPalette::Base).lightness() < 128; }

CaptureTab* MainWindow::open(const QString& path) {
  auto* const tab = new CaptureTab(path);
  tab->packets().set_dark(is_dark());
  tab->packets().filter_bar().set_history(QSettings().value("filter/history").toStringList());
  connect(tab, &CaptureTab::statusChanged, this, &MainWindow::show_status);
  connect(&tab->packets(), &PacketsView::findDone, this, [this](bool found, bool backwards) {
    if (!found)
      statusBar()->showMessage(backwards ? tr("Nothing before this packet") : tr("Nothing behind this packet"),
                               message_ms);
  });
  tabs_->setCurrentIndex(tabs_->addTab(tab, QFileInfo(path).fileName()));
  tabs_->setTabToolTip(tabs_->currentIndex(), path);
  tab->packets().list().setFocus();
  if (QFileInfo(path).isReadable()) remember_recent(QFileInfo(path).absoluteFilePath());
  show_status();
  return tab;
}

void MainWindow::show_status() {
  CaptureTab* const tab = current();
  status_->setText(tab ? tab->status() : tr("Open a capture file (Ctrl+O), or drop one here"));
  const bool busy = tab && (tab->file().reading() || tab->file().following());
  progress_->setVisible(busy);
  if (busy) {
    // How far following is, nobody says.
    progress_->setRange(0, tab->file().reading() ? 1000 : 0);
    progress_->setValue(static_cast<int>(tab->file().progress() * 1000));
  }
  const QString verdict = tab ? tab->verdict() : QString();
  verdict_->setVisible(!verdict.isEmpty());
  verdict_->setText(verdict);
  if (verdict.isEmpty()) return;
  const char* const color = verdict.startsWith("VIOLATIONS")         ? "#7a1f1f"
                            : verdict.startsWith("Clean")            ? "#1f5f2f"
                            : verdict.startsWith("Nothing to judge") ? "#555555"
                                                                     : "#6b5200";
  verdict_->setStyleSheet(QString("background: %1; color: white; font-weight: bold;").arg(color));
}

// --- Menus -----------------------------------------------------------------------------------------------------------

void MainWindow::make_menus() {
  // Does something with the capture in front, if there is one.
  const auto with_tab = [this](auto what) {
    return [this, what] {
      if (CaptureTab* const tab = current()) what(*tab);
    };
  };
  QMenu* const file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("&Open..."), QKeySequence::Open, this, &MainWindow::ask_to_open);
  recent_ = file->addMenu(tr("Open &recent"));
  connect(recent_, &QMenu::aboutToShow, this, &MainWindow::fill_recent);
  file->addAction(tr("&Export shown packets..."), QKeySequence("Ctrl+E"), this, &MainWindow::export_shown);
  file->addAction(tr("&Stop finding or reading"), QKeySequence("Escape"), this, with_tab([](CaptureTab& t) {
                    t.packets().is_finding() ? t.packets().stop_finding() : t.file().cancel();
                  }));
  file->addAction(tr("&Close"), QKeySequence::Close, this, [this] {
    if (tabs_->currentIndex() >= 0) emit tabs_->tabCloseRequested(tabs_->currentIndex());
  });
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);

  QMenu* const edit = menuBar()->addMenu(tr("&Edit"));
  edit->addAction(tr("&Copy lines"), QKeySequence::Copy, this,
                  with_tab([](CaptureTab& t) { t.packets().copy_line(); }));
  edit->addAction(tr("Copy &fields"), QKeySequence("Ctrl+Shift+C"), this,
                  with_tab([](CaptureTab& t) { t.packets().copy_tree(); }));
  edit->addAction(tr("Copy bytes as &hex"), this, with_tab([](CaptureTab& t) { t.packets().copy_hex(); }));
  edit->addAction(tr("Copy as fi&lter"), QKeySequence("Ctrl+Shift+F"), this, with_tab([](CaptureTab& t) {
                    if (const QString words = t.packets().comparison(); !words.isEmpty())
                      QApplication::clipboard()->setText(words);
                  }));
  edit->addSeparator();
  edit->addAction(tr("&Find packet..."), QKeySequence::Find, this, &MainWindow::ask_find);
  edit->addAction(tr("Find &next"), QKeySequence::FindNext, this, [this] { find_again(false); });
  edit->addAction(tr("Find &previous"), QKeySequence::FindPrevious, this, [this] { find_again(true); });
  edit->addSeparator();
  edit->addAction(tr("&Mark packet"), QKeySequence("Ctrl+M"), this,
                  with_tab([](CaptureTab& t) { t.packets().toggle_mark(); }));
  edit->addAction(tr("Next mar&k"), QKeySequence("Ctrl+Shift+N"), this,
                  with_tab([](CaptureTab& t) { t.packets().next_marked(false); }));
  edit->addAction(tr("Previous m&ark"), QKeySequence("Ctrl+Shift+B"), this,
                  with_tab([](CaptureTab& t) { t.packets().next_marked(true); }));
  edit->addAction(tr("&Time reference"), QKeySequence("Ctrl+T"), this,
                  with_tab([](CaptureTab& t) { t.packets().toggle_time_reference(); }));

  QMenu* const go = menuBar()->addMenu(tr("&Go"));
  go->addAction(tr("&Go to packet..."), QKeySequence("Ctrl+G"), this, &MainWindow::ask_go_to);
  go->addAction(tr("&Next in this connection"), QKeySequence("Ctrl+."), this,
                with_tab([](CaptureTab& t) { t.packets().next_in_connection(false); }));
  go->addAction(tr("&Previous in this connection"), QKeySequence("Ctrl+,"), this,
                with_tab([](CaptureTab& t) { t.packets().next_in_connection(true); }));

  QMenu* const view = menuBar()->addMenu(tr("&View"));
  view->addAction(tr("&Packets"), QKeySequence("Alt+1"), this,
                  with_tab([](CaptureTab& t) { t.views().setCurrentIndex(0); }));
  view->addAction(tr("&Connections"), QKeySequence("Alt+2"), this,
                  with_tab([](CaptureTab& t) { t.views().setCurrentIndex(1); }));
  view->addAction(tr("&Findings"), QKeySequence("Alt+3"), this,
                  with_tab([](CaptureTab& t) { t.views().setCurrentIndex(2); }));
  view->addAction(tr("&Graphs"), QKeySequence("Alt+4"), this,
                  with_tab([](CaptureTab& t) { t.views().setCurrentIndex(3); }));
  view->addAction(tr("C&ompletions"), QKeySequence("Alt+5"), this, with_tab([](CaptureTab& t) {
                    if (t.completions().any()) t.views().setCurrentWidget(&t.completions());
                  }));
  view->addAction(tr("&Display filter"), QKeySequence("Ctrl+/"), this, with_tab([](CaptureTab& t) {
                    t.views().setCurrentIndex(0);
                    t.packets().filter_bar().edit()->setFocus();
                  }));
  view->addAction(tr("Co&lumns..."), this, [this] { ColumnsDialog(this).exec(); });
  view->addAction(tr("Colouring &rules..."), this, [this] { ColoursDialog(this).exec(); });
  QMenu* const times = view->addMenu(tr("&Time"));
  auto* const forms = new QActionGroup(this);
  for (const auto& [words, form] : {std::pair(tr("Since the &first packet"), TimeForm::since_first),
                                    std::pair(tr("Since the &previous packet"), TimeForm::since_previous),
                                    std::pair(tr("Date and time of &day"), TimeForm::of_day)}) {
    QAction* const action = times->addAction(
        words, this, with_tab([form = form](CaptureTab& t) { t.packets().model().set_time_form(form); }));
    action->setCheckable(true);
    action->setChecked(form == TimeForm::since_first);
    forms->addAction(action);
  }

  QMenu* const help = menuBar()->addMenu(tr("&Help"));
  help->addAction(tr("&About rdmascope"), this, [this] {
    QMessageBox::about(
        this, tr("About rdmascope"),
        tr("rdmascope %1\n\nPackets, management datagrams, completion queue entries and CDI probes of RDMA, "
           "dissected and judged.")
            .arg(QApplication::applicationVersion()));
  });
}

void MainWindow::ask_to_open() {
  const QStringList paths =
      QFileDialog::getOpenFileNames(this, tr("Open capture files"), QSettings().value("open/folder").toString(),
                                    tr("Captures (*.pcap *.pcapng *.cap *.erf *.gz *.zst);;All files (*)"));
  for (const QString& path : paths) {
    QSettings().setValue("open/folder", QFileInfo(path).absolutePath());
    open(path);
  }
}

void MainWindow::remember_recent(const QString& path) {
  QSettings settings;
  QStringList all = settings.value("open/recent").toStringList();
  all.removeAll(path);
  all.prepend(path);
  settings.setValue("open/recent", all.mid(0, most_recent));
}

void MainWindow::fill_recent() {
  recent_->clear();
  for (const QString& path : QSettings().value("open/recent").toStringList())
    recent_->addAction(path, this, [this, path] { open(path); });
  if (recent_->isEmpty()) recent_->addAction(tr("Nothing yet"))->setEnabled(false);
}

void MainWindow::ask_go_to() {
  CaptureTab* const tab = current();
  if (!tab || tab->file().index().size() == 0) return;
  bool good = false;
  const int most = static_cast<int>(tab->file().index().size());
  const int frame = QInputDialog::getInt(this, tr("Go to packet"), tr("Number of the packet, 1 to %L1:").arg(most),
                                         static_cast<int>(tab->packets().current()), 1, most, 1, &good);
  if (good) tab->go_to(static_cast<quint64>(frame));
}

void MainWindow::ask_find() {
  if (!current()) return;
  QDialog dialog(this);
  dialog.setWindowTitle(tr("Find packet"));
  auto* const where = new QComboBox;
  where->addItems({tr("Text of the line"), tr("Bytes, as hex"), tr("Display filter")});
  where->setCurrentIndex(sought_in_);
  auto* const what = new QLineEdit(sought_);
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Find next"));
  auto* const form = new QFormLayout(&dialog);
  form->addRow(tr("Find in"), where);
  form->addRow(tr("What"), what);
  form->addRow(buttons);
  what->setFocus();
  connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  if (dialog.exec() != QDialog::Accepted) return;
  sought_ = what->text();
  sought_in_ = where->currentIndex();
  find_again(false);
}

void MainWindow::find_again(bool backwards) {
  CaptureTab* const tab = current();
  if (!tab || sought_.isEmpty()) return;
  const QString why = tab->packets().find(static_cast<FindIn>(sought_in_), sought_, backwards);
  if (!why.isEmpty()) statusBar()->showMessage(why, message_ms);
}

// The packets of the list, as they were captured.
void MainWindow::export_shown() {
  CaptureTab* const tab = current();
  if (!tab) return;
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Export shown packets"), {}, tr("pcapng (*.pcapng);;pcap (*.pcap)"));
  if (path.isEmpty()) return;
  const QString why = tab->packets().export_to(path);
  if (!why.isEmpty()) QMessageBox::warning(this, tr("Export shown packets"), why);
}

// --- Events ----------------------------------------------------------------------------------------------------------

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) open(url.toLocalFile());
}

void MainWindow::closeEvent(QCloseEvent* event) {
  QSettings settings;
  settings.setValue("window/geometry", saveGeometry());
  settings.setValue("window/state", saveState());
  if (CaptureTab* const tab = current()) settings.setValue("filter/history", tab->packets().filter_bar().history());
  QMainWindow::closeEvent(event);
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  for (int i = 0; i < tabs_->count(); ++i)
    if (auto* const tab = qobject_cast<CaptureTab*>(tabs_->widget(i))) tab->packets().set_dark(is_dark());
}

}  // namespace rdmascope::gui
