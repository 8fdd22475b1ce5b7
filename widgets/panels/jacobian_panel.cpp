// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/jacobian_panel.h"

#include "widgets/panels/comparison.h"
#include "widgets/panels/depth_axis.h"
#include "widgets/panels/jacobian_bound.h"
#include "widgets/panels/jacobian_ridges.h"
#include "widgets/panels/panel_text.h"
#include "widgets/panels/samples.h"
#include "widgets/panels/spectrum.h"

#include <algorithm>

namespace normscope::widgets {

namespace {

Role runRole(int index) {
    return {Role::Kind::Run, index, 0};
}

Axis sigmaAxis(const Figure& figure) {
    Axis axis;
    axis.label = figure.quantity;
    axis.scale = Scale::Log;
    return axis;
}

/// x of row i of a [rows, d] array: the hidden state that the layer or sub-layer produces.
double rowX(std::size_t row, bool sublayers) {
    return depthX(sublayers ? int(row) + 1 : 2 * int(row) + 2);
}

Band bandOf(const QString& name, const Role& role, const std::vector<double>& x,
            const std::vector<Spectrum>& spectra, double low, double high, double strength) {
    Band band{name, role, x, {}, {}, strength};
    for (const Spectrum& s : spectra) {
        band.low.push_back(s.quantile(low));
        band.high.push_back(s.quantile(high));
    }
    return band;
}

/// Counts of exact nulls, one mark a row; runs stand side by side within a row.
void addNullCounts(Plot& plot, const std::vector<double>& x, const std::vector<Spectrum>& spectra,
                   const ShownSample& shown, std::size_t runs) {
    const double spacing = x.size() > 1 ? x[1] - x[0] : 1;
    const double shift = (shown.index - (double(runs) - 1) / 2) * 0.3 * spacing / double(runs);
    for (std::size_t i = 0; i < x.size(); ++i)
        if (spectra[i].nulls > 0)
            plot.frame_marks.push_back(
                {x[i] + shift, QString::number(spectra[i].nulls), runRole(shown.index)});
}

QString spoken(const ShownSample& shown, const std::vector<Spectrum>& spectra) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    int nulls = 0;
    for (const Spectrum& s : spectra) {
        if (!s.sigma.empty()) {
            low = std::min(low, s.sigma.front());
            high = std::max(high, s.sigma.back());
        }
        nulls += s.nulls;
    }
    return QString("%1: σ from %2 to %3, %4 exact nulls")
        .arg(nameOf(*shown.run), brief(low), brief(high))
        .arg(nulls);
}

void drawFan(Figure& figure, const PanelInput& input, bool sublayers, bool with_bound) {
    const std::string array = sublayers ? "sublayer_sv" : "layer_sv";
    const auto samples = shownSamples(input, "jacobian");
    std::vector<bool> drawn(input.runs.size(), false);
    std::vector<Curve> bounds;
    QStringList parts;
    Plot plot;
    std::size_t rows = 0;
    for (const ShownSample& shown : samples) {
        const RecipeFacts facts = recipeFacts(shown.run->recipe_json);
        const auto spectra = spectraOf(*shown.sample, array, facts.epsilon);
        if (!spectra) continue;
        rows = std::max(rows, spectra->size());
        const Role role = runRole(shown.index);
        const QString name = nameOf(*shown.run);
        Curve median;
        for (std::size_t i = 0; i < spectra->size(); ++i) {
            median.x.push_back(rowX(i, sublayers));
            median.y.push_back((*spectra)[i].quantile(0.5));
        }
        median.name = name;
        median.role = role;
        median.kind = shown.kind;
        median.step = shown.sample->step;
        median.markers = shown.own();
        median.label_at_end = shown.own();
        if (shown.own()) {  // a ghost or a preview is its median alone: two fans over each other cannot be
                            // read
            drawn[shown.index] = true;
            plot.bands.push_back(bandOf(name + " min–max", role, median.x, *spectra, 0, 1, 0.12));
            plot.bands.push_back(bandOf(name + " 5–95 %", role, median.x, *spectra, 0.05, 0.95, 0.25));
            addNullCounts(plot, median.x, *spectra, shown, input.runs.size());
            parts << spoken(shown, *spectra);
            if (auto bound = sigmaMinBound(*shown.sample, facts, sublayers)) {
                bound->name = name + " bound";
                bound->role = role;
                bounds.push_back(std::move(*bound));
            }
        }
        plot.curves.push_back(std::move(median));
    }
    const int depth = int(sublayers ? rows / 2 : rows);
    plot.x = depthAxis(depth);
    plot.y = sigmaAxis(figure);
    plot.lane_label = "0";
    plot.references.push_back({Qt::Horizontal, 1, "σ = 1"});
    markBadLayers(plot, input);
    nameDepths(figure, depth, 1);
    figure.plots = {std::move(plot)};
    if (auto strip = ratioStrip(figure.plots.front())) {
        strip->y.label = "median " + strip->y.label;
        figure.plots.push_back(std::move(*strip));
    }
    if (with_bound)
        for (Curve& bound : bounds) addBound(figure.plots.front(), std::move(bound));
    figure.subtitle = atStep(samples);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    sayWhatIsMissing(figure, input, "jacobian", drawn);
}

void drawEndToEnd(Figure& figure, const PanelInput& input, bool with_bound) {
    const auto samples = shownSamples(input, "jacobian");
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    Plot plot;
    for (const ShownSample& shown : samples) {
        const RecipeFacts facts = recipeFacts(shown.run->recipe_json);
        const auto spectra = spectraOf(*shown.sample, "end_to_end_sv", facts.epsilon);
        if (!spectra || spectra->size() != 1) continue;
        const Spectrum& s = spectra->front();
        Curve curve;
        curve.name = nameOf(*shown.run);
        curve.role = runRole(shown.index);
        curve.kind = shown.kind;
        curve.step = shown.sample->step;
        curve.label_at_end = shown.own();
        curve.y.assign(s.sigma.rbegin(), s.sigma.rend());
        for (std::size_t i = 1; i <= s.sigma.size(); ++i) curve.x.push_back(double(i));
        if (shown.own()) {
            drawn[shown.index] = true;
            parts << spoken(shown, *spectra);
            if (s.nulls > 0)
                plot.frame_marks.push_back(
                    {double(s.sigma.size()) + 1, QString::number(s.nulls), curve.role});
            if (const double bound = stackSigmaMinBound(*shown.sample, facts); with_bound && bound > 0)
                plot.chips.push_back({Chip::Edge::BottomLeft,
                                      QString("%1 σ_min ≥ %2").arg(curve.name, brief(bound)), curve.role});
        }
        plot.curves.push_back(std::move(curve));
    }
    plot.x.label = "index i";
    plot.x.integers = true;
    plot.y = sigmaAxis(figure);
    plot.lane_label = "0";
    plot.references.push_back({Qt::Horizontal, 1, "σ = 1"});
    figure.plots = {std::move(plot)};
    figure.subtitle = atStep(samples);
    figure.summary = QString("End-to-end Jacobian %1. %2").arg(figure.subtitle, parts.join("; "));
    sayWhatIsMissing(figure, input, "jacobian", drawn);
}

}  // namespace

