// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/docs_command.h"

#include "app/cli/pages/markdown.h"
#include "app/cli/pages/options_table.h"
#include "app/figure_command.h"
#include "app/preflight_command.h"
#include "core/base/error.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QString>
#include <algorithm>
#include <iostream>

namespace normscope::app {

namespace {

using widgets::Figure;
using widgets::PanelInfo;
using widgets::PanelOption;

std::string text(const QString& words) {
    return plain(words.toStdString());
}

/// The panel's figure of a run without samples: its quantity, formula and source are there all the same.
Figure figureOf(const PanelInfo& panel, const widgets::PanelOptions& options) {
    RunData bare;
    bare.id = bare.name = "run";
    widgets::PanelInput input;
    input.runs = {&bare};
    input.options = options;
    return widgets::buildPanel(panel.id, input);
}

std::string optionTable(const PanelInfo& panel) {
    std::vector<Cells> rows;
    for (const PanelOption& option : panel.options) {
        std::string values;
        for (const std::string& value : option.values) values += (values.empty() ? "" : ", ") + code(value);
        rows.push_back({code(option.key), text(option.label), values});
    }
    return table({"option", "in the menu", "values, the first is the default"}, rows);
}

/// What the panel shows, for each value of its first option where that changes the quantity.
std::string quantityTable(const PanelInfo& panel) {
    std::vector<Cells> rows;
    const auto add = [&](const std::string& value, const Figure& figure) {
        rows.push_back({value, text(figure.quantity), text(figure.formula),
                        figure.source.isEmpty() ? std::string("–") : text(figure.source)});
    };
    if (panel.options.empty()) {
        add("–", figureOf(panel, {}));
    } else {
        const PanelOption& first = panel.options.front();
        for (const std::string& value : first.values) add(code(value), figureOf(panel, {{first.key, value}}));
    }
    return table(
        {panel.options.empty() ? "–" : code(panel.options.front().key), "shows", "formula", "source"}, rows);
}

std::string probesOf(const PanelInfo& panel) {
    std::string probes = panel.draws_steps ? "the step table" : "";
    for (const std::string& probe : panel.probes)
        probes += (probes.empty() ? "" : ", ") + ("[" + plain(probe) + "](probes.md#" + probe + ")");
    return probes;
}

Page panelsPage() {
    std::string page = paragraph(
        "A panel draws recorded data; screen, export, CSV and tests have the same figure. `normscope figure "
        "SESSION.h5 --panel ID --option KEY=VALUE --out FILE.svg` draws one without a display.");
    std::vector<Cells> rows;
    for (const PanelInfo& panel : widgets::panels())
        rows.push_back({"[" + plain(panel.id) + "](#" + panel.id + ")", text(panel.title), probesOf(panel),
                        panel.groups ? "yes" : "–"});
    page += table({"id", "title", "draws", "groups of runs"}, rows);
    for (const PanelInfo& panel : widgets::panels()) {
        page += heading(2, panel.id) + paragraph(text(panel.title) + ". Draws " + probesOf(panel) + ".");
        if (!panel.options.empty()) page += optionTable(panel);
        page += quantityTable(panel);
    }
    return {"panels", "Panels", page};
}

Page programPage(const CLI::App& window) {
    std::string page = paragraph("The program of the window, and its commands that need no display.");
    page += heading(2, "normscope") + paragraph("`normscope [SESSION.h5|FOLDER]` opens the window.") +
            options_table(window);
    page += heading(2, "normscope figure") + paragraph("One figure of recorded runs, without a window.") +
            figureOptions();
    page += heading(2, "normscope preflight") +
            paragraph("A page about a stack at step 0; `normscope-cli preflight --out` runs it.") +
            preflightOptions();
    return {"window-program", "Options of normscope", page};
}

}  // namespace

int runDocsCommand(int argc, char** argv, const CLI::App& window) {
    std::string folder;
    CLI::App command{"The pages of the reference about panels and this program's options", "normscope docs"};
    command.add_option("--out", folder, "The folder of the pages")->required();
    try {
        command.parse(argc, argv);
        for (const Page& page : {panelsPage(), programPage(window)}) write_page(folder, page);
        return 0;
    } catch (const CLI::CallForHelp&) {
        std::cout << command.help();
        return 0;
    } catch (const CLI::ParseError& error) {
        std::string line = error.what();
        std::replace(line.begin(), line.end(), '\n', ' ');
        std::cerr << "normscope docs: " << line << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "normscope docs: " << error.what() << '\n';
        return 1;
    }
}

}  // namespace normscope::app
