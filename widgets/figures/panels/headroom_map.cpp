// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/headroom_map.h"

#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

namespace normscope::widgets {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct PlaceRow {
    const char* kind;
    const char* title;
};
/// From below, in the order of computation.
constexpr PlaceRow kPlaceRows[] = {
    {"attn.qkv", "q, k, v"},      {"attn.scores", "scores"},      {"attn.probabilities", "softmax"},
    {"attn.mixed", "heads' sum"}, {"attn.branch", "attn branch"}, {"ffn.pre", "FFN pre"},
    {"ffn.hidden", "FFN hidden"}, {"ffn.branch", "FFN branch"},
};

/// Layer and row of "blocks.3.ffn.pre"; −1 of other places, and of layers from `layers` on: a foreign file
/// may name any number.
std::pair<int, int> cellOf(std::string_view place, std::size_t layers) {
    const std::string_view block = "blocks.";
    if (!place.starts_with(block)) return {-1, -1};
    place.remove_prefix(block.size());
    int layer = -1;
    const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), layer);
    if (error != std::errc() || end == place.data() + place.size() || *end != '.' || layer < 0 ||
        static_cast<std::size_t>(layer) >= layers)
        return {-1, -1};
    place.remove_prefix(static_cast<std::size_t>(end - place.data()) + 1);
    for (std::size_t row = 0; row < std::size(kPlaceRows); ++row)
        if (place == kPlaceRows[row].kind) return {layer, static_cast<int>(row)};
    return {-1, -1};
}

/// Without columns where array and label do not fit.
HeatMap headroomOf(const ProbeResult& sample, const NumberFormat& format) {
    HeatMap map;
    const NamedArray* largest = arrayOf(sample, "amax", 1);
    const auto places = sample.labels.find("places");
    if (!largest || places == sample.labels.end() || places->second.size() != largest->data.size())
        return map;
    for (const std::string& place : places->second)
        map.columns = std::max(map.columns, cellOf(place, places->second.size()).first + 1);
    map.rows = static_cast<int>(std::size(kPlaceRows));
    map.value.assign(static_cast<std::size_t>(map.rows * map.columns), kNaN);
    map.neutral.assign(map.value.size(), true);
    for (std::size_t i = 0; i < largest->data.size(); ++i) {
        const auto [layer, row] = cellOf(places->second[i], places->second.size());
        if (layer < 0) continue;
        const auto at = static_cast<std::size_t>(row * map.columns + layer);
        map.value[at] = std::log2(format.largest / largest->data[i]);
        map.neutral[at] = sample.only().empty() ? false : std::isnan(largest->data[i]);
    }
    for (const double value : map.value)
        map.text << (std::isfinite(value) ? QString::number(value, 'f', 1) : QString());
    for (const PlaceRow& row : kPlaceRows) map.row_names << QString::fromUtf8(row.title);
    for (int layer = 1; layer <= map.columns; ++layer) map.column_names << QString::number(layer);
    return map;
}

}  // namespace

void drawHeadroom(Figure& figure, const PanelInput& input, const NumberFormat& format) {
    figure.side_by_side = true;
    figure.quantity = QString("binades below the largest number of %1").arg(QLatin1String(format.title));
    figure.formula = QString("log₂(%1 / max |x|) of the entries of a place; below 0 they overflow")
                         .arg(brief(format.largest));
    double low = kUnbounded, high = -kUnbounded;
    QStringList parts;
    const auto samples = shownSamples(input, "ranges");
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        HeatMap map = headroomOf(*shown.sample, format);
        if (map.columns == 0) continue;
        const auto least = std::min_element(map.value.begin(), map.value.end(), [](double a, double b) {
            return std::isfinite(a) && (!std::isfinite(b) || a < b);
        });
        if (std::isfinite(*least)) {
            const auto at = static_cast<int>(least - map.value.begin());
            parts << QString("%1: least %2 binades, %3 of layer %4")
                         .arg(nameOf(*shown.run), QString::number(*least, 'f', 1),
                              map.row_names[at / map.columns], map.column_names[at % map.columns]);
            low = std::min(low, *least);
        }
        for (const double value : map.value)
            if (std::isfinite(value)) high = std::max(high, value);
        map.name = nameOf(*shown.run);
        map.role = {Role::Kind::Run, shown.index, 0};
        map.scale_label = QString("binades to %1's limit").arg(QLatin1String(format.title));
        map.step = shown.sample->step;
        Plot plot;
        plot.heading = map.name;
        plot.x.label = "layer";
        plot.maps.push_back(std::move(map));
        figure.plots.push_back(std::move(plot));
    }
    if (figure.plots.empty()) {
        figure.empty_text = "No ranges recorded: measure a step (M), or record the probe ranges";
        figure.summary = "Headroom: nothing to show";
        return;
    }
    for (Plot& plot : figure.plots) {
        plot.maps.front().low = low <= high ? low : 0;
        plot.maps.front().high = low < high ? high : plot.maps.front().low + 1;
    }
    figure.subtitle = QString::fromLatin1(format.title) + ", " + atStep(samples);
    figure.summary = QString("%1 %2. %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
}

}  // namespace normscope::widgets
