#include "gui/connections_view.h"

#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolBar>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/ladder_view.h"
#include "gui/table.h"

namespace rdmascope::gui {

ConnectionsView::ConnectionsView(QWidget* parent)
    : QWidget(parent),
      connections_(new ConnectionModel(this)),
      sorted_(new QSortFilterProxyModel(this)),
      messages_(new MessageModel(this)),
      pages_(new QStackedWidget(this)),
      waiting_(new QLabel(this)) {
  sorted_->setSourceModel(connections_);
  sorted_->setSortRole(ConnectionModel::sort_role);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(pages_);
  waiting_->setAlignment(Qt::AlignCenter);
  pages_->addWidget(waiting_);
  make_tables();
  auto* one = new QSplitter(Qt::Horizontal, this);
  one->addWidget(message_table_);
  one->addWidget(make_ladder());
  one->setStretchFactor(0, 2);
  one->setStretchFactor(1, 3);
  auto* all = new QSplitter(Qt::Vertical, this);
  all->addWidget(connection_table_);
  all->addWidget(one);
  all->setStretchFactor(0, 1);
  all->setStretchFactor(1, 4);
  pages_->addWidget(all);
}

void ConnectionsView::make_tables() {
  connection_table_ = make_table(sorted_, this);
  connection_table_->setObjectName("connections");
  connection_table_->setAccessibleName("Connections");
  connection_table_->setSortingEnabled(true);
  connection_table_->sortByColumn(ConnectionModel::number, Qt::AscendingOrder);
  connection_table_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(connection_table_, &QWidget::customContextMenuRequested, this, &ConnectionsView::connection_menu);
  connect(connection_table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &ConnectionsView::row_changed);
  message_table_ = make_table(messages_, this);
  message_table_->setObjectName("messages");
  message_table_->setAccessibleName("Messages");
  message_table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  message_table_->setSortingEnabled(true);
  connect(message_table_, &QTableView::clicked, this, &ConnectionsView::message_clicked);
  connect(message_table_, &QTableView::activated, this, &ConnectionsView::message_clicked);
}

QWidget* ConnectionsView::make_ladder() {
  auto* pane = new QWidget(this);
  auto* layout = new QVBoxLayout(pane);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  auto* bar = new QToolBar(pane);
  ladder_ = new LadderView(pane);
  QAction* by_time = bar->addAction("By time");
  by_time->setCheckable(true);
  by_time->setToolTip("Distances are times; otherwise one packet stands below the other");
  connect(by_time, &QAction::toggled, ladder_, &LadderView::set_by_time);
  QAction* relative = bar->addAction("Relative PSNs");
  relative->setCheckable(true);
  relative->setToolTip("PSNs count from the first one of their direction");
  connect(relative, &QAction::toggled, ladder_, [this](bool on) { ladder_->set_absolute(!on); });
  bar->addSeparator();
  connect(bar->addAction("Closer"), &QAction::triggered, ladder_, [this] { ladder_->zoom(1.5); });
  connect(bar->addAction("Farther"), &QAction::triggered, ladder_, [this] { ladder_->zoom(1 / 1.5); });
  bar->addSeparator();
  connect(bar->addAction("Save picture..."), &QAction::triggered, this, &ConnectionsView::save_ladder);
  connect(ladder_, &LadderView::packetChosen, this, &ConnectionsView::packetChosen);
  layout->addWidget(bar);
  layout->addWidget(ladder_, 1);
  return pane;
}

// --- The file --------------------------------------------------------------------------------------------------------

void ConnectionsView::set_file(CaptureFile* file) {
  if (file_) file_->disconnect(this);
  file_ = file;
  if (file_) {
    connect(file_, &CaptureFile::followed_up, this, &ConnectionsView::refresh);
    connect(file_, &CaptureFile::indexed, this, [this] {
      indexed_ = true;
      refresh();
    });
    connect(file_, &QObject::destroyed, this, [this] { set_file(nullptr); });
  }
  indexed_ = file_ && file_->progress() == 1;
  followed_ = file_ ? file_->followed() : nullptr;
  show_file();
}

void ConnectionsView::refresh() {
  if (followed_ || !file_) return;  // it does not change any more
  followed_ = file_->followed();
  show_file();
}

void ConnectionsView::show_file() {
  chosen_ = 0;
  connections_->set(followed_);
  messages_->set(nullptr, 0, 0);
  ladder_->show_ladder({}, "Choose a connection");
  const bool none = followed_ && followed_->connections.empty();
  waiting_->setText(none || nothing_to_follow() ? "No connections" : file_ ? "Following the connections..." : "");
  pages_->setCurrentIndex(followed_ && !none ? 1 : 0);
  if (!followed_ || none) return;
  fit_columns(*connection_table_);
  connection_table_->selectRow(0);
}

void ConnectionsView::row_changed() {
  const QModelIndex index = sorted_->mapToSource(connection_table_->currentIndex());
  if (!index.isValid() || !followed_) return;
  const std::uint32_t id = connections_->at(index.row()).id;
  if (id == chosen_) return;
  chosen_ = id;
  messages_->set(followed_, id, file_->first_ns());
  message_table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  fit_columns(*message_table_);
  Ladder ladder;
  ladder.set(file_, followed_, id);
  ladder_->show_ladder(std::move(ladder), "No InfiniBand packets");
}

void ConnectionsView::choose(std::uint32_t connection) {
  const int row = connections_->row_of(connection);
  if (row < 0) return;
  const QModelIndex index = sorted_->mapFromSource(connections_->index(row, 0));
  connection_table_->selectRow(index.row());
  connection_table_->scrollTo(index);
}

void ConnectionsView::select(quint64 frame) {
  if (!followed_) return;
  const auto step = std::ranges::lower_bound(followed_->steps, frame, {}, &StepRow::frame);
  if (step == followed_->steps.end() || step->frame != frame) return;
  choose(step->connection);
  ladder_->select(frame);
  if (const int row = messages_->row_of(*step); row >= 0) {
    message_table_->selectRow(row);
    message_table_->scrollTo(messages_->index(row, 0));
  }
}

// --- What is clicked -------------------------------------------------------------------------------------------------

void ConnectionsView::message_clicked(const QModelIndex& index) {
  const quint64 frame = messages_->frame_of(index);
  ladder_->select(frame);
  emit packetChosen(frame);
}

void ConnectionsView::connection_menu(const QPoint& at) {
  const QModelIndex index = sorted_->mapToSource(connection_table_->indexAt(at));
  if (!index.isValid()) return;
  const ConnectionRow& c = connections_->at(index.row());
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction("Show only its packets",
                  [this, id = c.id] { emit filterWanted(QString("rdmascope.flow == %1").arg(id)); });
  menu->addAction("Go to its first packet", [this, frame = c.first_frame] { emit packetChosen(frame); });
  menu->addAction("Go to its last packet", [this, frame = c.last_frame] { emit packetChosen(frame); });
  menu->popup(connection_table_->viewport()->mapToGlobal(at));
}

void ConnectionsView::save_ladder() {
  const QString path = QFileDialog::getSaveFileName(this, "Save the ladder", QString("connection-%1.svg").arg(chosen_),
                                                    "Pictures (*.svg *.png)");
  if (path.isEmpty()) return;
  if (const QString why = ladder_->save(path); !why.isEmpty()) QMessageBox::warning(this, "Save the ladder", why);
}

}  // namespace rdmascope::gui
