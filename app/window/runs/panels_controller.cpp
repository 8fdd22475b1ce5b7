// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/panels_controller.h"

#include "app/lab/lab.h"
#include "widgets/panels/panel_grid.h"

#include <algorithm>

namespace normscope::app {

PanelsController::PanelsController(Lab& lab, QWidget* parent)
    : QObject(parent), lab_(lab), grid_(new widgets::PanelGrid(*this, parent)) {
    grid_->setObjectName(QStringLiteral("panelGrid"));
    const auto measureShown = [this] { lab_.view().setVisibleProbes(grid_->shownProbes()); };
    measureShown();
    connect(grid_, &widgets::PanelGrid::shownProbesChanged, this, measureShown);
    connect(grid_, &widgets::PanelGrid::layerPicked, &lab_.view(), &LabView::selectLayer);
    connect(grid_, &widgets::PanelGrid::stepPicked, &lab_.view(), &LabView::setStep);
    connect(&lab_, &Lab::dataChanged, grid_, &widgets::PanelGrid::refresh);
    connect(&lab_, &Lab::viewChanged, grid_, &widgets::PanelGrid::refreshAll);
    connect(&lab_.view(), &LabView::scalesChanged, grid_, &widgets::PanelGrid::refreshAll);
    connect(grid_, &widgets::PanelGrid::measureRequested, this, [this] {
        // A second click must not cancel what the first one asked for.
        if (!lab_.measurement().running()) lab_.measurement().measureHere();
    });
    connect(&lab_.knobs(), &Knobs::draggingChanged, grid_, &widgets::PanelGrid::setAxesFrozen);
}

widgets::PanelCell* PanelsController::showPanel(const std::string& panel,
                                                const widgets::PanelOptions& options) {
    const std::vector<widgets::PanelCell*> cells = grid_->visibleCells();
    const auto has = std::find_if(cells.begin(), cells.end(),
                                  [&](const widgets::PanelCell* cell) { return cell->panel() == panel; });
    widgets::PanelCell* cell = has == cells.end() ? grid_->currentCell() : *has;
    cell->setPanel(panel);
    widgets::PanelOptions all = cell->options();
    for (const auto& [name, value] : options) all[name] = value;
    if (all != cell->options()) cell->setOptions(all);
    return cell;
}

void PanelsController::showPlot(const QString& panel, const QString& quantity, qint64 step) {
    widgets::PanelOptions options;
    if (!quantity.isEmpty()) options["quantity"] = quantity.toStdString();
    widgets::PanelCell* cell = showPanel(panel.toStdString(), options);
    lab_.view().setStep(step);
    cell->setFocus();
}

widgets::FigureKey PanelsController::figureKey(const std::string& panel,
                                               const widgets::PanelOptions& options) const {
    return lab_.view().figureKey(panel, options);
}

widgets::Figure PanelsController::figure(const std::string& panel,
                                         const widgets::PanelOptions& options) const {
    return lab_.view().figure(panel, options);
}

}  // namespace normscope::app
