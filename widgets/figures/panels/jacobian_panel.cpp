// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/jacobian_panel.h"

#include "core/base/statistics.h"
#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/jacobian_blocks.h"
#include "widgets/figures/parts/jacobian_bound.h"
#include "widgets/figures/parts/jacobian_ridges.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"
#include "widgets/figures/parts/spectrum.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace normscope::widgets {

namespace {

Role runRole(int index) {
    return {Role::Kind::Run, index, 0};
}

Axis sigmaAxis(const Figure& figure, const std::string& block) {
    Axis axis;
    axis.label = figure.quantity + ", " + mapTitle(block);
    axis.scale = Scale::Log;
    return axis;
}

QString glyphOf(const Spectrum& spectrum) {
    return spectrum.nulls ? QString::fromStdString(spectrum.nulls->glyph()) : QString();
}

/// x of row i of a [rows, d] array: the hidden state that the layer or sub-layer produces.
double rowX(std::size_t row, bool sublayers) {
    return depthX(sublayers ? int(row) + 1 : 2 * int(row) + 2);
}

Band bandOf(const QString& name, const Role& role, const std::vector<double>& x,
            const std::vector<Spectrum>& spectra, double low, double high, double strength) {
    Band band{name, role, x, {}, {}, strength};
    for (const Spectrum& s : spectra) {
        band.low.push_back(quantile(s.sigma, low));
        band.high.push_back(quantile(s.sigma, high));
    }
    return band;
}

/// The null counts, one mark per block, in the lane's row of the run.
void addNullCounts(Plot& plot, const std::vector<double>& x, const std::vector<Spectrum>& spectra,
                   const ShownSample& shown) {
    for (std::size_t i = 0; i < x.size(); ++i)
        if (const QString glyph = glyphOf(spectra[i]); !glyph.isEmpty())
            plot.frame_marks.push_back({x[i], glyph, runRole(shown.index)});
}

/// Recordings of earlier versions lack counts.
void annotateUncounted(Plot& plot, const std::vector<Spectrum>& spectra, const ShownSample& shown) {
    if (std::none_of(spectra.begin(), spectra.end(), [](const Spectrum& s) { return s.nulls.has_value(); }))
        plot.chips.push_back(
            {Chip::Edge::BottomLeft, nameOf(*shown.run) + ": nulls not counted", runRole(shown.index)});
}

QString described(const ShownSample& shown, const std::vector<Spectrum>& spectra) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    std::optional<NullCounts> nulls;
    for (const Spectrum& s : spectra) {
        if (!s.sigma.empty()) {
            low = std::min(low, s.sigma.front());
            high = std::max(high, s.sigma.back());
        }
        if (!s.nulls) continue;
        if (!nulls) nulls.emplace();
        nulls->exact += s.nulls->exact;
        nulls->epsilon += s.nulls->epsilon;
        nulls->below += s.nulls->below;
    }
    QString text = QString("%1: σ from %2 to %3, ").arg(nameOf(*shown.run), brief(low), brief(high));
    if (!nulls) return text + "nulls not counted";
    text += QString("%1 exact nulls").arg(nulls->exact);
    if (nulls->epsilon > 0) text += QString(", %1 ε-directions").arg(nulls->epsilon);
    if (nulls->below > 0) text += QString(", %1 below float64's resolution").arg(nulls->below);
    return text;
}

constexpr std::ptrdiff_t kMaxInOnePlot = 1;  // fans that cover each other are not legible

/// A small fan per run side by side, on one scale.
void spreadRuns(Figure& figure, const std::vector<ShownSample>& samples) {
    const Plot all = std::move(figure.plots.front());
    figure.plots.clear();
    figure.side_by_side = figure.shared_axes = true;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        const auto others = [&](const auto& mark) { return mark.role.run != shown.index; };
        Plot plot = all;
        plot.heading = nameOf(*shown.run);
        plot.heading_role = runRole(shown.index);
        std::erase_if(plot.bands, others);
        std::erase_if(plot.curves, others);
        std::erase_if(plot.frame_marks, others);
        std::erase_if(plot.chips,
                      [&](const Chip& chip) { return chip.role && chip.role->run != shown.index; });
        for (Curve& curve : plot.curves) curve.label_at_end = false;
        figure.plots.push_back(std::move(plot));
    }
}

