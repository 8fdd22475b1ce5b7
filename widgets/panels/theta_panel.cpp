// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/theta_panel.h"

#include "widgets/panels/panel_text.h"
#include "widgets/panels/samples.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr double kLowestLog = -6;  // the colour scale is fixed, so that runs, steps and sessions compare
constexpr double kLeastWidth = 1e-12;

/// "37 %", "0.4 %", "0 %".
QString percent(double share) {
    if (std::isnan(share)) return {};
    const double p = 100 * share;
    return (p > 0 && p < 1 ? QString::number(p, 'g', 1) : QString::number(p, 'f', 0)) + " %";
}

HeatMap mapOf(const ShownSample& shown, const NamedArray& chosen, const NamedArray& share, bool is_share) {
    const NamedArray* width = arrayOf(*shown.sample, "width", 0);
    const double certificate = width ? std::max(width->data.front(), kLeastWidth) : kLeastWidth;
    HeatMap map;
    map.name = nameOf(*shown.run);
    map.role = {Role::Kind::Run, shown.index, 0};
    map.rows = int(chosen.shape[0]);
    map.columns = int(chosen.shape[1]);
    map.raw = chosen.data;
    for (std::size_t i = 0; i < chosen.data.size(); ++i) {
        const double gap = 1 - chosen.data[i];
        const bool one = !is_share && gap <= certificate;
        map.value.push_back(is_share          ? chosen.data[i]
                            : std::isnan(gap) ? kNaN
                                              : std::log10(std::max(gap, std::pow(10, kLowestLog))));
        map.text << percent(share.data[i]);
        map.neutral.push_back(one);
    }
    for (int layer = 1; layer <= map.rows; ++layer) map.row_names << QString::number(layer);
    for (int head = 1; head <= map.columns; ++head) map.column_names << QString::number(head);
    map.low = is_share ? 0 : kLowestLog;
    map.high = is_share ? 1 : 0;
    return map;
}

double meanOfFinite(const std::vector<double>& values) {
    double sum = 0;
    int count = 0;
    for (const double v : values)
        if (std::isfinite(v)) {
            sum += v;
            ++count;
        }
    return count ? sum / count : kNaN;
}

}  // namespace

PanelInfo thetaPanel() {
    return {"theta", "θ", {{"quantity", "Colour", {"mean", "max", "below_099"}}}, &buildTheta};
}

Figure buildTheta(const PanelInput& input) {
    const PanelInfo panel = thetaPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& quantity = options.at("quantity");
    const bool is_share = quantity == "below_099";

    Figure figure = startFigure(panel);
    figure.quantity = is_share ? "share of rows with θ < 0.99" : QString::fromStdString(quantity) + " θ";
    figure.formula =
        "θ(p) = 4·max_S p(S)·(1 − p(S)) = τ·‖J_softmax‖_{∞→1}\nover batch and rows of two or more entries; "
        "the number "
        "is the share of rows with θ < 0.99";
    figure.source = "Emadi, Definition 4.1 and Theorem 4.2";
    figure.erratum =
        "Emadi, E.2: the prefix heuristic is not exact: (0.35, 0.30, 0.20, 0.15) has prefix value 0.91 but θ "
        "= 1. "
        "Corollary 4.3, case 3, holds only for κ ≤ 1/2.";
    figure.side_by_side = true;

    const auto samples = shownSamples(input, panel.id);
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        const NamedArray* chosen = arrayOf(*shown.sample, quantity, 2);
        const NamedArray* share = arrayOf(*shown.sample, "below_099", 2);
        if (!chosen || !share || share->shape != chosen->shape) continue;
        drawn[shown.index] = true;
        Plot plot;
        plot.heading = nameOf(*shown.run);
        plot.x.label = "head";
        plot.y.label = "layer";
        plot.maps.push_back(mapOf(shown, *chosen, *share, is_share));
        HeatMap& map = plot.maps.front();
        map.scale_label = is_share ? figure.quantity : QString("log₁₀(1 − %1)").arg(figure.quantity);
        map.selected_row = input.selected_layer < map.rows ? input.selected_layer : -1;
        map.selected_column = input.selected_head < map.columns ? input.selected_head : -1;
        parts
            << QString("%1: %2 of the rows have θ < 0.99").arg(map.name, percent(meanOfFinite(share->data)));
        figure.plots.push_back(std::move(plot));
    }
    figure.subtitle = atStep(samples);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    sayWhatIsMissing(figure, input, panel.id, drawn);
    return figure;
}

}  // namespace normscope::widgets
