#include "gui/capture_bar.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include "gui/models/capture_run.h"
#include "gui/models/tool.h"

namespace rdmascope::gui {

CaptureBar::CaptureBar(QWidget* parent)
    : QWidget(parent),
      where_(new QLabel),
      text_(new QLabel),
      follows_(new QCheckBox(tr("Fo&llow"))),
      earlier_(new QToolButton),
      stop_(new QPushButton(tr("S&top"))),
      restart_(new QPushButton(tr("&Restart"))),
      save_(new QPushButton(tr("&Save..."))) {
  auto* const line = new QHBoxLayout(this);
  line->setContentsMargins(8, 4, 8, 4);
  line->addWidget(where_);
  line->addWidget(text_, 1);
  line->addWidget(earlier_);
  line->addWidget(follows_);
  line->addWidget(stop_);
  line->addWidget(restart_);
  line->addWidget(save_);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  text_->setAccessibleName(tr("Course of the capture"));
  follows_->setChecked(true);
  follows_->setToolTip(tr("Show packets as they come"));
  stop_->setToolTip(tr("End the capture (Ctrl+E)"));
  earlier_->setText(tr("Earlier files"));
  earlier_->setPopupMode(QToolButton::InstantPopup);
  earlier_->setMenu(new QMenu(earlier_));
  connect(earlier_->menu(), &QMenu::aboutToShow, this, [this] {
    earlier_->menu()->clear();
    for (const QString& path : files_)
      if (path != files_.last() && QFileInfo::exists(path))
        earlier_->menu()->addAction(QFileInfo(path).fileName(), this, [this, path] { emit fileWanted(path); });
    if (earlier_->menu()->isEmpty()) earlier_->menu()->addAction(tr("The ring has removed them"))->setEnabled(false);
  });
  connect(stop_, &QPushButton::clicked, this, &CaptureBar::stopWanted);
  connect(restart_, &QPushButton::clicked, this, &CaptureBar::restartWanted);
  connect(save_, &QPushButton::clicked, this, &CaptureBar::saveWanted);
  connect(follows_, &QCheckBox::toggled, this, &CaptureBar::followsChanged);
  hide();
}

void CaptureBar::set_run(CaptureRun* run) {
  if (run_) run_->disconnect(this);
  run_ = run;
  files_.clear();
  setVisible(run_ != nullptr);
  if (!run_) return;
  connect(run_, &CaptureRun::statusChanged, this, &CaptureBar::show_status);
  connect(run_, &CaptureRun::ended, this, &CaptureBar::show_status);
  connect(run_, &CaptureRun::fileBegun, this, [this](const QString& path) { files_ << path; });
  show_status();
}

bool CaptureBar::follows() const { return follows_->isChecked(); }
void CaptureBar::set_follows(bool follows) { follows_->setChecked(follows); }
QString CaptureBar::text() const { return text_->text(); }

void CaptureBar::show_status() {
  if (!run_) return;
  const bool running = run_->running();
  QStringList interfaces;
  for (qsizetype i = 0; i + 1 < run_->arguments().size(); ++i)
    if (run_->arguments()[i] == "-i") interfaces << run_->arguments()[i + 1];
  where_->setText((running ? tr("Capturing on %1:") : tr("Captured on %1:")).arg(interfaces.join(", ")));
  where_->setToolTip(as_typed(run_->arguments()));
  text_->setText(as_text(run_->status()));
  text_->setToolTip(run_->notes().join('\n'));
  const bool lost = run_->status().lost.value_or(0) > 0;
  text_->setStyleSheet(lost ? "color: #c62828; font-weight: bold;" : "");
  stop_->setVisible(running);
  follows_->setVisible(running);
  restart_->setVisible(!running);
  save_->setVisible(!running);
  earlier_->setVisible(files_.size() > 1);
}

}  // namespace rdmascope::gui
