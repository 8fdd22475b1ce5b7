// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/files/figure_controller.h"

#include "app/lab/lab.h"
#include "app/window/studies/sweep_controller.h"
#include "core/run/complete.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/dialogs/save_dialog.h"
#include "widgets/drawers/help_drawer.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/figures/csv.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/sweep/sweep_view.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QImage>
#include <QMimeData>

namespace normscope::app {

using widgets::PlotView;
using widgets::SweepView;

FigureController::FigureController(Lab& lab, SweepController& sweeps, const Views& views, QWidget* window)
    : QObject(window), lab_(lab), sweeps_(sweeps), views_(views), window_(window) {
    const widgets::PanelGrid* grid = views_.grid;
    connect(grid, &widgets::PanelGrid::helpRequested, this,
            [this](widgets::PanelCell* cell) { explain(*cell->plot()); });
    connect(grid, &widgets::PanelGrid::exportRequested, this,
            [this](widgets::PanelCell* cell) { exportPanel(*cell); });
    connect(grid, &widgets::PanelGrid::csvRequested, this,
            [this](widgets::PanelCell* cell) { saveCsvOf(*cell); });
    connect(grid, &widgets::PanelGrid::copyRequested, this,
            [this](widgets::PanelCell* cell) { copyPanel(*cell); });
    const SweepView* map = sweeps_.map();
    connect(map, &SweepView::helpRequested, this, [this](PlotView* plot) { explain(*plot); });
    connect(map, &SweepView::exportRequested, this, [this](PlotView* plot) { exportPlot(*plot); });
    connect(map, &SweepView::csvRequested, this, [this](PlotView* plot) { saveCsv(*plot); });
    connect(map, &SweepView::copyRequested, this, [this](PlotView* plot) { copyPlot(*plot); });
}

void FigureController::exportCurrent() {
    if (sweeps_.shown()) return exportPlot(*sweeps_.map()->currentPlot());
    exportPanel(*views_.grid->currentCell());
}

void FigureController::saveCurrentCsv() {
    if (sweeps_.shown()) return saveCsv(*sweeps_.map()->currentPlot());
    saveCsvOf(*views_.grid->currentCell());
}

void FigureController::copyCurrent() {
    if (sweeps_.shown()) return copyPlot(*sweeps_.map()->currentPlot());
    copyPanel(*views_.grid->currentCell());
}

void FigureController::explainCurrent() {
    explain(sweeps_.shown() ? *sweeps_.map()->currentPlot() : *views_.grid->currentCell()->plot());
}

void FigureController::explain(const PlotView& plot) {
    views_.help->explain(*plot.figure());
}

/// What is written to a file is of every step.
bool FigureController::isReadToItsEnd() {
    const QString line = notReadYet(lab_.comparison());
    if (!line.isEmpty()) views_.banner->showMessage(line);
    return line.isEmpty();
}

void FigureController::exportPanel(const widgets::PanelCell& cell) {
    if (!isReadToItsEnd()) return;
    widgets::FigureSpec spec;
    if (!lab_.session().path().isEmpty()) spec.sessions << lab_.session().path();
    spec.panel = cell.panel();
    spec.options = cell.options();
    if (lab_.view().step() != LabView::kNewest) spec.step = lab_.view().step();
    if (lab_.view().groups().any()) spec.group_by = "seed";
    auto* dialog = new widgets::ExportDialog(cell.plot()->figure(), cell.plot()->viewState(), recipeText(),
                                             std::move(spec), window_);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void FigureController::exportPlot(const PlotView& plot) {
    auto* dialog =
        new widgets::ExportDialog(plot.figure(), plot.viewState(), sweeps_.specification(), {}, window_);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void FigureController::saveCsvOf(const widgets::PanelCell& cell) {
    if (isReadToItsEnd()) saveCsv(*cell.plot());
}

void FigureController::saveCsv(const PlotView& plot) {
    const widgets::Figure& figure = *plot.figure();
    const QString ending = QStringLiteral("csv");
    const QString path = widgets::chooseSavePath(
        window_, tr("Save CSV"), figure.panel + QLatin1Char('.') + ending, ending, QStringLiteral("*.csv"));
    if (path.isEmpty()) return;
    try {
        widgets::exportCsv(figure, plot.viewState(), path);
    } catch (const std::exception& error) {
        views_.banner->showMessage(QString::fromUtf8(error.what()));
    }
}

void FigureController::copyPanel(const widgets::PanelCell& cell) {
    if (isReadToItsEnd()) copyPlot(*cell.plot());
}

void FigureController::copyPlot(const PlotView& plot) {
    widgets::ExportOptions options;
    options.view = plot.viewState();
    options.metadata = recipeText();
    auto* content = new QMimeData;
    content->setData(QStringLiteral("image/svg+xml"), widgets::renderFigure(*plot.figure(), options));
    options.format = widgets::FileFormat::Png;
    QImage image;
    image.loadFromData(widgets::renderFigure(*plot.figure(), options), "PNG");
    content->setImageData(image);
    QApplication::clipboard()->setMimeData(content);
    views_.banner->showMessage(tr("Copied the figure: SVG and PNG"));
}

QString FigureController::recipeText() const {
    std::string text;
    for (const LabRun& run : lab_.comparison().runs)
        text += (text.empty() ? "" : "\n") + run.data->recipe.text();
    return QString::fromStdString(text);
}

void FigureController::copyExperiment() {
    QApplication::clipboard()->setText(
        QString::fromStdString(recipe_json(lab_.comparison().selectedRun().recipe)));
    views_.banner->showMessage(tr("Copied the recipe of %1")
                                   .arg(QString::fromStdString(lab_.comparison().selectedRun().data->name)));
}

void FigureController::pasteExperiment() {
    const std::optional<Recipe> recipe = copiedRecipe();
    if (!recipe) return;
    lab_.runs().useRecipe(*recipe, tr("paste experiment"));
    views_.banner->showMessage(tr("Pasted the recipe into %1")
                                   .arg(QString::fromStdString(lab_.comparison().selectedRun().data->name)));
}

void FigureController::pasteAsRun() {
    if (const std::optional<Recipe> recipe = copiedRecipe()) lab_.runs().add(*recipe);
}

/// Nullopt: there is none, which the banner states.
std::optional<Recipe> FigureController::copiedRecipe() const {
    try {
        Recipe recipe = parse_recipe(QApplication::clipboard()->text().toStdString(), "clipboard");
        complete_without_data(recipe);  // what only the data can tell, the engine fills in
        return recipe;
    } catch (const std::exception& error) {
        views_.banner->showMessage(QString::fromUtf8(error.what()));
        return std::nullopt;
    }
}

}  // namespace normscope::app
