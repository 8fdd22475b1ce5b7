// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/depth_figure.h"

#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/error_band.h"
#include "widgets/figures/parts/healthy_range.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kMaxMarkers = 129;  // dots at sub-layers up to 64 layers
constexpr int kMaxStepCurves = 64;
constexpr int kFewCurves = 6;  // each is named
constexpr double kQuartiles = 0.18;

Axis logAxis(const Figure& figure) {
    Axis axis;
    axis.label = figure.quantity;
    axis.unit = figure.unit;
    axis.scale = Scale::Log;
    return axis;
}

/// The curves of one run over the steps, one per depth position.
struct StepCurves {
    int depth = 0;
    std::vector<double> position;  // along the depth
    std::vector<double> steps;
    std::vector<std::vector<double>> values;  // [position][sample]
    std::vector<std::vector<double>> errors;  // the same, NaN where a sample has none
};

std::optional<StepCurves> stepCurves(const PanelInput& input, const RunData& run, const std::string& probe,
                                     const ProfileOf& profile) {
    const auto samples = run.probes.find(probe);
    if (samples == run.probes.end()) return std::nullopt;
    StepCurves curves;
    for (const ProbeResult& sample : samples->second) {
        if (input.exploring && sample.step > 0) break;
        const auto p = profile(sample);
        if (!p) continue;
        if (curves.position.empty()) {
            curves.depth = p->depth;
            curves.position = p->x;
            curves.values.resize(p->x.size());
            curves.errors.resize(p->x.size());
        }
        if (p->x.size() != curves.position.size()) continue;  // violated only by foreign files
        curves.steps.push_back(double(sample.step));
        for (std::size_t i = 0; i < p->y.size(); ++i) {
            curves.values[i].push_back(p->y[i]);
            curves.errors[i].push_back(p->error.size() == p->y.size() ? p->error[i] : kNaN);
        }
    }
    if (curves.steps.empty()) return std::nullopt;
    return curves;
}

Plot stepPlot(const Figure& figure, const PanelInput& input, const RunData& run, int index,
              const StepCurves& curves) {
    Plot plot;
    plot.heading = nameOf(run);
    plot.x.label = "step";
    plot.x.integers = true;
    plot.x.scale = Scale::Log1p;
    plot.y = logAxis(figure);
    const int count = int(curves.position.size());
    const int stride = (count + kMaxStepCurves - 1) / kMaxStepCurves;
    const auto drawn = [&](int i) {
        const std::vector<double>& y = curves.values[std::size_t(i)];
        return std::any_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); });
    };
    int values = 0;
    for (int i = 0; i < count; ++i) values += drawn(i);
    // Of selected places alone: the few curves that there are.
    const bool few = values < count && values <= kFewCurves;
    for (int i = 0; i < count; ++i) {
        if (i % stride != 0 && i != count - 1 && !(few && drawn(i))) continue;
        const double x = curves.position[i];
        Curve curve;
        curve.name = depthName(int(2 * x));
        curve.role = {Role::Kind::Sequential, index, x / std::max(1, curves.depth)};
        curve.x = curves.steps;
        curve.y = curves.values[i];
        curve.markers = curves.steps.size() == 1;  // a single sample has no line
        curve.label_at_end = i == 0 || i == count - 1 || i == count / 2 / stride * stride ||
                             (few && drawn(i)) ||
                             (input.selected_layer >= 0 && x == input.selected_layer + 1);
        curve.y_error = curves.errors[i];
        // Too many bands are unreadable: only those of labelled curves.
        if (curve.label_at_end) addErrorBand(plot, curve);
        plot.curves.push_back(std::move(curve));
    }
    if (stride > 1)
        plot.chips.push_back({Chip::Edge::BottomLeft, QString("1 in %1 sub-layers").arg(stride), {}});
    return plot;
}

void addQuartiles(Plot& plot, const Curve& curve, const Profile& profile) {
    if (profile.low.size() != curve.x.size() || profile.high.size() != curve.x.size()) return;
    Band band;
    band.name = curve.name + ", quartiles";
    band.role = curve.role;
    band.x = curve.x;
    band.low = profile.low;
    band.high = profile.high;
    band.strength = kQuartiles;
    band.step = curve.step;
    plot.bands.push_back(std::move(band));
}

/// The standard error of an array, where the sample has one of the same shape.
std::vector<double> errorOf(const ProbeResult& sample, const NamedArray& array) {
    const NamedArray* error = arrayOf(sample, array.name + "_error", array.shape.size());
    return error && error->shape == array.shape ? error->data : std::vector<double>{};
}

}  // namespace

std::optional<Profile> hiddenProfile(const ProbeResult& sample, const std::string& array) {
    const NamedArray* a = arrayOf(sample, array, 1);
    if (!a || a->data.size() % 2 == 0) return std::nullopt;
    Profile profile;
    profile.depth = int(a->data.size() / 2);
    profile.y = a->data;
    profile.error = errorOf(sample, *a);
    for (int k = 0; k < int(a->data.size()); ++k) profile.x.push_back(depthX(k));
    return profile;
}

