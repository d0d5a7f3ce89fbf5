#include "gui/colours_dialog.h"

#include <QColorDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/words.h"

namespace rdmascope::gui {

ColoursDialog::ColoursDialog(QWidget* parent)
    : QDialog(parent),
      list_(new QListWidget),
      name_(new QLineEdit),
      filter_(new QLineEdit),
      text_(new QPushButton(tr("&Text..."))),
      background_(new QPushButton(tr("&Background..."))),
      error_(new QLabel) {
  setWindowTitle(tr("Colouring rules"));
  resize(720, 520);
  list_->setAccessibleName(tr("Colouring rules, the first one that fits counts"));
  filter_->setPlaceholderText(tr("Display filter"));
  error_->setWordWrap(true);
  auto* const buttons =
      new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel | QDialogButtonBox::RestoreDefaults);
  auto* const beside = new QVBoxLayout;
  const auto button = [this](QPushButton* b, auto does) {
    b->setAutoDefault(false);
    connect(b, &QPushButton::clicked, this, does);
    return b;
  };
  beside->addWidget(button(new QPushButton(tr("&Up")), [this] { move(-1); }));
  beside->addWidget(button(new QPushButton(tr("&Down")), [this] { move(1); }));
  beside->addWidget(button(new QPushButton(tr("&Add")), [this] { add(); }));
  beside->addWidget(button(new QPushButton(tr("&Remove")), [this] { remove(); }));
  beside->addStretch();
  auto* const upper = new QHBoxLayout;
  upper->addWidget(list_, 1);
  upper->addLayout(beside);
  auto* const colours = new QHBoxLayout;
  colours->addWidget(button(text_, [this] { ask_colour(false); }));
  colours->addWidget(button(background_, [this] { ask_colour(true); }));
  colours->addWidget(button(new QPushButton(tr("As &usual")), [this] {
    set_colour(false, {});
    set_colour(true, {});
  }));
  colours->addStretch();
  auto* const form = new QFormLayout;
  form->addRow(tr("&Name"), name_);
  form->addRow(tr("&Filter"), filter_);
  form->addRow(QString(), error_);
  form->addRow(tr("Colours"), colours);
  auto* const all = new QVBoxLayout(this);
  all->addWidget(new QLabel(tr("The first rule that fits a packet gives its colours.")));
  all->addLayout(upper, 1);
  all->addLayout(form);
  all->addWidget(buttons);
  connect(list_, &QListWidget::currentRowChanged, this, &ColoursDialog::show_chosen);
  connect(list_, &QListWidget::itemChanged, this, [this](const QListWidgetItem* item) {
    if (!showing_) rules_[static_cast<std::size_t>(list_->row(item))].on = item->checkState() == Qt::Checked;
  });
  const auto edited = [this] {
    if (showing_ || chosen() < 0) return;
    ColourRule& rule = rules_[static_cast<std::size_t>(chosen())];
    rule.name = name_->text();
    rule.filter = filter_->text();
    paint(chosen());
  };
  connect(name_, &QLineEdit::textEdited, this, edited);
  connect(filter_, &QLineEdit::textEdited, this, edited);
  connect(buttons, &QDialogButtonBox::accepted, this, &ColoursDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, this,
          [this] { show_rules(ColourRules::defaults()); });
  show_rules(ColourRules::of_user().all());
}

int ColoursDialog::chosen() const { return list_->currentRow(); }
void ColoursDialog::choose(int rule) { list_->setCurrentRow(rule); }
QString ColoursDialog::error() const { return error_->text(); }

void ColoursDialog::show_rules(std::vector<ColourRule> rules) {
  rules_ = std::move(rules);
  showing_ = true;
  list_->clear();
  for (const ColourRule& rule : rules_) {
    auto* const item = new QListWidgetItem(list_);
    item->setCheckState(rule.on ? Qt::Checked : Qt::Unchecked);
  }
  showing_ = false;
  for (int i = 0; i < list_->count(); ++i) paint(i);
  list_->setCurrentRow(0);
  show_chosen();
}

// A rule looks as the packets will.
void ColoursDialog::paint(int at) {
  const bool before = std::exchange(showing_, true);
  const ColourRule& rule = rules_[static_cast<std::size_t>(at)];
  const bool dark = palette().color(QPalette::Base).lightness() < 128;
  const RowColours colours = colours_of(rule, dark);
  QListWidgetItem& item = *list_->item(at);
  item.setText(rule.name + "    " + rule.filter);
  item.setForeground(colours.text.isValid() ? QBrush(colours.text) : QBrush());
  item.setBackground(colours.background.isValid() ? QBrush(colours.background) : QBrush());
  const QString why = ColourRules::error_of(rule.filter);
  item.setToolTip(why);
  if (at == chosen()) {
    error_->setText(why);
    error_->setStyleSheet("color: " + colour(Shade::violation, palette()).name());
  }
  showing_ = before;
}

void ColoursDialog::show_chosen() {
  const bool any = chosen() >= 0;
  for (QWidget* w : {static_cast<QWidget*>(name_), static_cast<QWidget*>(filter_), static_cast<QWidget*>(text_),
                     static_cast<QWidget*>(background_)})
    w->setEnabled(any);
  const ColourRule rule = any ? rules_[static_cast<std::size_t>(chosen())] : ColourRule{};
  name_->setText(rule.name);
  filter_->setText(rule.filter);
  if (any)
    paint(chosen());
  else
    error_->clear();
}

void ColoursDialog::set_colour(bool background, const QColor& colour) {
  if (chosen() < 0) return;
  ColourRule& rule = rules_[static_cast<std::size_t>(chosen())];
  (background ? rule.background : rule.text) = colour;
  paint(chosen());
}

void ColoursDialog::ask_colour(bool background) {
  if (chosen() < 0) return;
  const ColourRule& rule = rules_[static_cast<std::size_t>(chosen())];
  const QColor now = background ? rule.background : rule.text;
  const QColor asked =
      QColorDialog::getColor(now.isValid() ? now : QColor(background ? Qt::white : Qt::black), this,
                             background ? tr("Background on a light window") : tr("Text on a light window"));
  if (asked.isValid()) set_colour(background, asked);
}

void ColoursDialog::add() {
  const int at = chosen() + 1;
  std::vector<ColourRule> rules = rules_;
  rules.insert(rules.begin() + at, {tr("New rule"), {}, {}, QColor("#e8f0d0"), true});
  show_rules(std::move(rules));
  choose(at);
  name_->setFocus();
  name_->selectAll();
}

void ColoursDialog::remove() {
  const int at = chosen();
  if (at < 0) return;
  std::vector<ColourRule> rules = rules_;
  rules.erase(rules.begin() + at);
  show_rules(std::move(rules));
  choose(std::min(at, list_->count() - 1));
}

void ColoursDialog::move(int by) {
  const int from = chosen(), to = from + by;
  if (from < 0 || to < 0 || to >= list_->count()) return;
  std::vector<ColourRule> rules = rules_;
  std::swap(rules[static_cast<std::size_t>(from)], rules[static_cast<std::size_t>(to)]);
  show_rules(std::move(rules));
  choose(to);
}

// A rule that cannot be used is not kept: it would look as if nothing fitted.
void ColoursDialog::accept() {
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (rules_[i].on && !ColourRules::error_of(rules_[i].filter).isEmpty()) return choose(static_cast<int>(i));
  ColourRules::of_user().set(rules_);
  QDialog::accept();
}

}  // namespace rdmascope::gui
