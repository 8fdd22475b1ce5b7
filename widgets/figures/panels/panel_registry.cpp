// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/panel_registry.h"

#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "widgets/figures/panels/attention_panel.h"
#include "widgets/figures/panels/fragility_panel.h"
#include "widgets/figures/panels/gradient_map_panel.h"
#include "widgets/figures/panels/gradients_panel.h"
#include "widgets/figures/panels/growth_panel.h"
#include "widgets/figures/panels/jacobian_panel.h"
#include "widgets/figures/panels/mismatch_panel.h"
#include "widgets/figures/panels/null_space_panel.h"
#include "widgets/figures/panels/profile_panels.h"
#include "widgets/figures/panels/ranges_panel.h"
#include "widgets/figures/panels/residual_panel.h"
#include "widgets/figures/panels/spectra_panel.h"
#include "widgets/figures/panels/theta_panel.h"
#include "widgets/figures/panels/tokens_panel.h"
#include "widgets/figures/panels/training_panel.h"
#include "widgets/figures/panels/updates_panel.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"

namespace normscope::widgets {

namespace {

/// Panels of one step have the choice of what their axes span.
std::vector<PanelInfo> withAxes(std::vector<PanelInfo> panels) {
    for (PanelInfo& panel : panels)
        if (!panel.draws_steps) panel.options.push_back({kAxesOption, "Axes", {"whole_run", "this_step"}});
    return panels;
}

}  // namespace

const std::vector<PanelInfo>& panels() {
    static const std::vector<PanelInfo> all = withAxes({
        growthPanel(),       //
        gradientsPanel(),    //
        jacobianPanel(),     //
        trainingPanel(),     //
        nullSpacePanel(),    //
        thetaPanel(),        //
        attentionPanel(),    //
        tokensPanel(),       //
        spectraPanel(),      //
        mismatchPanel(),     //
        fragilityPanel(),    //
        rangesPanel(),       //
        residualPanel(),     //
        updatesPanel(),      //
        gradientMapPanel(),  //
        lipschitzPanel(),    //
        importancePanel(),   //
        gatesPanel(),        //
        weightsPanel(),      //
        shiftPanel(),        //
        pathsPanel(),
    });
    return all;
}

const PanelInfo& panelInfo(const std::string& id) {
    std::string known;
    for (const auto& panel : panels()) {
        if (panel.id == id) return panel;
        known += (known.empty() ? "" : ", ") + panel.id;
    }
    throw InputError("panel", "unknown id '" + printable(id) + "'", known);
}

namespace {

/// The name at the first of them; the others are of the same value.
void nameGhosts(Figure& figure, const QString& name) {
    if (figure.plots.empty() || name.isEmpty()) return;
    for (Curve& curve : figure.plots.front().curves)
        if (curve.kind == LineKind::Ghost) {
            curve.name = name;
            curve.label_at_end = true;
            return;
        }
}

/// Small multiples too small to be legible are omitted, and the figure gives their number.
void limitGrid(Figure& figure) {
    constexpr std::size_t kMax = 24;
    const std::size_t all = figure.plots.size();
    if (!figure.side_by_side || !figure.shared_axes || all <= kMax) return;
    figure.plots.resize(kMax);
    figure.notes.push_back({QString("the first %1 of %2 plots").arg(kMax).arg(all)});
}

}  // namespace

namespace {

bool isConsistent(const Figure& figure) {
    return std::all_of(figure.plots.begin(), figure.plots.end(), [](const Plot& plot) {
        return plot.maps.size() <= 1 &&
               std::is_sorted(plot.flags.begin(), plot.flags.end(),
                              [](const Flag& a, const Flag& b) { return a.x < b.x; });
    });
}

}  // namespace

Figure buildPanel(const std::string& id, const PanelInput& input) {
    const PanelInfo& panel = panelInfo(id);
    Figure figure = panel.build(withoutAxesOption(panel, input));
    NORMSCOPE_ASSERT(isConsistent(figure), "flags are ascending, a plot has one map at most");
    annotateSelection(figure, input, panelInfo(id).probes);
    nameBatch(figure, input);
    limitGrid(figure);
    nameGhosts(figure, input.ghost_name);
    for (const RunData* run : input.runs) figure.run_names << nameOf(*run);
    markAges(figure, input, panel);
    return figure;
}

}  // namespace normscope::widgets
