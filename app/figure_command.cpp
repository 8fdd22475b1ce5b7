// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure_command.h"

#include "app/cli/pages/options_table.h"
#include "core/base/error.h"
#include "core/gallery/findings.h"
#include "core/session/session.h"
#include "core/sweep/sweep_spec.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/figures/csv.h"
#include "widgets/figures/gallery/gallery_figure.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/figures/save_bytes.h"
#include "widgets/figures/spec/figure_spec.h"
#include "widgets/plots/theme.h"

#include <CLI/CLI.hpp>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace normscope::app {

namespace {

using widgets::FigureSpec;
using widgets::Scale;
using Word = std::optional<std::string>;

constexpr const char* kDefaultPanel = "growth";

struct FigureArguments {
    std::vector<std::string> sessions, runs, options, ranges;
    std::string out, csv, spec, save_spec;
    Word gallery, panel, size, legend, x, y, theme, group_by, band, multiples, ratio, title, text;
    std::optional<std::int64_t> step;
    std::optional<double> font_pt;
    std::optional<int> dpi, measure;
};

std::pair<double, double> twoNumbers(const std::string& text, char separator, const std::string& where,
                                     const std::string& allowed) {
    const auto cut = text.find(separator);
    try {
        if (cut == std::string::npos) throw InputError("");
        std::size_t used_first = 0, used_second = 0;
        const std::string second = text.substr(cut + 1);
        const double a = std::stod(text.substr(0, cut), &used_first), b = std::stod(second, &used_second);
        if (used_first != cut || used_second != second.size()) throw InputError("");
        return {a, b};
    } catch (const std::exception&) {
        throw InputError(where, "\"" + text + "\" is not understood", allowed);
    }
}

QSizeF figureSizeOf(std::string text) {
    if (text.size() > 2 && text.substr(text.size() - 2) == "mm") text.resize(text.size() - 2);
    const auto [width, height] = twoNumbers(text, 'x', "--size", "WIDTHxHEIGHTmm, e.g. 85x60mm");
    return {width, height};
}

/// "y=1e-3:10"
void applyRange(widgets::PlotAxesView& view, const std::string& text) {
    const std::string allowed = "x=LOW:HIGH or y=LOW:HIGH";
    if (text.size() < 3 || text[1] != '=' || (text[0] != 'x' && text[0] != 'y'))
        throw InputError("--range", "\"" + text + "\" is not understood", allowed);
    const auto [low, high] = twoNumbers(text.substr(2), ':', "--range", allowed);
    if (!(low < high)) throw InputError("--range", "\"" + text + "\" is empty", "LOW under HIGH");
    (text[0] == 'x' ? view.x : view.y).range = widgets::Range{low, high};
}

template <class Value>
Value oneOf(const std::string& word, const std::string& where,
            const std::vector<std::pair<std::string, Value>>& table) {
    std::string allowed;
    for (const auto& [name, value] : table) {
        if (name == word) return value;
        allowed += (allowed.empty() ? "" : ", ") + name;
    }
    throw InputError(where, "\"" + word + "\" is not known", allowed);
}

bool isOn(const std::string& word, const std::string& where) {
    return oneOf<bool>(word, where, {{"on", true}, {"off", false}});
}

FigureSpec specOfFile(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QFile::ReadOnly))
        throw InputError(path, file.errorString().toStdString(), "a file that Ctrl+E or --save-spec wrote");
    FigureSpec spec = widgets::figureSpecFromJson(file.readAll());
    const QDir folder = QFileInfo(file).absoluteDir();
    for (QString& session : spec.sessions) session = folder.absoluteFilePath(session);
    return spec;
}

void readView(FigureSpec& spec, const FigureArguments& given) {
    if (!given.x && !given.y && given.ranges.empty()) return;
    if (spec.paper.view.plots.empty()) spec.paper.view.plots.resize(1);
    widgets::PlotAxesView& view = spec.paper.view.plots.front();
    const std::vector<std::pair<std::string, Scale>> scales{{"linear", Scale::Linear}, {"log", Scale::Log}};
    if (given.x) view.x.scale = oneOf(*given.x, "--x", scales);
    if (given.y) view.y.scale = oneOf(*given.y, "--y", scales);
    for (const std::string& range : given.ranges) applyRange(view, range);
}

