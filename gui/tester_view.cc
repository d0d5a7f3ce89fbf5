#include "gui/tester_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QFormLayout>
#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QSortFilterProxyModel>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include "gui/conversation_view.h"
#include "gui/models/tool.h"
#include "gui/script_editor.h"

namespace rdmascope::gui {
namespace {

// Of an item of the tree: its id, the file of a script, and what `rdmascope test` is told to run it and no other.
constexpr int id_role = Qt::UserRole, file_role = Qt::UserRole + 1, run_role = Qt::UserRole + 2;
enum TreeColumn { test_column, verdict_column, title_column, tree_columns };

QPlainTextEdit* read_only_text(const QString& name) {
  auto* const out = new QPlainTextEdit;
  out->setReadOnly(true);
  out->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  out->setAccessibleName(name);
  return out;
}

QComboBox* with_words(const QStringList& words, const QString& placeholder) {
  auto* const out = new QComboBox;
  out->setEditable(true);
  out->addItems(words);
  out->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  out->setMinimumContentsLength(22);
  out->lineEdit()->setPlaceholderText(placeholder);
  out->setInsertPolicy(QComboBox::NoInsert);
  return out;
}

}  // namespace

TesterView::TesterView(QWidget* parent)
    : QWidget(parent),
      tree_(new QStandardItemModel(this)),
      tree_view_(new QTreeView),
      sought_(new QLineEdit),
      dut_(with_words({"model", "model:switch", "model:hca", "model:cdi-rx", "model:cdi-tx", "agent:HOST",
                       "none:ADDRESS,QP", "node:0,1", "cdi-rx:ADDRESS:PORT", "cdi-tx:PORT"},
                      "model")),
      wire_(with_words({"", "memory", "udp", "udp:ADDRESS", "eth:INTERFACE", "umad:DEVICE", "ibsim"},
                       tr("what the device needs"))),
      mutant_(new QComboBox),
      roce_v1_(new QCheckBox(tr("RoCE v1"))),
      destructive_(new QCheckBox(tr("Also what may crash a device"))),
      sampled_(new QCheckBox(tr("Long loops take a sample"))),
      repeat_(new QSpinBox),
      seed_(new QSpinBox),
      timeout_factor_(new QDoubleSpinBox),
      token_file_(new QLineEdit),
      command_(new QLabel),
      headline_(new QLabel),
      title_(new QLabel),
      message_(new QLabel),
      progress_(new QProgressBar),
      run_selected_(new QPushButton(tr("&Run selected"))),
      run_all_(new QPushButton(tr("Run &all"))),
      run_again_(new QPushButton(tr("A&gain"))),
      run_bad_(new QPushButton(tr("Again what faile&d"))),
      stop_(new QPushButton(tr("S&top"))),
      save_(new QPushButton(tr("Save re&port..."))),
      recording_(new QPushButton(tr("&Open the recording"))),
      pages_(new QTabWidget),
      conversation_(new ConversationView),
      details_(read_only_text(tr("Why"))),
      log_(read_only_text(tr("Log"))),
      editor_(new ScriptEditor),
      problem_(new QLabel) {
  headline_->setMargin(6);
  headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  headline_->setAccessibleName(tr("Result"));
  auto* const split = new QSplitter(Qt::Horizontal);
  split->addWidget(make_tests());
  split->addWidget(make_result());
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 3);
  split->setChildrenCollapsible(false);
  auto* const all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(headline_);
  all->addWidget(make_bench());
  all->addWidget(split, 1);
  set_bench(BenchChoice::saved());
  set_headline(tr("Choose tests and a device"), false, false);
  list_suite();
  fill_mutants();
  changed();
}

TesterView::~TesterView() { run_.reset(); }

// --- Parts -----------------------------------------------------------------------------------------------------------

