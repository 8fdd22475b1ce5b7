// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/search_controller.h"

#include "app/lab/run_list.h"
#include "app/window/runs/runs_controller.h"
#include "app/window/runs/story_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "core/recipe/presets.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/runs/run_strip.h"

#include <QAction>

namespace normscope::app {

SearchController::SearchController(RunList& list, RunsController& runs, StoryController& stories,
                                   SweepController& sweeps, const Views& views, QWidget* window)
    : QObject(window),
      list_(list),
      runs_(runs),
      stories_(stories),
      sweeps_(sweeps),
      views_(views),
      window_(window) {
    connect(views_.strip, &widgets::RunStrip::commandSearchRequested, this, &SearchController::open);
}

void SearchController::addKnobs(std::vector<widgets::SearchEntry>& entries) {
    for (const widgets::KnobSpec& spec : widgets::knobTable()) {
        const QString key = QString::fromStdString(spec.key->name);
        const widgets::KnobRow* row = views_.knobs->row(key);
        if (!row->isEnabledTo(views_.knobs)) continue;
        entries.push_back({tr("Knob: %1 (%2)").arg(row->label(), row->accessibleName()),
                           [this, key] { views_.knobs->reveal(key); }});
        // Seeds have their own field in the dialog.
        if (const auto* knob = qobject_cast<const widgets::Knob*>(row); knob && key != u"seed") {
            const widgets::KnobScale& scale = knob->scale();
            entries.push_back({tr("Sweep over %1 (%2)…").arg(row->label(), row->accessibleName()),
                               [this, key = spec.key, low = scale.low, high = scale.high] {
                                   sweeps_.createOver(key, low, high);
                               }});
        }
    }
}

std::vector<widgets::SearchEntry> SearchController::entries() {
    std::vector<widgets::SearchEntry> all;
    addKnobs(all);
    for (const widgets::PanelInfo& info : widgets::panels())
        all.push_back({tr("Panel: %1").arg(info.title),
                       [this, id = info.id] { views_.grid->currentCell()->setPanel(id); }});
    for (const widgets::NamedRecipe& preset : runs_.presets())
        all.push_back(
            {tr("Preset: %1").arg(preset.title), [this, name = preset.name] { list_.loadPreset(name); }});
    for (const Preset& story : stories())
        all.push_back({tr("Story: %1").arg(storyTitle(story)),
                       [this, name = QString::fromLatin1(story.name)] { stories_.tell(name); }});
    for (const auto& offered : others_)
        for (widgets::SearchEntry& entry : offered()) all.push_back(std::move(entry));
    return all;
}

void SearchController::open() {
    auto* search = new widgets::CommandSearch(window_->actions(), entries(), window_);
    search->move(
        window_->mapToGlobal(QPoint((window_->width() - search->width()) / 2, views_.strip->height() + 8)));
    search->show();
}

}  // namespace normscope::app