void readGroups(FigureSpec& spec, const FigureArguments& given) {
    if (given.group_by) {
        spec.group_by = *given.group_by;
        spec.paper.ratio = false;  // a strip of many medians is read by few; --ratio on draws it
    }
    for (const auto& [word, name] : {std::pair{given.band, "--band"}, {given.multiples, "--multiples"}})
        if (word && spec.group_by.empty())
            throw InputError(name, "has no effect on single runs", "with --group-by seed, scheme or KEY");
    if (given.band) spec.band = widgets::spreadFromWord(*given.band);
    if (given.multiples)
        spec.multiples = oneOf<bool>(*given.multiples, "--multiples", {{"auto", false}, {"on", true}});
}

/// The specification of --spec, or the defaults, changed by what is given.
FigureSpec specOf(const FigureArguments& given) {
    FigureSpec spec;
    spec.panel = kDefaultPanel;
    if (!given.spec.empty()) spec = specOfFile(given.spec);
    if (!given.sessions.empty()) {
        spec.sessions.clear();
        for (const std::string& path : given.sessions) spec.sessions << QString::fromStdString(path);
    }
    if (spec.sessions.isEmpty())
        throw InputError("sessions", "none is given", "SESSION.h5 …, or --spec FILE.json that names some");
    if (given.panel) spec.panel = *given.panel;
    if (!given.runs.empty()) spec.runs.clear();
    for (const std::string& run : given.runs) spec.runs << QString::fromStdString(run);
    if (given.step) spec.step = *given.step;
    for (const std::string& option : given.options) {
        const auto equals = option.find('=');
        if (equals == std::string::npos)
            throw InputError("--option", "\"" + option + "\" has no value", "KEY=VALUE");
        spec.options[option.substr(0, equals)] = option.substr(equals + 1);
    }
    readView(spec, given);
    readGroups(spec, given);
    widgets::ExportOptions& paper = spec.paper;
    if (given.ratio) paper.ratio = isOn(*given.ratio, "--ratio");
    if (given.title) {
        paper.title = *given.title != "off";
        const bool own = *given.title == "on" || *given.title == "off";
        paper.title_text = own ? QString() : QString::fromStdString(*given.title);
    }
    if (given.text) paper.text_paths = oneOf<bool>(*given.text, "--text", {{"text", false}, {"paths", true}});
    if (given.size) paper.size_mm = figureSizeOf(*given.size);
    if (given.font_pt) paper.font_pt = *given.font_pt;
    if (given.dpi) paper.dpi = *given.dpi;
    using widgets::LegendPlace;
    if (given.legend)
        paper.legend = oneOf<LegendPlace>(
            *given.legend, "--legend",
            {{"direct", LegendPlace::Direct}, {"below", LegendPlace::Below}, {"none", LegendPlace::None}});
    using Kind = widgets::Theme::Kind;
    if (given.theme)
        paper.theme = oneOf<Kind>(*given.theme, "--theme",
                                  {{"print", Kind::Print}, {"light", Kind::Light}, {"dark", Kind::Dark}});
    return spec;
}

/// The runs of all sessions. In groups, a session that cannot be read costs its runs, which the figure
/// counts; otherwise it is an error.
std::vector<RunData> runsOf(const FigureSpec& spec) {
    std::vector<RunData> runs;
    for (const QString& path : spec.sessions) {
        try {
            Session session = open_session(path.toStdString());
            for (const auto& warning : session.warnings) std::cerr << "normscope: " << warning << '\n';
            for (RunData& run : session.runs) runs.push_back(std::move(run));
        } catch (const InputError& error) {
            if (spec.group_by.empty() || spec.sessions.size() == 1) throw;
            std::cerr << "normscope figure: omitted: " << error.what() << '\n';
        }
    }
    if (runs.empty()) throw InputError("sessions", "no run can be read", "sessions or recordings");
    return runs;
}

