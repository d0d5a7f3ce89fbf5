#include "gui/filter_bar.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QStringListModel>
#include <QVBoxLayout>

#include <algorithm>

#include "dissect/field_index.h"
#include "dissect/headers.h"

namespace rdmascope::gui {
namespace {

constexpr int most_completions = 200, kept = 20;

bool is_of_word(QChar c) { return c.isLetterOrNumber() || c == '.' || c == '_'; }

// Where the word under the cursor begins.
qsizetype word_begin(const QString& text, qsizetype cursor) {
  while (cursor > 0 && is_of_word(text[cursor - 1])) --cursor;
  return cursor;
}

// The field a value would be compared with: "infiniband.aeth.syndrome.opcode ==" before the word.
QString field_before(const QString& text, qsizetype at) {
  QString before = text.left(at).trimmed();
  if (before.endsWith('"')) before = before.chopped(1).trimmed();
  for (const char* op : {"===", "!==", "==", "!=", "eq", "ne", "in {", "{", ","})
    if (before.endsWith(QLatin1String(op))) {
      before = before.chopped(qsizetype(qstrlen(op))).trimmed();
      return before.mid(word_begin(before, before.size()));
    }
  return {};
}

QStringList values_of(const QString& field) {
  QStringList out;
  for (const dissect::FieldRef& ref : dissect::find_fields(field.toStdString()))
    if (ref.field)
      for (const dissect::ValueName& v : ref.field->names)
        out << QString("\"%1\"").arg(QString::fromUtf8(v.name.data(), static_cast<qsizetype>(v.name.size())));
  return out;
}

}  // namespace

FilterBar::FilterBar(QWidget* parent)
    : QWidget(parent), box_(new QComboBox), error_(new QLabel), words_(new QStringListModel(this)) {
  box_->setEditable(true);
  box_->setInsertPolicy(QComboBox::NoInsert);
  box_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  box_->setCompleter(nullptr);
  box_->setAccessibleName(tr("Display filter"));
  box_->lineEdit()->setPlaceholderText(
      tr("Display filter, as infiniband.bth.opcode == RC_RDMA_READ_REQUEST  (Ctrl+/)"));
  box_->lineEdit()->setClearButtonEnabled(true);
  completer_ = new QCompleter(words_, this);
  completer_->setWidget(box_->lineEdit());
  completer_->setCaseSensitivity(Qt::CaseInsensitive);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  auto* apply_button = new QPushButton(tr("Apply"));
  auto* row = new QHBoxLayout;
  row->addWidget(box_);
  row->addWidget(apply_button);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(4, 2, 4, 0);
  all->setSpacing(1);
  all->addLayout(row);
  all->addWidget(error_);
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  error_->hide();
  connect(box_->lineEdit(), &QLineEdit::textChanged, this, &FilterBar::check);
  connect(box_->lineEdit(), &QLineEdit::textEdited, this, &FilterBar::complete);
  connect(box_->lineEdit(), &QLineEdit::returnPressed, this, &FilterBar::apply);
  connect(box_, &QComboBox::activated, this, &FilterBar::apply);
  connect(apply_button, &QPushButton::clicked, this, &FilterBar::apply);
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &FilterBar::choose);
}

QLineEdit* FilterBar::edit() const { return box_->lineEdit(); }
QString FilterBar::text() const { return box_->lineEdit()->text(); }
void FilterBar::set_text(const QString& text) { box_->lineEdit()->setText(text); }

QStringList FilterBar::history() const {
  QStringList out;
  for (int i = 0; i < box_->count(); ++i) out << box_->itemText(i);
  return out;
}

void FilterBar::set_history(const QStringList& history) {
  const QString now = text();
  box_->clear();
  box_->addItems(history);
  set_text(now);
}

void FilterBar::apply() {
  check();
  if (!error().isEmpty()) return;
  const QString now = text().trimmed();
  if (!now.isEmpty()) {
    QStringList all = history();
    all.removeAll(now);
    all.prepend(now);
    set_history(all.mid(0, kept));
  }
  emit applied(now);
}

// Colour and words follow every key.
void FilterBar::check() {
  const QString now = text();
  const auto compiled = dissect::Filter::compile(now.toStdString());
  const auto* const wrong = std::get_if<dissect::FilterError>(&compiled);
  const bool dark = palette().color(QPalette::Base).lightness() < 128;
  const char* const color = now.trimmed().isEmpty() ? ""
                            : wrong                 ? (dark ? "#5c1a1a" : "#ffd9d9")
                                                    : (dark ? "#1d4a24" : "#dcf5dc");
  box_->lineEdit()->setStyleSheet(
      *color ? QString("QLineEdit { background: %1; color: %2; }").arg(color, dark ? "#f0f0f0" : "#101010")
             : QString());
  error_->setText(wrong ? tr("At character %1: %2").arg(wrong->column).arg(QString::fromStdString(wrong->message))
                        : QString());
  error_->setStyleSheet(QString("color: %1").arg(dark ? "#ff9a9a" : "#a00000"));
  error_->setVisible(wrong != nullptr);
}

void FilterBar::complete() {
  const QString now = text();
  const qsizetype cursor = box_->lineEdit()->cursorPosition(), begin = word_begin(now, cursor);
  const QString word = now.mid(begin, cursor - begin);
  QStringList fitting;
  if (const QString field = field_before(now, begin); !field.isEmpty()) {
    for (const QString& value : values_of(field))
      if (value.mid(1).startsWith(word, Qt::CaseInsensitive)) fitting << value;
  } else if (word.size() >= 2) {
    for (const std::string& name : dissect::all_field_names()) {
      const QString full = QString::fromStdString(name);
      // What stands before may be left out.
      if (full.startsWith(word, Qt::CaseInsensitive) || full.contains("." + word, Qt::CaseInsensitive)) fitting << full;
      if (fitting.size() == most_completions) break;
    }
  }
  if (fitting.isEmpty() || (fitting.size() == 1 && fitting[0] == word)) return completer_->popup()->hide();
  words_->setStringList(fitting);
  QRect place = box_->lineEdit()->rect();
  place.setLeft(std::min(place.width() / 2, fontMetrics().horizontalAdvance(now.left(begin))));
  place.setWidth(completer_->popup()->sizeHintForColumn(0) +
                 completer_->popup()->verticalScrollBar()->sizeHint().width() + 16);
  completer_->complete(place);
}

void FilterBar::choose(const QString& word) {
  QLineEdit* const line = box_->lineEdit();
  const QString now = line->text();
  const qsizetype cursor = line->cursorPosition();
  qsizetype begin = word_begin(now, cursor);
  if (word.startsWith('"') && begin > 0 && now[begin - 1] == '"') --begin;
  line->setText(now.left(begin) + word + now.mid(cursor));
  line->setCursorPosition(static_cast<int>(begin + word.size()));
}

}  // namespace rdmascope::gui
