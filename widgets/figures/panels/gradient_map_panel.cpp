// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/gradient_map_panel.h"

#include "widgets/figures/panels/gradients_panel.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/same_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope::widgets {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kMaxColumns = 72;  ///< of all maps together: 6 px each in a cell of the window

/// The columns of the time axis, the same in every map.
struct TimeColumns {
    int count = 1;
    double width = 1;  ///< of one, in log₂(1 + step)

    TimeColumns(std::int64_t last, std::size_t maps) {
        const auto most = std::max<std::int64_t>(1, kMaxColumns / static_cast<std::int64_t>(maps));
        count = static_cast<int>(std::min(last + 1, most));
        width = std::log2(2.0 + static_cast<double>(last)) / count;
    }
    int of(std::int64_t step) const {
        // A step at the start of a column is in it: rounding must not decide.
        const double at = std::log2(1.0 + static_cast<double>(step)) / width;
        return std::clamp(static_cast<int>(std::floor(at + 1e-9)), 0, count - 1);
    }
};

struct Sample {
    std::int64_t step;
    std::vector<double> layers;  ///< from the first row on
    bool selected = false;       ///< of selected places alone: NaN is what was not measured

    /// What is not finite is never hidden by another sample of its column.
    double rank() const {
        double largest = 0;
        for (const double value : layers)
            if (!(selected && std::isnan(value)))
                largest = std::max(largest, std::isfinite(value) ? value : kInf);
        return largest;
    }
};

/// One value a row: the hidden state that a layer adds to, the embedding first; of parameters both
/// sub-layers'.
std::vector<double> layersOf(const Profile& profile, bool parameters) {
    std::vector<double> layers;
    if (parameters)
        for (std::size_t k = 0; k + 1 < profile.y.size(); k += 2)
            layers.push_back(std::hypot(profile.y[k], profile.y[k + 1]));
    else
        for (std::size_t k = 0; k < profile.y.size(); k += 2) layers.push_back(profile.y[k]);
    return layers;
}

std::vector<Sample> samplesOf(const RunData& run, const std::string& probe, const std::string& quantity) {
    std::vector<Sample> samples;
    const auto found = run.probes.find(probe);
    if (found == run.probes.end()) return samples;
    for (const ProbeResult& result : found->second)
        if (const auto profile = gradientProfile(result, quantity))
            samples.push_back(
                {result.step, layersOf(*profile, quantity == "params"), !result.only().empty()});
    return samples;
}

/// The sample of each column; null where the run has ended before.
std::vector<const Sample*> shownInColumns(const std::vector<Sample>& samples, const TimeColumns& time) {
    std::vector<const Sample*> shown(static_cast<std::size_t>(time.count), nullptr);
    for (const Sample& sample : samples) {
        const Sample*& best = shown[static_cast<std::size_t>(time.of(sample.step))];
        if (!best || sample.rank() > best->rank()) best = &sample;
    }
    const auto end = static_cast<std::size_t>(time.of(samples.back().step));
    for (std::size_t column = 1; column <= end; ++column)
        if (!shown[column]) shown[column] = shown[column - 1];
    return shown;
}

/// The values themselves; their colours follow when the scale is known.
HeatMap mapOf(const std::vector<Sample>& samples, const TimeColumns& time, bool parameters) {
    HeatMap map;
    map.rows = static_cast<int>(samples.front().layers.size());
    map.columns = time.count;
    const std::vector<const Sample*> shown = shownInColumns(samples, time);
    for (int row = 0; row < map.rows; ++row) {
        const int layer = row + (parameters ? 1 : 0);
        map.row_names << (layer == 0 ? QStringLiteral("emb") : QString::number(layer));
        for (const Sample* sample : shown) {
            map.raw.push_back(sample ? sample->layers.at(static_cast<std::size_t>(row)) : kNaN);
            map.neutral.push_back(!sample || (sample->selected && std::isnan(map.raw.back())));
        }
    }
    for (const Sample* sample : shown) {
        map.column_names << (sample ? QString::number(sample->step) : QString());
        map.column_steps.push_back(sample ? sample->step : -1);
    }
    return map;
}

/// A gradient of 0 has the colour of the smallest; one that is not finite a mark, a column without a sample
/// neither.
void colour(HeatMap& map, double low, double high) {
    map.low = low <= high ? low : 0;
    map.high = low < high ? high : map.low + 1;
    for (std::size_t i = 0; i < map.raw.size(); ++i) {
        const double value = map.raw[i];
        map.value.push_back(map.neutral[i] || value == 0 ? map.low : value > 0 ? std::log10(value) : kNaN);
    }
}

}  // namespace

PanelInfo gradientMapPanel() {
    return {"gradient_map",
            "Gradient over time",
            {"gradients"},
            {{"quantity", "Quantity", {"hidden", "scaled", "params"}}},
            &buildGradientMap};
}

Figure buildGradientMap(const PanelInput& input) {
    const PanelInfo panel = gradientMapPanel();
    const std::string& probe = panel.probes.front();
    const std::string quantity = resolveOptions(panel, input.options).at("quantity");
    const bool parameters = quantity == "params";
    const GradientQuantity name = gradientQuantity(quantity);
    Figure figure = startFigure(panel);
    figure.side_by_side = true;
    figure.quantity = name.name;
    figure.formula = name.formula;
    nameGradientSource(figure);

    std::vector<std::vector<Sample>> samples;
    std::int64_t last = 0;
    std::size_t maps = 0;
    for (const RunData* run : input.runs) {
        samples.push_back(samplesOf(*run, probe, quantity));
        if (samples.back().empty()) continue;
        last = std::max(last, samples.back().back().step);
        ++maps;
    }
    std::vector<bool> drawn(input.runs.size(), false);
    const TimeColumns time(last, std::max<std::size_t>(maps, 1));
    double low = kInf, high = -kInf;
    QStringList parts;
    for (std::size_t i = 0; i < input.runs.size(); ++i) {
        if (samples[i].empty()) continue;
        drawn[i] = true;
        Plot plot;
        plot.heading = nameOf(*input.runs[i]);
        plot.x.label = "step";
        plot.y.label = "layer";
        HeatMap map = mapOf(samples[i], time, parameters);
        map.name = plot.heading;
        map.role = {Role::Kind::Run, static_cast<int>(i), 0};
        map.scale_label = "log₁₀ " + name.name;
        double least = kInf, most = 0;
        for (const double value : map.raw) {
            if (!std::isfinite(value) || value <= 0) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
        if (most > 0) {
            low = std::min(low, std::log10(least));
            high = std::max(high, std::log10(most));
        }
        parts << (most > 0 ? QString("%1: from %2 to %3").arg(map.name, brief(least), brief(most))
                           : QString("%1: nowhere finite and positive").arg(map.name));
        map.selected_row = std::min(input.selected_layer + (parameters ? 0 : 1), map.rows - 1);
        map.selected_column = time.of(std::min(input.shownStep(), last));
        if (input.selected_layer < 0) map.selected_row = -1;
        plot.maps.push_back(std::move(map));
        figure.plots.push_back(std::move(plot));
    }
    for (Plot& plot : figure.plots) colour(plot.maps.front(), low, high);
    // More maps in one row would have cells too small to see.
    figure.shared_axes = figure.plots.size() > 2 && sameShape(figure.plots);
    figure.subtitle = QString("to step %1 · log₂(1 + step) · held-out batch").arg(last);
    figure.summary = QString("%1 %2, %3. %4").arg(figure.title, name.of, figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, probe, drawn);
    return figure;
}

}  // namespace normscope::widgets
