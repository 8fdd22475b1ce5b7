// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/notes_controller.h"

#include "app/lab/lab.h"
#include "app/lab/notes.h"
#include "widgets/drawers/notes_drawer.h"

namespace normscope::app {

NotesController::NotesController(Lab& lab, QWidget* area, QWidget* window)
    : QObject(window), lab_(lab), drawer_(new widgets::NotesDrawer(area, window)) {
    const auto follow = [this] {
        if (drawer_->isVisible()) refresh();
    };
    connect(&lab_, &Lab::runsChanged, this, follow);
    connect(&lab_, &Lab::viewChanged, this, follow);
    connect(&lab_.notes(), &Notes::changed, this, follow);
    connect(drawer_, &widgets::NotesDrawer::comparisonEdited, this,
            [this](const QString& text) { lab_.notes().setOfComparison(text); });
    connect(drawer_, &widgets::NotesDrawer::runEdited, this,
            [this](const QString& text) { lab_.notes().setOfRun(lab_.comparison().selectedRun().id, text); });
}

void NotesController::toggle() {
    if (drawer_->isVisible()) return drawer_->hide();
    refresh();
    drawer_->open();
}

void NotesController::refresh() {
    const LabRun& run = lab_.comparison().selectedRun();
    drawer_->show(lab_.notes().ofComparison(), QString::fromStdString(run.data->name),
                  lab_.notes().ofRun(run.id));
}

}  // namespace normscope::app
