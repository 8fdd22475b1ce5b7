// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure_command.h"

#include "core/session/session.h"
#include "core/stack/error.h"
#include "widgets/export/csv.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/panels/panel_registry.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <limits>

namespace normscope::app {

namespace {

using widgets::Scale;

struct Arguments {
    std::vector<std::string> sessions, runs, options, ranges;
    std::string panel = "growth", out, csv, size = "85x60mm", legend = "direct", x, y, theme = "print";
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    double font_pt = 8;
    int dpi = 300;
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

QSizeF sizeOf(std::string text) {
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

void draw(const Arguments& given) {
    const widgets::PanelInfo& panel = widgets::panelInfo(given.panel);
    std::vector<RunData> all;
    for (const std::string& path : given.sessions) {
        Session session = open_session(path);
        for (const auto& warning : session.warnings) std::cerr << "normscope: " << warning << '\n';
        for (RunData& run : session.runs) all.push_back(std::move(run));
    }
    widgets::PanelInput input;
    std::string known;
    for (const RunData& run : all) known += (known.empty() ? "" : ", ") + run.id;
    if (given.runs.empty())
        for (const RunData& run : all) input.runs.push_back(&run);
    for (const std::string& wanted : given.runs) {
        const auto before = input.runs.size();
        for (const RunData& run : all)
            if (run.id == wanted || run.name == wanted) input.runs.push_back(&run);
        if (input.runs.size() == before)
            throw InputError("--runs", "\"" + wanted + "\" is not in the session", known);
    }
    input.exploring = std::all_of(input.runs.begin(), input.runs.end(),
                                  [](const RunData* run) { return run->steps.rows() == 0; });
    input.step = given.step;
    for (const std::string& option : given.options) {
        const auto equals = option.find('=');
        if (equals == std::string::npos)
            throw InputError("--option", "\"" + option + "\" has no value", "KEY=VALUE");
        input.options[option.substr(0, equals)] = option.substr(equals + 1);
    }
    widgets::resolveOptions(panel, input.options);

    widgets::ExportOptions options;
    widgets::PlotAxesView view;
    const std::vector<std::pair<std::string, Scale>> scales{{"linear", Scale::Linear}, {"log", Scale::Log}};
    if (!given.x.empty()) view.x.scale = oneOf(given.x, "--x", scales);
    if (!given.y.empty()) view.y.scale = oneOf(given.y, "--y", scales);
    for (const std::string& range : given.ranges) applyRange(view, range);
    options.view.plots = {view};
    options.size_mm = sizeOf(given.size);
    options.font_pt = given.font_pt;
    options.dpi = given.dpi;
    using widgets::LegendPlace;
    options.legend = oneOf<LegendPlace>(
        given.legend, "--legend",
        {{"direct", LegendPlace::Direct}, {"below", LegendPlace::Below}, {"none", LegendPlace::None}});
    using Kind = widgets::Theme::Kind;
    options.theme = oneOf<Kind>(given.theme, "--theme",
                                {{"print", Kind::Print}, {"light", Kind::Light}, {"dark", Kind::Dark}});
    for (const RunData* run : input.runs)
        options.metadata += (options.metadata.isEmpty() ? QString() : QStringLiteral("\n")) +
                            QString::fromStdString(run->recipe.text());

    const widgets::Figure figure = panel.build(input);
    if (!given.out.empty()) {
        const QString out = QString::fromStdString(given.out);
        options.format = widgets::formatOf(out);
        widgets::exportFigure(figure, options, out);
    }
    if (!given.csv.empty()) widgets::exportCsv(figure, options.view, QString::fromStdString(given.csv));
}

}  // namespace

int runFigureCommand(int argc, char** argv) {
    Arguments given;
    CLI::App app{"One figure of recorded runs, without a window"};
    app.name("normscope figure");
    app.add_option("sessions", given.sessions, "Sessions or recordings")->required();
    app.add_option("--panel", given.panel,
                   "growth, gradients, jacobian, training, null_space, theta, spectra, mismatch, tokens");
    app.add_option("--out", given.out, "The file to write: .svg, .pdf or .png");
    app.add_option("--csv", given.csv, "Also, or only, the values shown");
    app.add_option("--runs", given.runs, "Ids or names; default: all")->delimiter(',');
    app.add_option("--option", given.options, "A switch of the panel, KEY=VALUE");
    app.add_option("--step", given.step, "Show the samples of exactly this step; default the newest");
    app.add_option("--size", given.size, "e.g. 85x60mm");
    app.add_option("--font-pt", given.font_pt, "Size of the text");
    app.add_option("--x", given.x, "linear or log");
    app.add_option("--y", given.y, "linear or log");
    app.add_option("--range", given.ranges, "x=LOW:HIGH, y=LOW:HIGH");
    app.add_option("--legend", given.legend, "direct, below or none");
    app.add_option("--theme", given.theme, "print, light or dark");
    app.add_option("--dpi", given.dpi, "PNG only");
    try {
        app.parse(argc, argv);
        if (given.out.empty() && given.csv.empty())
            throw InputError("--out", "is missing", "--out FILE or --csv FILE");
        draw(given);
        return 0;
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
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
