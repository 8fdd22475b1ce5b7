// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/studies/gallery_controller.h"

#include "app/lab/gallery_runs.h"
#include "app/lab/studies/sweep_runner.h"
#include "app/window/studies/sweep_controller.h"
#include "core/sweep/sweep_spec.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/gallery/gallery_details.h"
#include "widgets/gallery/gallery_drawer.h"
#include "widgets/plots/plot_view.h"
#include "widgets/sweep/sweep_view.h"

#include <QFileDialog>
#include <QFileInfo>
#include <utility>

namespace normscope::app {

using widgets::GalleryDrawer;
using widgets::GalleryRow;

GalleryController::GalleryController(GalleryRuns& runs, const SweepRunner& runner, SweepController& sweeps,
                                     widgets::Banner& banner, QWidget* over, QWidget* window)
    : QObject(window),
      runs_(runs),
      runner_(runner),
      sweeps_(sweeps),
      drawer_(new GalleryDrawer(over, window)) {
    connect(drawer_, &GalleryDrawer::shown, this, [this] { refresh({}); });
    connect(drawer_, &GalleryDrawer::runRequested, &runs_, &GalleryRuns::run);
    connect(drawer_, &GalleryDrawer::runAgainRequested, &runs_, &GalleryRuns::runAgain);
    connect(drawer_, &GalleryDrawer::stopRequested, &runs_, &GalleryRuns::stop);
    connect(drawer_, &GalleryDrawer::sweepRequested, this, &GalleryController::showSweep);
    connect(drawer_, &GalleryDrawer::addRequested, this, &GalleryController::add);
    connect(drawer_, &GalleryDrawer::removeRequested, this, &GalleryController::remove);
    connect(drawer_, &GalleryDrawer::exportRequested, this, &GalleryController::exportFigure);
    connect(&runs_, &GalleryRuns::changed, this, &GalleryController::refresh);
    connect(&runs_, &GalleryRuns::problem, &banner,
            [&banner](const QString& line) { banner.showMessage(line); });
    connect(&runs_, &GalleryRuns::setAside, &banner, [&banner](const QString& folder) {
        banner.showMessage(tr("The folder that was there is kept as %1").arg(folder));
    });
}

void GalleryController::toggle() {
    if (drawer_->isVisible())
        drawer_->hide();
    else
        open({});
}

void GalleryController::open(const QString& id) {
    restoreOwn();
    drawer_->open(id);
    runs_.read(drawer_->list()->selected());
    refresh({});
}

std::vector<widgets::SearchEntry> GalleryController::commands() {
    std::vector<widgets::SearchEntry> all;
    for (const GalleryEntry& entry : runs_.entries())
        all.push_back({tr("Gallery: %1").arg(QString::fromStdString(entry.title)),
                       [this, id = QString::fromStdString(entry.id)] { open(id); }});
    return all;
}

GalleryRow GalleryController::rowOf(const GalleryEntry& entry) const {
    const QString id = QString::fromStdString(entry.id);
    const bool running = runs_.running() == id;
    return {entry,
            runs_.state(id),
            running,
            running && runs_.stopping(),
            running ? runs_.ended() : 0,
            running ? QString() : runs_.obstacle(id)};
}

void GalleryController::refresh(const QString& id) {
    if (!drawer_->isVisible()) return;
    if (const GalleryEntry* entry = runs_.find(id); entry && drawer_->list()->find(id))
        return drawer_->setRow(rowOf(*entry));
    std::vector<GalleryRow> rows;
    for (const GalleryEntry& entry : runs_.entries()) rows.push_back(rowOf(entry));
    drawer_->setRows(std::move(rows));
}

void GalleryController::restoreOwn() {
    if (std::exchange(restored_, true)) return;
    for (const QString& path : widgets::Settings().galleryEntries()) runs_.addOwn(path);
}

void GalleryController::add() {
    widgets::Settings settings;
    const QString path = QFileDialog::getOpenFileName(drawer_->window(), tr("Add an entry to the gallery"),
                                                      settings.lastFolder(), tr("Gallery entries (*.json)"));
    if (path.isEmpty()) return;
    settings.setLastFolder(QFileInfo(path).absolutePath());
    addFile(path);
}

void GalleryController::addFile(const QString& path) {
    if (!runs_.addOwn(path)) return;
    widgets::Settings settings;
    const QString id = QFileInfo(path).completeBaseName();
    QStringList kept = settings.galleryEntries();
    // An entry of the same name was replaced.
    kept.removeIf([&](const QString& other) { return QFileInfo(other).completeBaseName() == id; });
    settings.setGalleryEntries(kept << QFileInfo(path).absoluteFilePath());
    open(id);
}

void GalleryController::remove(const QString& id) {
    runs_.removeOwn(id);
    if (runs_.find(id)) return;
    widgets::Settings settings;
    QStringList kept = settings.galleryEntries();
    kept.removeIf([&](const QString& path) { return QFileInfo(path).completeBaseName() == id; });
    settings.setGalleryEntries(kept);
}

void GalleryController::exportFigure(const QString& id) {
    const GalleryEntry* entry = runs_.find(id);
    if (!entry) return;
    const widgets::PlotView* plot = drawer_->details()->figure();
    auto* dialog =
        new widgets::ExportDialog(plot->figure(), plot->viewState(),
                                  QString::fromStdString(sweep_json(entry->sweep)), {}, drawer_->window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void GalleryController::showSweep(const QString& id) {
    const QString folder = runs_.folder(id);
    drawer_->hide();
    const auto& shown = runner_.sweep();
    if (shown && shown->folder == folder && runner_.running())
        sweeps_.show(true);
    else
        sweeps_.open(folder);
    if (sweeps_.shown()) sweeps_.map()->map()->setFocus();
}

}  // namespace normscope::app
