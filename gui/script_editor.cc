#include "gui/script_editor.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QFile>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QSaveFile>
#include <QScrollBar>
#include <QSyntaxHighlighter>
#include <QTextBlock>
#include <QTimer>
#include <QToolTip>

#include "gui/models/words.h"
#include "replay/script.h"

namespace rdmascope::gui {
namespace {

constexpr int typing_pause_ms = 500;
constexpr int letters_to_complete = 3;
constexpr std::int64_t most_reading_ns = 200'000'000;  // a script can compute before it says what it is

// Every word that scripts can call or name, without what stands before it: "post_read" of "rc.dut:post_read".
QSet<QString> vocabulary() {
  QSet<QString> out;
  for (const replay::Vocabulary& v : replay::script_vocabulary()) {
    out << QString::fromStdString(v.name).section(QRegularExpression("[.:]"), -1);
    for (const std::string& option : v.options) out << QString::fromStdString(option);
  }
  return out << "dut"
             << "mad"
             << "rc";
}

const QSet<QString>& keywords() {
  static const QSet<QString> words{"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                   "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                   "repeat",   "return", "then", "true", "until",  "while"};
  return words;
}

class Highlighter final : public QSyntaxHighlighter {
 public:
  explicit Highlighter(QTextDocument* document, const QWidget& widget)
      : QSyntaxHighlighter(document), widget_(widget) {}

 private:
  enum State { code = 0, comment = 1 };

  void highlightBlock(const QString& text) override {
    static const QRegularExpression token(
        R"((--\[\[)|(--[^\n]*)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(\b0[xX][0-9a-fA-F]+\b|\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*))");
    static const QSet<QString> known = vocabulary();
    const QPalette& palette = widget_.palette();
    const auto paint = [&](qsizetype from, qsizetype count, Shade shade, bool bold = false) {
      QTextCharFormat format;
      format.setForeground(colour(shade, palette));
      if (bold) format.setFontWeight(QFont::Bold);
      setFormat(static_cast<int>(from), static_cast<int>(count), format);
    };
    qsizetype at = 0;
    const auto rest_of_comment = [&](qsizetype from) {
      const qsizetype end = text.indexOf("]]", from);
      setCurrentBlockState(end < 0 ? comment : code);
      at = end < 0 ? text.size() : end + 2;
      paint(from, at - from, Shade::dim);
    };
    setCurrentBlockState(code);
    if (previousBlockState() == comment) rest_of_comment(0);
    while (at < text.size()) {
      const QRegularExpressionMatch match = token.match(text, at);
      if (!match.hasMatch()) break;
      const qsizetype from = match.capturedStart(), count = match.capturedLength();
      at = from + count;
      if (match.hasCaptured(1))
        rest_of_comment(from);
      else if (match.hasCaptured(2))
        paint(from, count, Shade::dim);
      else if (match.hasCaptured(3))
        paint(from, count, Shade::good);
      else if (match.hasCaptured(4))
        paint(from, count, Shade::artifact);
      else if (keywords().contains(match.captured(5)))
        paint(from, count, Shade::request, true);
      else if (known.contains(match.captured(5)))
        paint(from, count, Shade::response);
    }
  }

  const QWidget& widget_;
};

}  // namespace

int line_in(const QString& message) {
  static const QRegularExpression place(R"(^[^\s:]+:(\d+): )");
  const QRegularExpressionMatch match = place.match(message);
  return match.hasMatch() ? match.captured(1).toInt() : 0;
}

class ScriptEditor::Margin final : public QWidget {
 public:
  explicit Margin(ScriptEditor* editor) : QWidget(editor), editor_(*editor) {}
  void paintEvent(QPaintEvent* event) override { editor_.paint_margin(event); }

 private:
  ScriptEditor& editor_;
};

ScriptEditor::ScriptEditor(QWidget* parent)
    : QPlainTextEdit(parent), margin_(new Margin(this)), completer_(nullptr), typing_(new QTimer(this)) {
  QStringList words = (vocabulary() + keywords()).values();
  words.sort(Qt::CaseInsensitive);
  completer_ = new QCompleter(words, this);
  completer_->setWidget(this);
  completer_->setCaseSensitivity(Qt::CaseInsensitive);
  completer_->setModelSorting(QCompleter::CaseInsensitivelySortedModel);
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &ScriptEditor::complete_with);
  setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setAccessibleName(tr("Script"));
  new Highlighter(document(), *this);
  typing_->setSingleShot(true);
  typing_->setInterval(typing_pause_ms);
  connect(typing_, &QTimer::timeout, this, &ScriptEditor::check);
  connect(document(), &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
    if (removed == 0 && added == 0) return;
    typing_->start();
    if (marked_ != 0) mark(0, {});
  });
  connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { setViewportMargins(margin_width(), 0, 0, 0); });
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& what, int moved) {
    if (moved != 0)
      margin_->scroll(0, moved);
    else
      margin_->update(0, what.y(), margin_->width(), what.height());
  });
  setViewportMargins(margin_width(), 0, 0, 0);
}

QString ScriptEditor::open(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return tr("cannot read %1: %2").arg(path, file.errorString());
  path_ = path;
  setPlainText(QString::fromUtf8(file.readAll()));
  document()->setModified(false);
  mark(0, {});
  check();
  return {};
}

QString ScriptEditor::save_as(const QString& path) {
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(toPlainText().toUtf8()) < 0 || !file.commit())
    return tr("cannot write %1: %2").arg(path, file.errorString());
  path_ = path;
  document()->setModified(false);
  return {};
}

