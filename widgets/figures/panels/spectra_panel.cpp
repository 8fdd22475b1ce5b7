// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/spectra_panel.h"

#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace normscope::widgets {

namespace {

/// The data of one run: a line, its error, and the smallest value at each point.
struct Line {
    std::vector<double> x, y;
    std::vector<double> error;  ///< of y; empty = exact
    std::vector<double> least;  ///< the last of the values whose first is y; empty = y is all
    int depth = 0;              ///< layers, where x is the depth
};
using LineOf = std::function<std::optional<Line>(const ProbeResult&)>;

/// Title, formula and reader of a view.
struct View {
    QString quantity, formula, source;
    bool over_depth;
    Scale scale;
    std::optional<ReferenceLine> reference;
    LineOf line;
};

/// The first value of each row of [rows, k], its error and the last value.
std::optional<Line> topOfRows(const ProbeResult& sample, const std::string& name, bool sublayers) {
    const NamedArray* top = arrayOf(sample, name, 2);
    if (!top) return std::nullopt;
    const NamedArray* error = arrayOf(sample, name + "_error", 2);
    const std::size_t rows = top->shape[0], k = top->shape[1];
    Line line;
    line.depth = int(sublayers ? rows / 2 : rows);
    for (std::size_t row = 0; row < rows; ++row) {
        line.x.push_back(depthX(sublayers ? int(row) + 1 : 2 * int(row) + 2));
        line.y.push_back(top->data[row * k]);
        if (k > 1) line.least.push_back(top->data[row * k + k - 1]);
        if (error && error->shape == top->shape) line.error.push_back(error->data[row * k]);
    }
    return line;
}

/// A list [k] against its index, from 1.
std::optional<Line> listOf(const ProbeResult& sample, const std::string& name) {
    const NamedArray* values = arrayOf(sample, name, 1);
    if (!values) return std::nullopt;
    const NamedArray* error = arrayOf(sample, name + "_error", 1);
    Line line;
    line.y = values->data;
    if (error && error->shape == values->shape) line.error = error->data;
    for (std::size_t i = 1; i <= line.y.size(); ++i) line.x.push_back(double(i));
    return line;
}

/// A list over the layers; the value of row i is at x = i + offset.
std::optional<Line> overLayers(const ProbeResult& sample, const std::string& name, double offset) {
    auto line = listOf(sample, name);
    if (!line) return line;
    line->depth = int(std::ceil(double(line->y.size()) - 1 + offset));
    for (std::size_t i = 0; i < line->x.size(); ++i) line->x[i] = double(i) + offset;
    return line;
}

View viewOf(const std::string& id) {
    const QString product =
        "‖∏J‖ / ∏‖J‖: 1 where all layers stretch one direction most, small where their directions differ\n";
    const QString whole = "J = ∂(all tokens out) / ∂(all tokens in) of sequence 0, [n·d × n·d]";
    const ReferenceLine one{Qt::Horizontal, 1, "σ = 1"};
    if (id == "sublayers")
        return {"largest singular value σ₁",
                "σ₁(J) = ‖J‖₂ of each sub-layer, and down to σ_k\n" + whole,
                "Null-space note, Sections 3 to 6; Emadi, Theorem 5.4",
                true,
                Scale::Log,
                one,
                [](const ProbeResult& s) { return topOfRows(s, "sublayer_top", true); }};
    if (id == "end_to_end")
        return {"singular value σ of the whole stack",
                "σ_i(J_N ⋯ J_1), i = 1 … k\n" + whole,
                "Null-space note, Section 6; Emadi, Theorem 5.4",
                false,
                Scale::Log,
                one,
                [](const ProbeResult& s) { return listOf(s, "end_to_end_top"); }};
    if (id == "stable_rank")
        return {"stable rank",
                "‖J‖_F² / ‖J‖₂² of each layer: how many directions carry its gain\n" + whole,
                "Rudelson and Vershynin (2007)",
                true,
                Scale::Log,
                std::nullopt,
                [](const ProbeResult& s) { return overLayers(s, "stable_rank", 1); }};
    if (id == "alignment")
        return {"alignment of neighbouring layers",
                "|⟨u₁(J_l), v₁(J_{l+1})⟩|: 1 where a layer's strongest output direction is the next one's "
                "input direction\n" +
                    product + whole,
                "",
                true,
                Scale::Linear,
                std::nullopt,
                [](const ProbeResult& s) { return overLayers(s, "alignment", 1.5); }};
    if (id == "lyapunov")
        return {"Lyapunov exponent over the depth",
                "λ_i = (1/N)·Σ_l ln |R_ii(l)| = ln σ_i(J_N ⋯ J_1)/N: QR of the layers' product from its "
                "leading right singular vectors on\n" +
                    whole,
                "Benettin et al. (1980)",
                false,
                Scale::Linear,
                ReferenceLine{Qt::Horizontal, 0, "λ = 0"},
                [](const ProbeResult& s) { return listOf(s, "lyapunov"); }};
    return {"largest singular value σ₁",
            "σ₁(J) = ‖J‖₂ of each layer, and down to σ_k\n" + product + whole,
            "Null-space note, Sections 3 to 6; Emadi, Theorem 5.4",
            true,
            Scale::Log,
            one,
            [](const ProbeResult& s) { return topOfRows(s, "layer_top", false); }};
}

void addBands(Plot& plot, const Line& line, const QString& name, const Role& role) {
    if (!line.least.empty()) plot.bands.push_back({name + " σ_k–σ₁", role, line.x, line.least, line.y, 0.14});
    if (line.error.empty()) return;
    Band band{name + " error", role, line.x, {}, {}, 0.35};
    for (std::size_t i = 0; i < line.y.size(); ++i) {
        // An unbounded error has no edge to draw.
        const double error = std::isfinite(line.error[i]) ? line.error[i] : kNaN;
        band.low.push_back(line.y[i] - error);
        band.high.push_back(line.y[i] + error);
    }
    plot.bands.push_back(std::move(band));
}

/// The smallest singular value as the sample proves it: a value with its error, or an upper bound alone.
QString smallest(const ProbeResult& sample) {
    const NamedArray* values = arrayOf(sample, "end_to_end_bottom", 1);
    if (!values) values = arrayOf(sample, "end_to_end_bottom", 0);
    if (!values) return {};
    const auto at = std::min_element(values->data.begin(), values->data.end());
    const NamedArray* errors = sample.find("end_to_end_bottom_error");
    const std::size_t i = std::size_t(at - values->data.begin());
    const double error = errors && i < errors->data.size() ? errors->data[i] : kNaN;
    if (error < *at) return QString("σ_min %1 ± %2").arg(brief(*at), brief(error));
    return QString("σ_min ≤ %1").arg(brief(*at));
}

/// The remark about a run in this view.
QString remark(const ProbeResult& sample, const std::string& view) {
    if (!sample.only().empty()) return {};  // it is of the whole stack
    if (view == "end_to_end") return smallest(sample);
    const NamedArray* gain = arrayOf(sample, "product_gain", 0);
    if (!gain || (view != "layers" && view != "alignment")) return {};
    return QString("‖∏J‖ / ∏‖J‖ %1").arg(brief(gain->data.front()));
}

}  // namespace

