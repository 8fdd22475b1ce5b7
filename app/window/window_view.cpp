// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/window_view.h"

#include "app/lab/lab.h"
#include "app/window/appearance_controller.h"
#include "app/window/main_window.h"
#include "core/base/error.h"
#include "widgets/panels/panel_grid.h"

#include <nlohmann/json.hpp>

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

AxisView axisOf(const json& in) {
    AxisView axis;
    if (in.contains("range"))
        axis.range = widgets::Range{in["range"].at(0).get<double>(), in["range"].at(1).get<double>()};
    if (in.contains("log")) axis.scale = in["log"].get<bool>() ? widgets::Scale::Log : widgets::Scale::Linear;
    return axis;
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

void apply(widgets::PanelCell& cell, const json& in) {
    std::map<std::string, PlotViewState> views;
    for (const auto& [panel, plots] : in.at("views").items())
        for (const json& plot : plots)
            views[panel].plots.push_back({axisOf(plot.at("x")), axisOf(plot.at("y"))});
    cell.setPanel(in.at("panel").get<std::string>());
    cell.setOptions(in.at("options").get<widgets::PanelOptions>());
    cell.setViews(views);
}

}  // namespace

std::string viewJson(const MainWindow& window) {
    const Lab& lab = *window.lab();
    json view = {{"version", kViewVersion},
                 {"size", {window.width(), window.height()}},
                 {"dark", window.appearance()->isDark()},
                 {"wide", window.views().grid->isWide()},
                 {"focus", window.views().grid->focusedCell()},
                 {"linked", lab.linked()},
                 {"group_seeds", lab.groupsSeeds()},
                 {"run", lab.selectedRun()},
                 {"layer", lab.selectedLayer()},
                 {"head", lab.selectedHead()},
                 {"step", lab.step() == Lab::kNewest ? json() : json(lab.step())}};
    for (const widgets::PanelCell* cell : window.views().grid->cells())
        view["cells"].push_back(cellJson(*cell));
    for (const LabRun& run : lab.runs())
        view["knobs"][run.id] = {{"recipe", json::parse(recipe_json(run.recipe, -1))},
                                 {"live", json::parse(recipe_json(run.live, -1))},
                                 {"pinned", run.pinned},
                                 {"name", run.given_name}};
    return view.dump();
}

void applyViewJson(MainWindow& window, const std::string& text) {
    try {
        const json view = json::parse(text);
        if (view.value("version", 0) != kViewVersion)
            throw InputError("/view: version", view.value("version", json()).dump() + " is not known",
                             std::to_string(kViewVersion));
        Lab& lab = *window.lab();
        window.appearance()->restoreTheme(view.at("dark").get<bool>());
        if (view.contains("size"))
            window.resize(QSize(view["size"].at(0).get<int>(), view["size"].at(1).get<int>())
                              .boundedTo(window.screen()->availableSize()));  // a session of a larger screen
        window.appearance()->setWide(view.at("wide").get<bool>());
        const auto& cells = window.views().grid->cells();
        for (std::size_t i = 0; i < cells.size() && i < view.at("cells").size(); ++i)
            apply(*cells[i], view["cells"][i]);
        window.views().grid->focusCell(view.at("focus").get<int>());
        lab.setLinked(view.at("linked").get<bool>());
        lab.setGroupSeeds(view.value("group_seeds", true));
        std::map<std::string, Lab::RunKnobs> knobs;
        for (const auto& [id, k] : view.at("knobs").items())
            knobs[id] = {parse_recipe(k.at("recipe").dump(), "/view: knobs of run " + id),
                         parse_recipe(k.at("live").dump(), "/view: knobs of run " + id),
                         k.at("pinned").get<bool>(), k.value("name", std::string())};
        lab.setKnobRecipes(knobs);
        lab.selectRun(view.at("run").get<int>());
        lab.selectLayer(view.at("layer").get<int>(), view.at("head").get<int>());
        if (!view.at("step").is_null()) lab.setStep(view["step"].get<qint64>());
    } catch (const json::exception& error) {
        throw InputError(std::string("/view: not understood: ") + error.what());
    }
}

}  // namespace normscope::app
