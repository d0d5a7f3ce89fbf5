#include "gui/packets_view.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

#include "dissect/json.h"
#include "dissect/text.h"
#include "dissect/tree.h"

namespace rdmascope::gui {
namespace {

constexpr int settled_ms = 300;  // somebody who drags a column has let it go

}  // namespace

PacketsView::PacketsView(QWidget* parent)
    : QWidget(parent),
      packets_(new PacketModel(this)),
      fields_(new FieldTree(this)),
      filter_(new FilterBar),
      list_(new QTableView),
      tree_(new QTreeView),
      hex_(new HexView),
      search_bar_(new QWidget),
      searched_(new QProgressBar),
      moved_(new QTimer(this)) {
  list_->setModel(packets_);
  list_->setSelectionBehavior(QAbstractItemView::SelectRows);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list_->setShowGrid(false);
  list_->setWordWrap(false);
  list_->setAccessibleName(tr("Packets"));
  list_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  list_->verticalHeader()->hide();
  // Every row is as high as the others: nothing has to be measured.
  list_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  list_->verticalHeader()->setDefaultSectionSize(list_->fontMetrics().height() + 4);
  make_header();
  list_->setContextMenuPolicy(Qt::CustomContextMenu);
  tree_->setModel(fields_);
  tree_->setHeaderHidden(true);
  tree_->setUniformRowHeights(true);
  tree_->setFont(list_->font());
  tree_->setAccessibleName(tr("Fields of the packet"));
  tree_->setContextMenuPolicy(Qt::CustomContextMenu);
  auto* below = new QSplitter(Qt::Horizontal);
  below->addWidget(tree_);
  below->addWidget(hex_);
  below->setStretchFactor(0, 3);
  below->setStretchFactor(1, 2);
  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(list_);
  split->addWidget(below);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setChildrenCollapsible(false);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(2);
  all->addWidget(filter_);
  all->addWidget(split);
  all->addWidget(search_bar_);
  make_search_bar();

  connect(list_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { show_row(now.isValid() ? now.row() : -1); });
  connect(packets_, &PacketModel::countChanged, this, &PacketsView::countChanged);
  connect(packets_, &PacketModel::countChanged, this, [this] {
    // What was chosen before a filter came stays chosen, if it passes. Rows may still be on their way when it has
    // ended.
    if (keep_ > 0 && go_to(keep_)) keep_ = 0;
    if (keep_ > 0 && !packets_->is_filtering()) QTimer::singleShot(0, this, &PacketsView::choose_any);
    if (keep_ == 0) choose_any();
  });
  connect(filter_, &FilterBar::applied, this, [this](const QString& text) {
    keep_ = current();
    stop_finding();  // it is about rows of another list
    static_cast<void>(packets_->set_filter(text));
    if (current() == 0) {
      fields_->show(nullptr, 0);
      hex_->set_bytes({});
      list_->scrollToTop();
    }
  });
  connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& now) { field_chosen(now); });
  connect(tree_, &QTreeView::doubleClicked, this, [this](const QModelIndex& index) {
    if (const quint64 frame = index.data(FieldTree::frame).toULongLong(); frame != 0) go_to(frame);
  });
  connect(hex_, &HexView::bitChosen, this, [this](quint64 bit) {
    const QModelIndex field = fields_->at_bit(bit);
    if (!field.isValid()) return;
    tree_->setCurrentIndex(field);
    tree_->scrollTo(field);
  });
  connect(tree_, &QTreeView::customContextMenuRequested, this, [this](const QPoint& at) {
    const QModelIndex index = tree_->indexAt(at);
    if (!index.isValid()) return;
    const QString words = index.data(FieldTree::comparison).toString();
    const quint64 frame = index.data(FieldTree::frame).toULongLong();
    QMenu menu;
    if (!words.isEmpty()) {
      menu.addAction(tr("Filter: %1").arg(words), this, [this, words] { set_filter(words); });
      menu.addAction(tr("And this: %1").arg(words), this, [this, words] {
        set_filter(filter_->text().trimmed().isEmpty() ? words : QString("(%1) and %2").arg(filter_->text(), words));
      });
      menu.addAction(tr("Copy as filter"), this, [words] { QApplication::clipboard()->setText(words); });
    }
    if (const QString name = index.data(FieldTree::name).toString(); !name.isEmpty())
      menu.addAction(tr("Show as a column"), this,
                     [name] { static_cast<void>(PacketColumns::of_user().add_field(name)); });
    if (frame != 0) menu.addAction(tr("Go to packet %1").arg(frame), this, [this, frame] { go_to(frame); });
    menu.addAction(tr("Copy line"), this, [index] { QApplication::clipboard()->setText(index.data().toString()); });
    menu.exec(tree_->viewport()->mapToGlobal(at));
  });
  connect(list_, &QTableView::customContextMenuRequested, this, [this](const QPoint& at) {
    if (!list_->indexAt(at).isValid()) return;
    QMenu menu;
    menu.addAction(tr("Mark"), this, &PacketsView::toggle_mark);
    menu.addAction(tr("Time reference"), this, &PacketsView::toggle_time_reference);
    menu.addSeparator();
    menu.addAction(tr("Copy lines"), this, &PacketsView::copy_line);
    menu.addAction(tr("Copy fields"), this, &PacketsView::copy_tree);
    menu.addAction(tr("Copy bytes as hex"), this, &PacketsView::copy_hex);
    menu.addAction(tr("Copy as JSON"), this, &PacketsView::copy_json);
    menu.exec(list_->viewport()->mapToGlobal(at));
  });
}