void saveSpec(FigureSpec spec, const std::string& path) {
    const QString file = QString::fromStdString(path);
    const QDir folder = QFileInfo(file).absoluteDir();
    for (QString& session : spec.sessions)
        session = folder.relativeFilePath(QFileInfo(session).absoluteFilePath());
    widgets::saveBytes(file, widgets::figureSpecToJson(spec));
}

/// The entry of --gallery by its id, or from its file.
GalleryEntry galleryEntryOf(const std::string& word) {
    if (QString::fromStdString(word).endsWith(QLatin1String(".json"))) return load_gallery_entry(word);
    const GalleryEntry* entry = find_gallery_entry(word);
    if (!entry)
        throw InputError("--gallery", "\"" + word + "\" is not known", "an id of `gallery`, or FILE.json");
    return *entry;
}

/// Of a folder that `gallery` or the window filled.
widgets::Figure galleryFigureOf(const FigureSpec& spec, const FigureArguments& given, QString& metadata) {
    const GalleryEntry entry = galleryEntryOf(*given.gallery);
    const int measure = given.measure.value_or(1), count = static_cast<int>(entry.measures.size());
    if (measure < 1 || measure > count)
        throw InputError("--measure", std::to_string(measure) + " is not one of the entry's measures",
                         "1 to " + std::to_string(count));
    if (spec.sessions.size() != 1)
        throw InputError("sessions", "one folder is needed with --gallery", "that of the entry's sweep");
    const std::string folder = spec.sessions.front().toStdString();
    if (!QFileInfo::exists(spec.sessions.front() + "/sweep.json"))
        throw InputError(folder, "holds no sweep",
                         "the folder of the entry: OUT/ID of `gallery ID --out OUT`");
    metadata = QString::fromStdString(sweep_json(entry.sweep));
    return widgets::galleryFigure(entry, read_gallery_result(entry, folder, [](const auto& work) { work(); }),
                                  static_cast<std::size_t>(measure - 1));
}

widgets::Figure figureOfRuns(const FigureSpec& spec, QString& metadata) {
    std::vector<RunData> runs = runsOf(spec);
    metadata = widgets::recipesOf(spec, runs);
    return widgets::figureOf(spec, std::move(runs));
}

void draw(const FigureArguments& given) {
    const FigureSpec spec = specOf(given);
    if (given.measure && !given.gallery)
        throw InputError("--measure", "has no effect on a panel", "with --gallery ID");
    if (given.gallery && !given.save_spec.empty())
        throw InputError("--save-spec", "cannot hold a figure of --gallery", "without --gallery");
    widgets::ExportOptions paper = spec.paper;
    const widgets::Figure figure =
        given.gallery ? galleryFigureOf(spec, given, paper.metadata) : figureOfRuns(spec, paper.metadata);
    if (!given.out.empty()) {
        const QString out = QString::fromStdString(given.out);
        paper.format = widgets::formatOf(out);
        for (const QString& text : widgets::collisionTexts(widgets::collisionsOf(figure, paper)))
            std::cerr << "normscope figure: at this size " << text.toStdString() << '\n';
        widgets::exportFigure(figure, paper, out);
    }
    if (!given.csv.empty())
        widgets::exportCsv(spec.paper.ratio ? figure : widgets::withoutRatio(figure), spec.paper.view,
                           QString::fromStdString(given.csv));
    if (!given.save_spec.empty()) saveSpec(spec, given.save_spec);
}

/// "growth, gradients, …": the ids of the registry, in the order of the menus.
std::string panelIds(bool (*listed)(const widgets::PanelInfo&), const std::string& first_note) {
    std::string ids;
    for (const widgets::PanelInfo& panel : widgets::panels())
        if (listed(panel))
            ids += (ids.empty() ? "" : ", ") + panel.id + (panel.id == kDefaultPanel ? first_note : "");
    return ids;
}

