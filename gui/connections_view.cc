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
      cdi_(new CdiModel(this)),
      story_(new CdiStory(this)),
      pages_(new QStackedWidget(this)),
      waiting_(new QLabel(this)) {
  connect(&file_, &FollowedFile::changed, this, &ConnectionsView::show_file);
  sorted_->setSourceModel(connections_);
  sorted_->setSortRole(ConnectionModel::sort_role);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(pages_);
  waiting_->setAlignment(Qt::AlignCenter);
  pages_->addWidget(waiting_);
  make_tables();
  make_cdi_tables();
  auto* one = new QSplitter(Qt::Horizontal, this);
  one->addWidget(message_table_);
  one->addWidget(make_ladder());
  one->setStretchFactor(0, 2);
  one->setStretchFactor(1, 3);
  course_ = new QStackedWidget(this);
  course_->addWidget(one);
  course_->addWidget(story_table_);
  auto* all = new QSplitter(Qt::Vertical, this);
  all->addWidget(connection_table_);
  all->addWidget(cdi_table_);
  all->addWidget(course_);
  all->setStretchFactor(0, 1);
  all->setStretchFactor(1, 1);
  all->setStretchFactor(2, 4);
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

void ConnectionsView::make_cdi_tables() {
  cdi_table_ = make_table(cdi_, this);
  cdi_table_->setObjectName("cdi");
  cdi_table_->setAccessibleName("Connections of CDI");
  cdi_table_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(cdi_table_, &QWidget::customContextMenuRequested, this, &ConnectionsView::cdi_menu);
  connect(cdi_table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &ConnectionsView::cdi_row_changed);
  story_table_ = make_table(story_, this);
  story_table_->setObjectName("story");
  story_table_->setAccessibleName("Course of the connection");
  const auto clicked = [this](const QModelIndex& index) {
    if (const quint64 frame = story_->frame_of(index.row()); frame != 0) emit packetChosen(frame);
  };
  connect(story_table_, &QTableView::clicked, this, clicked);
  connect(story_table_, &QTableView::activated, this, clicked);
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
  chosen_ = chosen_cdi_ = 0;
  file_.set(file);
}

void ConnectionsView::show_file() {
  const std::uint32_t before = chosen_, before_cdi = chosen_cdi_;
  chosen_ = chosen_cdi_ = 0;
  const std::shared_ptr<const Followed>& followed = file_.followed();
  connections_->set(followed);
  cdi_->set(followed);
  story_->set(nullptr, -1);
  messages_->set(nullptr, 0, 0);
  ladder_->show_ladder({}, "Choose a connection");
  const bool any = followed && !followed->connections.empty(), any_cdi = followed && !followed->cdi.empty();
  const FollowedFile::State state = file_.state();
  waiting_->setText(state == FollowedFile::State::no_file   ? ""
                    : state == FollowedFile::State::waiting ? "Following the connections..."
                    : state == FollowedFile::State::stopped ? "Stopped before the connections were followed"
                                                            : "No connections");
  pages_->setCurrentIndex(any || any_cdi ? 1 : 0);
  connection_table_->setVisible(any || !any_cdi);
  cdi_table_->setVisible(any_cdi);
  if (any_cdi) fit_columns(*cdi_table_);
  if (any) fit_columns(*connection_table_);
  if (any)
    connection_table_->selectRow(0);
  else if (any_cdi)
    cdi_table_->selectRow(0);
  // Of a file that grows the same one stays chosen.
  if (before > 0) choose(before);
  if (before_cdi > 0) choose_cdi(before_cdi);
}

void ConnectionsView::row_changed() {
  const QModelIndex index = sorted_->mapToSource(connection_table_->currentIndex());
  if (!index.isValid() || !file_.followed()) return;
  const std::uint32_t id = connections_->at(index.row()).id;
  if (id == chosen_) return;
  chosen_ = id;
  chosen_cdi_ = 0;
  cdi_table_->clearSelection();
  cdi_table_->setCurrentIndex({});
  course_->setCurrentIndex(0);
  messages_->set(file_.followed(), id, file_.file()->first_ns());
  message_table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  fit_columns(*message_table_);
  Ladder ladder;
  ladder.set(file_.file(), file_.followed(), id);
  ladder_->show_ladder(std::move(ladder), "No InfiniBand packets");
}

// One is chosen in both tables together.
void ConnectionsView::cdi_row_changed() {
  const QModelIndex index = cdi_table_->currentIndex();
  if (!index.isValid()) return;
  chosen_cdi_ = cdi_->at(index.row()).number;
  chosen_ = 0;
  connection_table_->clearSelection();
  connection_table_->setCurrentIndex({});
  story_->set(file_.followed(), index.row());
  fit_columns(*story_table_);
  course_->setCurrentIndex(1);
}

void ConnectionsView::choose_cdi(std::uint32_t number) {
  const int row = cdi_->row_of(number);
  if (row < 0 || number == chosen_cdi_) return;
  cdi_table_->selectRow(row);
  cdi_table_->scrollTo(cdi_->index(row, 0));
}

void ConnectionsView::choose(std::uint32_t connection) {
  const int row = connections_->row_of(connection);
  if (row < 0) return;
  const QModelIndex index = sorted_->mapFromSource(connections_->index(row, 0));
  connection_table_->selectRow(index.row());
  connection_table_->scrollTo(index);
}

void ConnectionsView::select(quint64 frame) {
  const Followed* const followed = file_.followed().get();
  if (!followed) return;
  const auto entry = std::ranges::lower_bound(followed->completions, frame, {}, &CompletionRow::frame);
  if (entry != followed->completions.end() && entry->frame == frame && entry->connection != 0) {
    choose(entry->connection);
    ladder_->select(frame);
    return;
  }
  if (!followed->cdi.empty())
    if (const std::uint32_t number = followed->annotations.of(frame).cdi_flow; number != 0) return choose_cdi(number);
  const auto step = std::ranges::lower_bound(followed->steps, frame, {}, &StepRow::frame);
  if (step == followed->steps.end() || step->frame != frame) return;
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

void ConnectionsView::cdi_menu(const QPoint& at) {
  const QModelIndex index = cdi_table_->indexAt(at);
  if (!index.isValid()) return;
  const CdiRow& c = cdi_->at(index.row());
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction("Show only its messages",
                  [this, number = c.number] { emit filterWanted(QString("cdi.probe.flow == %1").arg(number)); });
  menu->addAction("Go to its first message", [this, frame = c.first_frame] { emit packetChosen(frame); });
  menu->addAction("Go to its last message", [this, frame = c.last_frame] { emit packetChosen(frame); });
  menu->popup(cdi_table_->viewport()->mapToGlobal(at));
}

void ConnectionsView::save_ladder() {
  const QString path = QFileDialog::getSaveFileName(this, "Save the ladder", QString("connection-%1.svg").arg(chosen_),
                                                    "Pictures (*.svg *.png)");
  if (path.isEmpty()) return;
  if (const QString why = ladder_->save(path); !why.isEmpty()) QMessageBox::warning(this, "Save the ladder", why);
}

}  // namespace rdmascope::gui