QWidget* TesterView::make_bench() {
  auto* const box = new QGroupBox;
  auto* const grid = new QGridLayout(box);
  grid->setContentsMargins(8, 6, 8, 6);
  int column = 0;
  const auto put = [&](int row, const QString& words, QWidget* widget) {
    auto* const label = new QLabel(words);
    label->setBuddy(widget);
    grid->addWidget(label, row, column++);
    grid->addWidget(widget, row, column++);
  };
  put(0, tr("&Device"), dut_);
  put(0, tr("&Mutant"), mutant_);
  put(0, tr("&Wire"), wire_);
  put(0, tr("To&ken file"), token_file_);
  column = 0;
  put(1, tr("Repeat"), repeat_);
  put(1, tr("Seed"), seed_);
  put(1, tr("Time &factor"), timeout_factor_);
  auto* const boxes = new QHBoxLayout;
  for (QCheckBox* const b : {roce_v1_, destructive_, sampled_}) boxes->addWidget(b);
  boxes->addStretch();
  grid->addLayout(boxes, 1, column, 1, 2);
  grid->addWidget(command_, 2, 0, 1, 8);
  grid->setColumnStretch(1, 2);
  grid->setColumnStretch(3, 2);
  grid->setColumnStretch(5, 2);
  grid->setColumnStretch(7, 1);
  mutant_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  mutant_->setMinimumContentsLength(22);
  mutant_->setObjectName("mutants");
  mutant_->setToolTip(tr("Of the model: breaks one rule on purpose, so that a test can be seen to fail"));
  token_file_->setPlaceholderText(tr("of an agent"));
  repeat_->setRange(1, 1'000'000);
  seed_->setRange(0, INT_MAX);
  timeout_factor_->setRange(0.01, 10'000);
  timeout_factor_->setToolTip(tr("The device has that many times the time to answer"));
  command_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  command_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  command_->setToolTip(tr("The same in a terminal"));
  // A long one must not widen the window.
  command_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  for (QComboBox* const combo : {dut_, wire_})
    connect(combo, &QComboBox::currentTextChanged, this, &TesterView::changed);
  connect(mutant_, &QComboBox::currentIndexChanged, this, [this] {
    const QString name = mutant_->currentData().toString();
    const QString model = dut_->currentText().section(QRegularExpression("[:,]mutant="), 0, 0);
    // The model that has it is found by its name.
    dut_->setCurrentText(name.isEmpty() ? (model.startsWith("model") ? model : "model") : "model:mutant=" + name);
  });
  for (QCheckBox* const b : {roce_v1_, destructive_, sampled_})
    connect(b, &QCheckBox::toggled, this, &TesterView::changed);
  for (QSpinBox* const b : {repeat_, seed_}) connect(b, &QSpinBox::valueChanged, this, &TesterView::changed);
  connect(timeout_factor_, &QDoubleSpinBox::valueChanged, this, &TesterView::changed);
  connect(token_file_, &QLineEdit::textChanged, this, &TesterView::changed);
  return box;
}

QWidget* TesterView::make_tests() {
  sought_->setPlaceholderText(tr("Find a test: id, title or statement"));
  sought_->setClearButtonEnabled(true);
  auto* const proxy = new QSortFilterProxyModel(this);
  proxy->setSourceModel(tree_);
  proxy->setRecursiveFilteringEnabled(true);
  proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
  proxy->setFilterKeyColumn(-1);
  connect(sought_, &QLineEdit::textChanged, proxy, [this, proxy](const QString& text) {
    proxy->setFilterFixedString(text);
    if (!text.isEmpty()) tree_view_->expandAll();
  });
  tree_view_->setModel(proxy);
  tree_view_->setUniformRowHeights(true);
  tree_view_->setAlternatingRowColors(true);
  tree_view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  tree_view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  tree_view_->setAccessibleName(tr("Tests"));
  connect(tree_view_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& now) {
    const QModelIndex first = now.siblingAtColumn(test_column);
    if (const QString file = first.data(file_role).toString(); !file.isEmpty() && file != editor_->path())
      open_script(file);
    const int index = run_ ? run_->find(first.data(id_role).toString()) : -1;
    follows_ = false;
    if (index >= 0) show_case(index);
  });
  connect(tree_view_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &TesterView::changed);
  connect(tree_view_, &QTreeView::activated, this, &TesterView::run_selected);

  auto* const buttons = new QHBoxLayout;
  for (QPushButton* const b : {run_selected_, run_all_, run_again_, run_bad_, stop_}) buttons->addWidget(b);
  connect(run_selected_, &QPushButton::clicked, this, &TesterView::run_selected);
  connect(run_all_, &QPushButton::clicked, this, [this] { run({}); });
  connect(run_again_, &QPushButton::clicked, this, &TesterView::run_again);
  connect(run_bad_, &QPushButton::clicked, this, &TesterView::run_bad);
  connect(stop_, &QPushButton::clicked, this, &TesterView::stop);
  progress_->setTextVisible(true);
  progress_->hide();
  auto* const out = new QWidget;
  auto* const all = new QVBoxLayout(out);
  all->setContentsMargins(6, 0, 0, 6);
  all->addWidget(sought_);
  all->addWidget(tree_view_, 1);
  all->addWidget(progress_);
  all->addLayout(buttons);
  return out;
}

