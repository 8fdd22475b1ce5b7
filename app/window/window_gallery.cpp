// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window for the papers' figures.
#include "app/window/window_gallery.h"

#include "app/lab/lab.h"
#include "app/lab/studies/gallery_runs.h"
#include "app/window/main_window.h"
#include "app/window/sweep_controller.h"
#include "widgets/common/banner.h"
#include "widgets/gallery/gallery_drawer.h"
#include "widgets/plots/plot_view.h"
#include "widgets/sweep/sweep_view.h"

namespace normscope::app {

namespace {

/// The map of an entry's sweep, without the drawer over it.
void showSweepOf(MainWindow& window, const QString& folder) {
    galleryDrawer(window).hide();
    const auto& shown = window.lab()->sweeps().sweep();
    if (shown && shown->folder == folder && window.lab()->sweeps().running())
        window.sweeps()->show(true);
    else
        window.sweeps()->open(folder);
    if (window.sweeps()->shown()) window.sweeps()->map()->map()->setFocus();
}

}  // namespace

void addGalleryDrawer(MainWindow& window, QWidget* over) {
    auto* drawer = new GalleryDrawer(*window.lab(), over, &window);
    const GalleryRuns& runs = GalleryRuns::of(*window.lab());
    QObject::connect(drawer, &GalleryDrawer::sweepRequested, &window,
                     [&window](const QString& folder) { showSweepOf(window, folder); });
    QObject::connect(&runs, &GalleryRuns::problem, &window,
                     [&window](const QString& line) { window.banner()->tell(line); });
    QObject::connect(&runs, &GalleryRuns::setAside, &window, [&window](const QString& folder) {
        window.banner()->tell(MainWindow::tr("The folder that was there is kept as %1").arg(folder));
    });
}

GalleryDrawer& galleryDrawer(const MainWindow& window) {
    return *window.findChild<GalleryDrawer*>(QString(), Qt::FindDirectChildrenOnly);
}

void openGallery(MainWindow& window, const QString& id) {
    galleryDrawer(window).open(id);
}

void toggleGallery(MainWindow& window) {
    GalleryDrawer& drawer = galleryDrawer(window);
    if (drawer.isVisible())
        drawer.hide();
    else
        openGallery(window, {});
}

std::vector<SearchEntry> galleryCommands(MainWindow& window) {
    std::vector<SearchEntry> all;
    for (const GalleryEntry& entry : GalleryRuns::of(*window.lab()).entries())
        all.push_back({MainWindow::tr("Gallery: %1").arg(QString::fromStdString(entry.title)),
                       [&window, id = QString::fromStdString(entry.id)] { openGallery(window, id); }});
    return all;
}

}  // namespace normscope::app