std::optional<Profile> endProfile(const ProbeResult& sample, const std::string& array, int states) {
    const NamedArray* a = arrayOf(sample, array, 1);
    const int count = a ? int(a->data.size()) : 0;
    if (count == 0 || (states == 1 && count % 2 != 0)) return std::nullopt;
    Profile profile;
    profile.depth = count * states / 2;
    profile.y = a->data;
    for (int k = 1; k <= count; ++k) profile.x.push_back(depthX(states * k));
    if (const NamedArray* error = arrayOf(sample, array + "_error", 1); error && error->shape == a->shape)
        profile.error = error->data;
    return profile;
}

std::optional<Profile> sublayerProfile(const ProbeResult& sample, const std::string& array) {
    const NamedArray* a = arrayOf(sample, array, 2);
    if (!a || a->shape[1] != 2) return std::nullopt;
    Profile profile;
    profile.depth = int(a->shape[0]);
    profile.y = a->data;
    profile.error = errorOf(sample, *a);
    for (int k = 1; k <= int(a->data.size()); ++k) profile.x.push_back(depthX(k));
    return profile;
}

void addRunTexts(Plot& plot, const std::vector<Chip>& texts) {
    constexpr std::size_t most = 6;
    if (texts.size() <= most) plot.chips.insert(plot.chips.end(), texts.begin(), texts.end());
}

void drawOverDepth(Figure& figure, const PanelInput& input, const std::string& probe,
                   const ProfileOf& profile, const std::string& array) {
    const auto samples = shownSamples(input, probe);
    std::vector<bool> drawn(input.runs.size(), false);
    Plot plot;
    plot.y = logAxis(figure);
    int depth = 0, first = 1;
    for (const ShownSample& shown : samples) {
        const auto p = profile(*shown.sample);
        if (!p) continue;
        depth = std::max(depth, p->depth);
        if (p->x.front() == 0) first = 0;
        Curve curve;
        curve.name = nameOf(*shown.run);
        curve.role = {Role::Kind::Run, shown.index, 0};
        curve.kind = shown.kind;
        curve.step = shown.sample->step;
        curve.x = p->x;
        curve.y = p->y;
        curve.y_error = p->error;
        curve.markers = shown.own() && p->x.size() <= kMaxMarkers;
        curve.label_at_end = shown.own();
        if (shown.own()) {
            drawn[shown.index] = true;
            addErrorBand(plot, curve);
            addQuartiles(plot, curve, *p);
        }
        plot.curves.push_back(std::move(curve));
    }
    if (!array.empty()) addHealthyRange(plot, input, probe, array, profile);
    plot.x = depthAxis(depth);
    markBadLayers(plot, input);
    figure.quantity_in_header = true;
    figure.subtitle = atStep(samples);
    nameDepths(figure, depth, first);
    figure.plots = {std::move(plot)};
    if (auto strip = ratioStrip(figure.plots.front())) figure.plots.push_back(std::move(*strip));
    annotateMissing(figure, input, probe, drawn);
}

void drawOverSteps(Figure& figure, const PanelInput& input, const std::string& probe,
                   const ProfileOf& profile) {
    figure.side_by_side = figure.shared_axes = figure.quantity_in_header = true;
    std::vector<bool> drawn(input.runs.size(), false);
    int deepest = 0;
    for (std::size_t i = 0; i < input.runs.size(); ++i) {
        const RunData& run = *input.runs[i];
        const auto curves = stepCurves(input, run, probe, profile);
        if (!curves) continue;
        drawn[i] = true;
        figure.plots.push_back(stepPlot(figure, input, run, int(i), *curves));
        deepest = std::max(deepest, curves->depth);
        figure.summary += QString("%1%2: %3 samples over the steps %4 to %5")
                              .arg(figure.summary.isEmpty() ? "" : "; ", nameOf(run))
                              .arg(curves->steps.size())
                              .arg(curves->steps.front())
                              .arg(curves->steps.back());
    }
    figure.subtitle = "over the steps";
    figure.colour_key = ColourKey{"layer", {}};
    for (const NamedTick& tick : depthAxis(deepest).ticks)
        if (!tick.minor) figure.colour_key->ticks.push_back({tick.value / std::max(1, deepest), tick.label});
    annotateMissing(figure, input, probe, drawn);
}

void makeLinear(Figure& figure, bool over_steps) {
    if (!over_steps && figure.plots.size() > 1) figure.plots.resize(1);
    for (Plot& plot : figure.plots) {
        plot.y.scale = Scale::Linear;
        plot.references.push_back({Qt::Horizontal, 0, QString()});
    }
}

PanelOption depthOrStepOption() {
    return {"x", "Horizontal axis", {"depth", "step"}};
}

}  // namespace normscope::widgets
