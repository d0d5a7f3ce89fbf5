#include "gui/capture_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFontDatabase>
#include <QFormLayout>
#include <QFutureWatcher>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <QtConcurrent>

#include "capture/places.h"
#include "gui/models/tool.h"

namespace rdmascope::gui {
namespace {

constexpr int typing_pause_ms = 300;
enum Column { name_column, state_column, sees_column, detail_column, columns };

// 0 is shown in words.
QSpinBox* number(int most, const QString& unit, const QString& zero, int value) {
  auto* const box = new QSpinBox;
  box->setRange(0, most);
  box->setSuffix(unit.isEmpty() ? QString() : " " + unit);
  box->setSpecialValueText(zero);
  box->setGroupSeparatorShown(true);
  box->setValue(value);
  return box;
}

}  // namespace

CaptureDialog::CaptureDialog(const CaptureChoice& choice, QWidget* parent)
    : QDialog(parent),
      interfaces_(new QTableWidget(0, columns)),
      problem_(new QLabel),
      filter_(new QLineEdit(choice.filter)),
      file_(new QLineEdit(choice.file)),
      filter_timer_(new QTimer(this)),
      promiscuous_(new QCheckBox(tr("&Promiscuous: also what is for other machines"))),
      completions_(new QCheckBox(tr("RDMA devices: also the &completion queue entries of the sniffer"))),
      snap_length_(number(262144, tr("bytes"), tr("all of it"), choice.snap_length)),
      buffer_(number(2047, tr("MiB"), tr("as usual"), choice.buffer_mib)),
      stop_seconds_(number(10'000'000, tr("seconds"), tr("no limit"), choice.stop_after_s)),
      stop_packets_(number(2'000'000'000, tr("packets"), tr("no limit"), choice.stop_after_packets)),
      next_mb_(number(1'000'000, tr("MB"), tr("no limit"), choice.next_after_mb)),
      next_seconds_(number(10'000'000, tr("seconds"), tr("no limit"), choice.next_after_s)),
      next_packets_(number(2'000'000'000, tr("packets"), tr("no limit"), choice.next_after_packets)),
      keep_(number(100'000, tr("files"), tr("all"), choice.keep_files)),
      command_(new QLabel),
      buttons_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel)) {
  setWindowTitle(tr("Capture"));
  promiscuous_->setChecked(choice.promiscuous);
  completions_->setChecked(choice.completions);
  buffer_->setMinimum(1);
  interfaces_->setHorizontalHeaderLabels({tr("Interface"), tr("State"), tr("What can be seen there"), tr("Addresses")});
  interfaces_->setSelectionBehavior(QAbstractItemView::SelectRows);
  interfaces_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  interfaces_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  interfaces_->verticalHeader()->hide();
  interfaces_->setShowGrid(false);
  interfaces_->setWordWrap(false);
  interfaces_->horizontalHeader()->setHighlightSections(false);
  interfaces_->setAccessibleName(tr("Interfaces"));
  interfaces_->setMinimumHeight(180);
  list_interfaces();
  for (int row = 0; row < interfaces_->rowCount(); ++row)
    if (choice.interfaces.contains(interfaces_->item(row, name_column)->text()))
      interfaces_->selectionModel()->select(interfaces_->model()->index(row, 0),
                                            QItemSelectionModel::Select | QItemSelectionModel::Rows);

  problem_->setWordWrap(true);
  problem_->setStyleSheet("color: #c62828;");
  problem_->hide();
  filter_->setPlaceholderText(tr("all packets; or as tcpdump: udp port 4791"));
  filter_->setClearButtonEnabled(true);
  command_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  command_->setWordWrap(true);
  command_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  command_->setFrameStyle(QFrame::StyledPanel | QFrame::Sunken);
  command_->setMargin(6);
  buttons_->button(QDialogButtonBox::Ok)->setText(tr("&Start"));

  auto* const form = new QFormLayout;
  form->addRow(tr("Capture &filter"), filter_);
  form->addRow(tr("&Bytes kept of each packet"), snap_length_);
  form->addRow(tr("&Kernel's buffer"), buffer_);
  form->addRow(promiscuous_);
  form->addRow(completions_);
  auto* const left = new QGroupBox(tr("What"));
  left->setLayout(form);
  auto* const halves = new QHBoxLayout;
  halves->addWidget(left, 1);
  halves->addWidget(make_files(), 1);
  auto* const all = new QVBoxLayout(this);
  auto* const title = new QLabel(tr("&Where (several with Ctrl)"));
  title->setBuddy(interfaces_);
  all->addWidget(title);
  all->addWidget(interfaces_, 1);
  all->addLayout(halves);
  all->addWidget(problem_);
  all->addWidget(new QLabel(tr("The same in a terminal:")));
  all->addWidget(command_);
  all->addWidget(buttons_);
  resize(960, 640);

  filter_timer_->setSingleShot(true);
  filter_timer_->setInterval(typing_pause_ms);
  connect(filter_timer_, &QTimer::timeout, this, &CaptureDialog::check_filter);
  connect(filter_, &QLineEdit::textChanged, filter_timer_, qOverload<>(&QTimer::start));
  for (QLineEdit* const edit : {filter_, file_}) connect(edit, &QLineEdit::textChanged, this, &CaptureDialog::changed);
  for (QCheckBox* const box : {promiscuous_, completions_})
    connect(box, &QCheckBox::toggled, this, &CaptureDialog::changed);
  for (QSpinBox* const box :
       {snap_length_, buffer_, stop_seconds_, stop_packets_, next_mb_, next_seconds_, next_packets_, keep_})
    connect(box, &QSpinBox::valueChanged, this, &CaptureDialog::changed);
  connect(interfaces_, &QTableWidget::itemSelectionChanged, this, &CaptureDialog::changed);
  connect(interfaces_, &QTableWidget::itemDoubleClicked, this, &QDialog::accept);
  connect(buttons_, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
  if (!choice.filter.isEmpty()) check_filter();
  changed();
  interfaces_->setFocus();
}

void CaptureDialog::list_interfaces() {
  const Result<std::vector<capture::Place>> places = capture::places();
  if (!places) {
    problem_->setText(QString::fromStdString(places.error()));
    problem_->show();
    return;
  }
  for (const capture::Place& place : *places) {
    const int row = interfaces_->rowCount();
    interfaces_->insertRow(row);
    int column = 0;
    for (const std::string* text : {&place.name, &place.state, &place.sees, &place.detail}) {
      auto* const item = new QTableWidgetItem(QString::fromStdString(*text));
      if (!place.ready) item->setForeground(palette().color(QPalette::Disabled, QPalette::Text));
      item->setToolTip(item->text());
      interfaces_->setItem(row, column++, item);
    }
  }
  interfaces_->resizeColumnsToContents();
  interfaces_->setColumnWidth(sees_column, std::min(interfaces_->columnWidth(sees_column), 480));
  interfaces_->horizontalHeader()->setStretchLastSection(true);
}

QWidget* CaptureDialog::make_files() {
  auto* const box = new QGroupBox(tr("Until when, and to which file"));
  auto* const form = new QFormLayout(box);
  auto* const browse = new QPushButton(tr("&Choose..."));
  browse->setAutoDefault(false);
  connect(browse, &QPushButton::clicked, this, &CaptureDialog::ask_for_file);
  file_->setPlaceholderText(tr("a temporary one, until it is saved"));
  auto* const line = new QHBoxLayout;
  line->addWidget(file_, 1);
  line->addWidget(browse);
  const auto pair = [](QSpinBox* a, QSpinBox* b) {
    auto* const both = new QHBoxLayout;
    both->addWidget(a);
    both->addWidget(b);
    return both;
  };
  // Of a row of several the first has the key.
  const auto add = [form](const QString& words, QHBoxLayout* row, QWidget* first) {
    auto* const label = new QLabel(words);
    label->setBuddy(first);
    form->addRow(label, row);
  };
  add(tr("Stop &after"), pair(stop_seconds_, stop_packets_), stop_seconds_);
  add(tr("F&ile"), line, file_);
  add(tr("&Next file after"), pair(next_mb_, next_seconds_), next_mb_);
  form->addRow(tr("or after"), next_packets_);
  form->addRow(tr("Keep the ne&west"), keep_);
  return box;
}

void CaptureDialog::ask_for_file() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Capture to"), file_->text(), tr("pcapng (*.pcapng)"));
  if (!path.isEmpty()) file_->setText(path);
}

CaptureChoice CaptureDialog::choice() const {
  CaptureChoice out;
  for (const QModelIndex& index : interfaces_->selectionModel()->selectedRows(name_column))
    out.interfaces << index.data().toString();
  out.filter = filter_->text().trimmed();
  out.file = file_->text().trimmed();
  out.promiscuous = promiscuous_->isChecked();
  out.completions = completions_->isChecked();
  out.snap_length = snap_length_->value();
  out.buffer_mib = buffer_->value();
  out.stop_after_s = stop_seconds_->value();
  out.stop_after_packets = stop_packets_->value();
  out.next_after_mb = next_mb_->value();
  out.next_after_s = next_seconds_->value();
  out.next_after_packets = next_packets_->value();
  out.keep_files = keep_->value();
  return out;
}

QString CaptureDialog::command() const { return command_->text(); }
QString CaptureDialog::filter_error() const { return problem_->isHidden() ? QString() : problem_->text(); }

void CaptureDialog::changed() {
  const CaptureChoice now = choice();
  const bool ring = now.is_ring();
  keep_->setEnabled(ring);
  // A ring is files to find again.
  const QString lacking = now.interfaces.isEmpty()     ? tr("Choose where to capture")
                          : ring && now.file.isEmpty() ? tr("Name the file: its name is that of all in the ring")
                                                       : QString();
  buttons_->button(QDialogButtonBox::Ok)->setEnabled(lacking.isEmpty());
  command_->setText(lacking.isEmpty() ? as_typed(now.arguments(now.file.isEmpty() ? "FILE.pcapng" : now.file))
                                      : lacking);
}

// Names in it are looked up, so it may take long: elsewhere.
void CaptureDialog::check_filter() {
  const QString text = filter_->text().trimmed();
  if (text == checked_) return;
  checked_ = text;
  using Watcher = QFutureWatcher<QString>;
  auto* const watcher = new Watcher(this);
  connect(watcher, &Watcher::finished, this, [this, watcher, text] {
    watcher->deleteLater();
    if (text != checked_) return;
    const QString error = watcher->result();
    problem_->setText(error);
    problem_->setVisible(!error.isEmpty());
    filter_->setStyleSheet(text.isEmpty()    ? ""
                           : error.isEmpty() ? "background: #1f5f2f; color: white;"
                                             : "background: #7a1f1f; color: white;");
  });
  watcher->setFuture(QtConcurrent::run([filter = text.toStdString()] {
    const Result<void> good = filter.empty() ? Result<void>{} : capture::check_filter(filter);
    return good ? QString() : QString::fromStdString(good.error());
  }));
}

}  // namespace rdmascope::gui
