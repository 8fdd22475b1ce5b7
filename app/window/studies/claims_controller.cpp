// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/studies/claims_controller.h"

#include "app/lab/claims_check.h"
#include "app/lab/lab.h"
#include "app/window/studies/sweep_controller.h"
#include "widgets/claims/claims_drawer.h"
#include "widgets/claims/claims_places.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/panels/panel_grid.h"

#include <algorithm>

namespace normscope::app {

using widgets::ClaimsDrawer;

namespace {

/// Of the cells in sight next to the drawer the one that shows the panel, else the last: the first one has
/// the growth, which most statements are about. Where none is in sight, the first.
auto* cellFor(const widgets::PanelGrid& grid, const QWidget& drawer, const std::string& panel) {
    const QWidget* window = drawer.parentWidget();
    const auto visible = grid.visibleCells();
    auto free = visible;
    std::erase_if(free, [&](const auto* cell) {
        return drawer.geometry().intersects({cell->mapTo(window, QPoint(0, 0)), cell->size()});
    });
    if (free.empty()) return visible.front();
    const auto same =
        std::find_if(free.begin(), free.end(), [&](const auto* cell) { return cell->panel() == panel; });
    return same == free.end() ? free.back() : *same;
}

}  // namespace

ClaimsController::ClaimsController(Lab& lab, widgets::PanelGrid& panels, widgets::KnobPanel& knobs,
                                   SweepController& sweeps, QWidget* window)
    : QObject(window),
      lab_(lab),
      check_(lab.claims()),
      panels_(panels),
      sweeps_(sweeps),
      drawer_(new ClaimsDrawer(&panels, window)) {
    connect(drawer_, &ClaimsDrawer::shown, this, &ClaimsController::refresh);
    connect(drawer_, &ClaimsDrawer::hidden, this, [this] { current_ = false; });
    connect(drawer_, &ClaimsDrawer::checkRequested, &check_, &ClaimsCheck::start);
    connect(drawer_, &ClaimsDrawer::cancelRequested, &check_, &ClaimsCheck::cancel);
    connect(drawer_, &ClaimsDrawer::showRequested, this, &ClaimsController::showClaim);
    connect(drawer_, &ClaimsDrawer::knobRequested, &knobs, &widgets::KnobPanel::reveal);
    connect(&check_, &ClaimsCheck::changed, this, &ClaimsController::refresh);
    connect(&check_, &ClaimsCheck::measured, this, &ClaimsController::takeResult);
}

void ClaimsController::toggle() {
    if (drawer_->isVisible()) return drawer_->hide();
    sweeps_.show(false);
    drawer_->open();
}

void ClaimsController::refresh() {
    if (!drawer_->isVisible()) return;
    const CheckedClaims* now = check_.shown();
    const QString outdated = check_.outdated();
    const std::size_t results = now ? now->results.size() : 0;
    const bool same = current_ && now == shown_ && outdated == outdated_ && results == results_;
    current_ = true;
    shown_ = now;
    outdated_ = outdated;
    results_ = results;
    showState();
    if (!same) drawer_->setResults(now ? now->results : widgets::ClaimResults(), !outdated.isEmpty());
}

void ClaimsController::takeResult(const QString& id) {
    if (!drawer_->isVisible()) return;
    const CheckedClaims* now = check_.shown();
    if (!now) return;
    const auto result = now->results.find(id.toStdString());
    if (result == now->results.end()) return;  // of another run
    shown_ = now;
    results_ = now->results.size();
    showState();
    drawer_->setResult(result->first, result->second);
}

void ClaimsController::showState() {
    widgets::ClaimsState state;
    state.run = QString::fromStdString(lab_.comparison().selectedRun().data->name);
    const ClaimsSubject next = check_.subject();
    state.next = next.step;
    state.next_newest = next.trained && next.step == next.last;
    state.running = check_.running();
    state.replaying = check_.replaying();
    state.checked = shown_ != nullptr;
    if (shown_) {
        state.step = shown_->measured_at;
        state.remark = shown_->remark;
        state.done = shown_->results.size();
    }
    state.wanted = check_.wanted();
    state.outdated = outdated_;
    state.failure = check_.failure();
    state.obstacle = check_.obstacle();
    drawer_->setState(state);
}

void ClaimsController::showClaim(const QString& id) {
    const widgets::ClaimPlace* place = widgets::claimPlace(id.toStdString());
    if (!place) return;
    auto* cell = cellFor(panels_, *drawer_, place->panel);
    cell->setPanel(place->panel);
    cell->setOptions(place->options);
    const CheckedClaims* checked = check_.shown();
    if (!checked || !checked->subject.trained || !checked->results.count(id.toStdString())) return;
    const std::int64_t step = checked->subject.step;
    if (step != check_.subject().step) lab_.view().setStep(step);
}

}  // namespace normscope::app