QWidget* TesterView::make_result() {
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  title_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  message_->setWordWrap(true);
  message_->setAccessibleName(tr("Why it failed"));
  pages_->addTab(conversation_, tr("&Conversation"));
  pages_->addTab(make_editor(), tr("Sc&ript"));
  pages_->addTab(details_, tr("D&etails"));
  pages_->addTab(log_, tr("&Log"));
  pages_->setDocumentMode(true);
  connect(conversation_, &ConversationView::lineChosen, this, [this](int line) { editor_->go_to(line); });
  connect(save_, &QPushButton::clicked, this, &TesterView::ask_to_save_report);
  connect(recording_, &QPushButton::clicked, this, [this] {
    if (run_) emit recordingWanted(run_->recording());
  });
  auto* const buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(recording_);
  buttons->addWidget(save_);
  auto* const out = new QWidget;
  auto* const all = new QVBoxLayout(out);
  all->setContentsMargins(0, 0, 6, 6);
  all->addWidget(title_);
  all->addWidget(message_);
  all->addWidget(pages_, 1);
  all->addLayout(buttons);
  return out;
}

QWidget* TesterView::make_editor() {
  problem_->setWordWrap(true);
  problem_->hide();
  connect(editor_, &ScriptEditor::problemChanged, this, [this](const QString& problem) {
    problem_->setText(problem);
    problem_->setStyleSheet(QString("color: %1;").arg(colour(Shade::violation, palette()).name()));
    problem_->setVisible(!problem.isEmpty());
  });
  auto* const open = new QPushButton(tr("Open script..."));
  auto* const save = new QPushButton(tr("Save"));
  auto* const save_as = new QPushButton(tr("Save as..."));
  connect(open, &QPushButton::clicked, this, &TesterView::ask_to_open_script);
  connect(save, &QPushButton::clicked, this, [this] { save_script(false); });
  connect(save_as, &QPushButton::clicked, this, [this] { save_script(true); });
  auto* const buttons = new QHBoxLayout;
  for (QPushButton* const b : {open, save, save_as}) buttons->addWidget(b);
  buttons->addStretch();
  auto* const out = new QWidget;
  auto* const all = new QVBoxLayout(out);
  all->setContentsMargins(0, 4, 0, 0);
  all->addWidget(editor_, 1);
  all->addWidget(problem_);
  all->addLayout(buttons);
  return out;
}

// --- Tests -----------------------------------------------------------------------------------------------------------

void TesterView::list_suite() {
  tree_->clear();
  tree_->setHorizontalHeaderLabels({tr("Test"), tr("Verdict"), tr("Title")});
  QString why;
  for (const ListedScript& script : list_scripts(why)) {
    const QString area = script.script.section('/', 0, 0);
    QStandardItem* parent = item_of(area);
    if (!parent) {
      parent = new QStandardItem(area);
      parent->setData(area, id_role);
      parent->setData(area, run_role);
      tree_->appendRow({parent, new QStandardItem, new QStandardItem});
    }
    auto* const item = new QStandardItem(script.id);
    item->setData(script.id, id_role);
    item->setData(script.file, file_role);
    item->setData(script.script, run_role);
    auto* const title = new QStandardItem(script.title);
    const QString covers = tr("Covers %1").arg(script.covers.join(", "));
    for (QStandardItem* const i : {item, title}) i->setToolTip(script.title + "\n" + covers);
    title->setData(covers, id_role);
    parent->appendRow({item, new QStandardItem, title});
  }
  if (!why.isEmpty()) set_headline(why, true, false);
  tree_view_->expandToDepth(0);
  tree_view_->setColumnWidth(test_column, tree_view_->fontMetrics().horizontalAdvance("one message at a time") + 70);
  tree_view_->setColumnWidth(verdict_column, tree_view_->fontMetrics().horizontalAdvance("not applicable") + 16);
}

void TesterView::fill_mutants() {
  mutant_->addItem(tr("none: a correct device"), QString());
  QString why;
  for (const ListedMutant& m : list_mutants(why)) {
    mutant_->addItem(m.name, m.name);
    mutant_->setItemData(mutant_->count() - 1, tr("%1: %2 (breaks %3)").arg(m.model, m.what, m.breaks),
                         Qt::ToolTipRole);
  }
  const QSignalBlocker quiet(mutant_);
  const int known = mutant_->findData(dut_->currentText().section("mutant=", 1));
  mutant_->setCurrentIndex(std::max(0, known));
}