PanelInfo spectraPanel() {
    return {"spectra",
            "Sequence spectra",
            {"spectra"},
            {{"view", "View", {"layers", "sublayers", "end_to_end", "stable_rank", "alignment", "lyapunov"}}},
            &buildSpectra};
}

Figure buildSpectra(const PanelInput& input) {
    const PanelInfo panel = spectraPanel();
    const std::string id = resolveOptions(panel, input.options).at("view");
    const View view = viewOf(id);

    Figure figure = startFigure(panel);
    figure.quantity = view.quantity;
    figure.formula = view.formula;
    figure.source = view.source;
    const auto samples = shownSamples(input, panel.probes.front());
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    Plot plot;
    int depth = 0;
    for (const ShownSample& shown : samples) {
        const auto line = view.line(*shown.sample);
        if (!line) continue;
        depth = std::max(depth, line->depth);
        Curve curve;
        curve.name = nameOf(*shown.run);
        curve.role = {Role::Kind::Run, shown.index, 0};
        curve.kind = shown.kind;
        curve.step = shown.sample->step;
        curve.x = line->x;
        curve.y = line->y;
        curve.markers = shown.own();
        curve.label_at_end = shown.own();
        if (shown.own()) {
            drawn[shown.index] = true;
            addBands(plot, *line, curve.name, curve.role);
            const QString more = remark(*shown.sample, id);
            if (!more.isEmpty())
                plot.chips.push_back({Chip::Edge::TopRight, curve.name + ' ' + more, curve.role});
            double low = INFINITY, high = -INFINITY;
            for (const double y : line->y)
                if (!std::isnan(y)) low = std::min(low, y), high = std::max(high, y);
            const QString range = low <= high ? brief(low) + " to " + brief(high) : QString("not measured");
            parts << QString("%1: %2").arg(curve.name, range) + (more.isEmpty() ? QString() : ", " + more);
        }
        plot.curves.push_back(std::move(curve));
    }
    if (view.over_depth) {
        plot.x = depthAxis(depth);
        markBadLayers(plot, input);
        if (id == "sublayers")
            nameDepths(figure, depth, 1);
        else
            nameLayers(figure, depth);
    } else {
        plot.x.label = "index i";
        plot.x.integers = true;
    }
    plot.y.label = figure.quantity;
    plot.y.scale = view.scale;
    if (id == "alignment") plot.y.range = {{0, 1}};
    if (view.reference) plot.references.push_back(*view.reference);
    figure.plots = {std::move(plot)};
    if (view.scale == Scale::Log)
        if (auto strip = ratioStrip(figure.plots.front())) figure.plots.push_back(std::move(*strip));
    figure.quantity_in_header = true;
    figure.subtitle = atStep(samples);
    figure.summary = QString("%1 %2. %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, panel.probes.front(), drawn);
    return figure;
}

}  // namespace normscope::widgets
