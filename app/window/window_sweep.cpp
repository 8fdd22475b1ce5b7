// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the window for sweeps: open, new, stop and resume, and the map over the panels.
#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "app/window/window_actions.h"
#include "app/window/window_gallery.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/drawers/help_drawer.h"
#include "widgets/gallery/gallery_drawer.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/plots/plot_view.h"
#include "widgets/sweep/sweep_band.h"
#include "widgets/sweep/sweep_dialog.h"
#include "widgets/sweep/sweep_view.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QStackedWidget>

namespace normscope::app {

void MainWindow::connectSweeps() {
    SweepRunner& sweeps = lab_->sweeps();
    connect(&sweeps, &SweepRunner::opened, this, [this, &sweeps] {
        if (!sweeps.sweep()) return;
        Settings().addRecentFile(sweeps.sweep()->folder);
        updateRecentFiles(*this);
        sweep_band_->refresh();
        showSweep(true);
    });
    connect(&sweeps, &SweepRunner::changed, this, [this] {
        if (!show_sweep_later_.isActive()) show_sweep_later_.start();
    });
    show_sweep_later_.setSingleShot(true);
    show_sweep_later_.setInterval(150);
    connect(&show_sweep_later_, &QTimer::timeout, sweep_band_, &SweepBand::refresh);
    connect(&sweeps, &SweepRunner::problem, this, [this](const QString& line) { banner_->tell(line); });
    connect(&sweeps, &SweepRunner::rejected, this, [this](const QString& line) {
        if (auto* dialog = findChild<SweepDialog*>(QStringLiteral("sweepDialog")))
            dialog->showRejected(line);
        else
            banner_->tell(line);
    });
    connect(sweep_view_, &SweepView::problem, this, [this](const QString& line) { banner_->tell(line); });
    connect(sweep_view_, &SweepView::closed, this, [this] { showSweep(false); });
    connect(sweep_view_, &SweepView::exportRequested, this, &MainWindow::exportPlot);
    connect(sweep_view_, &SweepView::csvRequested, this, &MainWindow::saveCsvOfPlot);
    connect(sweep_view_, &SweepView::copyRequested, this, &MainWindow::copyPlot);
    connect(sweep_view_, &SweepView::helpRequested, this,
            [this](widgets::PlotView* plot) { help_->explain(*plot->figure()); });
    connect(sweep_band_, &SweepBand::openBest, sweep_view_, &SweepView::openBest);
    connect(sweep_band_, &SweepBand::stopOrResume, this, &MainWindow::stopOrResumeSweep);
}

bool MainWindow::sweepShown() const {
    return area_->currentWidget() == sweep_view_;
}

void MainWindow::showSweep(bool shown) {
    if (shown == sweepShown()) return;
    area_->setCurrentWidget(shown ? static_cast<QWidget*>(sweep_view_) : grid_);
    const bool band = shown && lab_->sweeps().sweep();
    upper_->setCurrentIndex(band ? 1 : 0);
    showKnobs();
    // Under the gallery, which started the sweep, it takes no keys.
    if (shown && !galleryDrawer(*this).isVisible()) sweep_view_->map()->setFocus();
}

void MainWindow::openSweep(const QString& folder) {
    lab_->sweeps().open(folder);
}

void MainWindow::chooseSweep() {
    Settings settings;
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Open the folder of a sweep"), settings.lastFolder());
    if (folder.isEmpty()) return;
    settings.setLastFolder(QFileInfo(folder).absolutePath());
    openSweep(folder);
}

void MainWindow::newSweep() {
    if (lab_->sweeps().running()) {
        banner_->tell(tr("A sweep is being trained: stop it before another one starts"));
        return;
    }
    if (auto* open = findChild<SweepDialog*>(QStringLiteral("sweepDialog"))) return open->activateWindow();
    const LabRun& run = lab_->selected();
    auto* dialog = new SweepDialog(run.recipe, QString::fromStdString(run.data->name),
                                   QDir(recordings_folder_).filePath(QStringLiteral("sweeps")), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &SweepDialog::startRequested, this, [this](const SweepSpec& spec, const QString& folder) {
        lab_->sweeps().start(spec, folder, lab_->backend(), lab_->engineThreads());
    });
    connect(&lab_->sweeps(), &SweepRunner::opened, dialog, &QDialog::accept);
    dialog->open();
}

void MainWindow::sweepOver(const QString& key, double low, double high) {
    const auto* knob = qobject_cast<widgets::Knob*>(knobs_->row(key));
    if (!knob || low >= high) return;
    newSweep();
    auto* dialog = findChild<SweepDialog*>(QStringLiteral("sweepDialog"));
    if (!dialog) return;  // a sweep is being trained, and newSweep() has reported it
    const auto whole = [](double value) { return QString::number(value, 'f', 0).toStdString(); };
    dialog->setVaried(key.toStdString(),
                      key == u"seed" ? whole(low) + ":" + whole(high) : sweepRange(knob->scale(), low, high));
}

void MainWindow::stopOrResumeSweep() {
    SweepRunner& sweeps = lab_->sweeps();
    if (sweeps.running())
        sweeps.stop();
    else if (sweeps.sweep())
        sweeps.resume(lab_->backend(), lab_->engineThreads());
    else
        banner_->tell(tr("No sweep is open"));
}

void MainWindow::exportPlot(widgets::PlotView* plot) {
    const QString recipe = lab_->sweeps().sweep()
                               ? QString::fromStdString(sweep_json(lab_->sweeps().sweep()->results.spec))
                               : QString();
    auto* dialog = new ExportDialog(plot->figure(), plot->viewState(), recipe, {}, this);
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