QStandardItem* TesterView::item_of(const QString& id) const {
  const QModelIndexList found =
      id.isEmpty() || tree_->rowCount() == 0
          ? QModelIndexList()
          : tree_->match(tree_->index(0, 0), id_role, id, 1, Qt::MatchExactly | Qt::MatchRecursive);
  return found.isEmpty() ? nullptr : tree_->itemFromIndex(found.first());
}

void TesterView::select(const QString& id) {
  const QStandardItem* const item = item_of(id);
  if (!item) return;
  const auto* const proxy = static_cast<const QSortFilterProxyModel*>(tree_view_->model());
  const QModelIndex index = proxy->mapFromSource(item->index());
  tree_view_->setCurrentIndex(index);
  tree_view_->scrollTo(index);
}

QStringList TesterView::selected() const {
  QStringList out;
  for (const QModelIndex& index : tree_view_->selectionModel()->selectedRows(test_column)) {
    // What is chosen as a whole is not named again by its parts.
    if (tree_view_->selectionModel()->isSelected(index.parent())) continue;
    if (const QString name = index.data(run_role).toString(); !name.isEmpty()) out << name;
  }
  return out;
}

// --- The bench -------------------------------------------------------------------------------------------------------

BenchChoice TesterView::bench() const {
  BenchChoice out;
  out.dut = dut_->currentText().trimmed();
  out.wire = wire_->currentText().trimmed();
  out.token_file = token_file_->text().trimmed();
  out.roce_v1 = roce_v1_->isChecked();
  out.destructive = destructive_->isChecked();
  out.sampled = sampled_->isChecked();
  out.repeat = repeat_->value();
  out.seed = seed_->value();
  out.timeout_factor = timeout_factor_->value();
  return out;
}

void TesterView::set_bench(const BenchChoice& bench) {
  dut_->setCurrentText(bench.dut);
  wire_->setCurrentText(bench.wire);
  token_file_->setText(bench.token_file);
  roce_v1_->setChecked(bench.roce_v1);
  destructive_->setChecked(bench.destructive);
  sampled_->setChecked(bench.sampled);
  repeat_->setValue(bench.repeat);
  seed_->setValue(bench.seed);
  timeout_factor_->setValue(bench.timeout_factor);
  const QSignalBlocker quiet(mutant_);
  mutant_->setCurrentIndex(std::max(0, mutant_->findData(bench.dut.section("mutant=", 1))));
}

void TesterView::changed() {
  const QString typed = as_typed(QStringList{"test"} + selected() + bench().arguments());
  command_->setText(typed);
  const bool running = is_running();
  run_selected_->setEnabled(!running && !selected().isEmpty());
  run_all_->setEnabled(!running);
  run_again_->setEnabled(!running && run_);
  const bool any_bad = run_ && std::ranges::any_of(run_->cases(), &TestCase::is_bad);
  run_bad_->setEnabled(!running && any_bad);
  stop_->setEnabled(running);
  save_->setEnabled(!running && run_ && QFile::exists(run_->report(".xml")));
  recording_->setEnabled(!running && run_ && QFile::exists(run_->recording()));
}

// --- Running ---------------------------------------------------------------------------------------------------------

void TesterView::run_selected() {
  if (is_running()) return;
  if (editor_->is_changed() && !save_script(false)) return;
  if (const QStringList chosen = selected(); !chosen.isEmpty()) run(chosen);
}

void TesterView::run_again() { run(QStringList(last_scripts_)); }

void TesterView::run_bad() {
  QStringList bad;
  if (run_)
    for (const TestCase& c : run_->cases())
      if (const QString name = item_of(c.id) ? item_of(c.id)->data(run_role).toString() : c.id; c.is_bad() && !bad.contains(name))
        bad << name;
  if (!bad.isEmpty()) run(bad);
}

void TesterView::stop() {
  if (run_) run_->stop();
}

