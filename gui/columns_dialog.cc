#include "gui/columns_dialog.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/field_edit.h"

namespace rdmascope::gui {
namespace {

constexpr int title = 0, name = 1;
constexpr int width_role = Qt::UserRole, name_role = Qt::UserRole + 1;

}  // namespace

ColumnsDialog::ColumnsDialog(QWidget* parent)
    : QDialog(parent), list_(new QTreeWidget), field_(make_field_edit(this)), error_(new QLabel) {
  setWindowTitle(tr("Columns"));
  resize(560, 460);
  list_->setHeaderLabels({tr("Title"), tr("Shows")});
  list_->setRootIsDecorated(false);
  list_->setDragDropMode(QAbstractItemView::InternalMove);
  list_->setAccessibleName(tr("Columns"));
  field_->setPlaceholderText(tr("A field to add, as infiniband.bth.psn"));
  field_->setAccessibleName(tr("Field"));
  error_->setWordWrap(true);
  error_->hide();
  auto* const buttons =
      new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel | QDialogButtonBox::RestoreDefaults);
  auto* const beside = new QVBoxLayout;
  const auto button = [&](const QString& words, auto does) {
    auto* const b = new QPushButton(words);
    b->setAutoDefault(false);
    connect(b, &QPushButton::clicked, this, does);
    beside->addWidget(b);
  };
  button(tr("&Up"), [this] { move(-1); });
  button(tr("&Down"), [this] { move(1); });
  button(tr("&Remove"), [this] { remove(); });
  beside->addStretch();
  auto* const middle = new QHBoxLayout;
  middle->addWidget(list_, 1);
  middle->addLayout(beside);
  auto* const adding = new QHBoxLayout;
  auto* const add_button = new QPushButton(tr("&Add"));
  add_button->setAutoDefault(false);
  adding->addWidget(field_, 1);
  adding->addWidget(add_button);
  auto* const all = new QVBoxLayout(this);
  all->addLayout(middle, 1);
  all->addLayout(adding);
  all->addWidget(error_);
  all->addWidget(buttons);
  connect(add_button, &QPushButton::clicked, this, &ColumnsDialog::add);
  connect(buttons, &QDialogButtonBox::accepted, this, &ColumnsDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, this,
          [this] { show_columns(PacketColumns::defaults()); });
  show_columns(PacketColumns::of_user().all());
}

void ColumnsDialog::show_columns(const std::vector<ColumnSetting>& columns) {
  list_->clear();
  for (const ColumnSetting& c : columns) {
    auto* const item = new QTreeWidgetItem(list_);
    const bool is_field = PacketColumns::column_of(c.name) == PacketColumns::of_list;
    item->setText(title, c.title);
    item->setText(name, is_field ? c.name : tr("(of the list)"));
    item->setCheckState(title, c.shown ? Qt::Checked : Qt::Unchecked);
    item->setData(title, width_role, c.width);
    item->setData(title, name_role, c.name);
    // Dropped on another one it would be its child.
    item->setFlags((item->flags() | Qt::ItemIsEditable) & ~Qt::ItemIsDropEnabled);
  }
  list_->resizeColumnToContents(title);
}

std::vector<ColumnSetting> ColumnsDialog::columns() const {
  std::vector<ColumnSetting> out;
  for (int i = 0; i < list_->topLevelItemCount(); ++i) {
    const QTreeWidgetItem* const item = list_->topLevelItem(i);
    out.push_back({item->data(title, name_role).toString(), item->text(title), item->data(title, width_role).toInt(),
                   item->checkState(title) == Qt::Checked});
  }
  return out;
}

QString ColumnsDialog::error() const { return error_->isHidden() ? QString() : error_->text(); }

void ColumnsDialog::add() {
  std::vector<ColumnSetting> with = columns();
  const QString why = PacketColumns::add_field(field_->text(), with);
  error_->setText(why);
  error_->setVisible(!why.isEmpty());
  if (!why.isEmpty()) return;
  show_columns(with);
  field_->clear();
}

void ColumnsDialog::remove() {
  QTreeWidgetItem* const item = list_->currentItem();
  if (!item) return;
  // Those of the list can only be hidden.
  if (PacketColumns::column_of(item->data(title, name_role).toString()) == PacketColumns::of_list)
    delete item;
  else
    item->setCheckState(title, Qt::Unchecked);
}

void ColumnsDialog::move(int by) {
  const int from = list_->indexOfTopLevelItem(list_->currentItem()), to = from + by;
  if (from < 0 || to < 0 || to >= list_->topLevelItemCount()) return;
  list_->insertTopLevelItem(to, list_->takeTopLevelItem(from));
  list_->setCurrentItem(list_->topLevelItem(to));
}

void ColumnsDialog::accept() {
  // What was typed and not added yet is meant, too.
  if (!field_->text().trimmed().isEmpty()) {
    add();
    if (!error().isEmpty()) return;
  }
  PacketColumns::of_user().set(columns());
  QDialog::accept();
}

}  // namespace rdmascope::gui
