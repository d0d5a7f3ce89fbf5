#include "gui/completions_view.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "gui/models/words.h"
#include "gui/table.h"

namespace rdmascope::gui {

CompletionsView::CompletionsView(QWidget* parent)
    : QWidget(parent),
      completions_(new CompletionModel(this)),
      pages_(new QStackedWidget(this)),
      waiting_(new QLabel(this)),
      count_(new QLabel(this)),
      table_(make_table(completions_, this)),
      advice_(new QTextBrowser(this)) {
  connect(&file_, &FollowedFile::changed, this, &CompletionsView::show_file);
  waiting_->setAlignment(Qt::AlignCenter);
  auto* const notable = new QCheckBox(tr("Only &failures and findings"), this);
  auto* const bar = new QHBoxLayout;
  bar->setContentsMargins(6, 4, 6, 0);
  bar->addWidget(notable);
  bar->addStretch();
  bar->addWidget(count_);
  auto* const left = new QWidget(this);
  auto* const left_layout = new QVBoxLayout(left);
  left_layout->setContentsMargins(0, 0, 0, 0);
  left_layout->addLayout(bar);
  left_layout->addWidget(table_);
  auto* const both = new QSplitter(Qt::Vertical, this);
  both->addWidget(left);
  both->addWidget(advice_);
  both->setStretchFactor(0, 5);
  both->setStretchFactor(1, 1);
  pages_->addWidget(waiting_);
  pages_->addWidget(both);
  auto* const all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(pages_);
  table_->setAccessibleName(tr("Completion queue entries"));
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  advice_->setAccessibleName(tr("What the status means"));
  connect(notable, &QCheckBox::toggled, this, [this](bool on) {
    const quint64 before = table_->currentIndex().isValid() ? completions_->at(table_->currentIndex().row()).frame : 0;
    completions_->set_only_notable(on);
    select(before);
    show_advice();
  });
  // Enter and a double click.
  connect(table_, &QTableView::activated, this, &CompletionsView::opened);
  connect(table_, &QWidget::customContextMenuRequested, this, &CompletionsView::menu);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CompletionsView::show_advice);
}

void CompletionsView::set_file(CaptureFile* file) { file_.set(file); }

bool CompletionsView::any() const { return file_.followed() && !file_.followed()->completions.empty(); }

void CompletionsView::show_file() {
  using State = FollowedFile::State;
  completions_->set(file_.file(), file_.followed());
  waiting_->setText(file_.state() == State::no_file   ? QString()
                    : file_.state() == State::waiting ? tr("Following the connections...")
                    : file_.state() == State::stopped ? tr("Stopped before the connections were followed")
                                                      : tr("No completion queue entries"));
  pages_->setCurrentIndex(any());
  if (any()) {
    std::size_t failed = 0;
    for (const CompletionRow& row : file_.followed()->completions) failed += row.failed;
    count_->setText(tr("%L1 entries, %L2 failed").arg(file_.followed()->completions.size()).arg(failed));
    fit_columns(*table_);
    table_->selectRow(0);
  }
  show_advice();
  emit anyChanged();
}

void CompletionsView::show_advice() {
  const QModelIndex now = table_->currentIndex();
  if (!now.isValid()) return advice_->clear();
  QString html;
  for (const QString& words : completions_->advice(now.row())) {
    const qsizetype colon = words.indexOf(": ");
    html +=
        QString("<p><b>%1</b>%2</p>").arg(words.left(colon + 1).toHtmlEscaped(), words.mid(colon + 1).toHtmlEscaped());
  }
  const QString found = now.siblingAtColumn(CompletionModel::finding).data(Qt::ToolTipRole).toString();
  for (const QString& line : found.split('\n', Qt::SkipEmptyParts)) html += "<p>" + line.toHtmlEscaped() + "</p>";
  advice_->setHtml(html.isEmpty() ? tr("<p>Completed with success; nothing was found.</p>") : html);
}

void CompletionsView::select(quint64 frame) {
  const int row = completions_->row_of(frame);
  if (row < 0 || row == table_->currentIndex().row()) return;
  table_->selectRow(row);
  table_->scrollTo(completions_->index(row, CompletionModel::frame));
}

void CompletionsView::opened(const QModelIndex& index) { emit packetChosen(completions_->frame_of(index)); }

void CompletionsView::menu(const QPoint& at) {
  const QModelIndex index = table_->indexAt(at);
  if (!index.isValid()) return;
  const CompletionRow row = completions_->at(index.row());
  auto* const menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const auto go_to = [&](const QString& words, quint64 frame) {
    if (frame != 0) menu->addAction(words.arg(frame), this, [this, frame] { emit packetChosen(frame); });
  };
  const auto only = [&](const QString& words, const QString& filter) {
    menu->addAction(words, this, [this, filter] { emit filterWanted(filter); });
  };
  go_to(tr("Go to the entry, packet %1"), row.frame);
  go_to(tr("Go to packet %1, which completed it"), row.ended);
  go_to(tr("Go to packet %1, where its message begins"), row.began);
  menu->addSeparator();
  if (row.ended != 0)
    only(tr("Show only this entry and the packets of that time"),
         QString("frame.number == %1 or (rdmascope.flow == %2 and frame.number >= %3 and frame.number <= %4)")
             .arg(row.frame)
             .arg(row.connection)
             .arg(row.began)
             .arg(row.ended));
  if (row.connection != 0)
    only(tr("Show only packets of its connection"), QString("rdmascope.flow == %1").arg(row.connection));
  if (const QString pair = completions_->pair_filter(index.row()); !pair.isEmpty())
    only(tr("Show only entries of this queue pair"), pair);
  menu->popup(table_->viewport()->mapToGlobal(at));
}

}  // namespace rdmascope::gui
