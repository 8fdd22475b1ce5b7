// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/window_text.h"

#include "core/base/error.h"
#include "core/base/json_object.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/figures/view_state_json.h"

namespace normscope::app {

using nlohmann::json;

namespace {

constexpr int kVersion = 1;
constexpr std::int64_t kMax = 100'000;  // pixels, runs, layers
constexpr std::int64_t kMaxSteps = 1'000'000'000;

void requireVersion(const JsonObject& object) {
    if (!object.has("version") || object.of("version") != kVersion)
        throw InputError(object.at("version"),
                         object.has("version") ? shown(object.of("version")) + " is not known" : "is missing",
                         std::to_string(kVersion));
}

/// Unlike that of a figure specification, its scale is the switch "log".
widgets::AxisView axisOf(const JsonObject& in) {
    widgets::AxisView axis;
    if (in.has("range")) axis.range = widgets::rangeFromJson(in.of("range"), in.at("range"));
    if (in.has("log")) axis.scale = in.flag("log") ? widgets::Scale::Log : widgets::Scale::Linear;
    return axis;
}

StoredCell cellOf(const JsonObject& in) {
    StoredCell cell;
    cell.panel = in.text("panel");
    const JsonObject options = in.object("options"), views = in.object("views");
    for (const auto& entry : options.value().items())
        cell.options[entry.key()] = options.text(entry.key().c_str());
    try {
        widgets::resolveOptions(widgets::panelInfo(cell.panel), cell.options);  // throws on what is unknown
    } catch (const InputError& error) {
        throw InputError(in.at() + ": " + error.what());
    }
    for (const auto& entry : views.value().items())
        for (const json& plot : views.list(entry.key().c_str())) {
            auto& plots = cell.views[entry.key()].plots;
            const JsonObject axes(plot,
                                  views.at(printable(entry.key())) + "." + std::to_string(plots.size()));
            plots.push_back({axisOf(axes.object("x")), axisOf(axes.object("y"))});
        }
    return cell;
}

Recipe recipeOf(const JsonObject& in, const char* key) {
    try {
        return parse_recipe(json_text(in.of(key)), in.at(key));
    } catch (const InputError& error) {
        const std::string problem = error.what();
        throw InputError(problem.rfind(in.at(key), 0) == 0 ? problem : in.at(key) + ": " + problem);
    }
}

int integerOf(const JsonObject& in, const char* key, std::int64_t low) {
    return static_cast<int>(in.whole(key, low, kMax));
}

SavedRun runOf(const JsonObject& in, const StoredView& view) {
    SavedRun run;
    run.id = in.text("id");
    run.name = in.text("name", {});
    run.drawn_name = in.text("drawn_name", {});
    run.not_recorded = in.text("not_recorded", {});
    run.recording = in.text("recording", {});
    run.session = in.text("session", {});
    run.companion = in.flag("companion", false);
    const auto knobs = view.knobs.find(run.id);
    if (knobs == view.knobs.end()) throw InputError(in.at(), "the view has no knobs of this run", "");
    run.recipe = knobs->second.recipe;
    return run;
}

}  // namespace

StoredView readView(const std::string& text) {
    const json value = strict_json(text, "/view");
    const JsonObject in(value, "/view");
    requireVersion(in);
    StoredView view;
    if (in.has("size")) {
        const json& size = in.list("size");
        const auto width = size.empty() ? std::nullopt : whole_in_range(size[0], 1, kMax);
        const auto height = size.size() != 2 ? std::nullopt : whole_in_range(size[1], 1, kMax);
        if (!width || !height)
            throw InputError(in.at("size"), shown(size) + " is no size", "[width, height]");
        view.size = {static_cast<int>(*width), static_cast<int>(*height)};
    }
    view.dark = in.flag("dark");
    view.wide = in.flag("wide");
    view.linked = in.flag("linked");
    view.group_seeds = in.flag("group_seeds", true);
    view.focus = integerOf(in, "focus", -1);
    view.run = integerOf(in, "run", -1);
    view.layer = integerOf(in, "layer", -1);
    view.head = integerOf(in, "head", -1);
    if (!in.of("step").is_null()) view.step = in.whole("step", 0, kMaxSteps);
    for (const json& cell : in.list("cells"))
        view.cells.push_back(cellOf({cell, in.at("cells") + "." + std::to_string(view.cells.size())}));
    const JsonObject knobs = in.object("knobs");
    for (const auto& entry : knobs.value().items()) {
        const JsonObject of(entry.value(), knobs.at("run " + printable(entry.key())));
        view.knobs[entry.key()] = {recipeOf(of, "recipe"), recipeOf(of, "live"), of.flag("pinned"),
                                   of.text("name", {})};
    }
    if (in.has("notes")) {
        const JsonObject notes = in.object("notes"), runs = notes.object("runs");
        view.note = QString::fromStdString(notes.text("comparison", {}));
        for (const auto& entry : runs.value().items())
            view.run_notes[entry.key()] = QString::fromStdString(runs.text(entry.key().c_str()));
    }
    return view;
}

StoredWindow readWindow(const std::string& text, const std::string& where) {
    const json value = strict_json(text, where);
    const JsonObject in(value, where);
    requireVersion(in);
    StoredWindow window;
    window.view = in.text("view");
    StoredView view;
    try {
        view = readView(window.view);
    } catch (const InputError& error) {
        throw InputError(where + ": " + error.what());
    }
    for (const json& entry : in.list("runs")) {
        const std::string at = in.at("runs") + "." + std::to_string(window.runs.size());
        SavedRun run = runOf({entry, at}, view);
        for (const SavedRun& other : window.runs)
            if (other.id == run.id)
                throw InputError(at + ": id", normscope::quoted(run.id) + " is listed already",
                                 "each run once");
        window.runs.push_back(std::move(run));
    }
    if (window.runs.empty()) throw InputError(in.at("runs"), "there is none", "at least one");
    window.session_path = in.text("session_path", {});
    window.unsaved = in.flag("unsaved", false);
    if (in.has("story")) {
        const JsonObject story = in.object("story");
        StoredWindow::StoryAt at{story.text("name"), static_cast<std::size_t>(integerOf(story, "at", 0)), {}};
        for (const json& held : story.list("held")) {
            if (!held.is_boolean())
                throw InputError(story.at("held"), shown(held) + " is not a switch", "true, false");
            at.held.push_back(held);
        }
        window.story = std::move(at);
    }
    if (in.has("tried")) {
        const JsonObject tried = in.object("tried");
        for (const auto& entry : tried.value().items())
            window.tried[entry.key()] = tried.texts(entry.key().c_str());
    }
    return window;
}

}  // namespace normscope::app
