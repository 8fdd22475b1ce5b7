// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/jacobian_blocks.h"

#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

QString blockLabel(const ProbeResult& sample, const char* label) {
    const auto found = sample.labels.find(label);
    return found == sample.labels.end() || found->second.empty()
               ? QString()
               : QString::fromStdString(found->second.front());
}

void startPlot(Figure& figure, Plot& plot, std::size_t rows, const std::string& block) {
    plot.x = depthAxis(int(rows / 2));
    plot.y.label = figure.quantity + ", " + mapTitle(block);
    plot.y.scale = Scale::Log;
    plot.references.push_back({Qt::Horizontal, 1, "σ = 1"});
    nameDepths(figure, int(rows / 2), 1);
}

void finish(Figure& figure, Plot plot, const PanelInput& input, const std::vector<ShownSample>& samples,
            const std::string& block, const QStringList& parts, const std::vector<bool>& drawn) {
    markBadLayers(plot, input);
    figure.plots = {std::move(plot)};
    figure.subtitle = atStep(samples);
    if (!samples.empty()) figure.subtitle += " · " + mapName(*samples.back().sample, block);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, "jacobian", drawn);
}

/// "47.5 ± 0.2", "≤ 0.004" where the bar reaches down to 0, "0" for an exact one.
QString withError(double value, double error) {
    if (value == 0 && error == 0) return "= 0";
    if (error >= value) return "≤ " + brief(value + (error - value));
    return QString("= %1 ± %2").arg(brief(value), brief(error));
}

}  // namespace

QString mapTitle(const std::string& block) {
    if (block == "positions") return "blocks of single tokens";
    if (block == "mean") return "mean over blocks";
    if (block == "full") return "full map";
    return "block of a token";
}

QString mapName(const ProbeResult& sample, const std::string& block) {
    if (block == "full") return "full map, " + blockLabel(sample, "full_map");
    if (block == "mean") return blockLabel(sample, "mean");
    if (block == "positions") return "blocks of single tokens, sequence 1";
    const QString label = blockLabel(sample, "block");
    return label.isEmpty() ? QString("last token") : label;  // the axis names the block
}

void drawPositions(Figure& figure, const PanelInput& input) {
    const auto samples = shownSamples(input, "jacobian");
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    Plot plot;
    std::size_t rows = 0;
    figure.quantity = "largest singular value σ₁";
    for (const ShownSample& shown : samples) {
        const NamedArray* values = arrayOf(*shown.sample, "position_sv", 3);
        const auto names = shown.sample->labels.find("positions");
        if (!shown.own() || !values || names == shown.sample->labels.end() ||
            names->second.size() != values->shape[1])
            continue;
        rows = std::max(rows, values->shape[0]);
        drawn[shown.index] = true;
        double low = kNaN, high = kNaN;
        for (std::size_t p = 0; p < values->shape[1]; ++p) {
            Curve curve;
            curve.name = nameOf(*shown.run) + " token " + QString::fromStdString(names->second[p]);
            curve.role = {Role::Kind::Run, shown.index, 0};
            curve.kind = shown.kind;
            curve.label_at_end = true;
            for (std::size_t k = 0; k < values->shape[0]; ++k) {
                const double sigma = values->data[(k * values->shape[1] + p) * values->shape[2]];
                curve.x.push_back(depthX(int(k) + 1));
                curve.y.push_back(sigma);
                low = std::fmin(low, sigma);
                high = std::fmax(high, sigma);
            }
            plot.curves.push_back(std::move(curve));
        }
        parts << QString("%1: σ₁ from %2 to %3").arg(nameOf(*shown.run), brief(low), brief(high));
    }
    startPlot(figure, plot, rows, "positions");
    finish(figure, std::move(plot), input, samples, "positions", parts, drawn);
}

void drawFullMap(Figure& figure, const PanelInput& input) {
    const auto samples = shownSamples(input, "jacobian");
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    Plot plot;
    std::size_t rows = 0;
    for (const ShownSample& shown : samples) {
        const QString run = nameOf(*shown.run);
        const Role role{Role::Kind::Run, shown.index, 0};
        bool complete = true;
        for (const auto& [name, text] : {std::pair("full_top", "σ₁"), std::pair("full_bottom", "σ_min")}) {
            const NamedArray* values = arrayOf(*shown.sample, name, 1);
            const NamedArray* errors = arrayOf(*shown.sample, std::string(name) + "_error", 1);
            if (!values || !errors || errors->shape != values->shape) {
                complete = false;
                break;
            }
            rows = std::max(rows, values->data.size());
            Curve curve;
            curve.name = run + ' ' + text;
            curve.role = role;
            curve.kind = shown.kind;
            curve.label_at_end = shown.own();
            Band bar{curve.name + " error", role, {}, {}, {}, 0.25};
            for (std::size_t k = 0; k < values->data.size(); ++k) {
                const double value = values->data[k], error = errors->data[k];
                const double x = depthX(int(k) + 1);
                if (value != 0) {  // an exact 0 is drawn in the lane
                    curve.x.push_back(x);
                    curve.y.push_back(value);
                }
                bar.x.push_back(x);
                // A bar down to 0 cannot be drawn on a logarithmic axis; chip and help show "≤".
                bar.low.push_back(error < value ? value - error : kNaN);
                bar.high.push_back(error < value ? value + error : kNaN);
                if (shown.own() && value == 0 && error == 0 && QString(name) == "full_bottom")
                    plot.frame_marks.push_back({x, "0", role});
            }
            if (curve.x.empty()) continue;
            if (shown.own()) plot.bands.push_back(std::move(bar));
            plot.curves.push_back(std::move(curve));
        }
        if (!complete || !shown.own()) continue;
        drawn[shown.index] = true;
        const NamedArray* ends = arrayOf(*shown.sample, "full_end_to_end", 1);
        const NamedArray* bars = arrayOf(*shown.sample, "full_end_to_end_error", 1);
        if (!ends || !bars || ends->data.size() != 2 || bars->data.size() != 2 ||
            !std::isfinite(ends->data[0]))
            continue;
        const QString stack =
            QString("%1 end to end σ₁ %2, σ_min %3")
                .arg(run, withError(ends->data[0], bars->data[0]), withError(ends->data[1], bars->data[1]));
        plot.chips.push_back({Chip::Edge::TopRight, stack, role});
        parts << stack;
    }
    plot.lane_label = "0";
    startPlot(figure, plot, rows, "full");
    finish(figure, std::move(plot), input, samples, "full", parts, drawn);
}

}  // namespace normscope::widgets