void TesterView::run(const QStringList& scripts) {
  if (is_running()) return;
  last_scripts_ = scripts;
  bench().save();
  conversation_->set_case(nullptr);
  shown_ = -1;
  follows_ = true;
  details_->clear();
  log_->clear();
  message_->clear();
  title_->clear();
  editor_->mark(0, {});
  for (int i = 0; i < tree_->rowCount(); ++i) {
    QStandardItem* const area = tree_->item(i);
    for (int k = 0; k < area->rowCount(); ++k) {
      area->child(k, verdict_column)->setText({});
      area->child(k)->removeRows(0, area->child(k)->rowCount());
    }
  }
  run_ = std::make_unique<TestRun>(bench(), scripts);
  connect(run_.get(), &TestRun::caseChanged, this, &TesterView::case_changed);
  connect(run_.get(), &TestRun::eventHeard, this, [this](int index) {
    if (index == shown_) conversation_->grow();
  });
  connect(run_.get(), &TestRun::progressed, this, [this](quint64 done, quint64 total) {
    progress_->setVisible(total > 0);
    progress_->setRange(0, 1000);
    progress_->setValue(total > 0 ? static_cast<int>(1000 * done / total) : 0);
  });
  connect(run_.get(), &TestRun::logged, log_, &QPlainTextEdit::appendPlainText);
  connect(run_.get(), &TestRun::ended, this, &TesterView::ended);
  set_headline(tr("Starting"), false, false);
  run_->start();
  changed();
  emit statusChanged();
}

void TesterView::case_changed(int index) {
  const TestCase& c = run_->cases()[static_cast<std::size_t>(index)];
  show_verdict(c);
  if (c.verdict.isEmpty()) {
    progress_->hide();
    set_headline(tr("Running %1").arg(c.id), false, false);
    if (follows_) show_case(index);
  } else if (index == shown_) {
    show_case(index);
  }
  emit statusChanged();
}

void TesterView::show_verdict(const TestCase& c) {
  QStandardItem* item = item_of(c.id);
  if (!item) {
    // A part of a script, or a script that is in no suite.
    const QString whole = c.id.section('/', 0, 0);
    QStandardItem* const parent = c.id.contains('/') ? item_of(whole) : item_of(tr("other scripts"));
    item = new QStandardItem(c.id.contains('/') ? c.id.section('/', 1) : c.id);
    item->setData(c.id, id_role);
    item->setData(c.id.contains('/') ? c.id : c.script, run_role);
    if (!c.id.contains('/')) item->setData(c.script, file_role);
    const QList<QStandardItem*> row{item, new QStandardItem, new QStandardItem(c.title)};
    if (parent) {
      parent->appendRow(row);
    } else {
      auto* const others = new QStandardItem(tr("other scripts"));
      others->setData(others->text(), id_role);
      tree_->appendRow({others, new QStandardItem, new QStandardItem});
      others->appendRow(row);
    }
  }
  QStandardItem* const parent = item->parent();
  QStandardItem* const verdict = (parent ? parent : tree_->invisibleRootItem())->child(item->row(), verdict_column);
  QString words = c.verdict.isEmpty() ? tr("runs") : c.verdict;
  Shade shade = c.verdict.isEmpty() ? Shade::anomaly : shade_of_verdict(c.verdict);
  if (c.verdict == in_parts) {
    const auto bad = std::ranges::count_if(
        run_->cases(), [&](const TestCase& part) { return part.is_bad() && part.id.startsWith(c.id + "/"); });
    words = bad > 0 ? tr("%1 failed").arg(bad) : tr("passed");
    shade = bad > 0 ? Shade::violation : Shade::good;
  }
  verdict->setText(words);
  verdict->setForeground(colour(shade, palette()));
  if (c.is_bad()) {
    const auto* const proxy = static_cast<const QSortFilterProxyModel*>(tree_view_->model());
    tree_view_->expand(proxy->mapFromSource(item->index()).parent());
  }
}

void TesterView::show_case(int index) {
  shown_ = index;
  const TestCase& c = run_->cases()[static_cast<std::size_t>(index)];
  conversation_->set_case(&c);
  title_->setText(QString("<b>%1</b> &nbsp;%2").arg(c.id.toHtmlEscaped(), c.title.toHtmlEscaped()));
  message_->setText(c.message);
  message_->setVisible(!c.message.isEmpty());
  message_->setStyleSheet(QString("color: %1;").arg(colour(shade_of_verdict(c.verdict), palette()).name()));
  show_details(c);
  const QStandardItem* const script = item_of(c.id.section('/', 0, 0));
  const QString file = script ? script->data(file_role).toString() : QString();
  if (!file.isEmpty() && file != editor_->path() && !editor_->is_changed()) open_script(file);
  if (c.is_bad() && file == editor_->path() && line_in(c.message) > 0) {
    editor_->go_to(line_in(c.message));
    editor_->mark(line_in(c.message), c.message);
  }
}