bool ScriptEditor::is_changed() const { return document()->isModified(); }

void ScriptEditor::go_to(int line) {
  const QTextBlock block = document()->findBlockByNumber(line - 1);
  if (!block.isValid()) return;
  setTextCursor(QTextCursor(block));
  centerCursor();
}

void ScriptEditor::mark(int line, const QString& why) {
  marked_ = line;
  why_ = why;
  show_marks();
}

void ScriptEditor::show_marks() {
  QList<QTextEdit::ExtraSelection> all;
  const QTextBlock block = document()->findBlockByNumber(marked_ - 1);
  if (marked_ > 0 && block.isValid()) {
    QTextEdit::ExtraSelection mark;
    QColor back = colour(Shade::violation, palette());
    back.setAlpha(50);
    mark.format.setBackground(back);
    mark.format.setProperty(QTextFormat::FullWidthSelection, true);
    mark.cursor = QTextCursor(block);
    all << mark;
  }
  setExtraSelections(all);
  margin_->update();
}

// Reads the script as the tester does: its form, and what its first statement says.
void ScriptEditor::check() {
  typing_->stop();
  replay::Script script{QFileInfo(path_).fileName().toStdString(), toPlainText().toStdString()};
  const Result<replay::ScriptHead> head = replay::head_of(script, {.compute_ns = most_reading_ns});
  const QString problem = head ? QString() : QString::fromStdString(head.error());
  if (!problem.isEmpty()) mark(line_in(problem), problem);
  if (problem == problem_) return;
  problem_ = problem;
  emit problemChanged(problem_);
}

bool ScriptEditor::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && marked_ > 0) {
    const auto* const help = static_cast<QHelpEvent*>(event);
    const int line = cursorForPosition(viewport()->mapFrom(this, help->pos())).blockNumber() + 1;
    QToolTip::showText(help->globalPos(), line == marked_ ? why_ : QString(), this);
    return true;
  }
  return QPlainTextEdit::event(event);
}

// --- Completion ------------------------------------------------------------------------------------------------------

// While words are offered, these keys are the list's. Control and the space bar ask for it.
void ScriptEditor::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  if (completer_->popup()->isVisible() && (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab ||
                                           key == Qt::Key_Backtab || key == Qt::Key_Escape))
    return event->ignore();
  if (key == Qt::Key_Space && event->modifiers() == Qt::ControlModifier) return offer_words(0);
  QPlainTextEdit::keyPressEvent(event);
  const QString typed = event->text();
  if (!typed.isEmpty() && (typed[0].isLetterOrNumber() || typed[0] == '_' || key == Qt::Key_Backspace))
    offer_words(letters_to_complete);
  else if (!typed.isEmpty())
    completer_->popup()->hide();
}

QString ScriptEditor::word_before_cursor() const {
  const QTextCursor cursor = textCursor();
  const QString line = cursor.block().text().left(cursor.positionInBlock());
  qsizetype from = line.size();
  while (from > 0 && (line[from - 1].isLetterOrNumber() || line[from - 1] == '_')) --from;
  return line.mid(from);
}

void ScriptEditor::offer_words(int least_letters) {
  const QString begun = word_before_cursor();
  completer_->setCompletionPrefix(begun);
  const bool is_enough = begun.size() >= least_letters && completer_->completionCount() > 0;
  // The first of them: a word that is whole. The key that ends it shall do what it always does.
  if (!is_enough || completer_->currentCompletion() == begun) return completer_->popup()->hide();
  QAbstractItemView* const popup = completer_->popup();
  popup->setCurrentIndex(completer_->completionModel()->index(0, 0));
  QRect place = cursorRect().translated(margin_width(), 0);
  place.setWidth(popup->sizeHintForColumn(0) + popup->verticalScrollBar()->sizeHint().width());
  completer_->complete(place);
}

void ScriptEditor::complete_with(const QString& word) {
  QTextCursor cursor = textCursor();
  cursor.movePosition(QTextCursor::Left, QTextCursor::KeepAnchor, static_cast<int>(word_before_cursor().size()));
  cursor.insertText(word);
  setTextCursor(cursor);
}

// --- The margin ------------------------------------------------------------------------------------------------------

int ScriptEditor::margin_width() const {
  return fontMetrics().horizontalAdvance(QString::number(std::max(100, blockCount()))) + 14;
}

void ScriptEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  const QRect inside = contentsRect();
  margin_->setGeometry(inside.left(), inside.top(), margin_width(), inside.height());
}

void ScriptEditor::paint_margin(QPaintEvent* event) {
  QPainter p(margin_);
  p.fillRect(event->rect(), palette().color(QPalette::AlternateBase));
  QTextBlock block = firstVisibleBlock();
  for (double top = blockBoundingGeometry(block).translated(contentOffset()).top();
       block.isValid() && top <= event->rect().bottom(); block = block.next()) {
    const double height = blockBoundingRect(block).height();
    const bool is_marked = block.blockNumber() + 1 == marked_;
    p.setPen(colour(is_marked ? Shade::violation : Shade::dim, palette()));
    p.drawText(QRectF(0, top, margin_->width() - 6, height), Qt::AlignRight | Qt::AlignVCenter,
               (is_marked ? "▶" : "") + QString::number(block.blockNumber() + 1));
    top += height;
  }
}

}  // namespace rdmascope::gui