PanelInfo jacobianPanel() {
    return {"jacobian",
            "Jacobian spectra",
            {{"view", "View", {"fan", "ridges", "end_to_end"}},
             {"map", "Map", {"layers", "sublayers"}},
             {"bound", "Bound", {"on", "off"}}},
            &buildJacobian};
}

Figure buildJacobian(const PanelInput& input) {
    const PanelInfo panel = jacobianPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const bool sublayers = options.at("map") == "sublayers", with_bound = options.at("bound") == "on";

    Figure figure = startFigure(panel);
    figure.quantity = "singular value σ";
    figure.formula =
        "σ of ∂(last token out) / ∂(last token in), sequence 0\nJ = I + A: σ_min(J) ≥ 1 − ‖A‖₂ when ‖A‖₂ < 1";
    figure.source =
        "Null-space note, Theorems 3.2 (rank ≤ d − 2 after a post norm), 4.6 and 6.4 (σ_min); Emadi, Theorem "
        "5.4";
    figure.erratum =
        "The theorems speak of maps of one token. For attention this is the diagonal block of the last "
        "token; blocks "
        "multiply along the depth only where attention is causal. With a gain γ the left null space is "
        "diag(γ)⁻¹·span{1, ẑ}: the note (remark 1.2) has diag(γ) on the wrong side.";
    if (options.at("view") == "end_to_end")
        drawEndToEnd(figure, input, with_bound);
    else if (options.at("view") == "ridges")
        drawRidges(figure, input, sublayers);
    else
        drawFan(figure, input, sublayers, with_bound);
    return figure;
}

}  // namespace normscope::widgets
