#include "gui/findings_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/models/words.h"

namespace rdmascope::gui {
namespace {

// The colour of the verdict, by the same order as its sentence.
Shade shade_of(const Followed& followed) {
  bool unhealthy = followed.totals.nothing_to_judge();
  for (const FoundRow& f : followed.findings) {
    if (f.kind == check::Class::violation) return Shade::violation;
    unhealthy |= f.kind == check::Class::anomaly && f.rule->severity != check::Severity::info;
  }
  return unhealthy ? Shade::anomaly : Shade::good;
}

// What `rdmascope rules ID` says.
QString page_of(const check::RuleInfo& rule) {
  const auto html = [](std::string_view s) { return text(s).toHtmlEscaped(); };
  QString out =
      QString("<h3>%1 &nbsp;%2</h3><table cellspacing='0' cellpadding='2'>").arg(html(rule.id), html(rule.title));
  const auto row = [&](const char* what, std::string_view value) {
    if (!value.empty()) out += QString("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>").arg(what, html(value));
  };
  row("Class", name(rule.kind));
  row("Severity", name(rule.severity));
  row("Statement", rule.ibta);
  row("Source", rule.source);
  out += "</table>";
  for (const QString& paragraph : text(rule.help).split("\n\n")) out += "<p>" + paragraph.toHtmlEscaped() + "</p>";
  return out;
}

}  // namespace

FindingsView::FindingsView(QWidget* parent)
    : QWidget(parent),
      findings_(new FindingModel(this)),
      verdict_(new QLabel(this)),
      pages_(new QStackedWidget(this)),
      waiting_(new QLabel(this)),
      grouping_(new QComboBox(this)),
      tree_(new QTreeView(this)),
      page_(new QTextBrowser(this)) {
  connect(&file_, &FollowedFile::changed, this, &FindingsView::show_file);
  verdict_->setWordWrap(true);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  verdict_->setAccessibleName("Verdict");
  verdict_->setMargin(8);
  waiting_->setAlignment(Qt::AlignCenter);
  make_tree();
  page_->setAccessibleName("What the rule means");

  auto* left = new QWidget(this);
  auto* left_layout = new QVBoxLayout(left);
  left_layout->setContentsMargins(0, 0, 0, 0);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 4, 6, 0);
  auto* by = new QLabel("Group by", left);
  by->setBuddy(grouping_);
  bar->addWidget(by);
  grouping_->addItems({"class and rule", "connection and rule"});
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this](int i) {
    findings_->group(i == 0 ? FindingModel::Grouping::by_class : FindingModel::Grouping::by_connection);
    opened();
  });
  bar->addWidget(grouping_);
  bar->addStretch();
  left_layout->addLayout(bar);
  left_layout->addWidget(tree_);

  auto* both = new QSplitter(Qt::Horizontal, this);
  both->addWidget(left);
  both->addWidget(page_);
  both->setStretchFactor(0, 2);
  both->setStretchFactor(1, 1);
  pages_->addWidget(waiting_);
  pages_->addWidget(both);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(verdict_);
  layout->addWidget(pages_, 1);
  verdict_->hide();
}

void FindingsView::make_tree() {
  tree_->setModel(findings_);
  tree_->setAccessibleName("Findings");
  tree_->setUniformRowHeights(true);
  tree_->setAlternatingRowColors(true);
  tree_->setContextMenuPolicy(Qt::CustomContextMenu);
  tree_->header()->setStretchLastSection(false);
  connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this, &FindingsView::show_rule);
  connect(tree_, &QTreeView::clicked, this, &FindingsView::clicked);
  connect(tree_, &QTreeView::activated, this, &FindingsView::clicked);
  connect(tree_, &QWidget::customContextMenuRequested, this, &FindingsView::menu);
}

QString FindingsView::verdict() const { return verdict_->text(); }

// --- The file --------------------------------------------------------------------------------------------------------

void FindingsView::set_file(CaptureFile* file) { file_.set(file); }

void FindingsView::show_file() {
  using State = FollowedFile::State;
  const Followed* const followed = file_.followed().get();
  findings_->set(file_.followed());
  page_->clear();
  show_verdict();
  const State state = file_.state();
  waiting_->setText(state == State::there        ? "Nothing was found"
                    : state == State::no_packets ? "No packets"
                    : state == State::waiting    ? "Following the connections..."
                    : state == State::stopped    ? "Stopped before the connections were followed"
                                                 : "");
  pages_->setCurrentIndex(followed && !followed->findings.empty() ? 1 : 0);
  opened();
}

void FindingsView::opened() {
  tree_->expandToDepth(0);
  const QFontMetrics metrics = tree_->fontMetrics();
  tree_->header()->setSectionResizeMode(FindingModel::what, QHeaderView::Stretch);
  tree_->setColumnWidth(FindingModel::frame, metrics.horizontalAdvance("00000000"));
  tree_->setColumnWidth(FindingModel::connection, metrics.horizontalAdvance("Connection00"));
  tree_->setColumnWidth(FindingModel::field, metrics.horizontalAdvance("infiniband.invariant.crc"));
  if (findings_->rowCount() > 0) tree_->setCurrentIndex(findings_->index(0, 0, findings_->index(0, 0)));
}

void FindingsView::show_verdict() {
  const Followed* const followed = file_.followed().get();
  verdict_->setVisible(followed && verdict_shown_);
  if (!followed) return verdict_->clear();
  verdict_->setText(text(followed->verdict));
  // White on a strong colour reads the same on light and dark.
  const QColor back = colour(shade_of(*followed), QPalette(Qt::white));
  verdict_->setStyleSheet(QString("background: %1; color: white; font-weight: bold;").arg(back.name()));
}

void FindingsView::select(quint64 frame) {
  const Followed* const followed = file_.followed().get();
  if (!followed) return;
  const auto found = std::ranges::find(followed->findings, frame, &FoundRow::frame);
  if (found == followed->findings.end()) return;
  tree_->setCurrentIndex(findings_->index_of(*found));
}

// --- What is chosen --------------------------------------------------------------------------------------------------

void FindingsView::show_rule(const QModelIndex& index) {
  if (const check::RuleInfo* rule = findings_->rule(index))
    page_->setHtml(page_of(*rule));
  else
    page_->clear();
}

void FindingsView::clicked(const QModelIndex& index) {
  const FoundRow* f = findings_->found(index);
  if (f && f->frame != 0) emit packetChosen(f->frame, text(f->field));
}

void FindingsView::menu(const QPoint& at) {
  const QModelIndex index = tree_->indexAt(at);
  const check::RuleInfo* rule = findings_->rule(index);
  if (!rule) return;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction("Show only packets of this rule",
                  [this, rule] { emit filterWanted(QString("rdmascope.finding.rule == \"%1\"").arg(text(rule->id))); });
  if (const FoundRow* f = findings_->found(index); f && f->frame != 0)
    menu->addAction("Go to the packet",
                    [this, frame = f->frame, field = text(f->field)] { emit packetChosen(frame, field); });
  if (const QVariant connection = index.data(FindingModel::connection_role); connection.isValid())
    menu->addAction("Show only packets of this connection",
                    [this, connection] { emit filterWanted("rdmascope.flow == " + connection.toString()); });
  menu->popup(tree_->viewport()->mapToGlobal(at));
}

}  // namespace rdmascope::gui
