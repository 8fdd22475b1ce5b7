// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/window_view.h"

#include "app/lab/files/window_text.h"
#include "app/lab/lab.h"
#include "app/lab/notes.h"
#include "app/window/appearance_controller.h"
#include "app/window/main_window.h"
#include "core/base/strict_json.h"
#include "widgets/panels/panel_grid.h"

#include <QScreen>

namespace normscope::app {

using nlohmann::json;
using widgets::AxisView;
using widgets::PlotAxesView;
using widgets::PlotViewState;

namespace {

constexpr int kViewVersion = 1;

json axisJson(const AxisView& axis) {
    json out = json::object();
    if (axis.range) out["range"] = {axis.range->first, axis.range->second};
    if (axis.scale) out["log"] = *axis.scale == widgets::Scale::Log;
    return out;
}

json cellJson(const widgets::PanelCell& cell) {
    json views = json::object();
    for (const auto& [panel, state] : cell.views()) {
        json plots = json::array();
        for (const PlotAxesView& plot : state.plots)
            plots.push_back({{"x", axisJson(plot.x)}, {"y", axisJson(plot.y)}});
        if (!plots.empty()) views[panel] = std::move(plots);
    }
    return {{"panel", cell.panel()}, {"options", cell.options()}, {"views", std::move(views)}};
}

}  // namespace

std::string viewJson(const MainWindow& window) {
    const Lab& lab = *window.lab();
    json view = {{"version", kViewVersion},
                 {"size", {window.width(), window.height()}},
                 {"dark", window.appearance()->isDark()},
                 {"wide", window.views().grid->isWide()},
                 {"focus", window.views().grid->focusedCell()},
                 {"linked", lab.comparison().linked},
                 {"group_seeds", lab.view().groupsSeeds()},
                 {"run", lab.comparison().selected},
                 {"layer", lab.view().selectedLayer()},
                 {"head", lab.view().selectedHead()},
                 {"step", lab.view().step() == LabView::kNewest ? json() : json(lab.view().step())}};
    for (const widgets::PanelCell* cell : window.views().grid->cells())
        view["cells"].push_back(cellJson(*cell));
    for (const LabRun& run : lab.comparison().runs)
        view["knobs"][run.id] = {{"recipe", strict_json(recipe_json(run.recipe, -1), "recipe")},
                                 {"live", strict_json(recipe_json(run.live, -1), "recipe")},
                                 {"pinned", run.pinned},
                                 {"name", run.given_name}};
    json run_notes = json::object();
    for (const auto& [id, text] : lab.notes().ofRuns()) run_notes[id] = text.toStdString();
    view["notes"] = {{"comparison", lab.notes().ofComparison().toStdString()},
                     {"runs", std::move(run_notes)}};
    return json_text(view);
}

void applyViewJson(MainWindow& window, const std::string& text, bool with_theme) {
    const StoredView view = readView(text);  // throws before anything is applied
    Lab& lab = *window.lab();
    if (with_theme) window.appearance()->restoreTheme(view.dark);
    if (view.size)
        window.resize(QSize(view.size->first, view.size->second)
                          .boundedTo(window.screen()->availableSize()));  // a session of a larger screen
    window.appearance()->setWide(view.wide);
    const auto& cells = window.views().grid->cells();
    for (std::size_t i = 0; i < cells.size() && i < view.cells.size(); ++i) {
        cells[i]->setPanel(view.cells[i].panel);
        cells[i]->setOptions(view.cells[i].options);
        cells[i]->setViews(view.cells[i].views);
    }
    window.views().grid->focusCell(view.focus);
    lab.runs().setLinked(view.linked);
    lab.view().setGroupSeeds(view.group_seeds);
    std::map<std::string, RunKnobs> knobs;
    for (const auto& [id, of] : view.knobs) knobs[id] = {of.recipe, of.live, of.pinned, of.name};
    lab.knobs().setRecipes(knobs);
    lab.notes().restore(view.note, view.run_notes);
    lab.runs().select(view.run);
    lab.view().selectLayer(view.layer, view.head);
    if (view.step) lab.view().setStep(*view.step);
}

}  // namespace normscope::app