void TesterView::show_details(const TestCase& c) {
  QStringList lines{c.id + "  " + c.title, tr("script %1").arg(c.script)};
  if (!c.covers.isEmpty()) lines << tr("covers %1").arg(c.covers.join(", "));
  lines << tr("verdict: %1").arg(c.verdict.isEmpty() ? tr("runs") : c.verdict);
  if (!c.message.isEmpty()) lines << QString() << c.message;
  lines << c.details;
  details_->setPlainText(lines.join('\n'));
}

void TesterView::ended(const QString& error) {
  progress_->hide();
  // The first that failed is what people want to see.
  for (std::size_t i = 0; follows_ && i < run_->cases().size(); ++i)
    if (run_->cases()[i].is_bad()) {
      select(run_->cases()[i].id);
      show_case(static_cast<int>(i));
      break;
    }
  const bool bad = std::ranges::any_of(run_->cases(), &TestCase::is_bad);
  if (!error.isEmpty()) {
    set_headline(error, true, false);
    if (run_->cases().empty()) pages_->setCurrentWidget(log_);
  } else {
    set_headline(run_->summary(), bad, !bad);
  }
  changed();
  emit statusChanged();
}

void TesterView::set_headline(const QString& text, bool bad, bool good) {
  headline_->setText(text);
  headline_->setStyleSheet(QString("background: %1; color: white; font-weight: bold;")
                               .arg(bad    ? "#7a1f1f"
                                    : good ? "#1f5f2f"
                                           : "#444b54"));
}

QString TesterView::headline() const { return headline_->text(); }
QString TesterView::message() const { return message_->text(); }

// --- Files -----------------------------------------------------------------------------------------------------------

QString TesterView::save_report(const QString& path) const {
  if (!run_) return tr("nothing has run yet");
  for (const QString& ending : TestRun::report_endings()) {
    if (!path.endsWith(ending)) continue;
    QFile source(run_->report(ending));
    QFile::remove(path);
    return source.copy(path) ? QString() : tr("cannot write %1: %2").arg(path, source.errorString());
  }
  return tr("%1: its ending says no form; choose %2").arg(path, TestRun::report_endings().join(", "));
}

void TesterView::ask_to_save_report() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save report"), "report.html",
      tr("Page to look at (*.html);;JUnit (*.xml);;JSON (*.json);;TAP (*.tap);;Text (*.txt)"));
  if (path.isEmpty()) return;
  const QString why = save_report(path);
  if (!why.isEmpty()) QMessageBox::warning(this, tr("Save report"), why);
}

void TesterView::open_script(const QString& path) {
  if (editor_->is_changed() && !may_close()) return;
  const QString why = editor_->open(path);
  if (!why.isEmpty()) set_headline(why, true, false);
  pages_->setTabText(1, tr("Sc&ript %1").arg(QFileInfo(path).fileName()));
}

void TesterView::ask_to_open_script() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Open script"), {}, tr("Scripts (*.lua)"));
  if (path.isEmpty()) return;
  open_script(path);
  // It has a place in the tree, to be run from.
  TestCase c;
  c.id = c.script = path;
  c.title = QFileInfo(path).fileName();
  c.verdict = " ";
  if (!item_of(path)) show_verdict(c);
  select(path);
}

bool TesterView::save_script(bool ask) {
  QString path = editor_->path();
  if (ask || path.isEmpty() || !QFileInfo(path).isWritable())
    path = QFileDialog::getSaveFileName(this, tr("Save script"), path, tr("Scripts (*.lua)"));
  if (path.isEmpty()) return false;
  const QString why = editor_->save_as(path);
  if (!why.isEmpty()) QMessageBox::warning(this, tr("Save script"), why);
  return why.isEmpty();
}

bool TesterView::may_close() {
  if (!editor_->is_changed()) return true;
  switch (QMessageBox::question(this, tr("Script"),
                                tr("%1 was changed. Save it?").arg(QFileInfo(editor_->path()).fileName()),
                                QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel)) {
    case QMessageBox::Save:
      return save_script(false);
    case QMessageBox::Discard:
      return true;
    default:
      return false;
  }
}

}  // namespace rdmascope::gui
