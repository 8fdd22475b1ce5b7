// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"
#include "widgets/figures/groups/grouped_figure.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/figures/parts/run_scale.h"
#include "widgets/figures/runs/run_diff.h"
#include "widgets/figures/spec/figure_spec.h"

#include <algorithm>

namespace normscope::widgets {
namespace {

std::vector<const RunData*> selected(const FigureSpec& spec, const std::vector<RunData>& runs) {
    std::vector<const RunData*> chosen;
    QStringList known;
    for (const RunData& run : runs) {
        known << QString::fromStdString(run.id);
        if (spec.runs.isEmpty()) chosen.push_back(&run);
    }
    known.removeDuplicates();
    for (const QString& wanted : spec.runs) {
        const auto before = chosen.size();
        for (const RunData& run : runs)
            if (wanted == QString::fromStdString(run.id) || wanted == QString::fromStdString(run.name))
                chosen.push_back(&run);
        if (chosen.size() == before)
            throw InputError("runs", '"' + wanted.toStdString() + "\" is not in the session",
                             known.join(QStringLiteral(", ")).toStdString());
    }
    return chosen;
}

}  // namespace

Figure figureOf(const FigureSpec& spec, std::vector<RunData> runs) {
    const PanelInfo& panel = panelInfo(spec.panel);
    PanelInput input;
    input.options = spec.options;
    resolveOptions(panel, input.options);
    input.runs = selected(spec, runs);
    input.exploring = std::all_of(input.runs.begin(), input.runs.end(),
                                  [](const RunData* run) { return run->steps.rows() == 0; });
    if (spec.step) input.step = *spec.step;
    if (!spec.group_by.empty()) {
        const RunGroups groups = groupRuns(input.runs, spec.group_by);
        const auto build = [&](const PanelInput& at) {
            return groupedFigure(panel, at, groups, {spec.band, spec.paper.ratio, spec.multiples});
        };
        return onRunScale(build(input), panel, input, build);
    }
    const std::vector<QString> names = distinctNames(input.runs);
    for (std::size_t i = 0; i < input.runs.size(); ++i)
        runs[static_cast<std::size_t>(input.runs[i] - runs.data())].name = names[i].toStdString();
    const auto build = [&](const PanelInput& at) { return buildPanel(spec.panel, at); };
    return onRunScale(build(input), panel, input, build);
}

QString recipesOf(const FigureSpec& spec, const std::vector<RunData>& runs) {
    QStringList recipes;
    for (const RunData* run : selected(spec, runs)) recipes << QString::fromStdString(run->recipe.text());
    return recipes.join(u'\n');
}

}  // namespace normscope::widgets