void drawFan(Figure& figure, const PanelInput& input, bool sublayers, bool with_bound,
             const std::string& block) {
    const std::string array = block == "mean" ? "mean_sv" : sublayers ? "sublayer_sv" : "layer_sv";
    const auto samples = shownSamples(input, "jacobian");
    std::vector<bool> drawn(input.runs.size(), false);
    std::vector<Curve> bounds;
    QStringList parts;
    Plot plot;
    std::size_t rows = 0;
    for (const ShownSample& shown : samples) {
        const RecipeFacts facts = recipeFacts(shown.run->recipe);
        const auto spectra = spectraOf(*shown.sample, array);
        if (!spectra) continue;
        rows = std::max(rows, spectra->size());
        const Role role = runRole(shown.index);
        const QString name = nameOf(*shown.run);
        Curve median;
        for (std::size_t i = 0; i < spectra->size(); ++i) {
            median.x.push_back(rowX(i, sublayers));
            median.y.push_back(quantile((*spectra)[i].sigma, 0.5));
        }
        median.name = name;
        median.role = role;
        median.kind = shown.kind;
        median.step = shown.sample->step;
        median.markers = shown.own();
        median.label_at_end = shown.own();
        if (shown.own()) {  // only the median of a ghost or a preview: overlapping fans are not legible
                            // read
            drawn[shown.index] = true;
            plot.bands.push_back(bandOf(name + " min–max", role, median.x, *spectra, 0, 1, 0.12));
            plot.bands.push_back(bandOf(name + " 5–95 %", role, median.x, *spectra, 0.05, 0.95, 0.25));
            if (block == "last") {
                addNullCounts(plot, median.x, *spectra, shown);
                annotateUncounted(plot, *spectra, shown);
            }
            parts << described(shown, *spectra);
            if (auto bound =
                    block == "last" ? sigmaMinBound(*shown.sample, facts, sublayers) : std::nullopt) {
                bound->name = name + " bound (last token's block)";
                bound->role = role;
                bounds.push_back(std::move(*bound));
            }
        }
        plot.curves.push_back(std::move(median));
    }
    const int depth = int(sublayers ? rows / 2 : rows);
    plot.x = depthAxis(depth);
    plot.y = sigmaAxis(figure, block);
    plot.lane_label = "0";
    plot.references.push_back({Qt::Horizontal, 1, "σ = 1"});
    markBadLayers(plot, input);
    nameDepths(figure, depth, 1);
    figure.plots = {std::move(plot)};
    figure.quantity_in_header = true;
    const auto own =
        std::count_if(samples.begin(), samples.end(), [](const ShownSample& shown) { return shown.own(); });
    const bool one_plot = own <= kMaxInOnePlot;
    bool bounded = false;
    if (with_bound)
        for (Curve& bound : bounds) {
            const Role role = bound.role;
            addBound(figure.plots.front(), std::move(bound));
            const Curve& last = figure.plots.front().curves.back();
            if (last.kind != LineKind::Bound || last.role.run != role.run) continue;
            bounded = true;
            if (one_plot)
                figure.plots.front().chips.push_back(
                    {Chip::Edge::TopRight, "dash-dotted: bound on σ_min", role});
        }
    if (!one_plot) {
        spreadRuns(figure, samples);
        figure.notes.push_back({"light: min–max, dark: 5–95 %, line: median"});
        if (bounded) figure.notes.push_back({"dash-dotted: bound on σ_min"});
    }
    figure.subtitle = atStep(samples);
    if (!samples.empty()) figure.subtitle += " · " + mapName(*samples.back().sample, block);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, "jacobian", drawn);
}

/// The spread of the largest end-to-end value over sequences.
QString spreadOf(const ProbeResult& sample) {
    const NamedArray* tops = arrayOf(sample, "end_to_end_top", 1);
    if (!tops || tops->data.size() < 2) return {};
    const auto [low, high] = std::minmax_element(tops->data.begin(), tops->data.end());
    return QString("σ₁ %1 to %2 over %3 sequences").arg(brief(*low), brief(*high)).arg(tops->data.size());
}

/// The end-to-end spectra of a block, each with its suffix to the run's name.
std::vector<std::pair<QString, Spectrum>> endToEnd(const ProbeResult& sample, const std::string& block) {
    std::vector<std::pair<QString, Spectrum>> found;
    const bool positions = block == "positions";
    const auto spectra = spectraOf(sample, positions ? "position_end_to_end_sv" : "end_to_end_sv");
    const auto names = sample.labels.find("positions");
    // Under a selection of places the stack has no spectrum.
    if (!sample.only().empty()) return found;
    if (!spectra || (positions && (names == sample.labels.end() || names->second.size() != spectra->size())))
        return found;
    if (!positions && spectra->size() != 1) return found;
    for (std::size_t i = 0; i < spectra->size(); ++i)
        found.push_back(
            {positions ? " token " + QString::fromStdString(names->second[i]) : QString(), (*spectra)[i]});
    return found;
}

