// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/head_map.h"

#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/same_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope::widgets {

namespace {

/// "37 %", "0.4 %", "0 %".
QString percent(double share) {
    const double p = 100 * share;
    return (p > 0 && p < 1 ? QString::number(p, 'g', 1) : QString::number(p, 'f', 0)) + " %";
}

QString headText(double value, bool is_share) {
    if (!std::isfinite(value)) return {};
    return is_share ? percent(value) : numberText(value, 4);
}

/// Mean, minimum and maximum of the finite values, and the count of the others.
struct Spread {
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    int finite = 0, undefined = 0;

    void add(const std::vector<double>& values) {
        for (const double v : values) {
            if (!std::isfinite(v)) {
                ++undefined;
                continue;
            }
            low = std::min(low, v);
            high = std::max(high, v);
            sum += v;
            ++finite;
        }
    }
    double mean() const { return finite ? sum / finite : kNaN; }
};

HeatMap headMapOf(const ShownSample& shown, const HeadValues& values, bool is_share) {
    HeatMap map;
    map.name = nameOf(*shown.run);
    map.role = {Role::Kind::Run, shown.index, 0};
    map.rows = values.layers;
    map.columns = values.heads;
    map.value = map.raw = values.value;
    for (double& value : map.value)
        if (!std::isfinite(value)) value = kNaN;
    for (const double value : values.value) map.text << headText(value, is_share);
    if (!shown.sample->only().empty())  // what was not measured has no mark
        for (const double value : values.value) map.neutral.push_back(std::isnan(value));
    for (int layer = 1; layer <= map.rows; ++layer) map.row_names << QString::number(layer);
    for (int head = 1; head <= map.columns; ++head) map.column_names << QString::number(head);
    return map;
}

}  // namespace

std::optional<HeadValues> headValues(const ProbeResult& sample, const std::string& array) {
    const NamedArray* a = arrayOf(sample, array, 2);
    if (!a) return std::nullopt;
    return HeadValues{int(a->shape[0]), int(a->shape[1]), a->data};
}

std::optional<HeadValues> headValues(const ProbeResult& sample, const std::string& array, std::size_t at) {
    const NamedArray* a = arrayOf(sample, array, 3);
    if (!a || at >= a->shape[2]) return std::nullopt;
    HeadValues values{int(a->shape[0]), int(a->shape[1]), {}};
    for (std::size_t i = at; i < a->data.size(); i += a->shape[2]) values.value.push_back(a->data[i]);
    return values;
}

void drawHeadMaps(Figure& figure, const PanelInput& input, const std::string& probe,
                  const HeadValuesOf& values, bool is_share, double least_span) {
    figure.side_by_side = true;
    const auto samples = shownSamples(input, probe);
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    Spread all;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        const auto found = values(*shown.sample);
        if (!found) continue;
        drawn[shown.index] = true;
        all.add(found->value);
        Spread spread;
        spread.add(found->value);
        Plot plot;
        plot.heading = nameOf(*shown.run);
        plot.x.label = "head";
        plot.y.label = "layer";
        plot.maps.push_back(headMapOf(shown, *found, is_share));
        HeatMap& map = plot.maps.front();
        map.scale_label = figure.quantity;
        map.selected_row = input.selected_layer < map.rows ? input.selected_layer : -1;
        map.selected_column = input.selected_head < map.columns ? input.selected_head : -1;
        const int all_heads = spread.undefined + spread.finite;
        const bool selected = !shown.sample->only().empty();
        const QString undefined =
            selected ? QString("%1 of %2 heads measured").arg(spread.finite).arg(all_heads)
                     : QString("%1 of %2 heads not finite").arg(spread.undefined).arg(all_heads);
        if (spread.undefined > 0) plot.chips.push_back({Chip::Edge::BottomLeft, undefined, map.role});
        parts
            << (spread.finite == 0
                    ? QString(selected ? "%1: no head measured" : "%1: not finite in any head").arg(map.name)
                    : QString("%1: from %2 to %3, mean %4%5")
                          .arg(map.name, headText(spread.low, is_share), headText(spread.high, is_share),
                               headText(spread.mean(), is_share),
                               spread.undefined ? ", " + undefined : QString()));
        figure.plots.push_back(std::move(plot));
    }
    if (all.finite > 0) {
        const double lacking = std::max(0.0, least_span - (all.high - all.low));
        for (Plot& plot : figure.plots) {
            plot.maps.front().low = all.low - lacking;
            plot.maps.front().high = all.high;
        }
    }
    // More maps in one row would have cells too small to see.
    figure.shared_axes = figure.plots.size() > 2 && sameShape(figure.plots);
    figure.subtitle = atStep(samples);
    figure.summary =
        QString("%1, %2 %3. %4").arg(figure.title, figure.quantity, figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, probe, drawn);
}

void drawHeadsOverSteps(Figure& figure, const PanelInput& input, const std::string& probe,
                        const HeadValuesOf& values) {
    drawOverSteps(figure, input, probe, [&](const ProbeResult& sample) -> std::optional<Profile> {
        const auto found = values(sample);
        if (!found) return std::nullopt;
        Profile profile;
        profile.depth = found->layers;
        for (int layer = 0; layer < found->layers; ++layer) {
            const auto first = found->value.begin() + std::ptrdiff_t(layer) * found->heads;
            Spread heads;
            heads.add({first, first + found->heads});
            profile.x.push_back(depthX(2 * layer + 1));
            profile.y.push_back(heads.mean());
        }
        return profile;
    });
    for (Plot& plot : figure.plots) plot.y.scale = Scale::Linear;
}

}  // namespace normscope::widgets
