// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/jacobian_ridges.h"

#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/jacobian_blocks.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"
#include "widgets/figures/parts/spectrum.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kBins = 48;
constexpr double kFill = 0.9;  // of a row, so that ridges do not touch

using Histogram = std::array<int, kBins>;

/// Equal bins of log₁₀ σ, shared by all runs and rows.
struct Bins {
    double low = 0, high = 0;
    double width() const { return (high - low) / kBins; }
    double centre(int bin) const { return std::pow(10.0, low + (bin + 0.5) * width()); }

    Histogram count(const Spectrum& spectrum) const {
        Histogram counts{};
        for (const double s : spectrum.sigma)
            if (s > 0) ++counts[std::clamp(int((std::log10(s) - low) / width()), 0, kBins - 1)];
        return counts;
    }
};

struct Run {
    ShownSample shown;
    std::vector<Spectrum> spectra;
};

Bins sharedBins(const std::vector<Run>& runs) {
    double low = 0, high = 0;  // includes σ = 1
    for (const Run& run : runs)
        for (const Spectrum& s : run.spectra)
            if (!s.sigma.empty()) {
                low = std::min(low, std::log10(s.sigma.front()));
                high = std::max(high, std::log10(s.sigma.back()));
            }
    const double margin = std::max(0.05 * (high - low), 0.05);
    return {low - margin, high + margin};
}

Plot ridgePlot(const Run& run, const Bins& bins, bool sublayers, int tallest) {
    Plot plot;
    plot.heading = nameOf(*run.shown.run);
    const double row_height = sublayers ? 0.5 : 1;
    int nulls = 0;
    bool counted = false;
    for (std::size_t row = 0; row < run.spectra.size(); ++row) {
        const int k = sublayers ? int(row) + 1 : 2 * int(row) + 2;
        const Histogram counts = bins.count(run.spectra[row]);
        Band ridge;
        ridge.name = sublayers ? depthName(k) : QString("layer %1").arg(row + 1);
        ridge.role = {Role::Kind::Run, run.shown.index, 0};
        ridge.strength = 0.4;
        for (int bin = 0; bin < kBins; ++bin) {
            ridge.x.push_back(bins.centre(bin));
            ridge.low.push_back(depthX(k));
            ridge.high.push_back(depthX(k) + kFill * row_height * counts[bin] / tallest);
        }
        Curve outline;
        outline.name = ridge.name;
        outline.role = ridge.role;
        outline.kind = run.shown.kind;
        outline.x = ridge.x;
        outline.y = ridge.high;
        outline.label_at_end = false;
        plot.bands.push_back(std::move(ridge));
        plot.curves.push_back(std::move(outline));
        counted = counted || run.spectra[row].nulls.has_value();
        if (run.spectra[row].nulls) nulls += run.spectra[row].nulls->exact;
    }
    const int depth = int(sublayers ? run.spectra.size() / 2 : run.spectra.size());
    plot.x.label = "σ";
    plot.x.scale = Scale::Log;
    plot.x.range = {std::pow(10.0, bins.low), std::pow(10.0, bins.high)};
    plot.y = depthAxis(depth);
    plot.y.ticks.erase(plot.y.ticks.begin());  // the embedding has no Jacobian
    plot.y.range = {sublayers ? 0.4 : 0.8, depth + 1.0};
    plot.references.push_back({Qt::Vertical, 1, "σ = 1"});
    if (nulls > 0 || !counted)
        plot.chips.push_back({Chip::Edge::BottomLeft,
                              counted ? QString("%1 exact nulls").arg(nulls) : QString("nulls not counted"),
                              Role{Role::Kind::Run, run.shown.index, 0}});
    return plot;
}

}  // namespace

void drawRidges(Figure& figure, const PanelInput& input, const std::string& array) {
    const bool sublayers = array != "layer_sv";
    const auto samples = shownSamples(input, "jacobian");
    std::vector<bool> drawn(input.runs.size(), false);
    std::vector<Run> runs;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        auto spectra = spectraOf(*shown.sample, array);
        if (!spectra) continue;
        drawn[shown.index] = true;
        runs.push_back({shown, std::move(*spectra)});
    }
    const Bins bins = sharedBins(runs);
    int tallest = 1;
    for (const Run& run : runs)
        for (const Spectrum& s : run.spectra) {
            const Histogram counts = bins.count(s);
            tallest = std::max(tallest, *std::max_element(counts.begin(), counts.end()));
        }
    for (const Run& run : runs) figure.plots.push_back(ridgePlot(run, bins, sublayers, tallest));
    figure.side_by_side = true;
    figure.subtitle = atStep(samples);
    if (!samples.empty())
        figure.subtitle += " · " + mapName(*samples.back().sample, array == "mean_sv" ? "mean" : "last");
    figure.summary = QString("%1 %2, a histogram of log σ per layer").arg(figure.title, figure.subtitle);
    annotateMissing(figure, input, "jacobian", drawn);
}

}  // namespace normscope::widgets
