#include "gui/conversation_view.h"

#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>

namespace rdmascope::gui {
namespace {

using Kind = TestEvent::Kind;

constexpr double arrow_length = 8, arrow_half = 3.5, dot = 3.5;
constexpr int margin = 8;

// The column between the lifelines.
class LifelineDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* p, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto kind = static_cast<Kind>(index.data(ConversationModel::kind).toInt());
    const bool good = index.data(ConversationModel::good).toBool(),
               runs = index.data(ConversationModel::running).toBool();
    const QPalette& palette = option.palette;
    const QRectF r = option.rect;
    p->save();
    p->setRenderHint(QPainter::Antialiasing);
    if (option.state & QStyle::State_Selected) {
      // Colours of the words must stay readable on it.
      p->fillRect(r, palette.color(QPalette::Base));
      QColor back = palette.color(QPalette::Highlight);
      back.setAlpha(60);
      p->fillRect(r, back);
    }
    const double left = std::floor(r.left() + margin) + 0.5, right = std::floor(r.right() - margin) + 0.5,
                 y = r.center().y();
    p->setPen(QPen(colour(Shade::dim, palette), 1));
    p->drawLine(QPointF(left, r.top()), QPointF(left, r.bottom() + 1));
    p->drawLine(QPointF(right, r.top()), QPointF(right, r.bottom() + 1));

    const Shade shade = !good                                              ? Shade::violation
                        : runs                                             ? Shade::anomaly
                        : kind == Kind::step                               ? Shade::good
                        : kind == Kind::sent                               ? Shade::request
                        : kind == Kind::received                           ? Shade::response
                        : kind == Kind::posted || kind == Kind::completion ? Shade::artifact
                                                                           : Shade::dim;
    const QColor ink = colour(shade, palette);
    const QString text = (runs ? "… " : !good ? "✘ " : kind == Kind::step ? "✔ " : "") + index.data().toString();
    p->setPen(ink);
    QFont font = option.font;
    font.setBold(!good);
    p->setFont(font);
    const QFontMetricsF metrics(font);
    const QRectF room(left + 2 * margin, r.top(), right - left - 4 * margin, r.height());
    const QString shown = metrics.elidedText(text, Qt::ElideRight, room.width());
    const double width = metrics.horizontalAdvance(shown);
    switch (kind) {
      case Kind::sent:
      case Kind::received: {
        const bool to_right = kind == Kind::sent;
        p->drawText(room, Qt::AlignCenter | Qt::TextSingleLine, shown);
        p->setPen(QPen(ink, 1.4));
        const double middle = room.center().x(), gap = width / 2 + 6;
        if (middle - gap > left) p->drawLine(QPointF(left, y), QPointF(middle - gap, y));
        if (middle + gap < right) p->drawLine(QPointF(middle + gap, y), QPointF(right, y));
        const double tip = to_right ? right : left, back = to_right ? tip - arrow_length : tip + arrow_length;
        p->setBrush(ink);
        p->drawPolygon(QPolygonF({{tip, y}, {back, y - arrow_half}, {back, y + arrow_half}}));
        break;
      }
      case Kind::posted:
      case Kind::completion:
        p->drawText(room, Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine, shown);
        p->setBrush(ink);
        p->drawEllipse(QPointF(right, y), dot, dot);
        break;
      case Kind::step:
      case Kind::printed:
      case Kind::note:
        p->drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, shown);
        if (kind != Kind::step) break;
        p->setBrush(ink);
        p->drawEllipse(QPointF(left, y), dot, dot);
        break;
    }
    p->restore();
  }
};

}  // namespace

ConversationView::ConversationView(QWidget* parent) : QTableView(parent), conversation_(new ConversationModel(this)) {
  setModel(conversation_);
  setItemDelegateForColumn(ConversationModel::what, new LifelineDelegate(this));
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setShowGrid(false);
  setWordWrap(false);
  setAccessibleName(tr("Conversation of tester and device"));
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setStretchLastSection(true);
  setColumnWidth(ConversationModel::time, fontMetrics().horizontalAdvance("000000.000") + 12);
  setColumnWidth(ConversationModel::line, fontMetrics().horizontalAdvance("Line") + 16);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (const int line = conversation_->line_of(now); line > 0) emit lineChosen(line);
  });
}

void ConversationView::set_case(const TestCase* shown) {
  conversation_->set(shown);
  const int bad = conversation_->first_bad();
  if (bad < 0) return;
  setCurrentIndex(conversation_->index(bad, ConversationModel::what));
  scrollTo(currentIndex(), QAbstractItemView::PositionAtCenter);
}

void ConversationView::grow() {
  const bool at_end = verticalScrollBar()->value() == verticalScrollBar()->maximum();
  conversation_->grow();
  if (at_end) scrollToBottom();
}

}  // namespace rdmascope::gui
