// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/side_rail_controller.h"

#include "app/lab/lab.h"
#include "widgets/drawers/side_rail.h"
#include "widgets/figures/runs/diagnosis.h"
#include "widgets/figures/runs/run_diff.h"

namespace normscope::app {

using widgets::SideRail;

namespace {

constexpr int kRailInterval = 200;      // ms
constexpr qsizetype kEventsShown = 12;  // of each run, the newest

QStringList eventsOf(const RunData& run, qint64 step) {
    QStringList lines;
    for (auto it = run.events.rbegin(); it != run.events.rend() && lines.size() < kEventsShown; ++it)
        if (it->step <= step)
            lines
                << SideRailController::tr("step %1: %2").arg(it->step).arg(QString::fromStdString(it->text));
    return lines;
}

}  // namespace

SideRailController::SideRailController(Lab& lab, SideRail& rail)
    : QObject(&rail), lab_(lab), rail_(rail), later_(this, kRailInterval, [this] { refresh(); }) {
    const auto later = [this] {
        if (rail_.isVisible()) later_.request();
    };
    connect(&rail_, &SideRail::shown, this, &SideRailController::refresh);
    connect(&lab_, &Lab::runsChanged, this, later);
    connect(&lab_, &Lab::viewChanged, this, later);
    connect(&lab_, &Lab::dataChanged, this, later);
}

void SideRailController::refresh() {
    // One run of each group of seeds, in the group's colour.
    const std::vector<std::size_t> shown = lab_.view().onePerGroup();
    std::vector<Recipe> recipes;
    for (const std::size_t i : shown) recipes.push_back(lab_.comparison().runs[i].recipe);
    const auto differences = widgets::runDifferences(recipes);
    std::vector<widgets::RailRun> runs;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const RunData& run = *lab_.comparison().runs[shown[i]].data;
        runs.push_back({QString::fromStdString(run.name), differences[i],
                        widgets::diagnose(run, lab_.comparison().exploring() ? 0 : lab_.view().step()),
                        eventsOf(run, lab_.view().step())});
    }
    rail_.setRuns(std::move(runs));
}

}  // namespace normscope::app
