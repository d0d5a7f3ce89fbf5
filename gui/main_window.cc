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

#include "gui/capture_bar.h"
#include "gui/capture_dialog.h"
#include "gui/capture_tab.h"
#include "gui/colours_dialog.h"
#include "gui/columns_dialog.h"
#include "gui/completions_view.h"
#include "gui/models/capture_file.h"
#include "gui/packets_view.h"
#include "gui/tester_view.h"

namespace rdmascope::gui {
namespace {

constexpr int most_recent = 10, message_ms = 4000;

}  // namespace

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
  connect(tabs_, &QTabWidget::tabCloseRequested, this, &MainWindow::close_tab);
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

CaptureTab* MainWindow::add_tab() {
  auto* const tab = new CaptureTab;
  tab->packets().set_dark(is_dark());
  tab->packets().filter_bar().set_history(QSettings().value("filter/history").toStringList());
  connect(tab, &CaptureTab::statusChanged, this, &MainWindow::show_status);
  connect(&tab->packets(), &PacketsView::findDone, this, [this](bool found, bool backwards) {
    if (!found)
      statusBar()->showMessage(backwards ? tr("Nothing before this packet") : tr("Nothing behind this packet"),
                               message_ms);
  });
  connect(tab, &CaptureTab::titleChanged, this, [this, tab] {
    const int index = tabs_->indexOf(tab);
    if (index >= 0) tabs_->setTabText(index, tab->title());
  });
  connect(tab, &CaptureTab::fileWanted, this, &MainWindow::open);
  connect(tab, &CaptureTab::savedAs, this, [this](const QString& path) {
    remember_recent(QFileInfo(path).absoluteFilePath());
    statusBar()->showMessage(tr("Saved to %1").arg(path), message_ms);
  });
  connect(&tab->bar(), &CaptureBar::saveWanted, this, [this, tab] { ask_to_save(*tab); });
  return tab;
}

CaptureTab* MainWindow::open(const QString& path) {
  CaptureTab* const tab = add_tab();
  tab->open(path);
  tabs_->setCurrentIndex(tabs_->addTab(tab, tab->title()));
  tabs_->setTabToolTip(tabs_->currentIndex(), path);
  tab->packets().list().setFocus();
  if (QFileInfo(path).isReadable()) remember_recent(QFileInfo(path).absoluteFilePath());
  show_status();
  return tab;
}

CaptureTab* MainWindow::capture(const CaptureChoice& choice) {
  CaptureTab* const tab = add_tab();
  tabs_->setCurrentIndex(tabs_->addTab(tab, tr("Capture")));
  tab->capture(choice);
  tab->packets().list().setFocus();
  show_status();
  return tab;
}

TesterView* MainWindow::tester() const {
  for (int i = 0; i < tabs_->count(); ++i)
    if (auto* const view = qobject_cast<TesterView*>(tabs_->widget(i))) return view;
  return nullptr;
}

TesterView* MainWindow::show_tester() {
  TesterView* view = tester();
  if (!view) {
    view = new TesterView;
    tabs_->addTab(view, tr("Tester"));
    connect(view, &TesterView::statusChanged, this, &MainWindow::show_status);
    connect(view, &TesterView::recordingWanted, this, [this, view](const QString& path) {
      CaptureTab* const tab = add_tab();
      tab->open_copy(path, tr("Recording of %1").arg(view->bench().dut));
      tabs_->setCurrentIndex(tabs_->addTab(tab, tab->title()));
      show_status();
    });
  }
  tabs_->setCurrentWidget(view);
  return view;
}

bool MainWindow::may_close(CaptureTab& tab) {
  if (!tab.is_unsaved() && !tab.is_capturing()) return true;
  QMessageBox box(QMessageBox::Question, tr("rdmascope"),
                  tab.is_capturing() ? tr("A capture is going on. End it and save its packets?")
                                     : tr("The packets of this capture are in no file yet. Save them?"),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  // In a file of the user's nothing is lost.
  if (!tab.is_unsaved())
    box.setStandardButtons(QMessageBox::Close | QMessageBox::Cancel), box.setText(tr("A capture is going on. End it?"));
  switch (box.exec()) {
    case QMessageBox::Save: {
      if (!ask_to_save(tab)) return false;
      const QString why = tab.finish_saving();
      if (!why.isEmpty()) QMessageBox::warning(this, tr("Save capture"), why);
      return why.isEmpty();
    }
    case QMessageBox::Discard:
    case QMessageBox::Close:
      return true;
    default:
      return false;
  }
}

void MainWindow::close_tab(int index) {
  QWidget* const tab = tabs_->widget(index);
  auto* const capture = qobject_cast<CaptureTab*>(tab);
  auto* const tester = qobject_cast<TesterView*>(tab);
  if ((capture && !may_close(*capture)) || (tester && !tester->may_close())) return;
  tabs_->removeTab(index);
  delete tab;
  show_status();
}

void MainWindow::show_status() {
  CaptureTab* const tab = current();
  const TesterView* const tester = tab ? nullptr : qobject_cast<TesterView*>(tabs_->currentWidget());
  status_->setText(tab      ? tab->status()
                   : tester ? tester->headline()
                            : tr("Open a capture file (Ctrl+O), drop one here, or capture (Ctrl+K)"));
  const bool busy =
      tab && tab->has_file() && !tab->is_capturing() && (tab->file().reading() || tab->file().following());
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
  file->addAction(tr("&Save capture..."), QKeySequence::Save, this,
                  with_tab([this](CaptureTab& t) { ask_to_save(t); }));
  file->addAction(tr("&Export shown packets..."), QKeySequence("Ctrl+Shift+E"), this, &MainWindow::export_shown);
  file->addAction(tr("&Stop finding, capturing or reading"), QKeySequence("Escape"), this, with_tab([](CaptureTab& t) {
                    if (t.packets().is_finding()) return t.packets().stop_finding();
                    if (t.is_capturing()) return t.stop_capture();
                    if (t.has_file()) t.file().cancel();
                  }));
  file->addAction(tr("&Close"), QKeySequence::Close, this, [this] {
    if (tabs_->currentIndex() >= 0) close_tab(tabs_->currentIndex());
  });
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);

  QMenu* const edit = menuBar()->addMenu(tr("&Edit"));
  edit->addAction(tr("&Copy lines"), QKeySequence::Copy, this,
                  with_tab([](CaptureTab& t) { t.packets().copy_line(); }));
  edit->addAction(tr("Copy &fields"), QKeySequence("Ctrl+Shift+C"), this,
                  with_tab([](CaptureTab& t) { t.packets().copy_tree(); }));
  edit->addAction(tr("Copy bytes as &hex"), this, with_tab([](CaptureTab& t) { t.packets().copy_hex(); }));
  edit->addAction(tr("Copy as &JSON"), this, with_tab([](CaptureTab& t) { t.packets().copy_json(); }));
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

  QMenu* const live = menuBar()->addMenu(tr("&Capture"));
  live->addAction(tr("&Options..."), QKeySequence("Ctrl+K"), this, &MainWindow::ask_to_capture);
  live->addAction(tr("&Start or stop"), QKeySequence("Ctrl+E"), this, &MainWindow::start_or_stop);
  live->addAction(tr("&Restart"), QKeySequence("Ctrl+R"), this, with_tab([this](CaptureTab& t) {
                    if (t.choice() && may_close(t)) t.restart_capture();
                  }));

  QMenu* const test = menuBar()->addMenu(tr("&Test"));
  // Does something with the tester, which opens if it is not there.
  const auto with_tester = [this](auto what) { return [this, what] { what(*show_tester()); }; };
  test->addAction(tr("&Tester"), QKeySequence("Ctrl+Shift+T"), this, &MainWindow::show_tester);
  test->addSeparator();
  test->addAction(tr("&Run selected"), QKeySequence("F5"), this, with_tester([](TesterView& t) { t.run_selected(); }));
  test->addAction(tr("Run &all"), QKeySequence("Ctrl+F5"), this, with_tester([](TesterView& t) { t.run({}); }));
  test->addAction(tr("A&gain"), QKeySequence("Shift+F5"), this, with_tester([](TesterView& t) {
                    if (t.last_run()) t.run_again();
                  }));
  test->addAction(tr("Again what &failed"), this, with_tester([](TesterView& t) { t.run_bad(); }));
  test->addAction(tr("&Stop"), this, with_tester([](TesterView& t) { t.stop(); }));

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

void MainWindow::ask_to_capture() {
  CaptureDialog dialog(CaptureChoice::saved(), this);
  if (dialog.exec() != QDialog::Accepted) return;
  const CaptureChoice choice = dialog.choice();
  choice.save();
  capture(choice);
}

// Starts as the last time, as long as something was chosen then.
void MainWindow::start_or_stop() {
  if (CaptureTab* const tab = current(); tab && tab->is_capturing()) return tab->stop_capture();
  const CaptureChoice choice = CaptureChoice::saved();
  if (choice.interfaces.isEmpty()) return ask_to_capture();
  capture(choice);
}

bool MainWindow::ask_to_save(CaptureTab& tab) {
  if (!tab.has_file()) return false;
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save capture"), QSettings().value("open/folder").toString(), tr("pcapng (*.pcapng)"));
  if (path.isEmpty()) return false;
  tab.stop_and_wait();
  const QString why = tab.save_as(path);
  if (!why.isEmpty()) QMessageBox::warning(this, tr("Save capture"), why);
  return why.isEmpty();
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
  if (!tab || !tab->has_file() || tab->file().index().size() == 0) return;
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
  for (int i = 0; i < tabs_->count(); ++i) {
    auto* const tab = qobject_cast<CaptureTab*>(tabs_->widget(i));
    if (tab && !may_close(*tab)) return event->ignore();
    auto* const tester = qobject_cast<TesterView*>(tabs_->widget(i));
    if (tester && !tester->may_close()) return event->ignore();
  }
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
