// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/gradient_factors.h"

#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope::widgets {

namespace {

constexpr const char* kProbe = "residual";

struct Factor {
    const char* array;
    const char* name;
    double colour;  ///< in the sequential map
};
constexpr Factor kFactors[] = {
    {"grad_norm", "norms", 0.1}, {"grad_shortcut", "shortcuts", 0.9}, {"grad_branch", "branches", 0.55}};

/// Products of the first 0 … 2D values.
std::vector<double> products(const std::vector<double>& factors) {
    std::vector<double> running{1};
    for (const double f : factors) running.push_back(running.back() * f);
    return running;
}

struct FactorSpan {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    void include(const std::vector<double>& values) {
        for (const double v : values)
            if (std::isfinite(v) && v > 0) low = std::min(low, v), high = std::max(high, v);
    }
};

}  // namespace

void drawGradientFactors(Figure& figure, const PanelInput& input) {
    figure.side_by_side = true;
    const auto samples = shownSamples(input, kProbe);
    std::vector<bool> drawn(input.runs.size(), false);
    FactorSpan range;
    QStringList parts;
    int deepest = 0;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        const NamedArray* first = arrayOf(*shown.sample, kFactors[0].array, 1);
        if (!first || first->data.size() % 2 != 0) continue;
        const std::size_t sublayers = first->data.size();
        const int depth = int(sublayers / 2);
        Plot plot;
        plot.heading = nameOf(*shown.run);
        plot.x = depthAxis(depth);
        plot.y.label = figure.quantity;
        plot.y.scale = Scale::Log;
        plot.references.push_back({Qt::Horizontal, 1, QString()});
        std::vector<double> x, all(sublayers + 1, 1.0);
        for (std::size_t k = 0; k <= sublayers; ++k) x.push_back(depthX(int(k)));
        QStringList names;
        bool complete = true;
        for (const Factor& factor : kFactors) {
            const NamedArray* array = arrayOf(*shown.sample, factor.array, 1);
            if (!array || array->data.size() != sublayers) {
                complete = false;
                break;
            }
            Curve curve;
            curve.role = {Role::Kind::Sequential, shown.index, factor.colour};
            curve.x = x;
            curve.y = products(array->data);
            for (std::size_t k = 0; k <= sublayers; ++k) all[k] *= curve.y[k];
            const bool one =
                std::all_of(array->data.begin(), array->data.end(), [](double f) { return f == 1; });
            if (one) continue;
            curve.name = QString("%1 %2").arg(factor.name, brief(curve.y.back()));
            names << curve.name;
            range.include(curve.y);
            plot.curves.push_back(std::move(curve));
        }
        // Under a selection of places the product over the depth is not known.
        if (!complete || lacks_entries(*shown.sample, *first)) continue;
        range.include(all);
        Curve total;
        total.role = {Role::Kind::Run, shown.index, 0};
        total.kind = shown.kind;
        total.x = x;
        total.y = std::move(all);
        total.markers = sublayers <= 128;
        const QString whole = brief(total.y.back());
        total.name = "all " + whole;
        plot.curves.push_back(std::move(total));
        parts << QString("%1: from the last layer to the embedding the gradient's norm changes by %2 = %3")
                     .arg(nameOf(*shown.run), names.join(" × "), whole);
        drawn[shown.index] = true;
        deepest = std::max(deepest, depth);
        figure.plots.push_back(std::move(plot));
    }
    if (range.high > 0)
        for (Plot& plot : figure.plots) plot.y.range = {range.low / 1.5, range.high * 1.5};
    figure.quantity_in_header = true;
    figure.subtitle = atStep(samples);
    nameDepths(figure, deepest);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, kProbe, drawn);
}

}  // namespace normscope::widgets