void addOptions(CLI::App& app, FigureArguments& given) {
    app.add_option("sessions", given.sessions, "Sessions or recordings; several are drawn together");
    app.add_option("--panel", given.panel,
                   panelIds([](const widgets::PanelInfo&) { return true; }, " (default)"));
    app.add_option("--gallery", given.gallery,
                   "The figure of a measure of this entry, ID or FILE.json, from the folder of its sweep, "
                   "instead of a panel of sessions");
    app.add_option("--measure", given.measure, "With --gallery: which, from 1; default the first");
    app.add_option("--out", given.out, "The file to write: .svg, .pdf or .png");
    app.add_option("--csv", given.csv, "Also, or only, the values shown");
    app.add_option("--spec", given.spec,
                   "Redraw the figure of this specification (JSON); other options given change it");
    app.add_option("--save-spec", given.save_spec, "Also, or only, save the specification of this figure");
    app.add_option("--runs", given.runs, "Ids or names; default: all")->delimiter(',');
    app.add_option(
        "--group-by", given.group_by,
        "A median and a band for each group of runs: seed (recipes equal but for the seed), scheme, "
        "or a recipe's key such as optimizer.lr. For " +
            panelIds([](const widgets::PanelInfo& panel) { return panel.groups; }, ""));
    app.add_option("--band", given.band,
                   "About the median of a group: minmax (default), iqr (quartiles), se (standard error of "
                   "the values, of their logarithms on a log axis) or none");
    app.add_option("--multiples", given.multiples,
                   "on: a plot for each group, the others in grey; auto: with more than six groups");
    app.add_option(
        "--ratio", given.ratio,
        "on or off: the strip of ratios to the first run or group; off by default with --group-by");
    app.add_option("--option", given.options, "A switch of the panel, KEY=VALUE");
    app.add_option("--step", given.step, "Show the samples of exactly this step; default the newest");
    app.add_option("--size", given.size, "e.g. 85x60mm");
    app.add_option("--font-pt", given.font_pt, "Size of the text; ticks and names are 7/8 of it");
    app.add_option("--x", given.x, "linear or log");
    app.add_option("--y", given.y, "linear or log");
    app.add_option("--range", given.ranges, "x=LOW:HIGH, y=LOW:HIGH");
    app.add_option("--legend", given.legend, "direct, below or none");
    app.add_option("--title", given.title, "on, off, or the text of the title");
    app.add_option("--text", given.text, "text, or paths: outlines of the glyphs, the same in every program");
    app.add_option("--theme", given.theme, "print, light or dark");
    app.add_option("--dpi", given.dpi, "PNG only");
}

std::unique_ptr<CLI::App> figureCommandLine(FigureArguments& given) {
    auto app =
        std::make_unique<CLI::App>("One figure of recorded runs, without a window", "normscope figure");
    addOptions(*app, given);
    return app;
}

}  // namespace

std::string figureOptions() {
    FigureArguments none;
    return options_table(*figureCommandLine(none));
}

int runFigureCommand(int argc, char** argv) {
    FigureArguments given;
    const auto app = figureCommandLine(given);
    try {
        app->parse(argc, argv);
        if (given.out.empty() && given.csv.empty() && given.save_spec.empty())
            throw InputError("--out", "is missing", "--out FILE, --csv FILE or --save-spec FILE");
        draw(given);
        return 0;
    } catch (const CLI::CallForHelp&) {
        std::cout << app->help();
        return 0;
    } catch (const CLI::ParseError& error) {
        std::string line = error.what();
        std::replace(line.begin(), line.end(), '\n', ' ');
        std::cerr << "normscope figure: " << line << '\n';
        return 2;
    } catch (const InputError& error) {
        std::cerr << "normscope figure: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "normscope figure: " << error.what() << '\n';
        return 1;
    }
}

}  // namespace normscope::app
