// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window for the plots of sweeps: exported, copied, explained.
#include "app/window/main_window.h"
#include "app/window/sweep_controller.h"
#include "app/window/window_actions.h"
#include "widgets/common/settings.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/drawers/help_drawer.h"
#include "widgets/plots/plot_view.h"
#include "widgets/sweep/sweep_view.h"

namespace normscope::app {

void MainWindow::connectSweeps() {
    connect(sweeps_, &SweepController::opened, this, [this](const QString& folder) {
        Settings().addRecentFile(folder);
        updateRecentFiles(*this);
    });
    connect(sweeps_, &SweepController::shownChanged, this, &MainWindow::showKnobs);
    const widgets::SweepView* map = sweeps_->map();
    connect(map, &widgets::SweepView::exportRequested, this, &MainWindow::exportPlot);
    connect(map, &widgets::SweepView::csvRequested, this, &MainWindow::saveCsvOfPlot);
    connect(map, &widgets::SweepView::copyRequested, this, &MainWindow::copyPlot);
    connect(map, &widgets::SweepView::helpRequested, this,
            [this](widgets::PlotView* plot) { help_->explain(*plot->figure()); });
}

void MainWindow::exportPlot(widgets::PlotView* plot) {
    auto* dialog = new ExportDialog(plot->figure(), plot->viewState(), sweeps_->specification(), {}, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::saveCsvOfPlot(widgets::PlotView* plot) {
    saveCsvAs(*plot->figure(), plot->viewState());
}

void MainWindow::copyPlot(widgets::PlotView* plot) {
    copyAsFigure(*plot->figure(), plot->viewState());
}

}  // namespace normscope::app
