// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window for the list of recordings.
#include "app/banner.h"
#include "app/lab/lab.h"
#include "app/main_window.h"
#include "app/panel_grid.h"
#include "app/recording_list.h"
#include "app/runs_drawer.h"
#include "widgets/runs/run_strip.h"

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

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

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (qobject_cast<RecordingList*>(event->source()) && event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    if (runs_drawer_->geometry().contains(event->position().toPoint())) return;  // back where it was
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls()) {
        const RecordingRow* row = runs_drawer_->row(url.toLocalFile());
        if (row && row->damage.isEmpty()) paths << row->path;
    }
    event->acceptProposedAction();
    lab_->addRecordings(paths);
}

}  // namespace normscope::app
