// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/run_scale.h"

#include "widgets/figures/parts/comparison.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

void unite(std::optional<Range>& into, const std::optional<Range>& other) {
    if (!other || !std::isfinite(other->first) || !std::isfinite(other->second)) return;
    if (!into) {
        into = other;
        return;
    }
    into->first = std::min(into->first, other->first);
    into->second = std::max(into->second, other->second);
}

bool isOverSteps(const Plot& plot) {
    return plot.x.label == "step" || std::any_of(plot.maps.begin(), plot.maps.end(), [](const HeatMap& map) {
               return !map.column_steps.empty();
           });
}

/// A map whose colours have a scale of numbers.
bool hasColours(const HeatMap& map) {
    return map.colour != HeatMap::Colour::None && map.low_text.isEmpty() && map.high_text.isEmpty();
}

}  // namespace

RunScale::Key RunScale::keyOf(const Figure& figure, std::size_t plot) {
    const Plot& at = figure.plots[plot];
    return {figure.side_by_side ? 0 : plot, at.is_ratio, at.y.scale};
}

void RunScale::include(const Figure& figure) {
    for (std::size_t i = 0; i < figure.plots.size(); ++i) {
        const Plot& plot = figure.plots[i];
        if (isOverSteps(plot)) continue;
        Spans& spans = spans_[keyOf(figure, i)];
        unite(spans.x, xExtent(plot));
        if (plot.is_ratio)
            spans.ratio = std::max(spans.ratio, ratioSpan(plot));
        else if (plot.y.range)
            unite(spans.fixed_y, plot.y.range);
        else
            unite(spans.y, yExtent(plot));
        for (const HeatMap& map : plot.maps)
            if (hasColours(map)) unite(spans.colour, Range{map.low, map.high});
    }
}

void RunScale::applyTo(Figure& figure, bool several) const {
    bool applied = false;
    for (std::size_t i = 0; i < figure.plots.size(); ++i) {
        Plot& plot = figure.plots[i];
        const auto found = spans_.find(keyOf(figure, i));
        if (found == spans_.end() || isOverSteps(plot)) continue;
        const Spans& spans = found->second;
        applied = true;
        plot.x.covers = spans.x;
        if (plot.is_ratio)
            setRatioSpan(plot, spans.ratio);
        else if (plot.y.range && spans.fixed_y)
            plot.y.range = spans.fixed_y;
        else
            plot.y.covers = spans.y;
        for (HeatMap& map : plot.maps)
            if (hasColours(map) && spans.colour)
                map.low = spans.colour->first, map.high = spans.colour->second;
    }
    if (applied && several)
        figure.subtitle += (figure.subtitle.isEmpty() ? QString() : QString(" · ")) + "whole-run axes";
}

std::map<std::int64_t, std::size_t> scaledSteps(const PanelInfo& panel, const PanelInput& input) {
    std::map<std::int64_t, std::size_t> steps;
    if (panel.draws_steps || input.exploring) return steps;
    const PanelOptions options = resolveOptions(panel, input.options);
    const auto axes = options.find(kAxesOption);
    const auto x = options.find("x");
    if (axes == options.end() || axes->second == "this_step") return steps;
    if (x != options.end() && x->second == "step") return steps;
    for (const RunData* run : input.runs) {
        if (run->unread) return {};  // a part of its samples
        for (const std::string& probe : panel.probes)
            if (const auto found = run->probes.find(probe); found != run->probes.end())
                for (const ProbeResult& sample : found->second) ++steps[sample.step];
    }
    return steps;
}

Figure onRunScale(Figure figure, const PanelInfo& panel, const PanelInput& input,
                  const std::function<Figure(const PanelInput&)>& build) {
    RunScale scale;
    scale.include(figure);
    const auto steps = scaledSteps(panel, input);
    for (const auto& [step, samples] : steps) {
        PanelInput at = input;
        at.step = step;
        scale.include(build(at));
    }
    scale.applyTo(figure, steps.size() > 1);
    return figure;
}

}  // namespace normscope::widgets
