// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window for the papers' statements.
#include "app/window/window_claims.h"

#include "app/lab/lab.h"
#include "app/lab/studies/claims_check.h"
#include "app/window/main_window.h"
#include "app/window/sweep_controller.h"
#include "widgets/claims/claims_drawer.h"
#include "widgets/claims/claims_places.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/panels/panel_grid.h"

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

/// The panel of a claim's quantity, at the step that it was measured at.
void showClaim(MainWindow& window, const QString& id) {
    const ClaimPlace* place = claimPlace(id.toStdString());
    if (!place) return;
    PanelCell* cell = cellFor(*window.grid(), claimsDrawer(window).geometry(), window, place->panel);
    cell->setPanel(place->panel);
    cell->setOptions(place->options);
    const ClaimsCheck& check = ClaimsCheck::of(*window.lab());
    const CheckedClaims* checked = check.shown();
    if (!checked || !checked->subject.trained || !checked->results.count(id.toStdString())) return;
    const std::int64_t step = checked->subject.step;
    if (step != check.subject().step) window.lab()->setStep(step);
}

}  // namespace

void addClaimsDrawer(MainWindow& window) {
    auto* drawer = new ClaimsDrawer(*window.lab(), window.grid(), &window);
    QObject::connect(drawer, &ClaimsDrawer::showRequested, &window,
                     [&window](const QString& id) { showClaim(window, id); });
    QObject::connect(drawer, &ClaimsDrawer::knobRequested,
                     window.findChild<widgets::KnobPanel*>(QStringLiteral("knobPanel")),
                     &widgets::KnobPanel::reveal);
}

ClaimsDrawer& claimsDrawer(const MainWindow& window) {
    return *window.findChild<ClaimsDrawer*>(QString(), Qt::FindDirectChildrenOnly);
}

void toggleClaims(MainWindow& window) {
    ClaimsDrawer& drawer = claimsDrawer(window);
    if (drawer.isVisible()) {
        drawer.hide();
    } else {
        window.sweeps()->show(false);
        drawer.open();
    }
}

}  // namespace normscope::app
