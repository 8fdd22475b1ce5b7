// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window for the papers' statements.
#include "app/claims_drawer.h"
#include "app/claims_places.h"
#include "app/help_drawer.h"
#include "app/lab/claims_check.h"
#include "app/lab/lab.h"
#include "app/main_window.h"
#include "app/panel_grid.h"
#include "app/runs_drawer.h"
#include "widgets/knobs/knob_panel.h"

#include <algorithm>

namespace normscope::app {

namespace {

/// Of the cells in sight next to the drawer the one that shows the panel, else the last: the first one has
/// the growth, which most statements are about. Where none is in sight, the first.
PanelCell* cellFor(const PanelGrid& grid, const QRect& covered, const QWidget& window,
                   const std::string& panel) {
    const auto visible = grid.visibleCells();
    std::vector<PanelCell*> free;
    for (PanelCell* cell : visible)
        if (!covered.intersects({cell->mapTo(&window, QPoint(0, 0)), cell->size()})) free.push_back(cell);
    if (free.empty()) return visible.front();
    const auto same =
        std::find_if(free.begin(), free.end(), [&](const PanelCell* cell) { return cell->panel() == panel; });
    return same == free.end() ? free.back() : *same;
}

}  // namespace

void MainWindow::connectClaimsDrawer() {
    claims_drawer_ = new ClaimsDrawer(*lab_, grid_, this);
    connect(claims_drawer_, &ClaimsDrawer::showRequested, this, &MainWindow::showClaim);
    connect(claims_drawer_, &ClaimsDrawer::knobRequested, knobs_, &widgets::KnobPanel::reveal);
}

void MainWindow::toggleClaims() {
    if (claims_drawer_->isVisible()) {
        claims_drawer_->hide();
    } else {
        help_->hide();  // they lie at the same place
        runs_drawer_->hide();
        showSweep(false);
        claims_drawer_->open();
    }
}

/// The panel of a claim's quantity, at the step that it was measured at.
void MainWindow::showClaim(const QString& id) {
    const ClaimPlace* place = claimPlace(id.toStdString());
    if (!place) return;
    PanelCell* cell = cellFor(*grid_, claims_drawer_->geometry(), *this, place->panel);
    cell->setPanel(place->panel);
    cell->setOptions(place->options);
    const CheckedClaims* checked = lab_->claims().shown();
    if (!checked || !checked->subject.trained || !checked->results.count(id.toStdString())) return;
    const std::int64_t step = checked->subject.step;
    if (step != lab_->claims().subject().step) lab_->setStep(step);
}

}  // namespace normscope::app
