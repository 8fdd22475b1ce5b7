// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window for the list of recordings.
#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "widgets/common/banner.h"
#include "widgets/drawers/recording_list.h"
#include "widgets/drawers/runs_drawer.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/runs/run_strip.h"

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QMimeData>
#include <QStackedWidget>

namespace normscope::app {

void MainWindow::connectRunsDrawer() {
    runs_drawer_ = new RunsDrawer(*lab_, grid_, this);
    setAcceptDrops(true);
    connect(strip_, &widgets::RunStrip::recordingsRequested, this, &MainWindow::toggleRuns);
    connect(runs_drawer_, &RunsDrawer::addRequested, lab_, &Lab::addRecordings);
    connect(runs_drawer_, &RunsDrawer::trashRequested, this, &MainWindow::askToTrash);
    connect(lab_, &Lab::recordingTrashed, this,
            [this](const QString& path, const QList<std::pair<QString, QString>>& files) {
                lab_->listRecordings();
                banner_->tell(tr("Moved %1 to the trash").arg(QFileInfo(path).fileName()),
                              {{tr("Undo"), [this, files] { lab_->untrash(files); }}});
            });
}

void MainWindow::toggleRuns() {
    if (runs_drawer_->isVisible()) {
        runs_drawer_->hide();
    } else {
        runs_drawer_->open();
    }
}

void MainWindow::askToTrash(const QString& path, const QString& name) {
    banner_->tell(tr("Move the recording of %1 to the trash?").arg(name),
                  {{tr("Move to trash"), [this, path] { lab_->trashRecording(path); }}, {tr("Keep"), [] {}}});
    banner_->raise();
}

/// Over the panels (or the map of a sweep) and the strip of chips, and not on the list that they come from.
bool MainWindow::takesRecordingsAt(const QPoint& position) const {
    const auto inside = [&](const QWidget* widget) {
        return widget->isVisible() && QRect(widget->mapTo(this, QPoint()), widget->size()).contains(position);
    };
    return (inside(area_) || inside(strip_)) && !inside(runs_drawer_);
}

void MainWindow::showDropTarget(bool shown) {
    if (shown && !drop_target_) {
        drop_target_ = new QLabel(tr("Drop to add to the comparison"), this);
        drop_target_->setObjectName(QStringLiteral("dropTarget"));
        drop_target_->setAttribute(Qt::WA_TransparentForMouseEvents);
        drop_target_->setAutoFillBackground(true);
        drop_target_->setBackgroundRole(QPalette::ToolTipBase);
        drop_target_->setForegroundRole(QPalette::ToolTipText);
        drop_target_->setFrameShape(QFrame::Box);
        drop_target_->setMargin(10);
        drop_target_->adjustSize();
    }
    if (!drop_target_) return;
    if (shown) {  // in the middle of the panels that the list leaves free
        QRect free(area_->mapTo(this, QPoint()), area_->size());
        if (runs_drawer_->isVisible()) free.setRight(runs_drawer_->x());
        drop_target_->move(free.center() - drop_target_->rect().center());
        drop_target_->raise();
    }
    drop_target_->setVisible(shown);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    // From the list of this window: another one's recordings are not in it.
    if (event->source() != runs_drawer_->list() || !event->mimeData()->hasFormat(kRecordingsMime)) return;
    event->acceptProposedAction();
}

void MainWindow::dragMoveEvent(QDragMoveEvent* event) {
    const bool taken = takesRecordingsAt(event->position().toPoint());
    showDropTarget(taken);
    event->setAccepted(taken);
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*) {
    showDropTarget(false);
}

void MainWindow::dropEvent(QDropEvent* event) {
    showDropTarget(false);
    if (!takesRecordingsAt(event->position().toPoint())) return;  // back where it was
    QStringList paths;
    for (const QString& path : QString::fromUtf8(event->mimeData()->data(kRecordingsMime)).split(u'\n')) {
        const RecordingRow* row = runs_drawer_->row(path);
        if (row && row->damage.isEmpty()) paths << row->path;
    }
    event->acceptProposedAction();
    lab_->addRecordings(paths);
}

}  // namespace normscope::app