void drawEndToEnd(Figure& figure, const PanelInput& input, bool with_bound, const std::string& block) {
    const auto samples = shownSamples(input, "jacobian");
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    Plot plot;
    for (const ShownSample& shown : samples) {
        const RecipeFacts facts = recipeFacts(shown.run->recipe);
        const auto spectra = endToEnd(*shown.sample, block);
        const Role role = runRole(shown.index);
        for (const auto& [name, s] : spectra) {
            Curve curve;
            curve.name = nameOf(*shown.run) + name;
            curve.role = role;
            curve.kind = shown.kind;
            curve.step = shown.sample->step;
            curve.label_at_end = shown.own();
            curve.y.assign(s.sigma.rbegin(), s.sigma.rend());
            for (std::size_t i = 1; i <= s.sigma.size(); ++i) curve.x.push_back(double(i));
            plot.curves.push_back(std::move(curve));
            if (!shown.own()) continue;
            drawn[shown.index] = true;
            parts << described(shown, {s});
            if (block != "last") continue;
            annotateUncounted(plot, {s}, shown);
            if (const QString glyph = glyphOf(s); !glyph.isEmpty())
                plot.frame_marks.push_back({double(s.sigma.size()) + 1, glyph, role});
        }
        if (!shown.own() || block != "last" || spectra.empty()) continue;
        if (const QString spread = spreadOf(*shown.sample); !spread.isEmpty())
            plot.chips.push_back({Chip::Edge::TopRight, nameOf(*shown.run) + ' ' + spread, role});
        if (const double bound = stackSigmaMinBound(*shown.sample, facts); with_bound && bound > 0)
            plot.chips.push_back(
                {Chip::Edge::BottomLeft,
                 QString("%1 σ_min ≥ %2 (last token's block)").arg(nameOf(*shown.run), brief(bound)), role});
    }
    plot.x.label = "index i";
    plot.x.integers = true;
    plot.y = sigmaAxis(figure, block);
    plot.lane_label = "0";
    plot.references.push_back({Qt::Horizontal, 1, "σ = 1"});
    figure.plots = {std::move(plot)};
    figure.quantity_in_header = true;
    figure.subtitle = atStep(samples);
    if (!samples.empty()) figure.subtitle += " · " + mapName(*samples.back().sample, block);
    figure.summary = QString("End-to-end Jacobian %1. %2").arg(figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, "jacobian", drawn);
}

}  // namespace

PanelInfo jacobianPanel() {
    return {"jacobian",
            "Jacobian spectra",
            {"jacobian"},
            {{"view", "View", {"fan", "ridges", "end_to_end"}},
             {"map", "Map", {"layers", "sublayers"}},
             {"block", "Block", {"last", "positions", "mean", "full"}},
             {"bound", "Bound", {"on", "off"}}},
            &buildJacobian};
}

Figure buildJacobian(const PanelInput& input) {
    const PanelInfo panel = jacobianPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& block = options.at("block");
    // Means are of sub-layers.
    const bool sublayers = options.at("map") == "sublayers" || block == "mean",
               with_bound = options.at("bound") == "on";

    Figure figure = startFigure(panel);
    figure.quantity = "singular value σ";
    figure.formula =
        "block of a token: σ of ∂(token out) / ∂(token in); full map: σ of ∂(all tokens out) / ∂(all tokens "
        "in), bands its "
        "proved error; σ_min without a band is an upper bound\n"
        "J = I + A: σ_min(J) ≥ 1 − ‖A‖₂ when ‖A‖₂ < 1; drawn for the last token's block, A of that block\n"
        "lane 0: number of exact nulls, of the full map 0 where σ_min is 0; "
        "ε: an ε-direction, σ about gain·ε/(var + ε), not null; 1–3: 1 null, and 2 more values below the "
        "resolution of float64, null or not";
    figure.source =
        "Null-space note, Theorems 3.2, 4.6 and 6.4 (σ_min); Emadi, Theorem 5.4. Evaluated in float64 with "
        "the run's "
        "own weights";
    figure.erratum =
        "The theorems are about maps of one token. For attention that is the diagonal block of a token, "
        "whose norm can lie far below the full map's; blocks multiply along the depth only where attention "
        "is causal and the layout serial. Theorem 3.2 (rank ≤ d − 2 after a post norm) holds at ε = 0. At ε "
        "> 0 a LayerNorm has one exact null, the direction 1, and an RMSNorm none. With a gain γ the left "
        "null space is diag(γ)⁻¹·span{1, ẑ}. The note (remark 1.2) has diag(γ) on the wrong side.";
    const std::string& view = options.at("view");
    if (block == "full")
        drawFullMap(figure, input);
    else if (view == "end_to_end")
        drawEndToEnd(figure, input, with_bound, block == "mean" ? "last" : block);
    else if (block == "positions")
        drawPositions(figure, input);
    else if (view == "ridges")
        drawRidges(figure, input, block == "mean" ? "mean_sv" : sublayers ? "sublayer_sv" : "layer_sv");
    else
        drawFan(figure, input, sublayers, with_bound, block);
    return figure;
}

}  // namespace normscope::widgets