// --- Columns ---------------------------------------------------------------------------------------------------------

void PacketsView::make_header() {
  QHeaderView* const header = list_->horizontalHeader();
  header->setSectionsMovable(true);
  header->setHighlightSections(false);
  header->setContextMenuPolicy(Qt::CustomContextMenu);
  header->setSectionsClickable(true);
  header->setSortIndicatorShown(true);
  connect(header, &QHeaderView::sectionClicked, this, &PacketsView::sort_by);
  connect(packets_, &PacketModel::sorted, this, [this] {
    if (const QModelIndex now = list_->currentIndex(); now.isValid()) list_->scrollTo(now);
  });
  moved_->setSingleShot(true);
  moved_->setInterval(settled_ms);
  const auto moved = [this] {
    if (!arranging_) moved_->start();
  };
  connect(header, &QHeaderView::sectionMoved, this, moved);
  connect(header, &QHeaderView::sectionResized, this, moved);
  connect(header, &QWidget::customContextMenuRequested, this, &PacketsView::header_menu);
  connect(moved_, &QTimer::timeout, this, &PacketsView::keep_columns);
  // Behind the model, which has the columns by then.
  connect(&PacketColumns::of_user(), &PacketColumns::changed, this, &PacketsView::arrange);
  arrange();
}

// Up, down, as captured. A header shows no arrow for what would take a look at each packet.
void PacketsView::sort_by(int column) {
  if (PacketModel::sorts_by(column)) {
    const PacketModel::Sorting up{static_cast<PacketColumns::Column>(column)};
    PacketModel::Sorting down = up;
    down.descending = true;
    const std::optional<PacketModel::Sorting> now = packets_->sorting();
    stop_finding();  // it is about rows of another order
    packets_->sort_by(now == up ? std::optional(down) : now == down ? std::nullopt : std::optional(up));
  }
  const std::optional<PacketModel::Sorting> now = packets_->sorting();
  list_->horizontalHeader()->setSortIndicator(now ? now->column : -1,
                                              now && now->descending ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void PacketsView::arrange() {
  QHeaderView* const header = list_->horizontalHeader();
  arranging_ = true;
  int place = 0;
  for (const ColumnSetting& c : PacketColumns::of_user().all()) {
    const int column = packets_->column_of(c.name);
    if (column < 0) continue;
    header->moveSection(header->visualIndex(column), place++);
    header->setSectionHidden(column, !c.shown);
    if (c.shown) header->resizeSection(column, c.width);
  }
  arranging_ = false;
  // A new column is not chosen with the others of its row.
  if (const QModelIndex now = list_->currentIndex(); now.isValid())
    list_->selectionModel()->select(now, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

void PacketsView::keep_columns() {
  const QHeaderView* const header = list_->horizontalHeader();
  std::vector<ColumnSetting> columns = PacketColumns::of_user().all();
  const auto place_of = [&](const ColumnSetting& c) { return header->visualIndex(packets_->column_of(c.name)); };
  for (ColumnSetting& c : columns)
    if (const int column = packets_->column_of(c.name); !header->isSectionHidden(column))
      c.width = header->sectionSize(column);
  std::ranges::stable_sort(columns, {}, place_of);
  PacketColumns::of_user().set(std::move(columns));
}

void PacketsView::header_menu(const QPoint& at) {
  PacketColumns& columns = PacketColumns::of_user();
  auto* const menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const int here = list_->horizontalHeader()->logicalIndexAt(at);
  for (const ColumnSetting& c : columns.all()) {
    QAction* const action = menu->addAction(c.title, this, [&columns, name = c.name](bool on) {
      std::vector<ColumnSetting> all = columns.all();
      for (ColumnSetting& other : all)
        if (other.name == name) other.shown = on;
      columns.set(std::move(all));
    });
    action->setCheckable(true);
    action->setChecked(c.shown);
  }
  menu->addSeparator();
  for (const ColumnSetting& c : columns.all())
    if (packets_->column_of(c.name) == here && here >= PacketModel::of_list)
      menu->addAction(tr("Remove %1").arg(c.name), this, [&columns, name = c.name] { columns.remove_field(name); });
  menu->addAction(tr("Columns..."), this, &PacketsView::columnsWanted);
  menu->popup(list_->horizontalHeader()->mapToGlobal(at));
}

// --- The file --------------------------------------------------------------------------------------------------------

void PacketsView::set_file(CaptureFile* file) {
  stop_finding();
  if (file_) file_->disconnect(this);
  file_ = file;
  fields_->show(nullptr, 0);
  hex_->set_bytes({});
  packets_->set_file(file);
  // What was found of the packet that is shown.
  if (file_)
    connect(
        file_, &CaptureFile::followed_up, this, [this] { show_row(list_->currentIndex().row()); },
        Qt::QueuedConnection);
}

void PacketsView::choose_any() {
  if (keep_ > 0) static_cast<void>(go_to(keep_));
  keep_ = 0;
  if (!list_->currentIndex().isValid() && packets_->rowCount() > 0) choose_row(0);
}

void PacketsView::set_filter(const QString& text) {
  filter_->set_text(text);
  filter_->apply();
}

void PacketsView::set_dark(bool dark) { packets_->set_dark(dark); }

quint64 PacketsView::current() const {
  const QModelIndex now = list_->currentIndex();
  return now.isValid() ? packets_->frame_of(now.row()) + 1 : 0;
}

void PacketsView::choose_row(int row) {
  const QModelIndex index = packets_->index(row, 0);
  list_->setCurrentIndex(index);
  list_->scrollTo(index, QAbstractItemView::EnsureVisible);
}

bool PacketsView::go_to(quint64 frame, const QString& field) {
  const int row = frame == 0 ? -1 : packets_->row_of(frame - 1);
  if (row < 0) return false;
  choose_row(row);
  if (field.isEmpty()) return true;
  if (const QModelIndex place = fields_->at_field(field.toStdString()); place.isValid()) {
    tree_->setCurrentIndex(place);
    tree_->scrollTo(place, QAbstractItemView::PositionAtCenter);
  }
  return true;
}

// The tree opens where it was open before: at the same headers.
void PacketsView::show_row(int row) {
  if (row < 0 || !file_) return;
  const QString field = tree_->currentIndex().data(FieldTree::name).toString();
  const int scrolled = tree_->verticalScrollBar()->value();
  fields_->show(file_, packets_->frame_of(row));
  hex_->set_bytes(fields_->bytes());
  for (int i = 0; i < fields_->rowCount(); ++i) {
    const QModelIndex heading = fields_->index(i, 0);
    const QString name = heading.data(FieldTree::name).toString();
    const bool is_transport = name.startsWith("infiniband") || name.startsWith("cdi") || name.startsWith("cqe") ||
                              name.startsWith("efa") || name.startsWith("rdmascope");
    tree_->setExpanded(heading, is_transport);
  }
  if (const QModelIndex same = field.isEmpty() ? QModelIndex() : fields_->at_field(field.toStdString()); same.isValid())
    tree_->setCurrentIndex(same);
  tree_->verticalScrollBar()->setValue(scrolled);
  emit currentChanged(packets_->frame_of(row) + 1);
}

void PacketsView::field_chosen(const QModelIndex& index) {
  hex_->set_chosen(index.isValid() ? index.data(FieldTree::range).value<BitRange>() : BitRange{});
}

QString PacketsView::comparison() const { return tree_->currentIndex().data(FieldTree::comparison).toString(); }

// --- From packet to packet -------------------------------------------------------------------------------------------

void PacketsView::make_search_bar() {
  auto* const row = new QHBoxLayout(search_bar_);
  row->setContentsMargins(6, 2, 6, 2);
  auto* const stop = new QPushButton(tr("Cancel"));
  searched_->setRange(0, 1000);
  row->addWidget(new QLabel(tr("Looking for it")));
  row->addWidget(searched_, 1);
  row->addWidget(stop);
  search_bar_->hide();
  connect(stop, &QPushButton::clicked, this, &PacketsView::stop_finding);
}

QString PacketsView::find(FindIn where, const QString& what, bool backwards) {
  if (!file_) return tr("Nothing is open.");
  if (QString why = FindRun::error_of(where, what); !why.isEmpty()) return why;
  FindTask task{where,
                what,
                backwards,
                list_->currentIndex().row(),
                packets_->rowCount(),
                packets_->frames(),
                packets_->row_form(),
                {}};
  for (int i = 0; i < packets_->columnCount(); ++i) task.shown.push_back(!list_->isColumnHidden(i));
  stop_finding();
  search_ = std::make_unique<FindRun>(*file_, std::move(task));
  connect(
      search_.get(), &FindRun::done, this,
      [this, number = ++searches_](int row) {
        if (search_ && number == searches_) end_search(row);  // else cancelled while this was on its way
      },
      Qt::QueuedConnection);
  connect(
      search_.get(), &FindRun::progressed, this,
      [this] {
        if (!search_) return;
        searched_->setValue(static_cast<int>(search_->progress() * 1000));
        search_bar_->show();
      },
      Qt::QueuedConnection);
  search_->start();
  return {};
}

void PacketsView::stop_finding() {
  search_.reset();
  search_bar_->hide();
}

void PacketsView::end_search(int row) {
  const bool backwards = search_->backwards();
  stop_finding();
  if (row >= 0 && row < packets_->rowCount()) choose_row(row);
  emit findDone(row >= 0, backwards);
}

void PacketsView::next_in_connection(bool backwards) {
  const QModelIndex now = list_->currentIndex();
  if (!now.isValid()) return;
  const QString connection = now.siblingAtColumn(PacketModel::connection).data().toString();
  if (!connection.isEmpty()) static_cast<void>(find(FindIn::connection, connection, backwards));
}

void PacketsView::next_marked(bool backwards) {
  const std::set<std::size_t>& marks = packets_->marks();
  if (current() == 0) return;
  auto at = backwards ? marks.lower_bound(current() - 1) : marks.upper_bound(current() - 1);
  // Some may be hidden by the filter.
  while (backwards ? at != marks.begin() : at != marks.end()) {
    if (backwards) --at;
    if (const int row = packets_->row_of(*at); row >= 0) return choose_row(row);
    if (!backwards) ++at;
  }
}

void PacketsView::toggle_mark() {
  if (current() > 0) packets_->toggle_mark(current() - 1);
}

void PacketsView::toggle_time_reference() {
  if (current() == 0) return;
  const std::size_t frame = current() - 1;
  packets_->set_time_reference(packets_->time_reference() == frame ? std::nullopt : std::optional(frame));
}

// --- Copies ----------------------------------------------------------------------------------------------------------

void PacketsView::copy_line() const {
  QStringList lines;
  QModelIndexList rows = list_->selectionModel()->selectedRows();
  std::sort(rows.begin(), rows.end());
  for (const QModelIndex& index : rows) lines << packets_->line(index.row());
  QApplication::clipboard()->setText(lines.join('\n'));
}

void PacketsView::copy_tree() const {
  QStringList lines;
  for (int i = 0; i < fields_->rowCount(); ++i) {
    const QModelIndex heading = fields_->index(i, 0);
    lines << heading.data().toString();
    for (int k = 0; k < fields_->rowCount(heading); ++k)
      lines << "    " + fields_->index(k, 0, heading).data().toString();
  }
  QApplication::clipboard()->setText(lines.join('\n'));
}

void PacketsView::copy_hex() const {
  dissect::Text text;
  dissect::put_hex_dump(text, fields_->bytes());
  QApplication::clipboard()->setText(QString::fromLatin1(text.view().data(), static_cast<qsizetype>(text.size())));
}

void PacketsView::copy_json() const {
  if (!file_) return;
  QModelIndexList rows = list_->selectionModel()->selectedRows();
  std::sort(rows.begin(), rows.end());
  const auto packet = std::make_unique<dissect::Packet>();
  dissect::Annotations annotations;
  dissect::Text text;
  for (const QModelIndex& index : rows) {
    file_->load(packets_->frame_of(index.row()), *packet, annotations);
    dissect::put_json(text, *packet, {});
    text.put('\n');
    packet->drop_annotations();
  }
  QApplication::clipboard()->setText(QString::fromUtf8(text.view().data(), static_cast<qsizetype>(text.size())));
}

QString PacketsView::export_to(const QString& path) const {
  if (!file_) return tr("nothing is open");
  const std::string name = path.toStdString();
  std::vector<std::size_t> frames(static_cast<std::size_t>(packets_->rowCount()));
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = packets_->frame_of(static_cast<int>(i));
  std::ranges::sort(frames);  // the list may be sorted otherwise
  return file_->write(name, path.endsWith(".pcap"), frames);
}

}  // namespace rdmascope::gui
